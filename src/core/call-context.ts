// The context of a check or a listing: values for the parameters of conditions, and grants that count for this call as
// if they were stored. It is not kept, and no other call sees it.

import { createHash } from 'node:crypto';
import { type ErrorCode, GrantdError } from './errors.ts';
import { canonicalContext, conditionRecord, parseCondition } from './grant-terms.ts';
import { demandMembersOfEach, isJsonObject, type JsonObject } from './json-members.ts';
import { CONTEXT_GRANTS_MAX } from './limits.ts';
import { parseTuple, TUPLE_MEMBERS, type Tuple } from './tuples.ts';

/** UTF-8 bytes of the canonical context of a call. */
export const CALL_CONTEXT_BYTES_MAX = 32 * 1024;

/** A grant that counts for one call. */
export interface ContextGrant extends Tuple {
  /** The form of `GrantAttributes`. */
  readonly condition?: string;
}

export interface CallContext {
  /** Canonical JSON of an object, at most 32 KiB; `contextIn` parses it. Absent: it is empty. */
  readonly context?: string;
  /** At most 100, at least one. Absent: none. */
  readonly contextGrants?: readonly ContextGrant[];
}

/** What a call may be refused with for its context grants. */
export const CONTEXT_GRANT_ERRORS = [
  'bulk-too-large',
  'invalid-subject',
  'invalid-relation',
  'invalid-object',
  'invalid-condition',
  'type-not-allowed',
] as const satisfies readonly ErrorCode[];

export const NO_CONTEXT: CallContext = Object.freeze({});

/** Whether the call sees other grants than those that are stored. */
export const changesGrants = ({ contextGrants }: CallContext): boolean => contextGrants !== undefined;

export const hasContext = (call: CallContext): boolean => call.context !== undefined || changesGrants(call);

/** Only the context of a larger object. */
export const contextOf = ({ context, contextGrants }: CallContext): CallContext => ({
  ...(context === undefined ? {} : { context }),
  ...(contextGrants === undefined ? {} : { contextGrants }),
});

const LIST = 'context_grants';
const GRANT_MEMBERS = [...TUPLE_MEMBERS, 'condition'];
const EMPTY = '{}';

/** Throws `invalid-request` that names the place. `field`: of the value, for the message. */
export function parseContext(value: unknown, field = 'context'): CallContext {
  if (value === undefined) return NO_CONTEXT;
  const context = canonicalContext(value, field, CALL_CONTEXT_BYTES_MAX);
  return context === EMPTY ? NO_CONTEXT : { context };
}

function grantIn(value: unknown, index: number): ContextGrant {
  const place = `${LIST}[${index}]`;
  if (!isJsonObject(value)) {
    throw new GrantdError('invalid-request', `"${place}" must be an object with subject, relation and object.`);
  }
  const tuple = parseTuple(value.subject, value.relation, value.object, LIST, index);
  const { condition } = parseCondition(value.condition, `${place}.condition`);
  return typeof condition === 'string' ? { ...tuple, condition } : tuple;
}

function parseContextGrants(value: unknown): CallContext {
  if (value === undefined) return NO_CONTEXT;
  if (!Array.isArray(value)) throw new GrantdError('invalid-request', `"${LIST}" must be an array.`);
  if (value.length > CONTEXT_GRANTS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"${LIST}" holds ${value.length} grants; at most ${CONTEXT_GRANTS_MAX} are allowed.`,
    );
  }
  demandMembersOfEach(value, GRANT_MEMBERS, LIST);
  return value.length === 0 ? NO_CONTEXT : { contextGrants: value.map(grantIn) };
}

/** The members `context` and `context_grants` of a body. Throws a GrantdError that names where the first error is. */
export const parseCallContext = (body: JsonObject): CallContext => ({
  ...parseContext(body.context),
  ...parseContextGrants(body.context_grants),
});

/** What binds a cursor to the context of its listing; empty if that has none. */
export function contextScope({ context = EMPTY, contextGrants = [] }: CallContext): readonly string[] {
  if (context === EMPTY && contextGrants.length === 0) return [];
  const grants = contextGrants.map(({ subject, relation, object, condition }) => [
    subject,
    relation,
    object,
    condition ?? null,
  ]);
  const digest = createHash('sha256')
    .update(JSON.stringify([context, grants]))
    .digest('base64url');
  return ['context', digest];
}

/** The form in which a proof shows it. */
export const contextGrantRecord = ({ condition, ...tuple }: ContextGrant): object => ({
  ...tuple,
  ...(condition === undefined ? {} : { condition: conditionRecord(condition) }),
  context_grant: true,
});
