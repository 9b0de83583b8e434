// Rules as people write and read them: JSON or the text form, with the place of each error in it; and sentences.

import { GrantdError } from '../core/errors.ts';
import { parseJson } from '../core/text/json.ts';
import {
  findJsonPlaces,
  type JsonValuePlace,
  type LineAndColumn,
  lineAndColumnAt,
  writtenLength,
} from '../core/text/json-places.ts';
import { isRelation, type Relation } from '../core/tuples.ts';
import { SubjectTypes } from './allowed-grants.ts';
import { bitOf, CompiledRules } from './compiled-rules.ts';
import { parseRuleSet, parseRuleSetInTurns } from './parse-rule-set.ts';
import { grantedNames, hasRules, ownNames, type RuleSet, revisionOfRules, textOfRules } from './rule-set.ts';
import {
  inTextOrder,
  type ParsedRules,
  PROBLEM_PLACE,
  parseRulesSource,
  type RulesPlace,
  type RulesProblem,
  ruleSetOfSource,
  ruleSetOfSourceInTurns,
  wordAt,
} from './text/rules-source.ts';

type Turn = () => Promise<unknown>;

/** Whether the text is in JSON; otherwise it is in the text form, which no brace or bracket begins. */
export const isJsonForm = (text: string): boolean => /^\s*[{[]/.test(text);

/** The content type of the text form. */
export const RULES_TEXT_TYPE = 'text/vnd.grantd.rules';

/** With its source, unless there is nothing in it but comments: such rules are none. */
const withSource = (ruleSet: RuleSet, source: string): RuleSet =>
  hasRules(ruleSet) ? { ...ruleSet, source } : ruleSet;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new GrantdError('invalid-request', 'The rules are not JSON.');
  }
}

/**
 * The text by which rules are stored and sent, in either form, parsed at its first use. What parses it throws
 * `invalid-request` if it is not that of a rule set.
 */
export class RulesText {
  readonly text: string;
  #ruleSet: RuleSet | undefined;
  #types: SubjectTypes | undefined;
  #relations: ReadonlySet<Relation> | undefined;

  /** `ruleSet`: of this text, if it is known already. */
  constructor(text: string, ruleSet?: RuleSet) {
    this.text = text;
    this.#ruleSet = ruleSet;
  }

  static of(ruleSet: RuleSet): RulesText {
    return new RulesText(textOfRules(ruleSet), ruleSet);
  }

  /** Parses it in one step, which is short only if the text is, or was parsed before. */
  get ruleSet(): RuleSet {
    this.#ruleSet ??= isJsonForm(this.text)
      ? parseRuleSet(jsonOf(this.text))
      : withSource(ruleSetOfSource(this.text), this.text);
    return this.#ruleSet;
  }

  /** Parses it in steps of at most 10 ms, before each of which it takes a turn. */
  async parse(turn: Turn): Promise<RuleSet> {
    const options = { expressions: false };
    this.#ruleSet ??= isJsonForm(this.text)
      ? await parseRuleSetInTurns(jsonOf(this.text), turn, options)
      : await ruleSetWithSource(this.text, turn, options);
    return this.#ruleSet;
  }

  get revision(): string {
    return revisionOfRules(this.text);
  }

  /** The tenant's own. */
  get relations(): ReadonlySet<Relation> {
    this.#relations ??= new Set(ownNames(this.ruleSet));
    return this.#relations;
  }

  get types(): SubjectTypes {
    this.#types ??= new SubjectTypes(this.ruleSet);
    return this.#types;
  }
}

/** The rules of a text form, which they keep. In turns, as `RulesText`. */
export const ruleSetWithSource = async (
  text: string,
  turn: Turn,
  options: { readonly expressions: boolean },
): Promise<RuleSet> => withSource(await ruleSetOfSourceInTurns(text, turn, options), text);

/** How a message ends if a member is given twice. */
const TWICE = / at line (\d+), column (\d+)\.$/;

function syntaxProblem(text: string): RulesProblem {
  const found = findJsonPlaces(text, []);
  const [offset, message] = found.kind === 'syntax' ? [found.offset, found.message] : [0, 'something is wrong'];
  return {
    message: `This is not JSON: ${message}.`,
    place: { ...lineAndColumnAt(text, offset), length: 1 },
  };
}

/** The place in the text of a place in the expression that stands there as a JSON string. */
function placeInExpression(text: string, { offset, length }: JsonValuePlace, at: LineAndColumn): RulesPlace {
  const json = text.slice(offset + 1, offset + length - 1);
  const lines = (JSON.parse(`"${json}"`) as string).split('\n').slice(0, at.line - 1);
  const units = lines.reduce((sum, line) => sum + line.length + 1, at.column - 1);
  const inJson = writtenLength(json, units);
  // Behind the last of them stands the quotation mark.
  return { ...lineAndColumnAt(text, offset + 1 + inJson), length: wordAt(json, inJson).length || 1 };
}

/** `sentences`: what is wrong with the rules, which are JSON. */
function problemsIn(text: string, sentences: readonly string[]): readonly RulesProblem[] {
  const places = sentences.map((sentence) => PROBLEM_PLACE.exec(sentence));
  const found = findJsonPlaces(
    text,
    places.map((place) => place?.[1] ?? ''),
  );
  const problems = sentences.map((sentence, index): RulesProblem => {
    const message = sentence.replace(/^The body/, 'The text');
    const [, line, column] = TWICE.exec(message) ?? [];
    if (line !== undefined) return { message, place: { line: Number(line), column: Number(column), length: 1 } };
    const at = found.kind === 'values' ? found.places[index] : undefined;
    const [, , lineInExpression, columnInExpression] = places[index] ?? [];
    if (at === undefined || /^And \d+ more\.$/.test(message)) return { message, place: undefined };
    if (lineInExpression !== undefined && at.exact) {
      const inExpression = { line: Number(lineInExpression), column: Number(columnInExpression) };
      return { message, place: placeInExpression(text, at, inExpression) };
    }
    return { message, place: { ...lineAndColumnAt(text, at.offset), length: at.length } };
  });
  return inTextOrder(problems);
}

async function parseRulesJson(text: string, turn: Turn): Promise<ParsedRules> {
  let isJson = false;
  try {
    JSON.parse(text);
    isJson = true;
    return {
      kind: 'parsed',
      ruleSet: await parseRuleSetInTurns(parseJson(text, 'The text'), turn, { expressions: true }),
    };
  } catch (error) {
    if (!isJson) return { kind: 'wrong', problems: [syntaxProblem(text)] };
    if (!(error instanceof GrantdError)) throw error;
    return { kind: 'wrong', problems: problemsIn(text, error.message.split('\n')) };
  }
}

/**
 * Rules in either form; those of the text form keep the text. Expressions are compiled in steps of at most 10 ms:
 * before each it takes a turn.
 */
export async function parseRulesText(text: string, turn: Turn): Promise<ParsedRules> {
  if (isJsonForm(text)) return parseRulesJson(text, turn);
  const parsed = await parseRulesSource(text, turn, { expressions: true });
  return parsed.kind === 'wrong' ? parsed : { kind: 'parsed', ruleSet: withSource(parsed.ruleSet, text) };
}

// ---- rules in words ----

/** The names that rules define and that are no relations; each once, in the order of the rules. */
export function derivedNames(ruleSet: RuleSet): readonly string[] {
  const granted = new Set<string>(grantedNames(ruleSet));
  return [...new Set(ruleSet.rules.map(({ name }) => name).filter((name) => !granted.has(name)))];
}

/** All names that can be asked about. */
export const namesToAsk = (ruleSet: RuleSet): readonly string[] => [...grantedNames(ruleSet), ...derivedNames(ruleSet)];

/** `a, b or c` */
export const orList = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;

/** What one relation of the object to another entity may give: one of `names` on that entity suffices. */
export interface WantedParent {
  readonly relation: Relation;
  readonly names: readonly string[];
}

/** What suffices for a name on an object, one level deep. */
export interface WantedInWords {
  /** One of these names on the object; the wanted one is the first. */
  readonly names: readonly string[];
  /** A grant of one of these. Groups may hold it too. */
  readonly relations: readonly Relation[];
  readonly parents: readonly WantedParent[];
  /** Or one of these combinations of names, in words. */
  readonly gates: readonly string[];
}

/** Undefined if the name is neither a relation nor defined by a rule. */
export function describeWanted(ruleSet: RuleSet, name: string, object: string): WantedInWords | undefined {
  if (!hasRules(ruleSet))
    return isRelation(name) ? { names: [name], relations: [name], parents: [], gates: [] } : undefined;
  const compiled = new CompiledRules(ruleSet, undefined, new Map());
  const number = compiled.numberOf(name);
  if (number === undefined) return undefined;
  const wanted = compiled.wanted(object, bitOf(number));
  const names = compiled.namesIn(wanted.names);
  const held = new Set(names);
  const granted = grantedNames(ruleSet);
  return {
    names: [name, ...names.filter((each) => each !== name)],
    relations: granted.filter((each) => held.has(each)),
    parents: wanted.parents.flatMap((parent) => {
      const relation = granted[parent.relation - 1];
      return relation === undefined ? [] : [{ relation, names: compiled.namesIn(parent.names) }];
    }),
    gates: wanted.gates.map((gate) => compiled.describe(gate)),
  };
}
