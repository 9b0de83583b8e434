// Grants (/v1/grants): create, find and revoke them, one by one or many at one moment of the tenant's history.

import { assert } from '../../core/assert.ts';
import {
  bulkWriteRecord,
  demandWritten,
  parseAnchor,
  parseBulkWrite,
  parseGrantFilter,
} from '../../core/bulk-writes.ts';
import { GrantdError } from '../../core/errors.ts';
import { grantRecord, refuseTerms } from '../../core/grant-attributes.ts';
import { isJsonObject } from '../../core/json-members.ts';
import {
  BODY_BYTES_MAX,
  BULK_BODY_BYTES_MAX,
  BULK_CHANGES_MAX,
  BULK_PRECONDITIONS_MAX,
  REVOKED_PER_CALL_MAX,
} from '../../core/limits.ts';
import { unfollowedWarnings, WARNING_HEADER, warningHeaderOf } from '../../core/service-warnings.ts';
import { CURSOR_HEADER } from '../../core/text/cursors.ts';
import { grantOf, parseRelation, parseTuple } from '../../core/tuples.ts';
import type { GrantsPage, SnapshotPage } from '../../shard/shard.ts';
import { EXAMPLE_GRANT, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { dryRunQuerySchema } from '../schema/schema-parts.ts';
import {
  bulkWriteResultSchema,
  bulkWriteSchema,
  grantBodySchema,
  grantFilterSchema,
  grantListSchema,
  grantQuerySchema,
  grantSchema,
  revokeResultSchema,
  tupleQuerySchema,
  tupleSchema,
} from '../schema/schemas.ts';
import { validate, validateGrant, validateTuple } from '../schema/validation.ts';
import type { OperationResponse, PublicOperation } from './operation.ts';
import { bulkWriteBytesMax, grantListBytesMax } from './response-bytes.ts';

/** `seq`: only of a snapshot. */
const pageResponse = ({
  items,
  nextCursor,
  feedCursor,
  seq,
}: GrantsPage & Partial<SnapshotPage>): OperationResponse => ({
  status: 200,
  feedCursor,
  json: () => JSON.stringify({ grants: items.map(grantRecord), next_cursor: nextCursor ?? null, seq }),
});

export const listGrants: PublicOperation = {
  id: 'listGrants',
  method: 'GET',
  path: '/v1/grants',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the grants of a subject, on an object, or of some relations',
  description:
    'What is stored, ascending by the bytes of relation and object (or subject). A grant that exists throughout the listing appears exactly once. A page may hold fewer than `limit` grants, or none, although `next_cursor` leads on. A cursor is valid for the tenant and the query that it came from. To follow what changes afterwards, read all pages, and then the change feed from the `X-Service-Cursor` of the first one. With `on`, the listing is a snapshot for a mirror: all grants of these relations on objects of these namespaces, ascending by subject, relation and object. Each page has a `seq`: its grants are as some entry of the log left them, none before the page was asked for, and none after that `seq`. So the grants of all pages, with the changes of the feed with the same `on` applied over them in order, from the `X-Service-Cursor` of the first page, are exact once the `seq` of the feed has reached the greatest one of the pages.',
  query: grantQuerySchema.shape,
  queryExamples: { subject: EXAMPLE_TUPLE.subject },
  responseBytesMax: grantListBytesMax,
  successes: [
    success(200, 'One page.', {
      name: 'GrantList',
      schema: grantListSchema,
      example: { grants: [EXAMPLE_GRANT], next_cursor: null },
      header: CURSOR_HEADER,
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor'],
  answer(session, context, { query }) {
    const { subject, object, on, relation, limit, cursor } = validate(grantQuerySchema, query);
    if (on !== undefined) {
      const other = Object.entries({ subject, object, relation }).find(([, value]) => value !== undefined)?.[0];
      if (other !== undefined) throw new GrantdError('invalid-request', `The query has both "on" and "${other}".`);
      return session.call('snapshotGrants', context, { on, limit, cursor }).then(pageResponse);
    }
    return session
      .call('listGrants', context, {
        of: parseAnchor(subject, object),
        relation: relation === undefined ? undefined : parseRelation(relation),
        limit,
        cursor,
      })
      .then(pageResponse);
  },
};

const grantResponse = {
  name: 'Grant',
  schema: grantSchema,
  example: EXAMPLE_GRANT,
  header: WARNING_HEADER,
} as const;

export const createGrant: PublicOperation = {
  id: 'createGrant',
  method: 'POST',
  path: '/v1/grants',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Create a grant',
  description:
    'Idempotent. Missing namespaces of subject and object are created. Durable once the response is sent. An existing grant keeps its expiry unless `expires_at` is given, and its condition unless `condition` is; `null` removes either. A grant that has expired does not exist: a new one is created.',
  body: {
    name: 'GrantRequest',
    schema: grantBodySchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_TUPLE, expires_at: null },
  },
  successes: [
    success(201, 'The grant was created.', grantResponse),
    success(200, 'The grant already existed; at most its expiry or its condition was changed.', grantResponse),
  ],
  errors: [
    'invalid-subject',
    'invalid-relation',
    'invalid-object',
    'invalid-condition',
    'type-not-allowed',
    'namespace-limit-reached',
    'grant-limit-reached',
  ],
  answer(session, context, { body }, { clock }) {
    const grant = validateGrant(body, clock.wallMs());
    return session.call('writeGrants', context, [{ ...grant, revoke: false }]).then(([result]) => {
      if (result?.kind === 'refused') throw new GrantdError(result.code, result.message);
      assert(result !== undefined && 'grantId' in result, 'creating a grant creates it or finds it');
      return {
        status: result.kind === 'created' ? 201 : 200,
        warning: warningHeaderOf(unfollowedWarnings([result])),
        json: JSON.stringify(grantRecord(grantOf(grant, result))),
      };
    });
  },
};

export const revokeGrant: PublicOperation = {
  id: 'revokeGrant',
  method: 'DELETE',
  path: '/v1/grants',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Revoke a grant',
  description:
    'Names the one tuple to remove, either in the body or in the query, where all three parameters are needed; a request with both is refused. Other relations between the same subject and object stay. Some proxies drop the body of a DELETE: use the query there.',
  body: {
    name: 'Tuple',
    schema: tupleSchema,
    bytesMax: BODY_BYTES_MAX,
    example: EXAMPLE_TUPLE,
    replaceableByQuery: true,
  },
  query: tupleQuerySchema.shape,
  successes: [success(204, 'The grant was removed.')],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'grant-not-found'],
  answer(session, context, { body, query }) {
    if (isJsonObject(body)) refuseTerms(body);
    const tuple = body === undefined ? parseTuple(query.subject, query.relation, query.object) : validateTuple(body);
    return session.call('writeGrants', context, [{ ...tuple, revoke: true }]).then(([result]) => {
      if (result?.kind === 'refused') throw new GrantdError(result.code, result.message);
      if (result?.kind === 'not-found') throw new GrantdError('grant-not-found', 'No such grant exists.');
      assert(result?.kind === 'revoked', 'revoking a grant removes it or does not find it');
      return { status: 204, json: '' };
    });
  },
};

const EXAMPLE_REVOKED = { ...EXAMPLE_TUPLE, relation: 'editor' };

export const writeBulk: PublicOperation = {
  id: 'writeBulk',
  method: 'POST',
  path: '/v1/grants/bulk',
  scope: 'grant:write',
  tag: 'Grants',
  summary: `Create and revoke up to ${BULK_CHANGES_MAX} grants at once`,
  description: `All changes take effect at one moment, or none does: no check sees a part of them. Creating a grant that exists and revoking one that does not exist are not errors. An existing grant keeps its expiry unless \`expires_at\` is given, and its condition unless \`condition\` is; \`null\` removes either. A grant that has expired does not exist. \`if\` holds up to ${BULK_PRECONDITIONS_MAX} conditions on the state before the call, also on tuples that the call changes; unless all are met, the response is a 412 and nothing is changed. No tuple may occur twice among the changes. A limit of the plan refuses the whole call. Repeating a call never does anything twice; but once a call has taken effect, its own changes may keep a repeated one from meeting its conditions. Counts as one request.`,
  body: {
    name: 'BulkWrite',
    schema: bulkWriteSchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: {
      grants: [EXAMPLE_TUPLE],
      revocations: [EXAMPLE_REVOKED],
      if: [{ ...EXAMPLE_REVOKED, exists: true }],
    },
  },
  responseBytesMax: ({ body }) => bulkWriteBytesMax(body),
  successes: [
    success(200, 'What each change has done, in the order of the request.', {
      name: 'BulkWriteResult',
      schema: bulkWriteResultSchema,
      example: { grants: [{ ...EXAMPLE_GRANT, created: true }], revocations: [{ revoked: true }] },
      header: WARNING_HEADER,
    }),
  ],
  errors: [
    'bulk-too-large',
    'invalid-subject',
    'invalid-relation',
    'invalid-object',
    'invalid-condition',
    'type-not-allowed',
    'precondition-failed',
    'namespace-limit-reached',
    'grant-limit-reached',
  ],
  answer(session, context, { body }, { clock }) {
    const write = parseBulkWrite(body, clock.wallMs());
    return session.call('writeBulk', context, write).then((result) => {
      const written = demandWritten(write, result);
      const warning = warningHeaderOf(unfollowedWarnings(written.grants));
      return { status: 200, warning, json: () => JSON.stringify(bulkWriteRecord(write, written)) };
    });
  },
};

export const revokeGrants: PublicOperation = {
  id: 'revokeGrants',
  method: 'POST',
  path: '/v1/grants/revoke',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Revoke all grants of a subject, or on an object',
  description: `Exactly one of \`subject\` and \`object\` must be given: an absent or empty field never means all. One call revokes up to ${REVOKED_PER_CALL_MAX.toLocaleString('en')} grants at one moment. If \`complete\` is false, more may be left: repeat the call until it is true, also after one that revoked none. Repeating a call is always safe. Grants that are created meanwhile are revoked too if they match. With \`dry_run=true\` nothing changes: the response says what this call would do.`,
  body: {
    name: 'GrantFilter',
    schema: grantFilterSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { subject: EXAMPLE_TUPLE.subject },
  },
  query: dryRunQuerySchema.shape,
  successes: [
    success(200, 'How many grants were revoked; perhaps none.', {
      name: 'RevokeResult',
      schema: revokeResultSchema,
      example: { revoked: 142, complete: true },
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object'],
  answer(session, context, { body, query }) {
    const { dry_run: dryRun } = validate(dryRunQuerySchema, query);
    const filter = parseGrantFilter(body);
    return session
      .call(dryRun === 'true' ? 'previewRevocation' : 'revokeGrants', context, filter)
      .then(({ revoked, complete }) => ({ status: 200, json: `{"revoked":${revoked},"complete":${complete}}` }));
  },
};
