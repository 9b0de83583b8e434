// What follows from grants, page by page: the objects on which a subject holds a relation (GET /v1/objects), and the
// subjects that hold a relation on an object (GET /v1/subjects).

import { EVALUATION_ERRORS } from '../../core/errors.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import { namespacesOfEmpty } from '../../front/namespace-warnings.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { objectListSchema, objectQuerySchema, subjectListSchema, subjectQuerySchema } from '../schema/schemas.ts';
import { validate } from '../schema/validation.ts';
import { type PublicOperation, withUnknownNamespaces } from './operation.ts';
import { entityListBytesMax } from './response-bytes.ts';

export const listObjects: PublicOperation = {
  id: 'listObjects',
  method: 'GET',
  path: '/v1/objects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the objects on which a subject holds a relation',
  description:
    'With rules, what follows from them is listed too, unless `via=direct`. Ascending by the bytes of the object. An object granted throughout the listing appears exactly once. A page may hold fewer than `limit` objects, or none, although `next_cursor` is set: one request examines a bounded number of grants. A cursor is valid only for the tenant and the query that it came from.',
  query: objectQuerySchema.shape,
  queryExamples: { subject: EXAMPLE_TUPLE.subject, relation: EXAMPLE_TUPLE.relation, namespace: 'document' },
  responseBytesMax: entityListBytesMax,
  successes: [
    success(200, 'One page.', {
      name: 'ObjectList',
      schema: objectListSchema,
      example: { objects: ['document:readme', 'document:roadmap'], next_cursor: null },
      header: WARNING_HEADER,
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
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

export const listSubjects: PublicOperation = {
  id: 'listSubjects',
  method: 'GET',
  path: '/v1/subjects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the subjects that hold a relation on an object',
  description:
    'With rules, subjects that hold the name through them are listed too, unless `via=direct`: groups as `ns:id#name` and their members, all subjects of a public namespace as `ns:*`. The group `ns:id#name` of the object itself, whose members are the subjects with that name, is listed only with `include=self`. Ascending by the bytes of the subject, and complete: a subject that holds the relation throughout the listing appears exactly once. A page may hold fewer than `limit` subjects, or none, although `next_cursor` leads on. A cursor is valid for the tenant and the query that it came from.',
  query: subjectQuerySchema.shape,
  queryExamples: { object: EXAMPLE_TUPLE.object, relation: EXAMPLE_TUPLE.relation, namespace: 'user' },
  responseBytesMax: entityListBytesMax,
  successes: [
    success(200, 'One page.', {
      name: 'SubjectList',
      schema: subjectListSchema,
      example: { subjects: ['user:alice', 'user:bob'], next_cursor: null },
      header: WARNING_HEADER,
    }),
  ],
  errors: ['invalid-object', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer(session, context, { query }) {
    const { object, relation, namespace, via, include, limit, cursor } = validate(subjectQuerySchema, query);
    const [direct, includeSelf] = [via === 'direct', include === 'self'];
    return session
      .call(CALLS.listHolders, context, { object, relation, namespace, direct, includeSelf, limit, cursor })
      .then(({ items, nextCursor, excluded }) => {
        const json = (): string => JSON.stringify({ subjects: items, next_cursor: nextCursor ?? null, excluded });
        const namespaces = namespacesOfEmpty({ entity: object, namespace, cursor }, { items, nextCursor });
        return withUnknownNamespaces(session, context, namespaces, { status: 200, json });
      });
  },
};
