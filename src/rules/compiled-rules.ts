// A rule set in the form for evaluation. A set of names is a bit mask, a set of relations an ascending list of their
// numbers. What suffices for a set of names on an object of a namespace, and what follows from it, is computed at its
// first use and cached. Compiled once per change of the rules.
//
// A state is a name that the object holds, for every subject: no search from a subject finds it. A name is *open* if
// states alone may give it, so that a subject without any grant may hold it. What a search from a subject has not found
// is denied for the other names only.
//
// A gate (`all_of`, `but_not`, `all of`) has a number like a name, but no text: a name follows from it as from another
// name on the same object.

import { assert } from '../core/assert.ts';
import type { UnfollowedReason } from '../core/service-warnings.ts';
import { EVERY_SUBJECT, namespaceOf, RELATIONS, type Relation, relationNumber, type Tuple } from '../core/tuples.ts';
import { type CompiledConditions, compileConditions } from './conditions/compiled-condition.ts';
import type { AskableNames } from './questions.ts';
import {
  type GateElement,
  grantedNames,
  isGate,
  isRuleName,
  ownNames,
  type RuleElement,
  type RuleSet,
  SELF,
  textOfElement,
} from './rule-set.ts';

/** Bit n stands for the name with number n; relations come first, with the numbers that their grants have. */
export type NameSet = bigint;

/** What suffices for one of some names on an object of a namespace. */
export interface Requirement {
  /** These names on the object, the wanted ones included. */
  readonly names: NameSet;
  /** A grant of one of these relations on it. */
  readonly relations: readonly number[];
  /** One of these states of it. */
  readonly states: readonly number[];
  /** One of `names` on an entity with `relation` on it. */
  readonly parents: readonly { readonly relation: number; readonly names: NameSet }[];
  /** One of these gates on it. */
  readonly gates: readonly number[];
  /** Names and elements that were looked at to find this: the same whenever it is. */
  readonly work: number;
}

/** Opens if all of `all` hold on the object, and none of `none`. */
export interface OperandGate {
  readonly kind: 'operands';
  readonly all: readonly number[];
  readonly none: readonly number[];
}

/** Opens if `name` holds on every entity that has the relation on the object, of which there must be one. */
export interface EveryGate {
  readonly kind: 'every';
  readonly name: number;
  readonly relation: number;
}

export type Gate = OperandGate | EveryGate;

/** `ns:id#name`, taken apart at the last `#`. */
export interface Group {
  readonly object: string;
  readonly name: string;
}

/** Relations, names and relations to parents that are listed of what would suffice. */
const LISTED_MAX = 20;
/** Values kept for a rule set: this many, and some more for each of its elements. Beyond, they are computed again. */
const CACHED_MIN = 64;
const CACHED_PER_ELEMENT = 4;
/** Bits of sets of names, and numbers in lists, that take as much memory as another value. */
const CACHED_BITS = 2048;
const CACHED_NUMBERS = 32;
/** Names and elements that are looked at in the time that a search takes for a grant. */
const LOOKED_AT_PER_GRANT = 8;

/** In the place of the relation behind `from`, where there is none. */
const SAME_OBJECT = -1;
/** In the same place, of a name that a gate excludes. */
const EXCLUDED = -2;

interface NumberedElement {
  readonly name: number;
  readonly from: number | undefined;
}

/** What a cached value has besides its set of names. */
interface CachedParts {
  readonly sets: number;
  /** In lists. */
  readonly numbers: number;
}

const partsOfRequirement = ({ relations, parents, gates }: Requirement): CachedParts => ({
  sets: 1 + parents.length,
  numbers: relations.length + parents.length + gates.length,
});
const partsOfSet = (): CachedParts => ({ sets: 1, numbers: 0 });
const partsOfList = ({ length }: readonly unknown[]): CachedParts => ({ sets: 0, numbers: length });

/** The bound of all caches of one rule set together, and the work of computing their values. */
class CacheBound {
  readonly #countMax: number;
  readonly #bits: number;
  readonly #maps: Map<NameSet, unknown>[] = [];
  #count = 0;
  /** Names and elements that were looked at so far. */
  lookedAt = 0;

  /** `bits`: of a set of names, at most. */
  constructor(countMax: number, bits: number) {
    this.#countMax = countMax;
    this.#bits = bits;
  }

  register(map: Map<NameSet, unknown>): void {
    this.#maps.push(map);
  }

  add({ sets, numbers }: CachedParts): void {
    const large = ((1 + sets) * this.#bits) / CACHED_BITS + numbers / CACHED_NUMBERS;
    const count = 1 + Math.floor(large);
    this.#count += count;
    if (this.#count <= this.#countMax) return;
    for (const map of this.#maps) map.clear();
    this.#count = count;
  }
}

/** A cache of values by set of names. */
class NameSetCache<Value> {
  readonly #values = new Map<NameSet, Value>();
  readonly #bound: CacheBound;
  readonly #compute: (names: NameSet) => Value;
  readonly #partsOf: (value: Value) => CachedParts;

  constructor(bound: CacheBound, compute: (names: NameSet) => Value, partsOf: (value: Value) => CachedParts) {
    this.#bound = bound;
    this.#compute = compute;
    this.#partsOf = partsOf;
    bound.register(this.#values);
  }

  get(names: NameSet): Value {
    const known = this.#values.get(names);
    if (known !== undefined) return known;
    const value = this.#compute(names);
    this.#bound.add(this.#partsOf(value));
    this.#values.set(names, value);
    return value;
  }
}

/** What defines the names of one namespace. */
interface Definitions {
  /** A name follows from any of these. */
  readonly elements: Map<number, readonly NumberedElement[]>;
  readonly gates: Map<number, Gate>;
  /** Numbers of the derived names. */
  readonly derived: number[];
}

const noDefinitions = (): Definitions => ({ elements: new Map(), gates: new Map(), derived: [] });

/** What the rules of a namespace have to know of all names. */
interface NameKinds {
  readonly isRelation: (number: number) => boolean;
  readonly isState: (number: number) => boolean;
  readonly open: NameSet;
  /** Some namespace is public. */
  readonly hasPublic: boolean;
}

/** The rules of one namespace. */
class NamespaceRules {
  readonly wanted: NameSetCache<Requirement>;
  readonly wantedAtMost: NameSetCache<Requirement>;
  readonly held: NameSetCache<NameSet>;
  readonly affected: NameSetCache<NameSet>;
  readonly gates: ReadonlyMap<number, Gate>;
  readonly derived: readonly number[];
  /** By the relations that they use behind `from`. */
  readonly #inherited = new Map<number, NameSetCache<NameSet>>();
  readonly #affectedThrough = new Map<number, NameSetCache<NameSet>>();
  readonly #bound: CacheBound;
  readonly #elements: ReadonlyMap<number, readonly NumberedElement[]>;
  /** Created at the first use. */
  #indexed: ReadonlyMap<number, ReadonlyMap<number, readonly number[]>> | undefined;
  readonly #kinds: NameKinds;

  constructor(bound: CacheBound, { elements, gates, derived }: Definitions, kinds: NameKinds) {
    this.#bound = bound;
    this.#elements = elements;
    this.#kinds = kinds;
    this.gates = gates;
    this.derived = derived;
    this.wanted = new NameSetCache(bound, (names) => this.#wanted(names, false), partsOfRequirement);
    this.wantedAtMost = new NameSetCache(bound, (names) => this.#wanted(names, true), partsOfRequirement);
    this.held = new NameSetCache(bound, (names) => this.#closed(names, false), partsOfSet);
    this.affected = new NameSetCache(bound, (names) => this.#closed(names, true), partsOfSet);
  }

  /** By relation and name: the names and gates of which such an element, or operand, is a part. */
  get #following(): ReadonlyMap<number, ReadonlyMap<number, readonly number[]>> {
    if (this.#indexed !== undefined) return this.#indexed;
    const indexed = new Map<number, Map<number, number[]>>();
    const add = (number: number, { name, from = SAME_OBJECT }: NumberedElement): void => {
      const following = indexed.get(from) ?? new Map<number, number[]>();
      indexed.set(from, following);
      const numbers = following.get(name);
      if (numbers === undefined) following.set(name, [number]);
      else numbers.push(number);
    };
    for (const [number, parts] of this.#elements) for (const part of parts) add(number, part);
    for (const [number, gate] of this.gates) {
      if (gate.kind === 'every') add(number, { name: gate.name, from: gate.relation });
      else {
        for (const name of gate.all) add(number, { name, from: undefined });
        for (const name of gate.none) add(number, { name, from: EXCLUDED });
      }
    }
    this.#indexed = indexed;
    return indexed;
  }

  /** Whether they use the relation behind `from`. */
  leads(relation: number): boolean {
    return this.#following.has(relation);
  }

  /** The numbers that its rules define or use on an object of it, those of gates included. */
  get used(): ReadonlySet<number> {
    const used = new Set([...this.#following.keys(), ...this.#elements.keys()]);
    for (const elements of this.#elements.values())
      for (const { name, from } of elements) if (from === undefined) used.add(name);
    for (const gate of this.gates.values())
      if (gate.kind === 'operands') for (const each of [...gate.all, ...gate.none]) used.add(each);
    return used;
  }

  inherited(relation: number, names: NameSet): NameSet {
    return this.#through(this.#inherited, this.held, relation, names);
  }

  affectedThrough(relation: number, names: NameSet): NameSet {
    return this.#through(this.#affectedThrough, this.affected, relation, names);
  }

  #through(
    caches: Map<number, NameSetCache<NameSet>>,
    closed: NameSetCache<NameSet>,
    relation: number,
    names: NameSet,
  ): NameSet {
    const following = this.#following.get(relation);
    if (following === undefined) return 0n;
    let cache = caches.get(relation);
    if (cache === undefined) {
      cache = new NameSetCache(this.#bound, (each) => closed.get(this.#inheritedBy(following, each)), partsOfSet);
      caches.set(relation, cache);
    }
    return cache.get(names);
  }

  /**
   * `atMost`: with what a gate needs in the place of the gate, and with what it excludes. Of `all_of`, one operand
   * leads to every subject, unless it is granted to `ns:*`, or states give it: then the others name the subjects.
   */
  #wanted(names: NameSet, atMost: boolean): Requirement {
    const before = this.#bound.lookedAt;
    const closed = new Set<number>();
    const relations: number[] = [];
    const states: number[] = [];
    const gates: number[] = [];
    const parents = new Map<number, NameSet>();
    const queue = numbersIn(names);
    for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
      this.#bound.lookedAt += 1;
      if (closed.has(number)) continue;
      closed.add(number);
      if (this.#kinds.isRelation(number)) relations.push(number);
      else if (this.#kinds.isState(number)) states.push(number);
      const gate = this.gates.get(number);
      if (gate !== undefined && !atMost) gates.push(number);
      else if (gate?.kind === 'operands')
        queue.push(...(this.#kinds.hasPublic ? gate.all : this.#narrowest(gate)), ...gate.none);
      else if (gate !== undefined) parents.set(gate.relation, (parents.get(gate.relation) ?? 0n) | bitOf(gate.name));
      const elements = this.#elements.get(number) ?? [];
      this.#bound.lookedAt += elements.length;
      for (const { name, from } of elements) {
        if (from === undefined) queue.push(name);
        else parents.set(from, (parents.get(from) ?? 0n) | bitOf(name));
      }
    }
    return {
      names: setOf(closed),
      relations: relations.sort((left, right) => left - right),
      states: states.sort((left, right) => left - right),
      parents: Array.from(parents, ([relation, each]) => ({ relation, names: each })),
      gates,
      work: this.#bound.lookedAt - before,
    };
  }

  /**
   * The operand that leads to the fewest: grants on the object itself are fewer than what follows through others. All,
   * if states alone may give each of them.
   */
  #narrowest({ all }: OperandGate): readonly number[] {
    const closed = all.filter((number) => !this.#isOpen(number));
    const isPlain = (number: number): boolean => this.#kinds.isRelation(number) && !this.#elements.has(number);
    const narrowest = closed.find(isPlain) ?? closed[0];
    return narrowest === undefined ? all : [narrowest];
  }

  /**
   * The names, and what follows from them on the same object: with every gate whose operands hold, whatever it
   * excludes. `affected`: with every gate of which one is an operand, or excluded.
   */
  #closed(names: NameSet, affected: boolean): NameSet {
    const held = new Set<number>();
    /** By gate: the operands that do not hold. */
    const missing = new Map<number, number>();
    const queue = numbersIn(names);
    for (let number = queue.pop(); number !== undefined; number = queue.pop()) {
      this.#bound.lookedAt += 1;
      if (held.has(number)) continue;
      held.add(number);
      if (affected) queue.push(...(this.#following.get(EXCLUDED)?.get(number) ?? []));
      for (const following of this.#following.get(SAME_OBJECT)?.get(number) ?? []) {
        this.#bound.lookedAt += 1;
        const gate = this.gates.get(following);
        if (gate?.kind === 'operands' && !affected) {
          // States may give an open operand, whether it is among the names or not.
          const left = (missing.get(following) ?? this.#closedOperands(gate)) - (this.#isOpen(number) ? 0 : 1);
          missing.set(following, left);
          if (left > 0) continue;
        }
        queue.push(following);
      }
    }
    return setOf(held);
  }

  #isOpen(number: number): boolean {
    return (this.#kinds.open & bitOf(number)) !== 0n;
  }

  /** How many of the operands states alone cannot give. */
  #closedOperands({ all }: OperandGate): number {
    return this.#kinds.open === 0n ? all.length : all.filter((number) => !this.#isOpen(number)).length;
  }

  #inheritedBy(following: ReadonlyMap<number, readonly number[]>, names: NameSet): NameSet {
    const inherited = numbersIn(names).flatMap((name) => following.get(name) ?? []);
    this.#bound.lookedAt += inherited.length;
    return setOf(inherited);
  }
}

/** Numbers the names and the gates of a rule set. */
class Numbering {
  /** By number; undefined: no name has it. */
  readonly names: (string | undefined)[] = [undefined];
  readonly numbers = new Map<string, number>();
  /** Gates and unions have a number but no name: what each follows from. */
  readonly unnamed = new Map<number, readonly RuleElement[]>();
  readonly relations: ReadonlySet<number>;
  readonly states: ReadonlySet<number>;
  readonly definitions = new Map<string, Definitions>();
  /** The number of the object itself; undefined: no rule uses it. */
  self: number | undefined;

  constructor(ruleSet: RuleSet, relationNumberOf: RelationNumberOf) {
    const { states, rules } = ruleSet;
    for (const granted of grantedNames(ruleSet)) {
      const number = relationNumberOf(granted);
      this.names[number] = granted;
      this.numbers.set(granted, number);
    }
    this.states = new Set(states.map((state) => this.#numberOf(state)));
    this.relations = new Set(this.numbers.values()).difference(this.states);
    for (const { name } of rules) if (!this.numbers.has(name)) this.numbers.set(name, this.names.push(name) - 1);
    for (const { namespace, name, anyOf } of rules) {
      const of = this.definitions.get(namespace) ?? noDefinitions();
      this.definitions.set(namespace, of);
      const number = this.#numberOf(name);
      if (!this.relations.has(number)) of.derived.push(number);
      of.elements.set(
        number,
        anyOf.map((element) => this.#part(of, element)),
      );
    }
  }

  #numberOf(name: string): number {
    if (name !== SELF) return this.numbers.get(name) ?? 0;
    this.self ??= this.names.push(undefined) - 1;
    this.unnamed.set(this.self, [{ name: SELF, from: undefined }]);
    return this.self;
  }

  /** The element as a part of a union. */
  #part(of: Definitions, element: RuleElement): NumberedElement {
    if (isGate(element)) return { name: this.#gate(of, element), from: undefined };
    const name = this.#numberOf(element.name);
    const from = element.from === undefined ? undefined : this.#numberOf(element.from);
    if (element.all !== true || from === undefined) return { name, from };
    return { name: this.#add(of, { kind: 'every', name, relation: from }, element), from: undefined };
  }

  #add(of: Definitions, gate: Gate, element: RuleElement): number {
    const number = this.names.push(undefined) - 1;
    this.unnamed.set(number, [element]);
    of.gates.set(number, gate);
    return number;
  }

  #gate(of: Definitions, gate: GateElement): number {
    const { operator, elements, butNot } = gate;
    if (operator === 'any_of' && butNot.length === 0) return this.#union(of, elements);
    const all = operator === 'any_of' ? [this.#union(of, elements)] : elements.map((each) => this.#union(of, [each]));
    return this.#add(of, { kind: 'operands', all, none: butNot.map((each) => this.#union(of, [each])) }, gate);
  }

  /** The number of what follows from any of the elements. */
  #union(of: Definitions, elements: readonly RuleElement[]): number {
    const parts = elements.map((element) => this.#part(of, element));
    const [first] = parts;
    if (parts.length === 1 && first !== undefined && first.from === undefined) return first.name;
    const number = this.names.push(undefined) - 1;
    this.unnamed.set(number, elements);
    of.elements.set(number, parts);
    return number;
  }
}

const BITS: NameSet[] = [];
/** Sets of one name that are kept: up to 256 bytes each. */
const BITS_MAX = 2048;

/** The set that contains only this name. */
export function bitOf(number: number): NameSet {
  if (number >= BITS_MAX) return 1n << BigInt(number);
  BITS[number] ??= 1n << BigInt(number);
  return BITS[number];
}

/** In linear time, however many there are. */
function setOf(numbers: Iterable<number>): NameSet {
  const words: number[] = [];
  for (const number of numbers) words[number >> 5] = (words[number >> 5] ?? 0) | (1 << (number & 31));
  let hex = '';
  for (const word of words) hex = ((word ?? 0) >>> 0).toString(16).padStart(8, '0') + hex;
  return BigInt(`0x0${hex}`);
}

/** Ascending. */
function numbersIn(names: NameSet): number[] {
  const numbers: number[] = [];
  for (let base = 0, rest = names; rest !== 0n; base += 32, rest >>= 32n) {
    for (let bits = Number(rest & 0xffff_ffffn); bits !== 0; bits &= bits - 1)
      numbers.push(base + 31 - Math.clz32(bits & -bits));
  }
  return numbers;
}

/** The number of a built-in relation, or of one of the rule set's own. */
export type RelationNumberOf = (relation: Relation) => number;

/** Numbers own relations and states in the order of the rule set. */
const inOrder =
  (ruleSet: RuleSet): RelationNumberOf =>
  (relation) =>
    relationNumber(relation) ?? RELATIONS.length + 1 + ownNames(ruleSet).indexOf(relation);

/** What holds without a grant to the subject. */
interface OpenNames {
  /**
   * The names that states alone may give, whichever the namespace. If a group may have every subject as a member, a
   * grant to it may give any name.
   */
  readonly open: NameSet;
  /** The states that may give a name that is none. What `but_not` alone uses gives nothing. */
  readonly giving: ReadonlySet<number>;
  /** By name: the names that may give it, in any namespace. */
  readonly openers: ReadonlyMap<number, readonly number[]>;
}

/** `isNamed`: whether the number is that of a name, and not of a part of a rule. */
function openNames(
  states: ReadonlySet<number>,
  definitions: Iterable<Definitions>,
  groups: boolean,
  isNamed: (number: number) => boolean,
): OpenNames {
  if (states.size === 0) return { open: 0n, giving: states, openers: NO_OPENERS };
  /** By name: what opens once `left` more of those that it waits for do. */
  const waiting = new Map<number, { readonly number: number; left: number }[]>();
  const openers = new Map<number, number[]>();
  const wait = (number: number, names: ReadonlySet<number>, left: number): void => {
    const opening = { number, left };
    const known = openers.get(number);
    if (known === undefined) openers.set(number, [...names]);
    else known.push(...names);
    for (const name of names) {
      const others = waiting.get(name) ?? [];
      waiting.set(name, others);
      others.push(opening);
    }
  };
  for (const { elements, gates } of definitions) {
    for (const [number, parts] of elements) wait(number, new Set(parts.map(({ name }) => name)), 1);
    for (const [number, gate] of gates) {
      const names = new Set(gate.kind === 'every' ? [gate.name] : gate.all);
      wait(number, names, names.size);
    }
  }
  const open = new Set(states);
  for (const name of open) {
    for (const opening of waiting.get(name) ?? []) {
      opening.left -= 1;
      if (opening.left === 0) open.add(opening.number);
    }
  }
  const given = new Set([...open].filter((number) => !states.has(number) && isNamed(number)));
  const isGroupOpen = groups && given.size > 0;
  for (const number of given) {
    for (const each of openers.get(number) ?? []) if (open.has(each)) given.add(each);
  }
  return { open: isGroupOpen ? EVERY_NAME : setOf(open), giving: given.intersection(states), openers };
}

const NO_OPENERS: OpenNames['openers'] = new Map();

/** Every bit is set. */
const EVERY_NAME: NameSet = -1n;

export class CompiledRules {
  readonly groups: boolean;
  /** Whether some name depends on a gate. */
  readonly gated: boolean;
  /** By name. */
  readonly conditions: CompiledConditions;
  /** Whether grants to subjects may have the number: it is that of a relation, built-in or own. */
  readonly isRelation: (number: number) => boolean;
  readonly isState: (number: number) => boolean;
  /** Numbers of the states, and the same as a set. */
  readonly #states: readonly number[];
  /** As they were asked for last: a client that has a name wrong repeats it. */
  #askable: (AskableNames & { readonly of: NamespaceRules }) | undefined;
  readonly #stateSet: NameSet;
  readonly #open: NameSet;
  readonly #giving: readonly number[];
  readonly #openers: OpenNames['openers'];
  readonly #public: ReadonlySet<string>;
  readonly #relations: readonly Relation[];
  /** All names that can be granted. */
  readonly granted: readonly Relation[];
  /** By number; undefined at 0, and of gates. */
  readonly #names: readonly (string | undefined)[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #unnamed: ReadonlyMap<number, readonly RuleElement[]>;
  readonly #namespaces: ReadonlyMap<string, NamespaceRules>;
  readonly #withoutRules: NamespaceRules;
  readonly #namesIn: NameSetCache<readonly string[]>;
  readonly #childRelations: NameSetCache<readonly number[]>;
  /** By relation: the names N of all elements "N from relation". */
  readonly #followed: ReadonlyMap<number, NameSet>;
  /** Names that rules define or use, other than behind `from`. */
  readonly #used: ReadonlySet<number>;
  /** The element for the object itself; empty: no rule uses it. */
  readonly #self: NameSet;
  readonly #bound: CacheBound;

  /** `conditions`: of the rule set; a shard compiles them before, in turns. Empty where nothing is evaluated. */
  constructor(
    ruleSet: RuleSet,
    relationNumberOf: RelationNumberOf = inOrder(ruleSet),
    conditions: CompiledConditions = compileConditions(ruleSet.conditions),
  ) {
    this.groups = ruleSet.groups;
    this.conditions = conditions;
    this.#public = new Set(ruleSet.public);
    this.#relations = [...RELATIONS, ...ruleSet.relations];
    this.granted = grantedNames(ruleSet);
    const { names, numbers, unnamed, relations, states, definitions, self } = new Numbering(ruleSet, relationNumberOf);
    this.#states = [...states].sort((left, right) => left - right);
    this.#stateSet = setOf(states);
    const { open, giving, openers } = openNames(
      states,
      definitions.values(),
      ruleSet.groups,
      (each) => names[each] !== undefined,
    );
    this.#open = open;
    this.#openers = openers;
    this.#giving = this.#states.filter((state) => giving.has(state));
    this.#self = self === undefined ? 0n : bitOf(self);
    this.#unnamed = unnamed;
    this.#names = names;
    this.#numbers = numbers;
    const used = new Set<number>();
    let count = 0;
    const followed = new Map<number, Set<number>>();
    const follow = (relation: number, name: number): void => {
      followed.set(relation, (followed.get(relation) ?? new Set<number>()).add(name));
    };
    for (const { elements, gates } of definitions.values()) {
      for (const [defined, parts] of elements) {
        used.add(defined);
        count += parts.length;
        for (const { name, from } of parts) {
          used.add(name);
          if (from !== undefined) follow(from, name);
        }
      }
      for (const gate of gates.values()) {
        count += 1;
        if (gate.kind === 'every') {
          used.add(gate.name);
          follow(gate.relation, gate.name);
        } else for (const name of [...gate.all, ...gate.none]) used.add(name);
      }
    }
    this.#used = used;
    this.#followed = new Map(Array.from(followed, ([relation, each]) => [relation, setOf(each)]));
    this.gated = Array.from(definitions.values()).some(({ gates }) => gates.size > 0);
    const bound = new CacheBound(CACHED_MIN + CACHED_PER_ELEMENT * count, names.length);
    this.#bound = bound;
    this.isRelation = (number) => relations.has(number);
    this.isState = (number) => states.has(number);
    const { isRelation, isState } = this;
    const kinds = { isRelation, isState, open: this.#open, hasPublic: ruleSet.public.length > 0 };
    const rulesOf = (of: Definitions): NamespaceRules => new NamespaceRules(bound, of, kinds);
    this.#withoutRules = rulesOf(noDefinitions());
    this.#namespaces = new Map(Array.from(definitions, ([namespace, of]) => [namespace, rulesOf(of)]));
    this.#namesIn = new NameSetCache<readonly string[]>(
      bound,
      (set) => numbersIn(set).flatMap((number) => this.#names[number] ?? []),
      partsOfList,
    );
    this.#childRelations = new NameSetCache(bound, (set) => this.#relationsFollowing(set), partsOfList);
  }

  #relationsFollowing(names: NameSet): readonly number[] {
    this.#bound.lookedAt += this.#followed.size;
    return Array.from(this.#followed, ([relation, followed]) => ((followed & names) === 0n ? [] : [relation])).flat();
  }

  /** Grows by the work of what is not cached, as much as by the grants that a search examines in the same time. */
  get spent(): number {
    return this.#bound.lookedAt / LOOKED_AT_PER_GRANT;
  }

  /** The number of a relation or of a name that some rule defines. */
  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  /** A name, or the text of a gate. */
  describe(number: number): string {
    return this.#names[number] ?? (this.#unnamed.get(number) ?? []).map(textOfElement).join(' or ');
  }

  /** Names by ascending number; gates have none. */
  namesIn(names: NameSet): readonly string[] {
    return this.#namesIn.get(names);
  }

  /** The names by which subjects belong to groups: all but states, which have no members. */
  groupNamesIn(names: NameSet): readonly string[] {
    return this.#namesIn.get(names & ~this.#stateSet);
  }

  /**
   * The actions on objects of this namespace: the derived names that rules define there; if they define none, the
   * relations, built-in and own.
   */
  actionsOn(object: string): readonly string[] {
    const { derived } = this.#of(object);
    return derived.length === 0 ? this.#relations : derived.map((number) => this.#names[number] ?? '');
  }

  /** The names that a question on objects of this namespace may use. `object`: one, or a namespace with a colon. */
  askableOn(object: string): AskableNames {
    const of = this.#of(object);
    if (this.#askable?.of === of) return this.#askable;
    const { used } = of;
    const names = [...this.#numbers];
    this.#askable = {
      of,
      here: names.flatMap(([name, number]) => (used.has(number) ? [name] : [])),
      others: names.flatMap(([name, number]) => (used.has(number) ? [] : [name])),
    };
    return this.#askable;
  }

  /** What suffices for one of the names on the object. */
  wanted(object: string, names: NameSet): Requirement {
    return this.#of(object).wanted.get(names);
  }

  /** The same of one name, without gates, as texts: `editor`, `viewer from parent`. */
  sufficesFor(object: string, number: number): readonly string[] {
    const { relations, states, parents } = this.wanted(object, bitOf(number));
    const listed = (all: readonly string[]): readonly string[] =>
      all.length <= LISTED_MAX ? all : [...all.slice(0, LISTED_MAX), `${all.length - LISTED_MAX} others`];
    const texts = (names: NameSet): string => listed(this.namesIn(names)).join(' or ');
    const inherited = parents.slice(0, LISTED_MAX + 1);
    return [
      ...listed([...relations, ...states].map((granted) => this.describe(granted))),
      ...inherited.map((each) => `${texts(each.names)} from ${this.describe(each.relation)}`),
    ];
  }

  /**
   * An upper bound that ignores gates: every subject that holds one of the names also holds something of this, and so
   * does every subject that a gate excludes.
   */
  wantedAtMost(object: string, names: NameSet): Requirement {
    return this.#of(object).wantedAtMost.get(names);
  }

  /** A gate that is wanted on the object. */
  gateOf(object: string, number: number): Gate {
    const gate = this.#of(object).gates.get(number);
    assert(gate !== undefined, 'a gate that is wanted is one of its namespace');
    return gate;
  }

  /**
   * The names that follow, on the same object, from these, which are included: with every gate whose operands are
   * among them, so that a subject may hold less.
   */
  held(object: string, names: NameSet): NameSet {
    return this.#of(object).held.get(names);
  }

  /**
   * The names on the object that follow from these on an entity that has the relation on it, as above: an `all of` may
   * open.
   */
  inherited(object: string, relation: number, names: NameSet): NameSet {
    return this.#of(object).inherited(relation, names);
  }

  /** The names on the object that a change of these there could change, which are included: whatever gates need. */
  affected(object: string, names: NameSet): NameSet {
    return this.#of(object).affected.get(names);
  }

  /** The same for a change of these on an entity that has the relation on the object. */
  affectedThrough(object: string, relation: number, names: NameSet): NameSet {
    return this.#of(object).affectedThrough(relation, names);
  }

  /** The names on an entity that some rule follows along the relation. */
  followedAlong(relation: number): NameSet {
    return this.#followed.get(relation) ?? 0n;
  }

  /** The relations of an entity to others along which something follows from one of the names on it. */
  childRelations(names: NameSet): readonly number[] {
    return this.#childRelations.get(names);
  }

  /** Whether rules of the object's namespace use the relation behind `from`, and no rule has it as a name. */
  leadsToEntitiesOnly(object: string, relation: number): boolean {
    return !this.#used.has(relation) && this.#of(object).leads(relation);
  }

  /** Whether any grant could give a subject the name on the object. */
  canHold(object: string, name: string): boolean {
    const number = this.numberOf(name);
    if (number === undefined) return false;
    const { names, relations, states, parents, gates } = this.wanted(object, bitOf(number));
    return relations.length + states.length + parents.length + gates.length > 0 || this.includesSelf(names);
  }

  #of(object: string): NamespaceRules {
    return this.#namespaces.get(namespaceOf(object)) ?? this.#withoutRules;
  }

  /** The object and name of a group; undefined: the subject is no group. */
  groupOf(subject: string): Group | undefined {
    return this.groups ? parseGroup(subject) : undefined;
  }

  /**
   * The names that the members of a group hold, and on what; undefined: the subject is no group of a known name. A
   * state has no members.
   */
  membershipOf(subject: string): { readonly object: string; readonly names: NameSet } | undefined {
    const group = this.groupOf(subject);
    const number = group && this.numberOf(group.name);
    if (group === undefined || number === undefined || this.isState(number)) return undefined;
    return { object: group.object, names: bitOf(number) };
  }

  /**
   * What the subject holds without a grant: a group its own name, and an entity, where rules use `self`, the object
   * that it is.
   */
  ownOf(subject: string): { readonly object: string; readonly names: NameSet } | undefined {
    const membership = this.membershipOf(subject);
    if (membership !== undefined || this.#self === 0n || !this.isEntity(subject)) return membership;
    return { object: subject, names: this.#self };
  }

  /** Whether the object itself holds one of the names. */
  includesSelf(names: NameSet): boolean {
    return (names & this.#self) !== 0n;
  }

  /** Whether one of the names may be held by a subject without a grant, through states. */
  isOpen(names: NameSet): boolean {
    return (this.#open & names) !== 0n;
  }

  /** The states that may give another name by themselves. */
  get givingStates(): readonly number[] {
    return this.#giving;
  }

  /** The states that may give the name by themselves. A search from a subject leads to all who hold it through them. */
  statesGiving(number: number): readonly number[] {
    if (!this.isOpen(bitOf(number))) return [];
    if (this.#open === EVERY_NAME) return this.#states.filter((each) => each === number || this.#giving.includes(each));
    const given = new Set([number]);
    for (const each of given) {
      for (const name of this.#openers.get(each) ?? [])
        if (!given.has(name) && this.isOpen(bitOf(name))) given.add(name);
    }
    return this.#states.filter((state) => given.has(state));
  }

  /**
   * The subject, and `ns:*` if grants to it are grants to this subject too. A group is no subject of a namespace. The
   * subject of states has no others: a search reads those by their objects.
   */
  subjectsOf(subject: string): readonly string[] {
    if (subject === EVERY_SUBJECT) return [];
    if (this.#public.size === 0) return [subject];
    const namespace = namespaceOf(subject);
    if (!this.#public.has(namespace) || this.groupOf(subject) !== undefined) return [subject];
    const everyone = `${namespace}:*`;
    return everyone === subject ? [subject] : [subject, everyone];
  }

  /** The subjects whose grants are also grants to this one, beside itself. */
  subjectsIncluding(subject: string): readonly string[] {
    const others = this.subjectsOf(subject).slice(1);
    return this.#states.length === 0 || subject === EVERY_SUBJECT ? others : [...others, EVERY_SUBJECT];
  }

  /** Whether names on the entity are inherited by others: neither those of a group nor those of all of a namespace. */
  isEntity(subject: string): boolean {
    if (subject === EVERY_SUBJECT || this.groupOf(subject) !== undefined) return false;
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
  if (rules.leadsToEntitiesOnly(object, rules.numberOf(relation) ?? 0)) return 'no-entity';
  if (group === undefined) return rules.isEntity(subject) ? 'not-public' : undefined;
  if (!rules.groups) return 'groups-off';
  if (rules.isState(rules.numberOf(group.name) ?? 0)) return 'unknown-name';
  return rules.canHold(group.object, group.name) ? undefined : 'unknown-name';
}
