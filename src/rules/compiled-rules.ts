// A rule set in the form for evaluation. A set of names, built-in or derived, is a bit mask; so is a set of built-in
// relations. What suffices for a set of names on an object of a namespace, and what follows from it, is computed at its
// first use and cached. Compiled once per change of the rules.

import type { UnfollowedReason } from '../core/service-warnings.ts';
import { namespaceOf, RELATIONS, relationNumber, type Tuple } from '../core/tuples.ts';
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

/** Values kept for a rule set: this many, and some more for each of its elements. Beyond, they are computed again. */
const KEPT_MIN = 64;
const KEPT_PER_ELEMENT = 4;

interface NumberedElement {
  readonly name: number;
  readonly from: number | undefined;
}

/** What is kept for one rule set, bounded as a whole. */
class KeptBound {
  readonly #countMax: number;
  readonly #maps: Map<NameSet, unknown>[] = [];
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  register(map: Map<NameSet, unknown>): void {
    this.#maps.push(map);
  }

  add(): void {
    this.#count += 1;
    if (this.#count <= this.#countMax) return;
    for (const map of this.#maps) map.clear();
    this.#count = 1;
  }
}

/** Values by set of names. */
class Kept<Value> {
  readonly #values = new Map<NameSet, Value>();
  readonly #bound: KeptBound;
  readonly #compute: (names: NameSet) => Value;

  constructor(bound: KeptBound, compute: (names: NameSet) => Value) {
    this.#bound = bound;
    this.#compute = compute;
    bound.register(this.#values);
  }

  get(names: NameSet): Value {
    const kept = this.#values.get(names);
    if (kept !== undefined) return kept;
    const value = this.#compute(names);
    this.#bound.add();
    this.#values.set(names, value);
    return value;
  }
}

/** The rules of one namespace. */
class NamespaceRules {
  readonly wanted: Kept<Wanted>;
  readonly held: Kept<NameSet>;
  /** Numbers of the derived names that they define. */
  readonly derived: readonly number[];
  /** The relations that they use behind `from`: bit n for wire number n. */
  readonly leading: number;
  /** By relation. */
  readonly #inherited: readonly Kept<NameSet>[];
  readonly #elements: ReadonlyMap<number, readonly NumberedElement[]>;

  constructor(bound: KeptBound, elements: ReadonlyMap<number, readonly NumberedElement[]>) {
    this.#elements = elements;
    this.derived = [...elements.keys()].filter((number) => number > RELATIONS.length);
    this.leading = [...elements.values()].flat().reduce((mask, { from = 0 }) => mask | (1 << from), 0);
    this.wanted = new Kept(bound, (names) => this.#wanted(names));
    this.held = new Kept(bound, (names) => this.#held(names));
    this.#inherited = RELATIONS.map((_, index) => new Kept(bound, (names) => this.#inheritedBy(index + 1, names)));
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
  readonly #withoutRules: NamespaceRules;
  readonly #namesIn: Kept<readonly string[]>;
  readonly #childRelations: Kept<number>;
  /** By relation: the names N of all elements "N from relation". */
  readonly #followed: readonly NameSet[];
  /** Names that rules define or use, other than behind `from`. */
  readonly #used: NameSet;

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
    let used = 0n;
    for (const { namespace, name, anyOf } of rules) {
      const of = elements.get(namespace) ?? new Map<number, readonly NumberedElement[]>();
      const parts = anyOf.map(numbered);
      const defined = this.#numbers.get(name) ?? 0;
      elements.set(namespace, of.set(defined, parts));
      used |= bitOf(defined);
      for (const { name: number, from } of parts) {
        used |= bitOf(number);
        if (from !== undefined) followed[from] = (followed[from] ?? 0n) | bitOf(number);
      }
    }
    this.#followed = followed;
    this.#used = used;
    const count = rules.reduce((sum, { anyOf }) => sum + anyOf.length, 0);
    const bound = new KeptBound(KEPT_MIN + KEPT_PER_ELEMENT * count);
    this.#withoutRules = new NamespaceRules(bound, new Map());
    this.#namespaces = new Map(Array.from(elements, ([namespace, of]) => [namespace, new NamespaceRules(bound, of)]));
    this.#namesIn = new Kept(bound, (names) => numbersIn(names).map((number) => this.#names[number] ?? ''));
    this.#childRelations = new Kept(bound, (names) => this.#relationsFollowing(names));
  }

  #relationsFollowing(names: NameSet): number {
    let relations = 0;
    for (const [relation, followed = 0n] of this.#followed.entries()) {
      if ((followed & names) !== 0n) relations |= 1 << relation;
    }
    return relations;
  }

  /** The number of a built-in relation or of a name that some rule defines. */
  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** Names by ascending number. */
  namesIn(names: NameSet): readonly string[] {
    return this.#namesIn.get(names);
  }

  /**
   * The actions on objects of this namespace: the derived names that rules define there; if they define none, the
   * built-in relations.
   */
  actionsOn(object: string): readonly string[] {
    const { derived } = this.#of(object);
    return derived.length === 0 ? RELATIONS : derived.map((number) => this.#names[number] ?? '');
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

  /** Whether rules of the object's namespace use the relation behind `from`, and no rule has it as a name. */
  leadsToEntitiesOnly(object: string, relation: number): boolean {
    return (this.#used & bitOf(relation)) === 0n && (this.#of(object).leading & (1 << relation)) !== 0;
  }

  /** Whether any grant could give a subject the name on the object. */
  canHold(object: string, name: string): boolean {
    const number = this.numberOf(name);
    if (number === undefined) return false;
    const { relations, parents } = this.wanted(object, bitOf(number));
    return relations !== 0 || parents.length > 0;
  }

  #of(object: string): NamespaceRules {
    return this.#namespaces.get(namespaceOf(object)) ?? this.#withoutRules;
  }

  /** The object and name of a group; undefined: the subject is no group. */
  groupOf(subject: string): Group | undefined {
    return this.groups ? parseGroup(subject) : undefined;
  }

  /** The names that the members of a group hold, and on what; undefined: the subject is no group of a known name. */
  membershipOf(subject: string): { readonly object: string; readonly names: NameSet } | undefined {
    const group = this.groupOf(subject);
    const number = group && this.numberOf(group.name);
    return group && number !== undefined ? { object: group.object, names: bitOf(number) } : undefined;
  }

  /** The subject, and `ns:*` if grants to it are grants to this subject too. A group is no subject of a namespace. */
  subjectsOf(subject: string): readonly string[] {
    if (this.#public.size === 0) return [subject];
    const namespace = namespaceOf(subject);
    if (!this.#public.has(namespace) || this.groupOf(subject) !== undefined) return [subject];
    const everyone = `${namespace}:*`;
    return everyone === subject ? [subject] : [subject, everyone];
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

/**
 * Why the rules can never follow a grant: mostly a mistake in the grant or in the rules. Undefined: they can follow it,
 * or it counts by itself.
 */
export function unfollowedReason(
  rules: CompiledRules,
  { subject, relation, object }: Tuple,
): UnfollowedReason | undefined {
  const group = parseGroup(subject);
  if (group === undefined && !subject.endsWith(':*')) return undefined;
  if (rules.leadsToEntitiesOnly(object, relationNumber(relation) ?? 0)) return 'no-entity';
  if (group === undefined) return rules.isEntity(subject) ? 'not-public' : undefined;
  if (!rules.groups) return 'groups-off';
  return rules.canHold(group.object, group.name) ? undefined : 'unknown-name';
}
