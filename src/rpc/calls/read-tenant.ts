// A tenant, with what its owner knows about it.

import { defineCall } from './define-call.ts';
import { shortText } from './parts/request-fields.ts';
import { tenantFrom, tenantToWire } from './parts/tenants.ts';

export const readTenant = defineCall({
  request: 'readTenant',
  reply: 'tenant',
  access: 'console',
  write: 'no',
  requestToWire: (of: { readonly tenantId: string }) => ({ readTenant: of }),
  requestFromWire: ({ tenantId }) => ({ tenantId: shortText(tenantId, 'A tenant id') }),
  serve: ({ connection }, { tenantId }) => connection.readTenant(tenantId),
  replyToWire: (tenant) => ({ tenant: tenantToWire(tenant) }),
  replyFromWire: tenantFrom,
});
