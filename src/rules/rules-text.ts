// Rules as people write and read them: JSON text, with the line of an error in it; and sentences.

import { GrantdError } from '../core/errors.ts';
import { parseJson } from '../core/text/json.ts';
import { findJsonPlace, lineAt } from '../core/text/json-places.ts';
import { isRelation, RELATIONS, type Relation } from '../core/tuples.ts';
import { bitOf, CompiledRules } from './compiled-rules.ts';
import { parseRuleSet } from './parse-rule-set.ts';
import { hasRules, isGate, type Rule, type RuleElement, type RuleSet, textOfElement } from './rule-set.ts';

export type ParsedRules =
  | { readonly kind: 'parsed'; readonly ruleSet: RuleSet }
  /** `line` is counted from 1. `message` is one sentence or more; it names the place and what to write instead. */
  | { readonly kind: 'wrong'; readonly line: number; readonly message: string };

/** What a message of `parseRuleSet` begins with, if it is about a part of the rules. */
const PLACE = /^"([^"]+)"/;

/** What a message ends with, if a member is given twice. */
const LINE = / at line (\d+), column \d+\.$/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function parseRulesText(text: string): ParsedRules {
  try {
    return { kind: 'parsed', ruleSet: parseRuleSet(parseJson(text, 'The text')) };
  } catch (error) {
    if (!isJson(text)) {
      const place = findJsonPlace(text, '');
      const message = place.kind === 'syntax' ? place.message : 'something is wrong';
      return { kind: 'wrong', line: lineAt(text, place.offset), message: `This is not JSON: ${message}.` };
    }
    if (!(error instanceof GrantdError)) throw error;
    const [, line] = LINE.exec(error.message) ?? [];
    if (line !== undefined) return { kind: 'wrong', line: Number(line), message: error.message };
    const { offset } = findJsonPlace(text, PLACE.exec(error.message)?.[1] ?? '');
    return { kind: 'wrong', line: lineAt(text, offset), message: error.message.replace(/^The body/, 'The text') };
  }
}

// ---- rules in words ----

/** The names that rules define and that are no relations; each once, in the order of the rules. */
export const derivedNames = (ruleSet: RuleSet): readonly string[] => [
  ...new Set(ruleSet.rules.map(({ name }) => name).filter((name) => !isGranted(ruleSet, name))),
];

/** Whether the name is a relation, built-in or own. */
const isGranted = ({ relations }: RuleSet, name: string): name is Relation =>
  isRelation(name) || relations.some((relation) => relation === name);

/** All relations that can be granted. */
export const relationsOf = ({ relations }: RuleSet): readonly Relation[] => [...RELATIONS, ...relations];

/** All names that can be asked about. */
export const namesToAsk = (ruleSet: RuleSet): readonly string[] => [...relationsOf(ruleSet), ...derivedNames(ruleSet)];

/** `a, b or c` */
export const orList = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;

/** `editor, or viewer from parent` */
function elementsText(anyOf: readonly RuleElement[]): string {
  const isOwn = (element: RuleElement): boolean => !isGate(element) && element.from === undefined;
  const own = anyOf.filter(isOwn).map(textOfElement);
  const inherited = anyOf.filter((element) => !isOwn(element)).map(textOfElement);
  return [orList(own), ...inherited].filter((text) => text !== '').join(', or ');
}

/** `viewer of document: editor, or viewer from parent` */
export const sentenceOfRule = ({ namespace, name, anyOf }: Rule): string =>
  `${name} of ${namespace}: ${elementsText(anyOf)}`;

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
  return {
    names: [name, ...names.filter((each) => each !== name)],
    relations: names.filter((each) => isGranted(ruleSet, each)),
    parents: wanted.parents.flatMap((parent) => {
      const relation = relationsOf(ruleSet)[parent.relation - 1];
      return relation === undefined ? [] : [{ relation, names: compiled.namesIn(parent.names) }];
    }),
    gates: wanted.gates.map((gate) => compiled.describe(gate)),
  };
}
