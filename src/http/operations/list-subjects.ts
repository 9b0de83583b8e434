// GET /v1/subjects: the subjects that hold a relation on an object, page by page.

import { namespacesOfEmpty } from '../../front/namespace-warnings.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { subjectListSchema, subjectQuerySchema } from '../schema/schemas.ts';
import { validate } from '../schema/validation.ts';
import type { Operation } from './operation.ts';
import { entityListBytesMax } from './response-bytes.ts';
import { withUnknownNamespaces } from './warnings.ts';

export const listSubjects: Operation = {
  id: 'listSubjects',
  method: 'GET',
  path: '/v1/subjects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the subjects that hold a relation on an object',
  description:
    'With rules, whoever holds the name by them is listed too, unless `via=direct`: groups as `ns:id#name` and their members, everybody of a public namespace as `ns:*`. The group `ns:id#name` of the object itself, which consists of those who hold the name, is listed only with `include=self`. Ascending by the bytes of the subject, and complete: a subject that holds the relation throughout the listing appears exactly once. A page may hold fewer than `limit` subjects, or none, although `next_cursor` leads on. A cursor is valid for the tenant and the query that it came from.',
  body: undefined,
  query: subjectQuerySchema,
  queryExamples: { object: EXAMPLE_TUPLE.object, relation: EXAMPLE_TUPLE.relation, namespace: 'user' },
  responseBytesMax: entityListBytesMax,
  successes: [
    {
      status: 200,
      warns: true,
      description: 'One page.',
      schema: { name: 'SubjectList', schema: subjectListSchema },
      example: { subjects: ['user:alice', 'user:bob'], next_cursor: null },
    },
  ],
  errors: ['invalid-object', 'invalid-relation', 'invalid-cursor', 'evaluation-too-large'],
  answer(session, context, { query }) {
    const { object, relation, namespace, via, include, limit, cursor } = validate(subjectQuerySchema, query);
    return session
      .call(CALLS.listHolders, context, {
        object,
        relation,
        namespace,
        direct: via === 'direct',
        includeSelf: include === 'self',
        limit,
        cursor,
      })
      .then(({ items, nextCursor }) => {
        const json = (): string => JSON.stringify({ subjects: items, next_cursor: nextCursor ?? null });
        const namespaces = namespacesOfEmpty({ entity: object, namespace, cursor }, { items, nextCursor });
        return withUnknownNamespaces(session, context, namespaces, { status: 200, json });
      });
  },
};
