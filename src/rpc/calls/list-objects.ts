// The objects on which a subject has a relation, page by page. The codec (codec/) writes the bytes of the reply by
// hand, since every object pays for them.

import type { ObjectsQuery } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { nameFrom, nameToWire, orUndefined } from './parts/request-fields.ts';

const OBJECT_MS = 0.002;

export const listObjects = defineCall({
  request: 'listObjects',
  reply: 'objects',
  access: 'check:read',
  write: 'no',
  costMs: ({ limit }) => OBJECT_MS * limit,
  requestToWire: ({ subject, relation, namespace = '', direct = false, ...page }: ObjectsQuery) => ({
    listObjects: { ...pageQueryToWire(page), subject, ...nameToWire(relation), namespace, direct },
  }),
  requestFromWire: (query): ObjectsQuery => ({
    ...pageQueryFromWire(query),
    subject: query.subject,
    relation: nameFrom(query),
    namespace: orUndefined(query.namespace),
    direct: query.direct,
  }),
  serve: ({ connection, handle }, query) => connection.listObjects(handle, query),
  replyToWire: (page) => ({ objects: { objects: [...page.items], nextCursor: nextCursorOf(page) } }),
  replyFromWire: ({ objects, nextCursor }) => pageFrom(objects, nextCursor),
});
