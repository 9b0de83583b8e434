// Checks as people write them, with expected results: lines of subject, relation, object and optionally `true` or
// `false`, or JSON. Invariant: anything else is refused; a mistyped expectation never counts as none.

import { GrantdError } from '../core/errors.ts';
import { demandMembers, isJsonObject, unknownMember } from '../core/json-members.ts';
import { formatCsvLine, holdsFormula } from '../core/text/csv.ts';
import { parseJson } from '../core/text/json.ts';
import { parseTimestamp } from '../core/text/timestamps.ts';
import { fieldsOf, linesOf } from '../core/text/tuple-lines.ts';
import { TUPLE_MEMBERS } from '../core/tuples.ts';
import { type NamedTuple, parseQuestion } from './questions.ts';

/** The first line of a file of expected results in CSV. */
export const EXPECTED_HEAD = 'subject,relation,object,expected';

/** Including the members of a grant in an export, which a check ignores. */
const CHECK_MEMBERS = [...TUPLE_MEMBERS, 'expected', 'expires_at', 'grant_id', 'created_at'];

export interface ExpectedCheck {
  readonly question: NamedTuple;
  /** Undefined: the line does not say. */
  readonly expected: boolean | undefined;
}

export type ExpectedLine = { readonly number: number } & (
  | ExpectedCheck
  /** What is wrong with the line, as a sentence. */
  | { readonly refusal: string }
);

/**
 * The fourth column of a line. An export has the expiry of a grant there, which a check ignores. Throws
 * `invalid-request`.
 */
export function parseExpected(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (word === 'true' || word === 'false') return word === 'true';
  if (text === '' || parseTimestamp(text) !== undefined) return undefined;
  throw new GrantdError('invalid-request', `The expected result must be true or false, not ${JSON.stringify(text)}.`);
}

/** A check in JSON. Throws the error of the first field that is wrong. */
export function parseExpectedJson(value: unknown): ExpectedCheck {
  if (!isJsonObject(value)) throw new GrantdError('invalid-request', 'The line is not a JSON object.');
  demandMembers(value, CHECK_MEMBERS);
  const { subject, relation, object, expected } = value;
  if (expected !== undefined && expected !== null && typeof expected !== 'boolean') {
    throw new GrantdError('invalid-request', '"expected" must be true or false.');
  }
  return { question: parseQuestion(subject, relation, object), expected: expected ?? undefined };
}

function parseColumns(text: string): ExpectedCheck {
  const columns = fieldsOf(text);
  if (columns.length !== 3 && columns.length !== 4) {
    const counted = columns.length === 1 ? '1 part' : `${columns.length} parts`;
    throw new GrantdError(
      'invalid-request',
      `The line has ${counted} instead of 3 or 4: subject, relation, object and perhaps the expected result.`,
    );
  }
  const [subject, relation, object, expected = ''] = columns;
  return { question: parseQuestion(subject, relation, object), expected: parseExpected(expected) };
}

function attempt(number: number, parse: () => ExpectedCheck): ExpectedLine {
  try {
    return { number, ...parse() };
  } catch (error) {
    return { number, refusal: GrantdError.from(error).message };
  }
}

/** Undefined: it is not JSON as a whole, or gives a member twice; then its lines are read. */
function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Each check of the text: lines, lines of JSON, an array, or the body of a bulk check. In an array, checks are numbered
 * instead of lines. No more than `countMax` are parsed; the others are only counted.
 */
export function parseExpectedChecks(
  text: string,
  countMax: number,
): { readonly lines: readonly ExpectedLine[]; readonly count: number } {
  const value = /^\s*[[{]/.test(text) ? jsonIn(text) : undefined;
  const list = isJsonObject(value) && Array.isArray(value.checks) ? value.checks : value;
  if (Array.isArray(list)) {
    const checks: readonly unknown[] = list;
    const refusal = isJsonObject(value) ? unknownMember(value, ['checks']) : undefined;
    if (refusal !== undefined) return { lines: [{ number: 1, refusal }], count: 1 };
    const lines = checks.slice(0, countMax).map((each, at) => attempt(at + 1, () => parseExpectedJson(each)));
    return { lines, count: checks.length };
  }
  const lines = linesOf(text).filter((line) => line.text.toLowerCase() !== EXPECTED_HEAD);
  const parsed = lines
    .slice(0, countMax)
    .map((line) =>
      attempt(line.number, () =>
        line.text.startsWith('{') ? parseExpectedJson(parseJson(line.text, 'The line')) : parseColumns(line.text),
      ),
    );
  return { lines: parsed, count: lines.length };
}

/**
 * A file of checks, as `grantd check -f` reads it: CSV, or lines of JSON if CSV would have to change a text so that it
 * is no formula of a spreadsheet.
 */
export function formatExpectedChecks(checks: readonly ExpectedCheck[]): {
  readonly format: 'csv' | 'ndjson';
  readonly text: string;
} {
  if (checks.some(({ question }) => holdsFormula(question.subject) || holdsFormula(question.object))) {
    const lines = checks.map(({ question: { subject, relation, object }, expected }) =>
      JSON.stringify({ subject, relation, object, expected }),
    );
    return { format: 'ndjson', text: `${lines.join('\n')}\n` };
  }
  const lines = checks.map(({ question: { subject, relation, object }, expected }) =>
    formatCsvLine([subject, relation, object, ...(expected === undefined ? [] : [String(expected)])]),
  );
  return { format: 'csv', text: [EXPECTED_HEAD, ...lines, ''].join('\n') };
}
