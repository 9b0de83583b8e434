// Bulk writes and filters of grants as JSON, in both APIs: parsed from a body, and shown in a response. Invariants:
// each tuple occurs at most once among the changes; an absent, empty or ill-formed field never widens what a call
// changes.

import { GrantdError } from './errors.ts';
import { type GrantAttributes, grantRecord } from './grant-attributes.ts';
import { BULK_CHANGES_MAX, BULK_CONDITIONS_MAX } from './limits.ts';
import { grantOf, isIdentifier, isRelation, parseTuple, RELATIONS, type Relation, type Tuple } from './tuples.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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

/** One grant of a bulk write: its tuple, and what a caller may say of a grant beside it. */
const grantIn = (value: unknown, index: number): Tuple => tupleIn(value, 'grants', index);

export interface ParsedCondition extends Tuple {
  readonly exists: boolean;
}

function conditionIn(value: unknown, index: number): ParsedCondition {
  const tuple = tupleIn(value, 'if', index);
  const exists: unknown = isJsonObject(value) ? value.exists : undefined;
  if (typeof exists === 'boolean') return { ...tuple, exists };
  throw invalid(
    `"if[${index}].exists" must be true or false; it ${exists === undefined ? 'is missing' : 'is neither'}.`,
  );
}

export interface ParsedBulkWrite {
  readonly grants: readonly Tuple[];
  readonly revocations: readonly Tuple[];
  readonly conditions: readonly ParsedCondition[];
}

/** Before any element is parsed, so that the response does not depend on the surplus elements. */
function refuseTooMany(grants: number, revocations: number, conditions: number): void {
  const changes = grants + revocations;
  if (changes > BULK_CHANGES_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"grants" and "revocations" hold ${changes} changes together; at most ${BULK_CHANGES_MAX} are allowed.`,
    );
  }
  if (conditions > BULK_CONDITIONS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"if" holds ${conditions} conditions; at most ${BULK_CONDITIONS_MAX} are allowed.`,
    );
  }
}

/** No identifier holds a space. */
const keyOf = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

function refuseRepeated(write: ParsedBulkWrite): void {
  const places = new Map<string, string>();
  for (const list of ['grants', 'revocations'] as const) {
    for (const [index, tuple] of write[list].entries()) {
      const place = `${list}[${index}]`;
      const first = places.get(keyOf(tuple));
      if (first !== undefined) throw invalid(`"${first}" and "${place}" name the same tuple; a call changes it once.`);
      places.set(keyOf(tuple), place);
    }
  }
}

/** Throws what is wrong, with its place: `grants[3].subject`. */
export function parseBulkWrite(body: unknown): ParsedBulkWrite {
  const fields = objectIn(body);
  const [grants, revocations, conditions] = [
    listIn(fields, 'grants'),
    listIn(fields, 'revocations'),
    listIn(fields, 'if'),
  ];
  refuseTooMany(grants.length, revocations.length, conditions.length);
  if (grants.length + revocations.length === 0) {
    throw invalid('The call changes nothing: "grants" and "revocations" are absent or empty.');
  }
  const write = {
    grants: grants.map(grantIn),
    revocations: revocations.map((value, index) => tupleIn(value, 'revocations', index)),
    conditions: conditions.map(conditionIn),
  };
  refuseRepeated(write);
  return write;
}

/** What a bulk write has done, as JSON. */
export const bulkWriteRecord = (
  write: Pick<ParsedBulkWrite, 'grants'>,
  result: {
    readonly grants: readonly ({ readonly created: boolean } & GrantAttributes)[];
    readonly revoked: readonly boolean[];
  },
) => ({
  grants: write.grants.flatMap((tuple, index) => {
    const written = result.grants[index];
    return written === undefined ? [] : [{ ...grantRecord(grantOf(tuple, written)), created: written.created }];
  }),
  revocations: result.revoked.map((revoked) => ({ revoked })),
});

/** The error for the condition with this index. */
export function unmetCondition({ conditions }: ParsedBulkWrite, index: number): GrantdError {
  const condition = conditions[index];
  if (condition === undefined) throw new Error('A condition that is not met is one of the call.');
  const states = condition.exists ? 'must exist, but does not' : 'must not exist, but does';
  return new GrantdError(
    'precondition-failed',
    `"if[${index}]" is not met: the grant ${keyOf(condition)} ${states}. Nothing was changed.`,
    { details: { condition: index } },
  );
}

/** Exactly one of the two: an absent field never means all. */
export function anchorOf<Value>(
  subject: Value | undefined,
  object: Value | undefined,
): { readonly subject: Value } | { readonly object: Value } {
  if (subject !== undefined && object === undefined) return { subject };
  if (object !== undefined && subject === undefined) return { object };
  const given = subject === undefined ? 'neither is given' : 'both are given';
  throw invalid(`Exactly one of "subject" and "object" must be given; ${given}.`);
}

export interface ParsedGrantFilter {
  readonly of: { readonly subject: string } | { readonly object: string };
  readonly relation: Relation | undefined;
}

function identifierIn(field: 'subject' | 'object', value: unknown): string {
  if (isIdentifier(value)) return value;
  const otherwise = typeof value === 'string' ? 'is not of that form' : 'is not a string';
  throw new GrantdError(`invalid-${field}`, `"${field}" must be namespace:external_id; it ${otherwise}.`);
}

function relationIn(value: unknown): Relation {
  if (typeof value === 'string' && isRelation(value)) return value;
  const otherwise = typeof value === 'string' ? 'is none of them' : 'is not a string';
  throw new GrantdError('invalid-relation', `"relation" must be one of ${RELATIONS.join(', ')}; it ${otherwise}.`);
}

/** The grants of a subject or on an object. Only an absent relation means all relations. */
export function parseGrantFilter(body: unknown): ParsedGrantFilter {
  const { subject, object, relation } = objectIn(body);
  const anchor = anchorOf(subject, object);
  return {
    of:
      'subject' in anchor
        ? { subject: identifierIn('subject', anchor.subject) }
        : { object: identifierIn('object', anchor.object) },
    relation: relation === undefined ? undefined : relationIn(relation),
  };
}
