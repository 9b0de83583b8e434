// Every grant of a tenant, page by page.

import type { PageQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { grantsFrom, grantsToWire } from './parts/grants.ts';
import { pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';

export const exportGrants = defineCall({
  request: 'exportGrants',
  reply: 'grants',
  access: 'operator-handle',
  write: 'no',
  requestToWire: (query: PageQuery) => ({ exportGrants: pageQueryToWire(query) }),
  requestFromWire: pageQueryFromWire,
  serve: ({ connection, handle }, query) => connection.exportGrants(handle, query),
  replyToWire: (page) => ({ grants: grantsToWire(page) }),
  replyFromWire: grantsFrom,
});
