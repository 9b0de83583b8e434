// Turns a schema's refusal into an error of the catalogue: the first issue counts, its field decides the type, and the
// message names the field as the client wrote it (`checks[3].subject`).

import type { z } from 'zod';
import type { GrantedTuple } from '../../core/bulk-writes.ts';
import { type CallContext, parseCallContext } from '../../core/call-context.ts';
import { type ErrorCode, GrantdError } from '../../core/errors.ts';
import { parseTerms } from '../../core/grant-attributes.ts';
import {
  demandMembers,
  demandMembersOfEach,
  isJsonObject,
  type JsonObject,
  memberAt,
} from '../../core/json-members.ts';
import { alsoMissing, parseTuple, TUPLE_MEMBERS, type Tuple } from '../../core/tuples.ts';
import { type NamedTuple, parseQuestion } from '../../rules/questions.ts';
import { bulkSchema, checkSchema, grantBodySchema } from './schemas.ts';

/** The type of the error of a field; of every other field it is `invalid-request`. */
type FieldCodes = ReadonlyMap<PropertyKey, ErrorCode>;

const CODES: FieldCodes = new Map([
  ['subject', 'invalid-subject'],
  ['relation', 'invalid-relation'],
  ['object', 'invalid-object'],
  ['cursor', 'invalid-cursor'],
]);

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  }
  return text;
}

const MISSING = /; it is missing$/;

/** If `first` is about a missing field: the other fields of the same object that are missing. */
function furtherMissing(first: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): string[] {
  if (!MISSING.test(first.message)) return [];
  const parent = pathText(first.path.slice(0, -1));
  return issues
    .filter((each) => each !== first && MISSING.test(each.message) && pathText(each.path.slice(0, -1)) === parent)
    .map(({ path }) => pathText(path));
}

/**
 * The validated value. Throws the error of an unknown field, or else of the first invalid one in schema order: a field
 * that seems to be missing may be misspelled.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  codes: FieldCodes = CODES,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { issues } = result.error;
  const unknown = issues.find((each) => each.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const place = memberAt(pathText(unknown.path), unknown.keys[0] ?? '');
    throw new GrantdError('invalid-request', `${JSON.stringify(place)} ${unknown.message}.`);
  }
  const issue = issues[0];
  if (issue === undefined) throw new GrantdError('internal', 'A schema refused a value without a reason.');
  const field = issue.path.at(-1);
  const code = (field === undefined ? undefined : codes.get(field)) ?? 'invalid-request';
  const others = alsoMissing(furtherMissing(issue, result.error.issues));
  throw new GrantdError(code, `"${pathText(issue.path)}" ${issue.message}${others}.`);
}

export function validateBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  return validate(schema, objectIn(body));
}

function objectIn(body: unknown): JsonObject {
  if (isJsonObject(body)) return body;
  throw new GrantdError('invalid-request', 'The body must be a JSON object.');
}

function membersOf(body: unknown, known: readonly string[]): JsonObject {
  const fields = objectIn(body);
  demandMembers(fields, known);
  return fields;
}

const GRANT_MEMBERS = Object.keys(grantBodySchema.shape);
const CHECK_MEMBERS = Object.keys(checkSchema.shape);
const BULK_MEMBERS = Object.keys(bulkSchema.shape);

/** Does what `validateBody` does with the schema of a tuple, several times faster. */
export function validateTuple(body: unknown): Tuple {
  const { subject, relation, object } = membersOf(body, TUPLE_MEMBERS);
  return parseTuple(subject, relation, object);
}

/** The same for a tuple that is granted. `wallMs`: the present. */
export function validateGrant(body: unknown, wallMs: number): GrantedTuple {
  const fields = membersOf(body, GRANT_MEMBERS);
  return { ...parseTuple(fields.subject, fields.relation, fields.object), ...parseTerms(fields, wallMs) };
}

/** Does what `validateBody` does with the schema of a check, several times faster. */
export function validateCheck(body: unknown): NamedTuple & CallContext & { readonly explain?: true } {
  const fields = membersOf(body, CHECK_MEMBERS);
  const { subject, relation, object, explain = false, context, context_grants: contextGrants } = fields;
  const question = parseQuestion(subject, relation, object);
  if (typeof explain !== 'boolean') throw new GrantdError('invalid-request', '"explain" must be true or false.');
  const asked = explain ? { ...question, explain } : question;
  return context === undefined && contextGrants === undefined ? asked : { ...asked, ...parseCallContext(fields) };
}

/** Does what `validateBody` does with the schema of a bulk check, whose length has already been checked. */
export function validateBulk(body: unknown): BulkQuestion {
  if (isJsonObject(body) && Array.isArray(body.checks) && body.checks.every(isJsonObject)) {
    demandMembers(body, BULK_MEMBERS);
    demandMembersOfEach(body.checks, TUPLE_MEMBERS, 'checks');
    const checks = body.checks.map(({ subject, relation, object }, index) =>
      parseQuestion(subject, relation, object, 'checks', index),
    );
    return { checks, call: parseCallContext(body) };
  }
  return { checks: validateBody(bulkSchema, body).checks, call: {} };
}

interface BulkQuestion {
  readonly checks: readonly NamedTuple[];
  readonly call: CallContext;
}

/** The context in a body whose members `schema` knows; the others are validated afterwards. */
export const validateCallContext = (schema: z.ZodObject, body: unknown): CallContext =>
  parseCallContext(membersOf(body, Object.keys(schema.shape)));
