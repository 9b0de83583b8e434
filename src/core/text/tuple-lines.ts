// Tuples as people write them, one per line: subject, relation, object and optionally the expiry, separated by commas
// as in CSV, or by spaces or tabs; then perhaps `with` and a condition. None of them but the condition contains white
// space, so a line is unambiguous.

import { GrantdError } from '../errors.ts';
import type { TermsRequest } from '../grant-attributes.ts';
import { conditionInText, expiryPassed, parseCondition, parseExpiry } from '../grant-terms.ts';
import { parseTuple, type Tuple, tupleKey } from '../tuples.ts';
import { parseCsvLine } from './csv.ts';

const fits = ({ length }: readonly string[]): boolean => length === 3 || length === 4;

/** The parts of a line, however they are separated. */
export function fieldsOf(line: string): readonly string[] {
  const columns = parseCsvLine(line);
  if (columns !== undefined && fits(columns) && !columns.some((column) => /\s/.test(column))) return columns;
  return line.split(/\s+/);
}

export type TupleLine = { readonly number: number } & (
  | { readonly tuple: Tuple & TermsRequest }
  /** What is wrong with the line, as a sentence. */
  | { readonly refusal: string }
);

/** One blank on each side: a search for runs of blanks would take quadratic time in a line of blanks. */
const WITH = /\swith\s/;

/** A line in two: what stands before `with`, and the condition behind it, without the blanks between. */
export function splitCondition(line: string): { readonly tuple: string; readonly condition: string | undefined } {
  const at = WITH.exec(line);
  if (at === null) return { tuple: line, condition: undefined };
  return { tuple: line.slice(0, at.index).trimEnd(), condition: line.slice(at.index + at[0].length).trimStart() };
}

function parseLine(number: number, line: string, wallMs: number): TupleLine {
  const split = splitCondition(line);
  const fields = fieldsOf(split.tuple);
  if (!fits(fields)) {
    const counted = fields.length === 1 ? '1 part' : `${fields.length} parts`;
    return {
      number,
      refusal: `The line has ${counted} instead of 3 or 4: subject, relation, object and perhaps the expiry.`,
    };
  }
  const [subject, relation, object, end = ''] = fields;
  try {
    const tuple = parseTuple(subject, relation, object);
    const expiry = parseExpiry(end === '' ? undefined : end, wallMs);
    const { expiresAtMs } = expiry;
    if (typeof expiresAtMs === 'number' && expiresAtMs <= wallMs) return { number, refusal: expiryPassed() };
    const condition = split.condition === undefined ? undefined : conditionInText(split.condition);
    return { number, tuple: { ...tuple, ...expiry, ...parseCondition(condition) } };
  } catch (error) {
    return { number, refusal: GrantdError.from(error).message };
  }
}

export interface Line {
  /** 1 and up, as in an editor. */
  readonly number: number;
  readonly text: string;
}

/** The lines that are not empty, without the white space around them. */
export const linesOf = (text: string): readonly Line[] =>
  text.split(/\r\n|\r|\n/).flatMap((raw, index) => {
    const line = raw.trim();
    return line === '' ? [] : [{ number: index + 1, text: line }];
  });

/** A result for each line. A tuple that occurs twice is refused where it occurs again. */
export function parseTupleLines(lines: readonly Line[], wallMs: number): readonly TupleLine[] {
  const numbers = new Map<string, number>();
  return lines.map(({ number, text }): TupleLine => {
    const parsed = parseLine(number, text, wallMs);
    if (!('tuple' in parsed)) return parsed;
    const key = tupleKey(parsed.tuple);
    const first = numbers.get(key);
    if (first !== undefined) return { number, refusal: `The same grant is in line ${first}.` };
    numbers.set(key, number);
    return parsed;
  });
}
