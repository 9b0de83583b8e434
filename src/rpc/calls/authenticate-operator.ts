// Issues a handle for the operator on one tenant.

import { defineCall } from './define-call.ts';
import { handleFrom, handleToWire } from './parts/handles.ts';
import { shortText } from './parts/request-fields.ts';

export const authenticateOperator = defineCall({
  request: 'authenticateOperator',
  reply: 'handle',
  access: 'console',
  write: 'no',
  requestToWire: (claim: { tenantId: string; operator: string }) => ({ authenticateOperator: claim }),
  requestFromWire: ({ tenantId, operator }) => ({
    tenantId: shortText(tenantId, 'A tenant id'),
    operator: shortText(operator, 'An operator'),
  }),
  serve: ({ connection }, claim) => connection.authenticateOperator(claim),
  replyToWire: (grant) => ({ handle: handleToWire(grant) }),
  replyFromWire: handleFrom,
});
