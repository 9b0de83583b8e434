// The subjects that have grants, page by page.

import type { PageQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';

export const listSubjects = defineCall({
  request: 'listSubjects',
  reply: 'subjects',
  access: 'operator-handle',
  write: 'no',
  requestToWire: (query: PageQuery) => ({ listSubjects: pageQueryToWire(query) }),
  requestFromWire: pageQueryFromWire,
  serve: ({ connection, handle }, query) => connection.listSubjects(handle, query),
  replyToWire: (page) => ({ subjects: { subjects: [...page.items], nextCursor: nextCursorOf(page) } }),
  replyFromWire: ({ subjects, nextCursor }) => pageFrom(subjects, nextCursor),
});
