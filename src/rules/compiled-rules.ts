// A rule set as evaluation uses it. A set of names, built-in or derived, is a bit mask; so is a set of built-in
// relations. What a set of names needs, or gives, on an object of a namespace is computed at its first use and kept.
// Compiled once per change of the rules.

import { namespaceOf, RELATIONS, relationNumber } from '../core/tuples.ts';
import { isRuleName, type RuleElement, type RuleSet } from './rule-set.ts';

/** Bit n stands for the name with number n; numbers of built-in relations are their wire numbers. */
export type NameSet = bigint;

/** What suffices for one of some names on an object of a namespace. */
export interface Wanted {
  /** These names on the object, the wanted ones included. */
  readonly names: NameSet;
  /** A grant of one of these relations on it: bit n for wire number n. */
  readonly relations: number;
  /** One of `names` on an entity with `relation` on it. */
  readonly parents: readonly { readonly relation: number; readonly names: NameSet }[];
}

/** `ns:id#name`, taken apart at the last `#`. */
export interface Group {
  readonly object: string;
  readonly name: string;
}

/** Sets of names that were computed for one namespace; beyond, they are computed again. */
const KEPT_MAX = 1000;

interface NumberedElement {
  readonly name: number;
  readonly from: number | undefined;
}

/** Values by set of names, a bounded number of them. */
class Kept<Value> {
  readonly #values = new Map<NameSet, Value>();
  readonly #compute: (names: NameSet) => Value;

  constructor(compute: (names: NameSet) => Value) {
    this.#compute = compute;
  }

  get(names: NameSet): Value {
    const kept = this.#values.get(names);
    if (kept !== undefined) return kept;
    if (this.#values.size >= KEPT_MAX) this.#values.clear();
    const value = this.#compute(names);
    this.#values.set(names, value);
    return value;
  }
}

/** The rules of one namespace. */
class NamespaceRules {
  readonly wanted = new Kept((names) => this.#wanted(names));
  readonly held = new Kept((names) => this.#held(names));
  /** By relation. */
  readonly #inherited = RELATIONS.map((_, index) => new Kept((names) => this.#inheritedBy(index + 1, names)));
  readonly #elements: ReadonlyMap<number, readonly NumberedElement[]>;

  constructor(elements: ReadonlyMap<number, readonly NumberedElement[]>) {
    this.#elements = elements;
  }

  inherited(relation: number, names: NameSet): NameSet {
    return this.#inherited[relation - 1]?.get(names) ?? 0n;
  }

  #wanted(names: NameSet): Wanted {
    let closed = 0n;
    let relations = 0;
    const parents = new Map<number, NameSet>();
    const queue = numbersIn(names);
    for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
      if ((closed & bitOf(number)) !== 0n) continue;
      closed |= bitOf(number);
      if (number <= RELATIONS.length) relations |= 1 << number;
      for (const { name, from } of this.#elements.get(number) ?? []) {
        if (from === undefined) queue.push(name);
        else parents.set(from, (parents.get(from) ?? 0n) | bitOf(name));
      }
    }
    return {
      names: closed,
      relations,
      parents: Array.from(parents, ([relation, each]) => ({ relation, names: each })),
    };
  }

  #held(names: NameSet): NameSet {
    let held = names;
    for (let grown = true; grown; ) {
      grown = false;
      for (const [number, elements] of this.#elements) {
        if ((held & bitOf(number)) !== 0n) continue;
        if (!elements.some(({ name, from }) => from === undefined && (held & bitOf(name)) !== 0n)) continue;
        held |= bitOf(number);
        grown = true;
      }
    }
    return held;
  }

  #inheritedBy(relation: number, names: NameSet): NameSet {
    let inherited = 0n;
    for (const [number, elements] of this.#elements) {
      if (elements.some(({ name, from }) => from === relation && (names & bitOf(name)) !== 0n)) {
        inherited |= bitOf(number);
      }
    }
    return this.held.get(inherited);
  }
}

const BITS: NameSet[] = [];

/** The set that contains only this name. */
export function bitOf(number: number): NameSet {
  BITS[number] ??= 1n << BigInt(number);
  return BITS[number];
}

function numbersIn(names: NameSet): number[] {
  const numbers: number[] = [];
  for (let number = 0, rest = names; rest !== 0n; number += 1, rest >>= 1n)
    if ((rest & 1n) !== 0n) numbers.push(number);
  return numbers;
}

export class CompiledRules {
  readonly groups: boolean;
  readonly #public: ReadonlySet<string>;
  /** By number; undefined at 0. */
  readonly #names: readonly (string | undefined)[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #namespaces: ReadonlyMap<string, NamespaceRules>;
  readonly #withoutRules = new NamespaceRules(new Map());
  readonly #namesIn = new Kept((names): readonly string[] =>
    numbersIn(names).map((number) => this.#names[number] ?? ''),
  );
  readonly #childRelations = new Kept((names) =>
    RELATIONS.reduce((relations, _, index) => {
      const follows = ((this.#followed[index + 1] ?? 0n) & names) !== 0n;
      return follows ? relations | (1 << (index + 1)) : relations;
    }, 0),
  );
  /** By relation: the names N of all elements "N from relation". */
  readonly #followed: readonly NameSet[];

  constructor({ rules, groups, public: namespaces }: RuleSet) {
    this.groups = groups;
    this.#public = new Set(namespaces);
    this.#names = [undefined, ...new Set([...RELATIONS, ...rules.map(({ name }) => name)])];
    this.#numbers = new Map(this.#names.flatMap((name, number) => (name === undefined ? [] : [[name, number]])));
    const numbered = ({ name, from }: RuleElement): NumberedElement => ({
      name: this.#numbers.get(name) ?? 0,
      from: from === undefined ? undefined : relationNumber(from),
    });
    const elements = new Map<string, Map<number, readonly NumberedElement[]>>();
    const followed: NameSet[] = [];
    for (const { namespace, name, anyOf } of rules) {
      const of = elements.get(namespace) ?? new Map<number, readonly NumberedElement[]>();
      elements.set(namespace, of.set(this.#numbers.get(name) ?? 0, anyOf.map(numbered)));
      for (const { name: number, from } of anyOf.map(numbered)) {
        if (from !== undefined) followed[from] = (followed[from] ?? 0n) | bitOf(number);
      }
    }
    this.#followed = followed;
    this.#namespaces = new Map(Array.from(elements, ([namespace, of]) => [namespace, new NamespaceRules(of)]));
  }

  /** The number of a built-in relation or of a name that some rule defines. */
  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** Names by ascending number. */
  namesIn(names: NameSet): readonly string[] {
    return this.#namesIn.get(names);
  }

  /** What suffices for one of the names on the object. */
  wanted(object: string, names: NameSet): Wanted {
    return this.#of(object).wanted.get(names);
  }

  /** The names that follow, on the same object, from these, which are included. */
  held(object: string, names: NameSet): NameSet {
    return this.#of(object).held.get(names);
  }

  /** The names on the object that follow from these on an entity that has the relation on it. */
  inherited(object: string, relation: number, names: NameSet): NameSet {
    return this.#of(object).inherited(relation, names);
  }

  /**
   * The relations of an entity to others along which something follows from one of the names on it: bit n for wire
   * number n.
   */
  childRelations(names: NameSet): number {
    return this.#childRelations.get(names);
  }

  #of(object: string): NamespaceRules {
    return this.#namespaces.get(namespaceOf(object)) ?? this.#withoutRules;
  }

  /** What a subject stands for if it is a group. */
  groupOf(subject: string): Group | undefined {
    return this.groups ? parseGroup(subject) : undefined;
  }

  /** `ns:*`, if grants to it are grants to this subject too. A group is no subject of a namespace. */
  everyoneOf(subject: string): string | undefined {
    if (this.#public.size === 0) return undefined;
    const namespace = namespaceOf(subject);
    if (!this.#public.has(namespace) || this.groupOf(subject) !== undefined) return undefined;
    const everyone = `${namespace}:*`;
    return everyone === subject ? undefined : everyone;
  }

  /** Whether names on the entity are inherited by others: neither those of a group nor those of all of a namespace. */
  isEntity(subject: string): boolean {
    if (this.groupOf(subject) !== undefined) return false;
    return !(subject.endsWith(':*') && this.#public.has(namespaceOf(subject)));
  }
}

/** Undefined for a text that is no group: nothing before the `#`, or no name behind it. */
export function parseGroup(subject: string): Group | undefined {
  const hash = subject.lastIndexOf('#');
  if (hash < 0 || hash <= subject.indexOf(':') + 1) return undefined;
  const name = subject.slice(hash + 1);
  return isRuleName(name) ? { object: subject.slice(0, hash), name } : undefined;
}
