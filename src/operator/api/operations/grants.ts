// Checks and grants of a tenant for operators, one by one and many at once, and their listings: the same shapes and
// rules as under /v1/.

import { z } from 'zod';
import { assert } from '../../../core/assert.ts';
import {
  bulkWriteRecord,
  demandWritten,
  parseAnchor,
  parseBulkWrite,
  parseGrantFilter,
  parseTerms,
  refuseTerms,
} from '../../../core/bulk-writes.ts';
import { type CallContext, CONTEXT_GRANT_ERRORS, parseCallContext } from '../../../core/call-context.ts';
import { type ErrorCode, EVALUATION_ERRORS, GrantdError } from '../../../core/errors.ts';
import { grantRecord } from '../../../core/grant-attributes.ts';
import { demandMembers, isJsonObject, type JsonObject } from '../../../core/json-members.ts';
import { BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../../core/limits.ts';
import {
  type ServiceWarning,
  unfollowedWarnings,
  WARNING_HEADER,
  warningHeaderOf,
} from '../../../core/service-warnings.ts';
import { CURSOR_HEADER } from '../../../core/text/cursors.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import {
  grantOf,
  parseIdentifier,
  parseRelation,
  parseTuple,
  TUPLE_MEMBERS,
  type Tuple,
} from '../../../core/tuples.ts';
import type { RequestContext } from '../../../front/front.ts';
import { warningsOf } from '../../../front/namespace-warnings.ts';
import { EXAMPLE_CONTEXT, EXAMPLE_TUPLE } from '../../../http/schema/examples.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { dryRunQuerySchema } from '../../../http/schema/schema-parts.ts';
import {
  bulkResultSchema,
  bulkSchema,
  bulkWriteResultSchema,
  bulkWriteSchema,
  checkResultSchema,
  checkSchema,
  grantBodySchema,
  grantFilterSchema,
  grantListSchema,
  grantSchema,
  includeSchema,
  objectBodySchema,
  objectListSchema,
  revokeResultSchema,
  subjectBodySchema,
  subjectListSchema,
  subjectSchema,
  tupleSchema,
  viaSchema,
} from '../../../http/schema/schemas.ts';
import { validateBody, validateCallContext } from '../../../http/schema/validation.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type NamedTuple, parseQuestion, parseRelationName } from '../../../rules/questions.ts';
import type { GrantRequest, GrantResult, HoldersQuery, ObjectsQuery } from '../../../shard/shard.ts';
import { readJson } from '../../body.ts';
import { namespaceName, PARAMETERS, pageShape, parseBody } from '../../schemas.ts';
import {
  type ApiResponse,
  type Call,
  jsonResponse,
  nextCursor,
  type OperatorOperation,
  type ResponseHeaders,
  reading,
  sessionOf,
  withQuery,
} from '../operation.ts';

const TUPLE_ERRORS: readonly ErrorCode[] = ['invalid-subject', 'invalid-relation', 'invalid-object'];
const WRITE_ERRORS: readonly ErrorCode[] = [
  'invalid-condition',
  'type-not-allowed',
  'namespace-limit-reached',
  'grant-limit-reached',
];
const header = WARNING_HEADER;

function warningHeader(warnings: readonly ServiceWarning[]): ResponseHeaders {
  const value = warningHeaderOf(warnings);
  return value === undefined ? {} : { [WARNING_HEADER]: value };
}

const headersOf = (context: RequestContext): ResponseHeaders => warningHeader(warningsOf(context));

// ---- checks ----

/** Read as any value: a parser of core refuses it with an error type of its own. */
const part = z.unknown().optional();
const tupleShape = { subject: part, relation: part, object: part };
const contextShape = { context: part, context_grants: part };

async function readCheck(call: Call): Promise<NamedTuple & CallContext & { readonly explain: boolean }> {
  const explain = z.boolean('must be true or false').optional();
  const body = parseBody(await readJson(call.request), { ...tupleShape, ...contextShape, explain });
  const question = parseQuestion(body.subject, body.relation, body.object);
  return { ...question, ...parseCallContext(body), explain: body.explain === true };
}

export const check: OperatorOperation = {
  id: 'check',
  method: 'POST',
  path: '/tenants/{tenantId}/check',
  access: 'read-only',
  tag: 'Within a tenant',
  summary: 'Check one relationship',
  body: { name: 'CheckRequest', schema: checkSchema, example: EXAMPLE_TUPLE },
  successes: [success(200, 'The result of the check.', { name: 'CheckResult', schema: checkResultSchema, header })],
  errors: [...CONTEXT_GRANT_ERRORS, ...EVALUATION_ERRORS],
  async run(call) {
    const session = await sessionOf(call);
    const { explain, ...question } = await readCheck(call);
    const context = call.context();
    const explained = explain ? await session.explain(context, question) : undefined;
    const { authorized, checkedAtMs } = explained ?? (await session.check(context, question));
    const because = explained !== undefined && authorized ? { because: explained.because.map(grantRecord) } : {};
    const proof = explained === undefined || explained.proof === '' ? {} : { proof: JSON.parse(explained.proof) };
    return jsonResponse(
      200,
      { authorized, checked_at: formatTimestamp(checkedAtMs), ...because, ...proof },
      headersOf(context),
    );
  },
};

function parseChecks(body: unknown): { readonly checks: readonly NamedTuple[]; readonly context: CallContext } {
  const shape = { checks: z.array(z.unknown(), 'must be an array'), ...contextShape };
  const { checks, ...rest } = parseBody(body, shape);
  if (checks.length > BULK_CHECKS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"checks" holds ${checks.length} checks; at most ${BULK_CHECKS_MAX} are allowed.`,
    );
  }
  const questions = checks.map((each, index) => {
    const fields = isJsonObject(each) ? each : {};
    demandMembers(fields, TUPLE_MEMBERS, `checks[${index}]`);
    return parseQuestion(fields.subject, fields.relation, fields.object, 'checks', index);
  });
  return { checks: questions, context: parseCallContext(rest) };
}

const readBulk = ({ request }: Call): Promise<unknown> => readJson(request, BULK_BODY_BYTES_MAX);

export const checkBulk: OperatorOperation = {
  id: 'checkBulk',
  method: 'POST',
  path: '/tenants/{tenantId}/check/bulk',
  access: 'read-only',
  tag: 'Within a tenant',
  summary: 'Check up to 100 relationships',
  body: { name: 'BulkCheck', schema: bulkSchema, example: { checks: [EXAMPLE_TUPLE] } },
  successes: [
    success(200, 'One result for each check.', { name: 'BulkCheckResult', schema: bulkResultSchema, header }),
  ],
  errors: [...CONTEXT_GRANT_ERRORS, ...EVALUATION_ERRORS],
  async run(call) {
    const session = await sessionOf(call);
    const { checks, context: asked } = parseChecks(await readBulk(call));
    const context = call.context();
    const { authorized, checkedAtMs } = await session.checkBulk(context, checks, asked);
    const results = authorized.map((each) => ({ authorized: each }));
    return jsonResponse(200, { results, checked_at: formatTimestamp(checkedAtMs) }, headersOf(context));
  },
};

// ---- writes ----

async function writeOne(
  call: Call,
  read: (body: JsonObject) => Pick<GrantRequest, 'revoke' | 'expiresAtMs' | 'condition'>,
): Promise<[Tuple, GrantResult]> {
  const session = await sessionOf(call);
  const body = parseBody(await readJson(call.request), { ...tupleShape, expires_at: part, condition: part });
  const tuple = parseTuple(body.subject, body.relation, body.object);
  const [result] = await session.call(CALLS.writeGrants, call.context(), [{ ...tuple, ...read(body) }]);
  assert(result !== undefined, 'every write has a result');
  if (result.kind === 'refused') throw new GrantdError(result.code, result.message);
  return [tuple, result];
}

const GRANT = { name: 'Grant', schema: grantSchema, header } as const;

export const createGrant: OperatorOperation = {
  id: 'createGrant',
  method: 'POST',
  path: '/tenants/{tenantId}/grants',
  tag: 'Within a tenant',
  summary: 'Create a grant',
  body: { name: 'GrantRequest', schema: grantBodySchema, example: EXAMPLE_TUPLE },
  successes: [
    success(201, 'The grant was created.', GRANT),
    success(200, 'The grant already existed; at most its expiry or its condition was changed.', GRANT),
  ],
  errors: [...TUPLE_ERRORS, ...WRITE_ERRORS],
  async run(call) {
    const [tuple, result] = await writeOne(call, (body) => ({
      revoke: false,
      ...parseTerms(body, call.clock.wallMs()),
    }));
    assert('grantId' in result, 'a grant is created or exists');
    const record = grantRecord(grantOf(tuple, result));
    return jsonResponse(result.kind === 'created' ? 201 : 200, record, warningHeader(unfollowedWarnings([result])));
  },
};

export const revokeGrant: OperatorOperation = {
  id: 'revokeGrant',
  method: 'DELETE',
  path: '/tenants/{tenantId}/grants',
  tag: 'Within a tenant',
  summary: 'Revoke a grant',
  body: { name: 'Tuple', schema: tupleSchema, example: EXAMPLE_TUPLE },
  successes: [success(204, 'The grant was revoked.')],
  errors: [...TUPLE_ERRORS, 'grant-not-found'],
  async run(call) {
    const [, result] = await writeOne(call, (body) => {
      refuseTerms(body);
      return { revoke: true };
    });
    if (result.kind === 'not-found') {
      throw new GrantdError('grant-not-found', 'No such grant exists, so there was nothing to revoke.');
    }
    return { kind: 'empty' };
  },
};

export const writeBulk: OperatorOperation = {
  id: 'writeBulk',
  method: 'POST',
  path: '/tenants/{tenantId}/grants/bulk',
  tag: 'Within a tenant',
  summary: 'Create and revoke up to 100 grants at one moment',
  body: { name: 'BulkWrite', schema: bulkWriteSchema, example: { grants: [EXAMPLE_TUPLE] } },
  successes: [
    success(200, 'All changes took effect.', { name: 'BulkWriteResult', schema: bulkWriteResultSchema, header }),
  ],
  errors: [...TUPLE_ERRORS, ...WRITE_ERRORS, 'bulk-too-large', 'precondition-failed'],
  async run(call) {
    const session = await sessionOf(call);
    const write = parseBulkWrite(await readBulk(call), call.clock.wallMs());
    const written = demandWritten(write, await session.call(CALLS.writeBulk, call.context(), write));
    return jsonResponse(200, bulkWriteRecord(write, written), warningHeader(unfollowedWarnings(written.grants)));
  },
};

export const revokeGrants = withQuery({
  id: 'revokeGrants',
  method: 'POST',
  path: '/tenants/{tenantId}/grants/revoke',
  tag: 'Within a tenant',
  summary: 'Revoke all grants of a subject, or on an object',
  description:
    'Up to 1,000 grants in one call. Repeat it until `complete`. With `dry_run=true`, nothing changes, and the response says what this call would do.',
  query: dryRunQuerySchema.shape,
  body: { name: 'GrantFilter', schema: grantFilterSchema, example: { subject: EXAMPLE_TUPLE.subject } },
  successes: [
    success(200, 'How many were revoked, and whether that was all.', {
      name: 'RevokeResult',
      schema: revokeResultSchema,
    }),
  ],
  errors: TUPLE_ERRORS,
  async run(call, { dry_run: dryRun }) {
    const session = await sessionOf(call);
    const filter = parseGrantFilter(await readJson(call.request));
    const revocation = dryRun === 'true' ? CALLS.previewRevocation : CALLS.revokeGrants;
    const { revoked, complete } = await session.call(revocation, call.context(), filter);
    return jsonResponse(200, { revoked, complete });
  },
});

// ---- listings ----

/** Read as any text, since an invalid value has an error type of its own; so has a missing one that is mandatory. */
const text = z.string();
const mandatory = (parameter: object) => text.meta({ ...parameter, mandatory: true }).optional();

export const listGrants = reading({
  id: 'listGrants',
  path: '/tenants/{tenantId}/grants',
  tag: 'Within a tenant',
  summary: 'List the grants of a subject, or on an object',
  query: {
    subject: text.meta(PARAMETERS.subject).optional(),
    object: text.meta(PARAMETERS.object).optional(),
    relation: text.meta(PARAMETERS.relation).optional(),
    ...pageShape,
  },
  successes: [success(200, 'One page.', { name: 'GrantList', schema: grantListSchema, header: CURSOR_HEADER })],
  errors: [...TUPLE_ERRORS, 'invalid-cursor'],
  async run(call, query) {
    const of = parseAnchor(query.subject, query.object);
    const relation = query.relation === undefined ? undefined : parseRelation(query.relation);
    const session = await sessionOf(call);
    const { limit, cursor } = query;
    const page = await session.call(CALLS.listGrants, call.context(), { of, relation, limit, cursor });
    const record = { grants: page.items.map(grantRecord), next_cursor: page.nextCursor ?? null };
    return jsonResponse(200, record, { [CURSOR_HEADER]: page.feedCursor });
  },
});

/** Of a listing with context grants. */
const LISTING_ERRORS: readonly ErrorCode[] = [...CONTEXT_GRANT_ERRORS, 'invalid-cursor', ...EVALUATION_ERRORS];
const { subject: EXAMPLE_SUBJECT, object: EXAMPLE_OBJECT, relation: EXAMPLE_RELATION } = EXAMPLE_TUPLE;
const EXAMPLE_OBJECTS = { subject: EXAMPLE_SUBJECT, relation: EXAMPLE_RELATION, context: EXAMPLE_CONTEXT };
const EXAMPLE_SUBJECTS = { object: EXAMPLE_OBJECT, relation: EXAMPLE_RELATION, context: EXAMPLE_CONTEXT };

const ruledShape = {
  ...pageShape,
  relation: mandatory(PARAMETERS.relation),
  namespace: namespaceName,
  via: viaSchema
    .meta({ description: '`direct`: only grants of the relation itself, and not what follows from the rules.' })
    .optional(),
};

async function answerObjects(
  call: Call,
  query: Omit<ObjectsQuery, 'direct'> & { readonly via?: 'direct' | undefined },
): Promise<ApiResponse> {
  const session = await sessionOf(call);
  const { via, ...asked } = query;
  const context = call.context();
  const { items, nextCursor = null } = await session.call(CALLS.listObjects, context, {
    ...asked,
    direct: via === 'direct',
  });
  return jsonResponse(200, { objects: items, next_cursor: nextCursor }, headersOf(context));
}

async function answerHolders(
  call: Call,
  query: Omit<HoldersQuery, 'direct' | 'includeSelf'> & {
    readonly via?: 'direct' | undefined;
    readonly include?: 'self' | undefined;
  },
): Promise<ApiResponse> {
  const session = await sessionOf(call);
  const { via, include, ...asked } = query;
  const [direct, includeSelf] = [via === 'direct', include === 'self'];
  const context = call.context();
  const {
    items,
    nextCursor = null,
    excluded,
  } = await session.call(CALLS.listHolders, context, {
    ...asked,
    direct,
    includeSelf,
  });
  return jsonResponse(200, { subjects: items, next_cursor: nextCursor, excluded }, headersOf(context));
}

export const listObjects = reading({
  id: 'listObjects',
  path: '/tenants/{tenantId}/objects',
  tag: 'Within a tenant',
  summary: 'List the objects on which a subject holds a relation',
  query: { ...ruledShape, subject: mandatory(PARAMETERS.subject) },
  successes: [success(200, 'One page.', { name: 'ObjectList', schema: objectListSchema, header })],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
  async run(call, query) {
    const { namespace, via, limit, cursor } = query;
    const subject = parseIdentifier('subject', query.subject);
    const relation = parseRelationName(query.relation);
    return answerObjects(call, { subject, relation, namespace, via, limit, cursor });
  },
});

export const listObjectsInContext: OperatorOperation = {
  id: 'listObjectsInContext',
  method: 'POST',
  path: '/tenants/{tenantId}/objects',
  access: 'read-only',
  tag: 'Within a tenant',
  summary: 'List the objects on which a subject holds a relation, in a context',
  body: { name: 'ObjectListRequest', schema: objectBodySchema, example: EXAMPLE_OBJECTS },
  successes: [success(200, 'One page.', { name: 'ObjectList', schema: objectListSchema, header })],
  errors: LISTING_ERRORS,
  async run(call) {
    const body = await readJson(call.request, BULK_BODY_BYTES_MAX);
    const called = validateCallContext(objectBodySchema, body);
    const { context: _, context_grants: __, namespace, cursor, ...query } = validateBody(objectBodySchema, body);
    return answerObjects(call, { ...query, namespace, cursor, ...called });
  },
};

export const listHolders = reading({
  id: 'listHolders',
  path: '/tenants/{tenantId}/holders',
  tag: 'Within a tenant',
  summary: 'List the subjects that hold a relation on an object',
  query: {
    ...ruledShape,
    object: mandatory(PARAMETERS.object),
    include: includeSchema
      .meta({
        description:
          '`self`: also the groups of the object itself, which hold the relation because they consist of those who hold it.',
      })
      .optional(),
  },
  successes: [success(200, 'One page.', { name: 'SubjectList', schema: subjectListSchema, header })],
  errors: ['invalid-object', 'invalid-relation', 'invalid-cursor', ...EVALUATION_ERRORS],
  async run(call, query) {
    const { namespace, via, include, limit, cursor } = query;
    const object = parseIdentifier('object', query.object);
    const relation = parseRelationName(query.relation);
    return answerHolders(call, { object, relation, namespace, via, include, limit, cursor });
  },
});

export const listHoldersInContext: OperatorOperation = {
  id: 'listHoldersInContext',
  method: 'POST',
  path: '/tenants/{tenantId}/holders',
  access: 'read-only',
  tag: 'Within a tenant',
  summary: 'List the subjects that hold a relation on an object, in a context',
  body: { name: 'SubjectListRequest', schema: subjectBodySchema, example: EXAMPLE_SUBJECTS },
  successes: [success(200, 'One page.', { name: 'SubjectList', schema: subjectListSchema, header })],
  errors: LISTING_ERRORS,
  async run(call) {
    const body = await readJson(call.request, BULK_BODY_BYTES_MAX);
    const called = validateCallContext(subjectBodySchema, body);
    const { context: _, context_grants: __, namespace, cursor, ...query } = validateBody(subjectBodySchema, body);
    return answerHolders(call, { ...query, namespace, cursor, ...called });
  },
};

export const listSubjects = reading({
  id: 'listSubjects',
  path: '/tenants/{tenantId}/subjects',
  tag: 'Within a tenant',
  summary: 'List all subjects of a tenant',
  query: pageShape,
  successes: [
    success(200, 'One page, ascending.', {
      name: 'TenantSubjectList',
      schema: z.object({
        subjects: z
          .array(subjectSchema)
          .meta({ description: 'Every subject with a grant, and some that once had one.' }),
        next_cursor: nextCursor,
      }),
    }),
  ],
  errors: ['invalid-cursor'],
  async run(call, { limit, cursor }) {
    const session = await sessionOf(call);
    const page = await session.call(CALLS.listSubjects, call.context(), { limit, cursor });
    return jsonResponse(200, { subjects: page.items, next_cursor: page.nextCursor ?? null });
  },
});
