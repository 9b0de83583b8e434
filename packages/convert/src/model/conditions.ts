// The conditions of a model as those of a rule set. OpenFGA, SpiceDB and Permify evaluate them with cel-go: where an
// expression means something else there than in grantd, it is rewritten so that it means the same, or else refused and
// reported. The differences that no expression shows, only its values, are in docs/guides/conditions.md.

import {
  CompiledCondition,
  type ConditionParameter,
  type ConditionProblem,
  compileCondition,
} from '../../../../src/rules/conditions/compiled-condition.ts';
import { callsOf, type TypedCall } from '../../../../src/rules/conditions/compiler.ts';
import { type Token, tokensOf } from '../../../../src/rules/conditions/parser.ts';
import { CONDITIONS_MAX, type Condition, EXPRESSION_BYTES_MAX } from '../../../../src/rules/rule-set.ts';
import { withoutSlash } from './relation-map.ts';
import { type Finding, modelFailure, quote, type SourceCondition, type SourceModel } from './source-model.ts';

/** A place where an expression means something else in cel-go. */
export interface Difference {
  /** Offset into the expression. */
  readonly at: number;
  readonly text: string;
  readonly isRefused: boolean;
}

export interface ConvertedExpression {
  /** Means in grantd what the expression means in cel-go, unless a difference is refused. */
  readonly expression: string;
  readonly differences: readonly Difference[];
}

const TOTAL =
  '`getMilliseconds()` of a duration is all of it in milliseconds there, and the part behind the seconds in grantd';
const NUMBER_TEXT = 'cel-go writes 1000000.0 as "1e+06", grantd as "1000000"; compare the number instead';

/** What `string()` of a value of each type is, where it is another text. */
const TEXTS: ReadonlyMap<string, string> = new Map([
  ['double', `\`string()\` of a double: ${NUMBER_TEXT}`],
  ['dyn', `\`string()\` of a value that may be a double: ${NUMBER_TEXT}`],
  [
    'timestamp',
    '`string()` of a timestamp: cel-go writes the zone that it came with, grantd UTC; compare the timestamp',
  ],
  ['duration', '`string()` of a duration: cel-go rounds it to a double, grantd does not; compare the duration'],
]);

const isMilliseconds = ({ name, isMethod, types }: TypedCall): boolean =>
  isMethod && name === 'getMilliseconds' && types.length === 1;

function differenceOf(call: TypedCall): Difference | undefined {
  const { at, name, isMethod, types } = call;
  const kind = types[0]?.kind ?? '';
  if (isMilliseconds(call)) {
    if (kind === 'duration') return { at, text: `${TOTAL}; it is rewritten.`, isRefused: false };
    return kind === 'dyn' ? { at, text: `${TOTAL}, and this may be one.`, isRefused: true } : undefined;
  }
  const text = name === 'string' && !isMethod ? TEXTS.get(kind) : undefined;
  return text === undefined ? undefined : { at, text: `${text}.`, isRefused: true };
}

const CLOSING = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
]);

const isSymbol = (token: Token | undefined, ...texts: readonly string[]): boolean =>
  token?.kind === 'symbol' && texts.includes(token.text);

/** Whether a value ends here, so that `[` or `(` behind it continues it. */
const endsValue = (token: Token | undefined): boolean =>
  token !== undefined &&
  !(token.kind === 'symbol' && !CLOSING.has(token.text)) &&
  !(token.kind === 'identifier' && token.text === 'in');

/** The first token of the value that ends before the `.` at `dot`. */
function startOfValue(tokens: readonly Token[], dot: number): number {
  let at = dot - 1;
  for (;;) {
    let depth = 0;
    do {
      const token = tokens[at];
      if (isSymbol(token, ...CLOSING.keys())) depth += 1;
      if (isSymbol(token, ...CLOSING.values())) depth -= 1;
      at -= 1;
    } while (depth > 0 && at >= 0);
    // `at` is before a name, a literal, or what was in brackets.
    const before = tokens[at];
    if (isSymbol(before, '.')) {
      if (!endsValue(tokens[at - 1])) return at;
      at -= 1;
    } else if (!isSymbol(tokens[at + 1], '(', '[') || !endsValue(before)) return at + 1;
  }
}

interface Rewrite {
  readonly start: number;
  /** The dot behind the receiver. */
  readonly dot: number;
  readonly end: number;
}

/** Rewrites the calls of `getMilliseconds()` at these offsets. */
function rewritesOf(text: string, names: ReadonlySet<number>): readonly Rewrite[] {
  const tokens = tokensOf(text);
  return tokens.flatMap(({ at }, index) => {
    if (!names.has(at)) return [];
    const [dot, closing] = [tokens[index - 1], tokens[index + 2]];
    const start = tokens[startOfValue(tokens, index - 1)];
    if (dot === undefined || closing === undefined || start === undefined) return [];
    return [{ start: start.at, dot: dot.at, end: closing.at + 1 }];
  });
}

/** The part of the text; undefined: it becomes too long. Receivers may contain such calls themselves. */
function rewritten(text: string, from: number, to: number, rewrites: readonly Rewrite[]): string | undefined {
  let result = '';
  let at = from;
  const inside = rewrites.filter(({ start, end }) => start >= from && end <= to);
  const outermost = inside.filter(({ end }) => !inside.some((other) => other.start < end && end <= other.dot));
  for (const { start, dot, end } of outermost) {
    const receiver = rewritten(text, start, dot, rewrites);
    if (receiver === undefined) return undefined;
    // Both parts have the sign of the duration, so their sum is exact.
    result += `${text.slice(at, start)}(${receiver}.getSeconds() * 1000 + ${receiver}.getMilliseconds())`;
    if (result.length > EXPRESSION_BYTES_MAX) return undefined;
    at = end;
  }
  return result + text.slice(at, to);
}

/** `text` compiles in grantd with these parameters. */
export function readAsCelGo(text: string, parameters: readonly ConditionParameter[]): ConvertedExpression {
  const calls = callsOf(text, parameters);
  const differences = calls.flatMap((call) => differenceOf(call) ?? []);
  const ordered = differences.toSorted((left, right) => left.at - right.at);
  const total = calls.filter((call) => isMilliseconds(call) && call.types[0]?.kind === 'duration');
  const expression = rewritten(text, 0, text.length, rewritesOf(text, new Set(total.map(({ at }) => at))));
  if (expression !== undefined) return { expression, differences: ordered };
  const refused = ordered.map((each) => ({ ...each, isRefused: true }));
  return { expression: text, differences: refused };
}

/** By their names in the model. */
export type UsableConditions = ReadonlyMap<string, Condition>;

const LOST = 'each grant with it';

/** The condition, if grantd evaluates it as the peer does. */
function conditionOf({ name, place, parameters, expression, placeAt }: SourceCondition): {
  readonly condition: Condition | undefined;
  readonly findings: readonly Finding[];
} {
  const problemOf = (refused: CompiledCondition | { readonly problems: readonly ConditionProblem[] }): Finding => {
    const [problem] = 'problems' in refused ? refused.problems : [];
    const why = problem === undefined ? '' : `: "${problem.field}" ${problem.message}`;
    return { place, text: `The condition ${quote(name)} cannot be evaluated${why}`, lost: LOST };
  };
  const declared = { name: withoutSlash(name), parameters, expression };
  const compiled = compileCondition(declared);
  if (!(compiled instanceof CompiledCondition)) return { condition: undefined, findings: [problemOf(compiled)] };
  const reading = readAsCelGo(expression, compiled.parameters);
  const differs = `The condition ${quote(name)} means something else in cel-go, which evaluates it there`;
  const findings = reading.differences.map(({ at, text, isRefused }) => {
    return { place: placeAt(at), text: `${differs}: ${text}`, lost: isRefused ? LOST : undefined };
  });
  if (reading.differences.some(({ isRefused }) => isRefused)) return { condition: undefined, findings };
  const condition = { ...declared, expression: reading.expression };
  const rewritten = compileCondition(condition);
  return rewritten instanceof CompiledCondition
    ? { condition, findings }
    : { condition: undefined, findings: [...findings, problemOf(rewritten)] };
}

/** Throws a CliFailure if there are more than a tenant may have. Compiles each as a rule set does, within 10 ms. */
export function compileConditions({ conditions }: SourceModel): {
  readonly usable: UsableConditions;
  readonly findings: readonly Finding[];
} {
  const usable = new Map<string, Condition>();
  const findings: Finding[] = [];
  const sources = new Map<string, string>();
  for (const source of conditions.values()) {
    const { name, place } = source;
    if (sources.size === CONDITIONS_MAX) {
      throw modelFailure(place, `This is one more condition than the ${CONDITIONS_MAX} that a tenant may have.`);
    }
    const other = sources.get(withoutSlash(name));
    if (other !== undefined) throw modelFailure(place, `${quote(name)} and ${quote(other)} would be one condition.`);
    sources.set(withoutSlash(name), name);
    const { condition, findings: found } = conditionOf(source);
    if (condition !== undefined) usable.set(name, condition);
    findings.push(...found);
  }
  return { usable, findings };
}
