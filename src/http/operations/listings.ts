// What follows from grants, page by page: the objects on which a subject holds a relation (GET /v1/objects), and the
// subjects that hold a relation on an object (GET /v1/subjects). With a context, both are a POST.

import type { z } from 'zod';
import { type CallContext, CONTEXT_GRANT_ERRORS } from '../../core/call-context.ts';
import { EVALUATION_ERRORS } from '../../core/errors.ts';
import { BULK_BODY_BYTES_MAX } from '../../core/limits.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import { EXAMPLE_CONTEXT, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import {
  objectBodySchema,
  objectListSchema,
  objectQuerySchema,
  subjectBodySchema,
  subjectListSchema,
  subjectQuerySchema,
} from '../schema/schemas.ts';
import { validate, validateBody, validateCallContext } from '../schema/validation.ts';
import { type OperationResponse, type PublicOperation, withWarnings } from './operation.ts';
import { entityBodyBytesMax, entityListBytesMax } from './response-bytes.ts';

const OBJECTS = success(200, 'One page.', {
  name: 'ObjectList',
  schema: objectListSchema,
  example: { objects: ['document:readme', 'document:roadmap'], next_cursor: null },
  header: WARNING_HEADER,
});
const SUBJECTS = success(200, 'One page.', {
  name: 'SubjectList',
  schema: subjectListSchema,
  example: { subjects: ['user:alice', 'user:bob'], next_cursor: null },
  header: WARNING_HEADER,
});

const LISTING_ERRORS = [...CONTEXT_GRANT_ERRORS, 'invalid-cursor', ...EVALUATION_ERRORS] as const;

function answerObjects(
  session: TenantSession,
  context: RequestContext,
  { via, ...query }: z.output<typeof objectQuerySchema>,
  call: CallContext = {},
): Promise<OperationResponse> {
  const { namespace, cursor } = query;
  return session
    .call('listObjects', context, { ...query, ...call, namespace, cursor, direct: via === 'direct' })
    .then(({ items, nextCursor }) => {
      const json = (): string => JSON.stringify({ objects: items, next_cursor: nextCursor ?? null });
      return withWarnings(context, { status: 200, json });
    });
}

function answerSubjects(
  session: TenantSession,
  context: RequestContext,
  { via, include, ...query }: z.output<typeof subjectQuerySchema>,
  call: CallContext = {},
): Promise<OperationResponse> {
  const { namespace, cursor } = query;
  const [direct, includeSelf] = [via === 'direct', include === 'self'];
  return session
    .call('listHolders', context, { ...query, ...call, namespace, cursor, direct, includeSelf })
    .then(({ items, nextCursor, excluded }) => {
      const json = (): string => JSON.stringify({ subjects: items, next_cursor: nextCursor ?? null, excluded });
      return withWarnings(context, { status: 200, json });
    });
}

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
  successes: [OBJECTS],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer: (session, context, { query }) => answerObjects(session, context, validate(objectQuerySchema, query)),
};

export const listObjectsInContext: PublicOperation = {
  id: 'listObjectsInContext',
  method: 'POST',
  path: '/v1/objects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the objects on which a subject holds a relation, in a context',
  description:
    'The same as the GET, with its parameters as members of a body, besides `context` and `context_grants`. A cursor is valid only with the same context and the same context grants.',
  body: {
    name: 'ObjectListRequest',
    schema: objectBodySchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: { subject: EXAMPLE_TUPLE.subject, relation: EXAMPLE_TUPLE.relation, context: EXAMPLE_CONTEXT },
  },
  responseBytesMax: entityBodyBytesMax,
  successes: [OBJECTS],
  errors: LISTING_ERRORS,
  answer(session, context, { body }) {
    const call = validateCallContext(objectBodySchema, body);
    const { context: _, context_grants: __, ...query } = validateBody(objectBodySchema, body);
    return answerObjects(session, context, query, call);
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
  successes: [SUBJECTS],
  errors: ['invalid-object', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
  answer: (session, context, { query }) => answerSubjects(session, context, validate(subjectQuerySchema, query)),
};

export const listSubjectsInContext: PublicOperation = {
  id: 'listSubjectsInContext',
  method: 'POST',
  path: '/v1/subjects',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the subjects that hold a relation on an object, in a context',
  description:
    'The same as the GET, with its parameters as members of a body, besides `context` and `context_grants`. A cursor is valid only with the same context and the same context grants.',
  body: {
    name: 'SubjectListRequest',
    schema: subjectBodySchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: { object: EXAMPLE_TUPLE.object, relation: EXAMPLE_TUPLE.relation, context: EXAMPLE_CONTEXT },
  },
  responseBytesMax: entityBodyBytesMax,
  successes: [SUBJECTS],
  errors: LISTING_ERRORS,
  answer(session, context, { body }) {
    const call = validateCallContext(subjectBodySchema, body);
    const { context: _, context_grants: __, ...query } = validateBody(subjectBodySchema, body);
    return answerSubjects(session, context, query, call);
  },
};
