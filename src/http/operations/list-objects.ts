// GET /v1/objects: the objects on which a subject holds a relation, page by page.

import { namespacesOfEmpty } from '../../front/namespace-warnings.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { objectListSchema, objectQuerySchema } from '../schema/schemas.ts';
import { validate } from '../schema/validation.ts';
import type { Operation } from './operation.ts';
import { entityListBytesMax } from './response-bytes.ts';
import { withUnknownNamespaces } from './warnings.ts';

export const listObjects: Operation = {
  id: 'listObjects',
  method: 'GET',
  path: '/v1/objects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the objects on which a subject holds a relation',
  description:
    'With rules, what follows from them is listed too, unless `via=direct`. Ascending by the bytes of the object. An object granted throughout the listing appears exactly once. A page may hold fewer than `limit` objects, or none, although `next_cursor` is set: one request examines a bounded number of grants. A cursor is valid only for the tenant and the query that it came from.',
  body: undefined,
  query: objectQuerySchema,
  queryExamples: { subject: EXAMPLE_TUPLE.subject, relation: EXAMPLE_TUPLE.relation, namespace: 'document' },
  responseBytesMax: entityListBytesMax,
  successes: [
    {
      status: 200,
      warns: true,
      description: 'One page.',
      schema: { name: 'ObjectList', schema: objectListSchema },
      example: { objects: ['document:readme', 'document:roadmap'], next_cursor: null },
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-cursor', 'evaluation-too-large'],
  answer(session, context, { query }) {
    const { subject, relation, namespace, via, limit, cursor } = validate(objectQuerySchema, query);
    return session
      .call(CALLS.listObjects, context, { subject, relation, namespace, direct: via === 'direct', limit, cursor })
      .then(({ items, nextCursor }) => {
        const json = (): string => JSON.stringify({ objects: items, next_cursor: nextCursor ?? null });
        const namespaces = namespacesOfEmpty({ entity: subject, namespace, cursor }, { items, nextCursor });
        return withUnknownNamespaces(session, context, namespaces, { status: 200, json });
      });
  },
};
