// What the rules of a tenant define, as types for its applications: a misspelled name then does not compile.

import { type Condition, type RuleSet, revisionOf } from '../../rules/rule-set.ts';
import { derivedNames, relationsOf } from '../../rules/rules-text.ts';

export interface NamespaceNames {
  readonly namespace: string;
  /** The derived names that rules define on its objects. */
  readonly derived: readonly string[];
}

export interface ModelTypes {
  readonly revision: string;
  /** What can be granted: the built-in relations and the tenant's own. */
  readonly relations: readonly string[];
  /** Ascending. */
  readonly namespaces: readonly NamespaceNames[];
  readonly conditions: readonly Condition[];
}

export const LANGUAGES = ['typescript', 'go', 'python', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** `namespaces`: those that the tenant has, besides those that its rules name. */
export function modelTypesOf(ruleSet: RuleSet, namespaces: readonly string[]): ModelTypes {
  const { rules, types, conditions, public: everyone } = ruleSet;
  const restricted = types.flatMap(({ namespace, subjects }) => [namespace, ...subjects.map((each) => each.namespace)]);
  const named = new Set([...namespaces, ...rules.map(({ namespace }) => namespace), ...restricted, ...everyone]);
  const derived = new Set(derivedNames(ruleSet));
  return {
    revision: revisionOf(ruleSet),
    relations: relationsOf(ruleSet),
    namespaces: [...named].sort().map((namespace) => {
      const names = rules.filter((rule) => rule.namespace === namespace).map(({ name }) => name);
      return { namespace, derived: [...new Set(names.filter((name) => derived.has(name)))] };
    }),
    conditions,
  };
}

export const headOf = ({ revision }: ModelTypes): string =>
  `Made by "grantd rules types" from the rules of revision ${revision}. Do not edit.`;

/** The words of a name, which `_`, `.` and `-` separate. */
export const wordsOf = (name: string): readonly string[] => name.split(/[_.-]+/).filter((word) => word !== '');

export const pascalCase = (...names: readonly string[]): string =>
  names
    .flatMap(wordsOf)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Identifiers that occur once: a second one gets a number. */
export class Identifiers {
  readonly #taken: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.#taken = new Set(reserved);
  }

  take(wanted: string): string {
    let identifier = wanted;
    for (let number = 2; this.#taken.has(identifier); number += 1) identifier = `${wanted}${number}`;
    this.#taken.add(identifier);
    return identifier;
  }
}

/** The type of a parameter in a language: `list<T>` and `map<T>` by those of their elements. */
export function parameterType(
  type: string,
  basic: (name: string) => string,
  list: (element: string) => string,
  map: (element: string) => string,
): string {
  const [, container, element = ''] = /^(list|map)<(.*)>$/.exec(type) ?? [];
  if (container === undefined) return basic(type);
  return (container === 'list' ? list : map)(parameterType(element, basic, list, map));
}
