// Tuples as people write them, one per line: subject, relation and object, separated by commas as in CSV, or by spaces
// or tabs. No identifier holds white space, so a line has one meaning.

import { GrantdError } from '../errors.ts';
import { parseTuple, type Tuple, tupleKey } from '../tuples.ts';
import { parseCsvLine } from './csv.ts';

function fieldsOf(line: string): readonly string[] {
  const columns = parseCsvLine(line);
  if (columns?.length === 3 && !columns.some((column) => /\s/.test(column))) return columns;
  return line.split(/\s+/);
}

export type TupleLine = { readonly number: number } & (
  | { readonly tuple: Tuple }
  /** What is wrong with the line, as a sentence. */
  | { readonly refusal: string }
);

function parseLine(number: number, line: string): TupleLine {
  const fields = fieldsOf(line);
  if (fields.length !== 3) {
    const counted = fields.length === 1 ? '1 part' : `${fields.length} parts`;
    return { number, refusal: `The line has ${counted} instead of 3: subject, relation and object.` };
  }
  try {
    return { number, tuple: parseTuple(fields[0], fields[1], fields[2]) };
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
export function parseTupleLines(lines: readonly Line[]): readonly TupleLine[] {
  const numbers = new Map<string, number>();
  return lines.map(({ number, text }): TupleLine => {
    const parsed = parseLine(number, text);
    if (!('tuple' in parsed)) return parsed;
    const key = tupleKey(parsed.tuple);
    const first = numbers.get(key);
    if (first !== undefined) return { number, refusal: `The same grant is in line ${first}.` };
    numbers.set(key, number);
    return parsed;
  });
}
