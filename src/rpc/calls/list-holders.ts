// The subjects that hold a relation on an object, page by page. They travel as the objects of a subject do, written by
// hand (codec/), since each of them pays for its bytes.

import type { HoldersQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { nameFrom, nameToWire, orUndefined } from './parts/request-fields.ts';

const SUBJECT_MS = 0.002;

export const listHolders = defineCall({
  request: 'listHolders',
  reply: 'objects',
  access: 'check:read',
  write: 'no',
  costMs: ({ limit }) => SUBJECT_MS * limit,
  requestToWire: ({
    object,
    relation,
    namespace = '',
    direct = false,
    includeSelf = false,
    ...page
  }: HoldersQuery) => ({
    listHolders: { ...pageQueryToWire(page), object, ...nameToWire(relation), namespace, direct, includeSelf },
  }),
  requestFromWire: (query): HoldersQuery => ({
    ...pageQueryFromWire(query),
    object: query.object,
    relation: nameFrom(query),
    namespace: orUndefined(query.namespace),
    direct: query.direct,
    includeSelf: query.includeSelf,
  }),
  serve: ({ connection, handle }, query) => connection.listHolders(handle, query),
  replyToWire: (page) => ({ objects: { objects: [...page.items], nextCursor: nextCursorOf(page) } }),
  replyFromWire: ({ objects, nextCursor }) => pageFrom(objects, nextCursor),
});
