// The lines of a file to import: cut from a stream in bounded memory, numbered from 1 as in an editor, and converted to
// the lines of JSON that the operator's API accepts. The API validates the identifiers.

import { GrantdError } from '../../../../src/core/errors.ts';
import { ExportFrame } from '../../../../src/core/export-frame.ts';
import { membersInColumns, TERM_MEMBERS } from '../../../../src/core/grant-attributes.ts';
import { demandMembers, isJsonObject } from '../../../../src/core/json-members.ts';
import { parseCsvLine } from '../../../../src/core/text/csv.ts';
import { parseJson } from '../../../../src/core/text/json.ts';
import { TUPLE_MEMBERS } from '../../../../src/core/tuples.ts';
import { EXPECTED_HEAD } from '../../../../src/rules/expected-checks.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';

export type ImportFormat = 'tsv' | 'csv' | 'ndjson';

const COLUMNS = [...TUPLE_MEMBERS, ...TERM_MEMBERS];
const COLUMNS_MIN = TUPLE_MEMBERS.length;

/** Heads that spreadsheets write; a grant cannot look like them. */
const CSV_HEADS: ReadonlySet<string> = new Set([
  ...COLUMNS.map((_, last) => COLUMNS.slice(0, last + 1).join(',')).slice(COLUMNS_MIN - 1),
  EXPECTED_HEAD,
]);

/** Twenty times the longest tuple in JSON with every character escaped; a longer line cannot be valid. */
export const LINE_BYTES_MAX = 128 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface SourceLine {
  /** 1 and up; empty lines count. */
  readonly number: number;
  /** Without its line end. */
  readonly bytes: Buffer;
  /** The line was longer than allowed; `bytes` has its start. */
  readonly cut: boolean;
}

export interface Refusal {
  /** A code of the error catalogue. */
  readonly code: string;
  readonly detail: string;
}

/** The rules of the tenant: what the grants behind them mean, and whether they are allowed, depends on them. */
type RulesEntry = { readonly rules: RuleSet } | { readonly rules: 'unreadable'; readonly refusal: Refusal };

/** What is in a line: a grant to send, the rules of the tenant, or why it is neither. */
export type ImportEntry = { readonly line: SourceLine } & (
  | { readonly json: string }
  | { readonly refusal: Refusal }
  | RulesEntry
);

/** All lines of a stream, grouped by chunk. The last line needs no line end. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SourceLine[]> {
  let number = 0;
  let pending: Buffer[] = [];
  let pendingLength = 0;
  let cut = false;

  const add = (part: Buffer): void => {
    const room = LINE_BYTES_MAX - pendingLength;
    if (part.length > room) cut = true;
    const kept = part.subarray(0, room);
    if (kept.length > 0) pending.push(kept);
    pendingLength += kept.length;
  };
  const finish = (): SourceLine => {
    number += 1;
    let bytes = Buffer.concat(pending);
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    if (number === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3);
    const line = { number, bytes, cut };
    pending = [];
    pendingLength = 0;
    cut = false;
    return line;
  };

  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: SourceLine[] = [];
    let start = 0;
    for (let end = buffer.indexOf(NEWLINE); end >= 0; end = buffer.indexOf(NEWLINE, start)) {
      add(buffer.subarray(start, end));
      lines.push(finish());
      start = end + 1;
    }
    // A copy, because a stream may reuse the memory of its chunk.
    if (start < buffer.length) add(Buffer.from(buffer.subarray(start)));
    if (lines.length > 0) yield lines;
  }
  if (pendingLength > 0) yield [finish()];
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function refuse(detail: string): { readonly refusal: Refusal } {
  return { refusal: { code: 'invalid-request', detail } };
}

/** How a line of rules begins; of a line that cannot be parsed, nothing else tells what it was meant to be. */
const RULES_BEGIN = /^[\t ]*\{[\t ]*"rules"/;
const RULES_BEGIN_BYTES_MAX = 64;

const beginsRules = ({ bytes }: SourceLine): boolean =>
  RULES_BEGIN.test(bytes.subarray(0, RULES_BEGIN_BYTES_MAX).toString());

/** The rules of a line, as an export writes them; undefined: it is a grant, or what the API refuses. */
function rulesIn(line: SourceLine, text: string): RulesEntry | undefined {
  // Within a value, quotes are escaped.
  if (!text.includes('"rules"')) return undefined;
  let isRules = beginsRules(line);
  try {
    const value = parseJson(text, 'The line');
    isRules = isJsonObject(value) && value.rules !== undefined && value.subject === undefined;
    if (!isRules || !isJsonObject(value)) return undefined;
    demandMembers(value, ['rules']);
    const { rules } = value;
    return { rules: typeof rules === 'string' ? new RulesText(rules).ruleSet : parseRuleSet(rules) };
  } catch (error) {
    return isRules ? { rules: 'unreadable', ...refuse(GrantdError.from(error).message) } : undefined;
  }
}

/** The line of JSON to send, or why there is none, or undefined for an empty line. */
export function encodeLine(
  line: SourceLine,
  format: ImportFormat,
): { readonly json: string } | { readonly refusal: Refusal } | undefined {
  if (line.cut) return refuse(`The line is longer than ${LINE_BYTES_MAX / 1024} KiB.`);
  let text: string;
  try {
    text = decoder.decode(line.bytes);
  } catch {
    return refuse('The line is not valid UTF-8.');
  }
  if (format === 'ndjson') return text.trim() === '' ? undefined : { json: text };
  if (text === '' || (format === 'csv' && line.number === 1 && CSV_HEADS.has(text.toLowerCase()))) return undefined;
  const columns = format === 'tsv' ? text.split('\t') : parseCsvLine(text);
  if (columns === undefined) return refuse('A quote in the line is not closed, or not doubled.');
  if (columns.length < COLUMNS_MIN || columns.length > COLUMNS.length) {
    const separators = format === 'tsv' ? 'tabs' : 'commas';
    return refuse(
      `The line has ${columns.length === 1 ? '1 column' : `${columns.length} columns`} instead of ${COLUMNS_MIN} to ${COLUMNS.length}: subject, relation, object and perhaps the expiry and the condition, separated by ${separators}.`,
    );
  }
  return jsonOf(columns);
}

function jsonOf(columns: readonly string[]): { readonly json: string } | { readonly refusal: Refusal } {
  const [subject, relation, object, ...terms] = columns;
  try {
    return { json: JSON.stringify({ subject, relation, object, ...membersInColumns(terms) }) };
  } catch (error) {
    return refuse(GrantdError.from(error).message);
  }
}

/** Why an NDJSON file is not whole, although it begins as an export, as a sentence; undefined: it is. */
export async function faultOf(chunks: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const frame = new ExportFrame();
  for await (const lines of readLines(chunks)) for (const { bytes, number } of lines) frame.take(bytes, number);
  return frame.fault();
}

/** The entries of a file in one of grantd's own formats. `frame` sees the lines of NDJSON. */
export async function* readEntries(
  chunks: AsyncIterable<Uint8Array>,
  format: ImportFormat,
  frame: ExportFrame,
): AsyncGenerator<readonly ImportEntry[]> {
  for await (const lines of readLines(chunks)) {
    yield lines.flatMap((line): ImportEntry[] => {
      if (format === 'ndjson' && frame.take(line.bytes, line.number)) return [];
      const encoded = encodeLine(line, format);
      if (encoded === undefined) return [];
      if (format !== 'ndjson') return [{ line, ...encoded }];
      if ('json' in encoded) return [{ line, ...(rulesIn(line, encoded.json) ?? encoded) }];
      return [{ line, ...(beginsRules(line) ? { rules: 'unreadable', ...encoded } : encoded) }];
    });
  }
}
