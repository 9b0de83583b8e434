// Bulk writes and filters of grants as JSON, in both APIs: parsed from a body, and shown in a response. Invariants:
// each tuple occurs at most once among the changes; an absent, empty, unknown or ill-formed field never widens what a
// call changes.

import { assertNever } from './assert.ts';
import { GrantdError } from './errors.ts';
import {
  type GrantAttributes,
  grantRecord,
  parseTerms,
  refuseTerms,
  TERM_MEMBERS,
  type TermsRequest,
} from './grant-attributes.ts';
import { demandMembers, demandMembersOfEach, isJsonObject, type JsonObject } from './json-members.ts';
import { BULK_CHANGES_MAX, BULK_PRECONDITIONS_MAX } from './limits.ts';
import type { UnfollowedGrant } from './service-warnings.ts';
import {
  EVERY_SUBJECT,
  grantOf,
  parseIdentifier,
  parseRelation,
  parseTuple,
  type Relation,
  TUPLE_MEMBERS,
  type Tuple,
  tupleKey,
} from './tuples.ts';

/**
 * `invalid-request`: the expiry has passed. `invalid-relation`: the tenant does not declare the relation.
 * `invalid-condition`: the rules do not declare the condition like this. `type-not-allowed`: the types of the rules do
 * not allow such a subject.
 */
export const GRANT_REFUSALS = [
  'namespace-limit-reached',
  'grant-limit-reached',
  'invalid-request',
  'invalid-subject',
  'invalid-relation',
  'invalid-condition',
  'type-not-allowed',
] as const;
export type GrantRefusal = (typeof GRANT_REFUSALS)[number];

/** A grant to be made, or one that exists and whose terms may change. */
export interface GrantedTuple extends Tuple, TermsRequest {}

/** A precondition of a bulk write on the state before it: the grant exists, or does not. */
interface Precondition extends Tuple {
  readonly exists: boolean;
}

/**
 * Takes effect as a whole, at one moment of the tenant's history, or not at all. At most 100 changes, of which no two
 * name the same tuple, and at most 100 preconditions.
 */
export interface BulkWrite {
  readonly grants: readonly GrantedTuple[];
  readonly revocations: readonly Tuple[];
  /** All of them are evaluated at that moment, before the changes. */
  readonly preconditions: readonly Precondition[];
}

export type BulkWriteResult =
  | {
      readonly kind: 'written';
      /** In the order of the request, each as it is after the write. */
      readonly grants: readonly ({ readonly created: boolean } & GrantAttributes & UnfollowedGrant)[];
      /** Whether each of them existed. */
      readonly revoked: readonly boolean[];
    }
  /** Nothing was changed. `precondition`: the index of the first that was not met. */
  | { readonly kind: 'precondition-not-met'; readonly precondition: number }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

/** The grants of a subject or on an object; all of them, or those of one relation. */
export interface GrantFilter {
  readonly of: { readonly subject: string } | { readonly object: string };
  /** Undefined: all. */
  readonly relation: Relation | undefined;
}

/** In a revocation, the terms have a refusal of their own. */
const GRANT_MEMBERS = [...TUPLE_MEMBERS, ...TERM_MEMBERS];
const PRECONDITION_MEMBERS = [...TUPLE_MEMBERS, 'exists'];
const BULK_MEMBERS = ['grants', 'revocations', 'if'];

const invalid = (message: string): GrantdError => new GrantdError('invalid-request', message);

function objectIn(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw invalid('The body must be a JSON object.');
}

/** The elements of a field; none if it is absent. */
function listIn(body: JsonObject, field: string): readonly unknown[] {
  const value = body[field];
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw invalid(`"${field}" must be an array.`);
}

function tupleIn(value: unknown, list: string, index: number): Tuple {
  if (!isJsonObject(value)) {
    throw invalid(`"${list}[${index}]" must be an object with subject, relation and object.`);
  }
  return parseTuple(value.subject, value.relation, value.object, list, index);
}

function grantIn(value: unknown, index: number, wallMs: number): GrantedTuple {
  const tuple = tupleIn(value, 'grants', index);
  return isJsonObject(value) ? { ...tuple, ...parseTerms(value, wallMs, `grants[${index}]`) } : tuple;
}

function revocationIn(value: unknown, index: number): Tuple {
  const tuple = tupleIn(value, 'revocations', index);
  if (isJsonObject(value)) refuseTerms(value, `revocations[${index}]`);
  return tuple;
}

function preconditionIn(value: unknown, index: number): Precondition {
  const tuple = tupleIn(value, 'if', index);
  const exists: unknown = isJsonObject(value) ? value.exists : undefined;
  if (typeof exists === 'boolean') return { ...tuple, exists };
  throw invalid(
    `"if[${index}].exists" must be true or false; it ${exists === undefined ? 'is missing' : 'is neither'}.`,
  );
}

/** Before any element is parsed, so that the response does not depend on the surplus elements. */
function refuseTooMany(grants: number, revocations: number, preconditions: number): void {
  const changes = grants + revocations;
  if (changes > BULK_CHANGES_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"grants" and "revocations" hold ${changes} changes together; at most ${BULK_CHANGES_MAX} are allowed.`,
    );
  }
  if (preconditions > BULK_PRECONDITIONS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"if" holds ${preconditions} conditions; at most ${BULK_PRECONDITIONS_MAX} are allowed.`,
    );
  }
}

function refuseRepeated({ grants, revocations }: BulkWrite): void {
  const tuples = [...grants, ...revocations];
  const placeOf = (index: number): string =>
    index < grants.length ? `grants[${index}]` : `revocations[${index - grants.length}]`;
  const found = new Map<string, number>();
  for (const [index, tuple] of tuples.entries()) {
    const key = tupleKey(tuple);
    const first = found.get(key);
    if (first !== undefined) {
      throw invalid(`"${placeOf(first)}" and "${placeOf(index)}" name the same tuple; a call changes it once.`);
    }
    found.set(key, index);
  }
}

/** Throws a GrantdError that names the place of the first error: `grants[3].subject`. */
export function parseBulkWrite(body: unknown, wallMs: number): BulkWrite {
  const fields = objectIn(body);
  demandMembers(fields, BULK_MEMBERS);
  const [grants, revocations, preconditions] = [
    listIn(fields, 'grants'),
    listIn(fields, 'revocations'),
    listIn(fields, 'if'),
  ];
  refuseTooMany(grants.length, revocations.length, preconditions.length);
  // Before any element is parsed: what seems to be missing may be misspelled.
  demandMembersOfEach(grants, GRANT_MEMBERS, 'grants');
  demandMembersOfEach(revocations, GRANT_MEMBERS, 'revocations');
  demandMembersOfEach(preconditions, PRECONDITION_MEMBERS, 'if');
  if (grants.length + revocations.length === 0) {
    throw invalid('The call changes nothing: "grants" and "revocations" are absent or empty.');
  }
  const write = {
    grants: grants.map((value, index) => grantIn(value, index, wallMs)),
    revocations: revocations.map(revocationIn),
    preconditions: preconditions.map(preconditionIn),
  };
  refuseRepeated(write);
  return write;
}

type Written = Extract<BulkWriteResult, { kind: 'written' }>;

/** Throws the reason for which the write was not made. */
export function demandWritten(write: BulkWrite, result: BulkWriteResult): Written {
  switch (result.kind) {
    case 'written':
      return result;
    case 'precondition-not-met':
      throw unmetPrecondition(write, result.precondition);
    case 'refused':
      throw new GrantdError(result.code, result.message);
    default:
      return assertNever(result);
  }
}

/** The effects of a bulk write, as JSON. */
export const bulkWriteRecord = (write: Pick<BulkWrite, 'grants'>, result: Pick<Written, 'grants' | 'revoked'>) => ({
  grants: write.grants.flatMap((tuple, index) => {
    const written = result.grants[index];
    return written === undefined ? [] : [{ ...grantRecord(grantOf(tuple, written)), created: written.created }];
  }),
  revocations: result.revoked.map((revoked) => ({ revoked })),
});

function unmetPrecondition({ preconditions }: BulkWrite, index: number): GrantdError {
  const precondition = preconditions[index];
  if (precondition === undefined) throw new Error(`A bulk write has no precondition ${index}.`);
  const states = precondition.exists ? 'must exist, but does not' : 'must not exist, but does';
  return new GrantdError(
    'precondition-failed',
    `"if[${index}]" is not met: the grant ${tupleKey(precondition)} ${states}. Nothing was changed.`,
    { details: { condition: index } },
  );
}

/** The subject or the object whose grants are meant: exactly one of the two, since an absent one never means all. */
export function parseAnchor(subject: unknown, object: unknown): GrantFilter['of'] {
  if (subject !== undefined && object === undefined) return { subject: parseIdentifier('subject', subject) };
  if (object !== undefined && subject === undefined) return { object: parseIdentifier('object', object) };
  const given = subject === undefined ? 'neither is given' : 'both are given';
  throw invalid(`Exactly one of "subject" and "object" must be given; ${given}.`);
}

/** The grants of a subject or on an object. Only an absent relation means all relations. */
export function parseGrantFilter(body: unknown): GrantFilter {
  const fields = objectIn(body);
  demandMembers(fields, GRANT_MEMBERS);
  const { subject, object, relation } = fields;
  refuseTerms(fields);
  const of = parseAnchor(subject, object);
  if (subject === EVERY_SUBJECT && relation === undefined) {
    throw invalid('"relation" must be a state, if "subject" is "*": no request ends every state of every object.');
  }
  return {
    of,
    relation: relation === undefined ? undefined : parseRelation(relation),
  };
}
