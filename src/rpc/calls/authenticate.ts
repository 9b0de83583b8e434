// Issues a handle for an API key. The claim carries the whole key: nothing that is stored of a key authenticates.

import { defineCall } from './define-call.ts';
import { handleFrom, handleToWire } from './parts/handles.ts';
import { keyText, shortText } from './parts/request-fields.ts';

export const authenticate = defineCall({
  request: 'authenticate',
  reply: 'handle',
  access: 'peer',
  write: 'no',
  requestToWire: (claim: { tenantId: string; keyId: string; key: string }) => ({ authenticate: claim }),
  requestFromWire: ({ tenantId, keyId, key }) => ({
    tenantId: shortText(tenantId, 'A tenant id'),
    keyId: shortText(keyId, 'A key id'),
    key: keyText(key),
  }),
  serve: ({ connection }, claim) => connection.authenticate(claim),
  replyToWire: (grant) => ({ handle: handleToWire(grant) }),
  replyFromWire: handleFrom,
});
