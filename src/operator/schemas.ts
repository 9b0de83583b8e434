// The schemas of bodies and query parameters that several operations of the operator's API accept, and the one way to
// apply them. An invalid value is `invalid-request`, and the detail names the field.

import { z } from 'zod';
import { GrantdError } from '../core/errors.ts';
import { memberAt } from '../core/json-members.ts';
import { NAME_LENGTH_MAX, PAGE_LIMIT_DEFAULT } from '../core/limits.ts';
import { READERS_MAX } from '../core/plans.ts';
import { SCOPES } from '../core/scopes.ts';
import { parseQuery as parseParameters } from '../core/text/query.ts';
import { isNamespaceName } from '../core/tuples.ts';
import { closedObject, pageLimit, waitSeconds } from '../http/schema/schema-parts.ts';

const READERS_MESSAGE = `must be a whole number from 0 to ${READERS_MAX}, or "auto"`;

/** Control characters (Cc): C0, DEL and C1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const codePoints = (text: string): number => [...text].length;
const isPlainText = (text: string): boolean => !CONTROL.test(text) && text.isWellFormed();

const plainText = (lengthMin: 0 | 1) =>
  z
    .string('must be a string')
    .refine(
      (text) => codePoints(text) >= lengthMin && codePoints(text) <= NAME_LENGTH_MAX && isPlainText(text),
      `must have ${lengthMin === 0 ? 'up' : '1'} to ${NAME_LENGTH_MAX} characters, none of them a control character or a lone surrogate`,
    );

export const tenantName = plainText(1);
/** A part of a tenant's name or id; empty: all of them. */
export const tenantSearch = plainText(0);
export const keyName = plainText(0);

export const planName = z.string('must be a string');
export const tenantReaders = z.union(
  [z.int(READERS_MESSAGE).min(0, READERS_MESSAGE).max(READERS_MAX, READERS_MESSAGE), z.literal('auto')],
  READERS_MESSAGE,
);

export const scopes = z
  .array(z.enum(SCOPES, `must be one of ${SCOPES.join(', ')}`), `must be an array of scopes: ${SCOPES.join(', ')}`)
  .min(1, 'must name at least one scope')
  .max(SCOPES.length, `must name at most ${SCOPES.length} scopes`)
  .refine((list) => new Set(list).size === list.length, 'must name each scope once');

/** ISO 8601 in UTC; becomes milliseconds since the Unix epoch. */
export const timestamp = z.iso
  .datetime('must be a timestamp in UTC such as 2030-01-31T12:00:00.000Z')
  .transform((text) => Date.parse(text));

/** Documentation of query parameters that several operations have. */
export const PARAMETERS = {
  cursor: { description: 'The `next_cursor` of the previous page of the same query.' },
  subject: {
    description: 'Only grants of this subject. In a listing of grants, either this or `object`.',
    part: 'SubjectIdentifier',
  },
  object: {
    description: 'Only grants on this object. In a listing of grants, either this or `subject`.',
    part: 'ObjectIdentifier',
  },
  relation: { description: 'The relation; in listings under rules, also a name that a rule defines.' },
  namespace: { description: 'Only entities of this namespace.' },
  since: { description: 'Only what came at this time or later.' },
  action: { description: 'Only changes with this action; of the change feed, several, separated by commas.' },
  format: { description: 'The form of the body.' },
} as const;

export const namespaceName = z
  .string()
  .refine(isNamespaceName, 'must be the name of a namespace')
  .meta(PARAMETERS.namespace)
  .optional();

/** A time, or only what comes from now on. */
export const sinceOrNow = z
  .union([z.literal('now'), timestamp], 'must be "now", or a timestamp in UTC')
  .meta(PARAMETERS.since)
  .optional();

export const wait = waitSeconds('How many seconds to wait if there is nothing to return.').default(0);

/** Query parameters of a listing. */
export const pageShape = {
  limit: pageLimit('Items per page: 1 to 1,000, 100 unless given.').default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().meta(PARAMETERS.cursor).optional(),
};

function refusal(error: z.ZodError, what: 'field' | 'parameter'): GrantdError {
  const { issues } = error;
  // A field that seems to be missing may be misspelled.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
  if (issue === undefined) return new GrantdError('invalid-request', 'The request is malformed.');
  if (issue.code === 'unrecognized_keys') {
    const name = JSON.stringify(memberAt('', issue.keys[0] ?? ''));
    return new GrantdError('invalid-request', `The ${what} ${name} ${issue.message}.`);
  }
  if (issue.path.length === 0) return new GrantdError('invalid-request', `The body ${issue.message}.`);
  const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const name = path.slice(path.startsWith('.') ? 1 : 0);
  return new GrantdError('invalid-request', `The ${what} "${name}" ${issue.message}.`);
}

/** A JSON object of that shape, and nothing else in it. */
export function parseBody<Shape extends z.core.$ZodLooseShape>(
  body: unknown,
  shape: Shape,
): z.output<z.ZodObject<Shape>> {
  const result = closedObject(shape, 'must be a JSON object').safeParse(body);
  if (!result.success) throw refusal(result.error, 'field');
  return result.data;
}

/** Query parameters of that shape; unknown and repeated ones are refused. */
export function parseQuery<Shape extends z.core.$ZodLooseShape>(
  search: string,
  shape: Shape,
): z.output<z.ZodObject<Shape>> {
  const result = z.strictObject(shape).safeParse({ ...parseParameters(search, Object.keys(shape)) });
  if (!result.success) throw refusal(result.error, 'parameter');
  return result.data;
}
