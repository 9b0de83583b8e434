// Checks, grants and their listings for operators: the same shapes and rules as under /v1/.

import { z } from 'zod';
import { assert } from '../../../core/assert.ts';
import type { Clock } from '../../../core/async/clock.ts';
import { anchorOf } from '../../../core/bulk-writes.ts';
import { GrantdError } from '../../../core/errors.ts';
import { grantRecord } from '../../../core/grant-attributes.ts';
import { parseExpiry, refuseExpiry } from '../../../core/grant-expiry.ts';
import { unfollowedWarnings } from '../../../core/service-warnings.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import {
  grantOf,
  identifierFault,
  isIdentifier,
  isNamespaceName,
  isRelation,
  parseTuple,
  RELATIONS,
  type Relation,
  type Tuple,
} from '../../../core/tuples.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { namespacesDenied, namespacesOfEmpty } from '../../../front/namespace-warnings.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type NamedTuple, parseQuestion, parseRelationName } from '../../../rules/questions.ts';
import type { GrantRequest, GrantResult } from '../../../shard/shard.ts';
import { readJson } from '../../body.ts';
import { pageShape, parseBody, parseQuery } from '../../schemas.ts';
import { type Call, type Operation, sessionOf } from '../operation.ts';
import { headersOf, warningHeaders } from '../warning-headers.ts';

/** parseTuple validates: each field has an error type of its own. */
const part = z.unknown().optional();
const tupleShape = { subject: part, relation: part, object: part };

async function readTuple(call: Call): Promise<Tuple & { readonly expiresAt: unknown }> {
  const body = parseBody(await readJson(call.request), { ...tupleShape, expires_at: part });
  return { ...parseTuple(body.subject, body.relation, body.object), expiresAt: body.expires_at };
}

async function readCheck(call: Call): Promise<NamedTuple & { readonly explain: boolean }> {
  const explain = z.boolean('must be true or false').optional();
  const body = parseBody(await readJson(call.request), { ...tupleShape, explain });
  return { ...parseQuestion(body.subject, body.relation, body.object), explain: body.explain === true };
}

async function writeOne(
  operatorApi: OperatorApi,
  call: Call,
  read: (expiresAt: unknown) => Pick<GrantRequest, 'revoke' | 'expiresAtMs'>,
): Promise<[Tuple, GrantResult]> {
  const session = await sessionOf(operatorApi, call);
  const { expiresAt, ...tuple } = await readTuple(call);
  const [result] = await session.call(CALLS.writeGrants, call.context(), [{ ...tuple, ...read(expiresAt) }]);
  assert(result !== undefined, 'every write has a result');
  if (result.kind === 'refused') throw new GrantdError(result.code, result.message);
  return [tuple, result];
}

type EntityField = 'subject' | 'object';

function requireIdentifier(field: EntityField, value: string | undefined): string {
  if (isIdentifier(value)) return value;
  const fault = value === undefined ? 'is missing' : identifierFault(value);
  throw new GrantdError(`invalid-${field}`, `The parameter "${field}" must be namespace:external_id; it ${fault}.`);
}

function requireRelation(value: string | undefined): Relation {
  if (value !== undefined && isRelation(value)) return value;
  throw new GrantdError('invalid-relation', `The parameter "relation" must be one of ${RELATIONS.join(', ')}.`);
}

function requireAnchor(query: { readonly [Field in EntityField]?: string | undefined }) {
  const anchor = anchorOf(query.subject, query.object);
  return 'subject' in anchor
    ? { subject: requireIdentifier('subject', anchor.subject) }
    : { object: requireIdentifier('object', anchor.object) };
}

const viaField = z.enum(['direct'], 'must be direct, or absent').optional();
const namespaceField = z.string().refine(isNamespaceName, 'must be the name of a namespace').optional();

/** Parsed field by field, since each has an error type of its own. */
const text = z.string().optional();
export const listGrantsShape = { ...pageShape, subject: text, object: text, relation: text };
const ruledShape = { ...pageShape, relation: text, namespace: namespaceField, via: viaField };
export const listObjectsShape = { ...ruledShape, subject: text };
const includeField = z.enum(['self'], 'must be self, or absent').optional();
export const listHoldersShape = { ...ruledShape, object: text, include: includeField };

export function grantOperations(operatorApi: OperatorApi, clock: Pick<Clock, 'wallMs'>): readonly Operation[] {
  return [
    {
      method: 'POST',
      path: '/tenants/:tenantId/check',
      name: 'operator-check',
      access: 'read-only',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        const { explain, ...check } = await readCheck(call);
        const explained = explain ? await session.explain(call.context(), check) : undefined;
        const { authorized, checkedAtMs } = explained ?? (await session.check(call.context(), check));
        const headers = await warningHeaders(session, call, namespacesDenied([check], [authorized]));
        const because = explained !== undefined && authorized ? { because: explained.because.map(grantRecord) } : {};
        return {
          kind: 'json',
          status: 200,
          headers,
          body: { authorized, checked_at: formatTimestamp(checkedAtMs), ...because },
        };
      },
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/grants',
      name: 'operator-create-grant',
      async run(call) {
        const [tuple, result] = await writeOne(operatorApi, call, (expiresAt) => ({
          revoke: false,
          ...parseExpiry(expiresAt, clock.wallMs()),
        }));
        assert(result.kind === 'created' || result.kind === 'exists', 'a grant is created or exists');
        return {
          kind: 'json',
          status: result.kind === 'created' ? 201 : 200,
          headers: headersOf(unfollowedWarnings([result])),
          body: grantRecord(grantOf(tuple, result)),
        };
      },
    },
    {
      method: 'DELETE',
      path: '/tenants/:tenantId/grants',
      name: 'operator-revoke-grant',
      async run(call) {
        const [, result] = await writeOne(operatorApi, call, (expiresAt) => {
          refuseExpiry(expiresAt);
          return { revoke: true };
        });
        if (result.kind === 'not-found') {
          throw new GrantdError('grant-not-found', 'No such grant exists, so there was nothing to revoke.');
        }
        return { kind: 'empty' };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/grants',
      name: 'operator-list-grants',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, listGrantsShape);
        const of = requireAnchor(query);
        const relation = query.relation === undefined ? undefined : requireRelation(query.relation);
        const session = await sessionOf(operatorApi, call);
        const page = await session.call(CALLS.listGrants, call.context(), {
          of,
          relation,
          limit: query.limit,
          cursor: query.cursor,
        });
        return {
          kind: 'json',
          status: 200,
          body: { grants: page.items.map(grantRecord), next_cursor: page.nextCursor ?? null },
        };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/objects',
      name: 'operator-list-objects',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, listObjectsShape);
        const subject = requireIdentifier('subject', query.subject);
        const relation = parseRelationName(query.relation);
        const session = await sessionOf(operatorApi, call);
        const page = await session.call(CALLS.listObjects, call.context(), {
          subject,
          relation,
          namespace: query.namespace,
          direct: query.via === 'direct',
          limit: query.limit,
          cursor: query.cursor,
        });
        const headers = await warningHeaders(session, call, namespacesOfEmpty({ ...query, entity: subject }, page));
        const body = { objects: page.items, next_cursor: page.nextCursor ?? null };
        return { kind: 'json', status: 200, headers, body };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/holders',
      name: 'operator-list-holders',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, listHoldersShape);
        const object = requireIdentifier('object', query.object);
        const relation = parseRelationName(query.relation);
        const session = await sessionOf(operatorApi, call);
        const page = await session.call(CALLS.listHolders, call.context(), {
          object,
          relation,
          namespace: query.namespace,
          direct: query.via === 'direct',
          includeSelf: query.include === 'self',
          limit: query.limit,
          cursor: query.cursor,
        });
        const headers = await warningHeaders(session, call, namespacesOfEmpty({ ...query, entity: object }, page));
        const body = { subjects: page.items, next_cursor: page.nextCursor ?? null };
        return { kind: 'json', status: 200, headers, body };
      },
    },
  ];
}
