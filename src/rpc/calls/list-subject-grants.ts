// The grants of one subject, page by page.

import type { PageQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { grantsFrom, grantsToWire } from './parts/grants.ts';
import { pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';

type SubjectGrantsQuery = PageQuery & { subject: string };

export const listSubjectGrants = defineCall({
  request: 'listSubjectGrants',
  reply: 'grants',
  access: 'operator-handle',
  write: 'no',
  requestToWire: ({ subject, ...page }: SubjectGrantsQuery) => ({
    listSubjectGrants: { ...pageQueryToWire(page), subject },
  }),
  requestFromWire: (query): SubjectGrantsQuery => ({ ...pageQueryFromWire(query), subject: query.subject }),
  serve: ({ connection, handle }, query) => connection.listSubjectGrants(handle, query),
  replyToWire: (page) => ({ grants: grantsToWire(page) }),
  replyFromWire: grantsFrom,
});
