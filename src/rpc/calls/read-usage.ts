// The usage of a tenant over the last 60 minutes. The call shares the messages of `readTenant`, and a flag tells them
// apart: a shard of an earlier version ends the connection of a peer whose call has an unknown field.

import { defineCall } from './define-call.ts';
import { shortText } from './parts/request-fields.ts';
import { minuteFrom, minuteToWire } from './parts/usage-minutes.ts';

export const readUsage = defineCall({
  request: 'readTenant',
  reply: 'tenant',
  access: 'console',
  write: 'no',
  is: ({ usage }) => usage,
  requestToWire: (tenantId: string) => ({ readTenant: { tenantId, usage: true } }),
  requestFromWire: ({ tenantId }) => shortText(tenantId, 'A tenant id'),
  serve: ({ connection }, tenantId) => connection.readUsage(tenantId),
  replyToWire: (minutes) => ({
    tenant: { usage: minutes.map(minuteToWire) },
  }),
  replyFromWire: ({ usage }) => usage.map(minuteFrom),
});
