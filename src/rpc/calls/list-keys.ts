// The API keys of a tenant, page by page.

import type { PageQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { keyFrom, keyToWire } from './parts/keys.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';

export const listKeys = defineCall({
  request: 'listKeys',
  reply: 'keys',
  access: 'admin',
  write: 'no',
  requestToWire: (query: PageQuery) => ({ listKeys: pageQueryToWire(query) }),
  requestFromWire: pageQueryFromWire,
  serve: ({ connection, handle }, query) => connection.listKeys(handle, query),
  replyToWire: (page) => ({ keys: { keys: page.items.map(keyToWire), nextCursor: nextCursorOf(page) } }),
  replyFromWire: ({ keys, nextCursor }) => pageFrom(keys.map(keyFrom), nextCursor),
});
