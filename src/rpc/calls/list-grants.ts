// The grants of one subject, or on one object, page by page.

import type { GrantsQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { filterFrom, filterToWire, grantsFrom, grantsToWire } from './parts/grants.ts';
import { pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';

const GRANT_MS = 0.003;

export const listGrants = defineCall({
  request: 'listGrants',
  reply: 'grants',
  access: 'check:read',
  write: 'no',
  costMs: ({ limit }) => GRANT_MS * limit,
  requestToWire: (query: GrantsQuery) => ({ listGrants: { ...pageQueryToWire(query), ...filterToWire(query) } }),
  requestFromWire: (query): GrantsQuery => ({ ...pageQueryFromWire(query), ...filterFrom(query) }),
  serve: ({ connection, handle }, query) => connection.listGrants(handle, query),
  replyToWire: (page) => ({ grants: grantsToWire(page) }),
  replyFromWire: grantsFrom,
});
