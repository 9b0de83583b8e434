// The usage of a tenant over the last 60 minutes.

import { defineCall } from './define-call.ts';
import { shortText } from './parts/request-fields.ts';
import { minuteFrom, minuteToWire } from './parts/usage-minutes.ts';

export const readUsage = defineCall({
  request: 'readUsage',
  reply: 'usageMinutes',
  access: 'console',
  write: 'no',
  requestToWire: (of: { readonly tenantId: string }) => ({ readUsage: of }),
  requestFromWire: ({ tenantId }) => ({ tenantId: shortText(tenantId, 'A tenant id') }),
  serve: ({ connection }, { tenantId }) => connection.readUsage(tenantId),
  replyToWire: (minutes) => ({ usageMinutes: { minutes: minutes.map(minuteToWire) } }),
  replyFromWire: ({ minutes }) => minutes.map(minuteFrom),
});
