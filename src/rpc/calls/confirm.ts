// Says whether a request under this handle would be served now.

import { defineCall } from './define-call.ts';

export const confirm = defineCall({
  request: 'confirm',
  reply: 'done',
  access: 'handle',
  write: 'no',
  requestToWire: (_: undefined) => ({ confirm: {} }),
  requestFromWire: () => undefined,
  serve: ({ connection, handle }) => connection.confirm(handle),
  replyToWire: () => ({ done: {} }),
  replyFromWire: () => undefined,
});
