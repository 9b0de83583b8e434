// Revokes an API key.

import { defineCall } from './define-call.ts';
import { shortText } from './parts/request-fields.ts';

export const revokeKey = defineCall({
  request: 'revokeKey',
  reply: 'done',
  access: 'admin',
  write: 'repeatable',
  requestToWire: (keyId: string) => ({ revokeKey: { keyId } }),
  requestFromWire: ({ keyId }) => shortText(keyId, 'A key id'),
  serve: ({ connection, handle, attempt }, keyId) => connection.revokeKey(handle, attempt, keyId),
  replyToWire: () => ({ done: {} }),
  replyFromWire: () => undefined,
});
