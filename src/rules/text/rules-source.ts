// The text form of rules, parsed: its words are read (reader.ts), and what they say is judged as JSON is
// (parse-rule-set.ts), with the place in the text of what is wrong.

import { GrantdError } from '../../core/errors.ts';
import { type LineAndColumn, lineAndColumnAt } from '../../core/text/json-places.ts';
import { parseInSteps } from '../parse-rule-set.ts';
import { RULES_SOURCE_BYTES_MAX, type RuleSet } from '../rule-set.ts';
import { complete, inTurns, type Steps } from '../steps.ts';
import { PROBLEMS_MAX, type RulesSource, readSource } from './reader.ts';
import type { Range } from './token-cursor.ts';

/** From 1; columns and length in UTF-16 units of the text. */
export interface RulesPlace extends LineAndColumn {
  readonly length: number;
}

export interface RulesProblem {
  /** One sentence or more; it says what to write instead. */
  readonly message: string;
  /** Undefined: of no part. */
  readonly place: RulesPlace | undefined;
}

/** How a sentence begins that is about a part of the rules, and if it is an expression, about a place in it. */
export const PROBLEM_PLACE = /^"([^"]+)"(?:, line (\d+), column (\d+):)?/;
/** Another part that a sentence names. */
const OTHER_PLACE = /"((?:relations|states|conditions|types|rules|public)\[\d+\][^"]*)"/g;

const WORD = /\w+|./sy;

/** What is wrong with an expression is marked up to the end of the word; empty: the text ends. */
export function wordAt(text: string, offset: number): string {
  WORD.lastIndex = offset;
  return WORD.exec(text)?.[0] ?? '';
}

/** In the order of the text; those of no part last. */
export const inTextOrder = (problems: readonly RulesProblem[]): readonly RulesProblem[] =>
  problems.toSorted(({ place: left }, { place: right }) =>
    left === undefined || right === undefined
      ? Number(left === undefined) - Number(right === undefined)
      : left.line - right.line || left.column - right.column,
  );

const placeOf = (text: string, { offset, length }: Range): RulesPlace => ({ ...lineAndColumnAt(text, offset), length });

/** The range of a path, or of the innermost part around it. */
function rangeOf({ places }: RulesSource, path: string): Range | undefined {
  for (let inner = path; inner !== ''; inner = inner.replace(/(?:\.[^.[]*|\[\d+\]|^[^.[]*)$/, '')) {
    const range = places.get(inner);
    if (range !== undefined) return range;
  }
  return undefined;
}

/** A list of the JSON form that is too long. The text has no such list, but places of its elements. */
const TOO_LONG = /^"(\w+)" has (\d+) elements; at most (\d+) are allowed\.$/;

/** A sentence about the JSON form as one about the text. */
function problemOf(text: string, source: RulesSource, sentence: string): RulesProblem {
  const [lead, path, line, column] = PROBLEM_PLACE.exec(sentence) ?? [];
  if (lead === undefined || path === undefined) return { message: sentence, place: undefined };
  const [, list, count, most] = TOO_LONG.exec(sentence) ?? [];
  if (list !== undefined) {
    const first = rangeOf(source, `${list}[${most}]`);
    return {
      message: `The rules have ${count} ${list}; at most ${most} are allowed.`,
      place: first && placeOf(text, first),
    };
  }
  const range = rangeOf(source, path);
  const message = `This${sentence.slice(lead.length)}`.replaceAll(OTHER_PLACE, (whole, other: string) => {
    const at = rangeOf(source, other);
    return at === undefined ? whole : `line ${lineAndColumnAt(text, at.offset).line}`;
  });
  if (line === undefined || range === undefined) return { message, place: range && placeOf(text, range) };
  const index = Number(/^conditions\[(\d+)\]/.exec(path)?.[1]);
  const lineAt = source.expressionLines[index]?.[Number(line) - 1];
  const plain = sentence.slice(lead.length).trim();
  if (lineAt === undefined) return { message: plain, place: placeOf(text, range) };
  const offset = lineAt + Number(column) - 1;
  const comment = text[offset] === '#' ? ' A comment in an expression stands behind a space and `#`, or `//`.' : '';
  return { message: plain + comment, place: placeOf(text, { offset, length: wordAt(text, offset).length || 1 }) };
}

function problemsIn(text: string, source: RulesSource, error: unknown): readonly RulesProblem[] {
  if (!(error instanceof GrantdError) || error.code !== 'invalid-request') throw error;
  return inTextOrder(error.message.split('\n').map((sentence) => problemOf(text, source, sentence)));
}

/** What is wrong with the words of the text. */
function misreadIn(text: string, { problems }: RulesSource): readonly RulesProblem[] {
  const found = problems
    .toSorted((left, right) => left.offset - right.offset)
    .map(({ message, ...range }) => ({ message, place: placeOf(text, range) }));
  if (found.length < PROBLEMS_MAX) return found;
  return [...found.slice(0, PROBLEMS_MAX), { message: 'There may be more behind these.', place: undefined }];
}

export type ParsedRules =
  | { readonly kind: 'parsed'; readonly ruleSet: RuleSet }
  /** At least one, at most 21, in the order of the text. */
  | { readonly kind: 'wrong'; readonly problems: readonly RulesProblem[] };

const CONTROL = /[\p{Cc}--[\t\n\r]]/v;

/** What is wrong with the text as a whole; undefined: nothing. The log and the audit log have it as a JSON string. */
function unfit(text: string): RulesProblem | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(text));
  if (bytes > RULES_SOURCE_BYTES_MAX) {
    const message = `The rules take ${bytes} bytes as a JSON string; at most ${RULES_SOURCE_BYTES_MAX} are allowed.`;
    return { message, place: undefined };
  }
  const at = text.search(CONTROL);
  if (at < 0) return undefined;
  return { message: 'A control character is not allowed here.', place: placeOf(text, { offset: at, length: 1 }) };
}

/** `expressions`: as of `parseInSteps`. */
function* parseSourceInSteps(text: string, expressions: boolean): Steps<ParsedRules> {
  const problem = unfit(text);
  if (problem !== undefined) return { kind: 'wrong', problems: [problem] };
  const source = yield* readSource(text);
  if (source.problems.length > 0) return { kind: 'wrong', problems: misreadIn(text, source) };
  try {
    return { kind: 'parsed', ruleSet: yield* parseInSteps(source.body, expressions) };
  } catch (error) {
    return { kind: 'wrong', problems: problemsIn(text, source, error) };
  }
}

/** In steps of at most 10 ms, before each of which it takes a turn. `expressions`: as of `parseRuleSetInTurns`. */
export const parseRulesSource = (
  text: string,
  turn: () => Promise<unknown>,
  { expressions }: { readonly expressions: boolean },
): Promise<ParsedRules> => inTurns(parseSourceInSteps(text, expressions), turn);

/** `Line 3, column 14: …` */
export const sentenceOf = ({ message, place }: RulesProblem): string =>
  place === undefined ? message : `Line ${place.line}, column ${place.column}: ${message}`;

function demandParsed(parsed: ParsedRules): RuleSet {
  if (parsed.kind === 'parsed') return parsed.ruleSet;
  throw new GrantdError('invalid-request', parsed.problems.map(sentenceOf).join('\n'));
}

/** Throws `invalid-request` that names each place, a line each. */
export const ruleSetOfSource = (text: string): RuleSet => demandParsed(complete(parseSourceInSteps(text, false)));

/** The same in turns, as `parseRulesSource`. */
export const ruleSetOfSourceInTurns = async (
  text: string,
  turn: () => Promise<unknown>,
  options: { readonly expressions: boolean },
): Promise<RuleSet> => demandParsed(await parseRulesSource(text, turn, options));
