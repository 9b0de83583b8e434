// Rules as people read them: what each says, as a sentence, and what a check looks for on an object.

import { isRelation, RELATIONS, type Relation } from '../core/tuples.ts';
import { bitOf, CompiledRules } from './compiled-rules.ts';
import { hasRules, type Rule, type RuleElement, type RuleSet, textOfElement } from './rule-set.ts';

/** The names that rules define and that are no built-in relations; each once, in the order of the rules. */
export const derivedNames = ({ rules }: RuleSet): readonly string[] => [
  ...new Set(rules.map(({ name }) => name).filter((name) => !isRelation(name))),
];

/** All names that can be asked about. */
export const namesToAsk = (ruleSet: RuleSet): readonly string[] => [...RELATIONS, ...derivedNames(ruleSet)];

/** `a, b or c` */
export const orList = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;

/** `editor, or viewer from parent` */
function elementsText(anyOf: readonly RuleElement[]): string {
  const own = anyOf.filter(({ from }) => from === undefined).map(textOfElement);
  const inherited = anyOf.filter(({ from }) => from !== undefined).map(textOfElement);
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
}

/** Undefined if the name is neither a built-in relation nor defined by a rule. */
export function describeWanted(ruleSet: RuleSet, name: string, object: string): WantedInWords | undefined {
  if (!hasRules(ruleSet)) return isRelation(name) ? { names: [name], relations: [name], parents: [] } : undefined;
  const compiled = new CompiledRules(ruleSet);
  const number = compiled.numberOf(name);
  if (number === undefined) return undefined;
  const wanted = compiled.wanted(object, bitOf(number));
  const names = compiled.namesIn(wanted.names);
  return {
    names: [name, ...names.filter((each) => each !== name)],
    relations: names.filter(isRelation),
    parents: wanted.parents.flatMap((parent) => {
      const relation = RELATIONS[parent.relation - 1];
      return relation === undefined ? [] : [{ relation, names: compiled.namesIn(parent.names) }];
    }),
  };
}
