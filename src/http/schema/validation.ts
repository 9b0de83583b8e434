// Turns a schema's refusal into an error of the catalogue: the first issue counts, its field decides the type, and the
// message names the field as the client wrote it (`checks[3].subject`).

import type { z } from 'zod';
import { type ErrorCode, GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { alsoMissing, parseTuple, type Tuple } from '../../core/tuples.ts';
import { type NamedTuple, parseQuestion } from '../../rules/questions.ts';
import { bulkSchema, checkSchema, tupleSchema } from './schemas.ts';

const CODES: ReadonlyMap<PropertyKey, ErrorCode> = new Map([
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

/** The validated value without unknown fields. Throws the error of the first invalid field, in schema order. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue === undefined) throw new GrantdError('internal', 'A schema refused a value without a reason.');
  const field = issue.path.at(-1);
  const code = (field === undefined ? undefined : CODES.get(field)) ?? 'invalid-request';
  const others = alsoMissing(furtherMissing(issue, result.error.issues));
  throw new GrantdError(code, `"${pathText(issue.path)}" ${issue.message}${others}.`);
}

/** Like `validate`, for a whole body. */
export function validateBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  if (!isJsonObject(body)) throw new GrantdError('invalid-request', 'The body must be a JSON object.');
  return validate(schema, body);
}

/** Like `validateBody` with the schema of a tuple, but several times faster. */
export function validateTuple(body: unknown): Tuple {
  if (!isJsonObject(body)) return validateBody(tupleSchema, body);
  return parseTuple(body.subject, body.relation, body.object);
}

/** Like `validateBody` with the schema of a check, but several times faster. */
export function validateCheck(body: unknown): NamedTuple & { readonly explain?: true } {
  const { subject, relation, object, explain = false } = isJsonObject(body) ? body : validateBody(checkSchema, body);
  const question = parseQuestion(subject, relation, object);
  if (typeof explain !== 'boolean') throw new GrantdError('invalid-request', '"explain" must be true or false.');
  return explain ? { ...question, explain } : question;
}

/** Like `validateBody` with the schema of a bulk check, whose length has already been checked. */
export function validateBulk(body: unknown): readonly NamedTuple[] {
  if (isJsonObject(body) && Array.isArray(body.checks) && body.checks.every(isJsonObject)) {
    return body.checks.map(({ subject, relation, object }, index) =>
      parseQuestion(subject, relation, object, 'checks', index),
    );
  }
  return validateBody(bulkSchema, body).checks;
}
