// The join of a name: how a list of objects on which a subject holds it follows from grants that an application mirrors
// beside its own data, and from the sets of the subject, which it asks for. A pure function of the rules.
//
// The formula says what holds on an object, over atoms: what suffices there without a gate. Names on containers are
// followed upwards along mirrored grants; which of their other grants count is asked (`held`). A name that depends on
// a gate is opaque on a container, and decided where it is asked. Every name of every rule set has a join: one that
// would be too large is opaque on the object itself.

import { bitOf, type CompiledRules } from './compiled-rules.ts';
import { type RuleSet, SELF } from './rule-set.ts';
import { entitiesBehind } from './strata.ts';

/** Levels of containers above an object: what is only found beyond is undecided. */
export const JOIN_DEPTH_MAX = 25;
/** Atoms, gates, names and relations of one join. */
const PARTS_MAX = 4000;
/** Gates inside of each other, those of other names included. */
const GATES_MAX = 50;

/** Of the entities that have `relation` on an object, one on which one of the names holds. */
export interface JoinedFrom {
  readonly relation: string;
  readonly names: readonly string[];
}

/** Any of these suffices. */
export interface JoinedNode {
  /** Mirrored: a grant of one of them to one of the subjects. */
  readonly relations: readonly string[];
  /** The subject's own object is this one, with one of these names. */
  readonly own: readonly string[];
  /** `<object>#<held>` is held. */
  readonly held?: string;
  readonly from: readonly JoinedFrom[];
  /** One entity has the relation, and the name holds on each that has it. */
  readonly every?: true;
}

/** A name on objects of a namespace, which mirrored grants are followed to. */
export interface NestedName extends JoinedNode {
  readonly namespace: string;
  readonly name: string;
}

/** The key of an atom; or gates over others. An empty `any_of` never holds. */
export type Formula =
  | string
  | { readonly any_of: readonly Formula[] }
  | { readonly all_of: readonly Formula[]; readonly none_of?: readonly Formula[] };

export interface Join {
  readonly namespace: string;
  readonly name: string;
  /** A subject `ns:id#name` is a group, and no container. */
  readonly groups: boolean;
  /** Their `ns:*` is no container. */
  readonly public: readonly string[];
  readonly mirror: readonly { readonly namespace: string; readonly relations: readonly string[] }[];
  readonly atoms: Readonly<Record<string, JoinedNode>>;
  readonly formula: Formula;
  readonly nesting: readonly NestedName[];
  /** The names on objects that `held` has, but for those that are nested and have no `held`. */
  readonly ask: readonly string[];
  readonly depth_max: number;
}

/** What is wanted of the join. `deep`: namespaces of containers whose grants are mirrored, too. */
export interface JoinQuery {
  readonly namespace: string;
  readonly name: string;
  readonly deep: readonly string[];
}

type JoinParts = Pick<Join, 'mirror' | 'atoms' | 'formula' | 'nesting' | 'ask'>;

class TooManyParts extends Error {}

const NEVER: Formula = { any_of: [] };
const isNever = (formula: Formula): boolean =>
  typeof formula === 'object' && 'any_of' in formula && formula.any_of.length === 0;

/** Letters, then numbered ones. */
const atomKey = (index: number): string => (index < 26 ? String.fromCharCode('a'.charCodeAt(0) + index) : `a${index}`);

class JoinBuilder {
  readonly #ruleSet: RuleSet;
  readonly #rules: CompiledRules;
  readonly #namespace: string;
  /** Namespaces of which every grant that counts is mirrored. */
  readonly #mirrored: ReadonlySet<string>;
  readonly #ruled: readonly string[];
  readonly #entities: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #mirror = new Map<string, Set<string>>();
  readonly #atoms = new Map<string, JoinedNode>();
  /** By number; undefined: nothing suffices for it. */
  readonly #atomOf = new Map<number, string | undefined>();
  /** By namespace and name. A later one is looked at when its turn comes. */
  readonly #nested = new Map<string, Pick<NestedName, 'namespace' | 'name'>>();
  readonly #ask = new Set<string>();
  #parts = 0;

  constructor(ruleSet: RuleSet, rules: CompiledRules, { namespace, deep }: JoinQuery) {
    this.#ruleSet = ruleSet;
    this.#rules = rules;
    this.#namespace = namespace;
    this.#mirrored = new Set([namespace, ...deep]);
    this.#ruled = [...new Set(ruleSet.rules.map((rule) => rule.namespace))].sort();
    this.#entities = entitiesBehind(ruleSet);
  }

  /** Throws `TooManyParts`. */
  build(number: number): JoinParts {
    const formula = this.#formula(number, new Set());
    const nesting = Array.from(this.#nested.values(), (each) => this.#nestedName(each));
    return { formula, nesting, ...this.#mirrorAndAtoms() };
  }

  /** The live half lists the objects. */
  buildOpaque(name: string): JoinParts {
    this.#ask.add(name);
    this.#atoms.set('a', { relations: [], own: [], held: name, from: [] });
    return { formula: 'a', nesting: [], ...this.#mirrorAndAtoms() };
  }

  #mirrorAndAtoms(): Pick<Join, 'mirror' | 'atoms' | 'ask'> {
    const ascending = (texts: Iterable<string>): string[] => [...texts].sort();
    return {
      mirror: Array.from(this.#mirror, ([namespace, relations]) => ({ namespace, relations: ascending(relations) })),
      atoms: Object.fromEntries(this.#atoms),
      ask: ascending(this.#ask),
    };
  }

  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > PARTS_MAX) throw new TooManyParts();
  }

  #mirrorOf(namespace: string, relations: readonly string[]): void {
    if (relations.length === 0) return;
    const known = this.#mirror.get(namespace) ?? new Set();
    this.#mirror.set(namespace, known);
    for (const relation of relations) known.add(relation);
  }

  /** `within`: the gates that it is a part of. What holds only through itself does not hold. */
  #formula(number: number, within: ReadonlySet<number>): Formula {
    const { gates } = this.#rules.wanted(`${this.#namespace}:`, bitOf(number));
    const atom = this.#atom(number);
    const parts = atom === undefined ? [] : [atom];
    if (within.size > GATES_MAX) throw new TooManyParts();
    const opened = gates.filter((gate) => !within.has(gate)).map((gate) => this.#gate(gate, within));
    const any = [...parts, ...opened.filter((formula) => !isNever(formula))];
    this.#count(1 + any.length);
    return any.length === 1 ? (any[0] ?? NEVER) : { any_of: any };
  }

  #gate(number: number, within: ReadonlySet<number>): Formula {
    const gate = this.#rules.gateOf(`${this.#namespace}:`, number);
    if (gate.kind === 'every') {
      const from = this.#from(this.#namespace, gate.relation, [this.#rules.describe(gate.name)]);
      return this.#addAtom({ relations: [], own: [], from: [from], every: true }) ?? NEVER;
    }
    const inside = new Set([...within, number]);
    const all = gate.all.map((each) => this.#formula(each, inside));
    if (all.some(isNever)) return NEVER;
    const none = gate.none.map((each) => this.#formula(each, inside)).filter((formula) => !isNever(formula));
    return { all_of: all, ...(none.length === 0 ? {} : { none_of: none }) };
  }

  #atom(number: number): string | undefined {
    if (!this.#atomOf.has(number)) {
      this.#atomOf.set(number, this.#addAtom(this.#node(this.#namespace, number)));
    }
    return this.#atomOf.get(number);
  }

  #addAtom(atom: JoinedNode): string | undefined {
    if (atom.relations.length + atom.own.length + atom.from.length === 0) return undefined;
    const key = atomKey(this.#atoms.size);
    this.#atoms.set(key, atom);
    return key;
  }

  /** What suffices on objects of a namespace whose grants are all mirrored, without gates. */
  #node(namespace: string, number: number): JoinedNode {
    const { relations, states, parents, names } = this.#rules.wanted(`${namespace}:`, bitOf(number));
    const granted = [...relations, ...states].map((each) => this.#rules.describe(each));
    const from = parents.map((each) => this.#from(namespace, each.relation, this.#namesIn(each.names)));
    const groups = this.#ruleSet.groups ? this.#rules.groupNamesIn(names) : [];
    const own = [...groups, ...(this.#rules.includesSelf(names) ? [SELF] : [])];
    this.#count(1 + granted.length + own.length);
    this.#mirrorOf(namespace, granted);
    return { relations: granted, own, from };
  }

  /** With the object itself. */
  #namesIn(names: bigint): readonly string[] {
    return [...this.#rules.namesIn(names), ...(this.#rules.includesSelf(names) ? [SELF] : [])];
  }

  /** Where types name other namespaces, grants from before may still lead from these: there, all is asked for. */
  #from(namespace: string, number: number, names: readonly string[]): JoinedFrom {
    const relation = this.#rules.describe(number);
    this.#mirrorOf(namespace, [relation]);
    for (const each of this.#entities.get(`${namespace} ${relation}`) ?? this.#ruled) {
      this.#count(names.length);
      for (const name of names) this.#nested.set(`${each} ${name}`, { namespace: each, name });
    }
    for (const name of names) this.#ask.add(name);
    return { relation, names };
  }

  #nestedName({ namespace, name }: Pick<NestedName, 'namespace' | 'name'>): NestedName {
    const number = this.#rules.numberOf(name);
    // An entity that is the subject.
    if (number === undefined) return { namespace, name, relations: [], own: [name], from: [] };
    const { gates, states, parents } = this.#rules.wanted(`${namespace}:`, bitOf(number));
    if (gates.length > 0) return { namespace, name, relations: [], own: [], held: name, from: [] };
    if (this.#mirrored.has(namespace)) return { namespace, name, ...this.#node(namespace, number) };
    const granted = states.map((each) => this.#rules.describe(each));
    this.#mirrorOf(namespace, granted);
    this.#count(1 + granted.length);
    const from = parents.map((each) => this.#from(namespace, each.relation, this.#namesIn(each.names)));
    return { namespace, name, relations: granted, own: [], held: name, from };
  }
}

/** `number`: of the name. `rules`: compiled from the rule set. */
export function joinOf(ruleSet: RuleSet, rules: CompiledRules, query: JoinQuery, number: number): Join {
  const { namespace, name } = query;
  const head = { namespace, name, groups: ruleSet.groups, public: ruleSet.public, depth_max: JOIN_DEPTH_MAX };
  try {
    return { ...head, ...new JoinBuilder(ruleSet, rules, query).build(number) };
  } catch (error) {
    if (!(error instanceof TooManyParts)) throw error;
    return { ...head, ...new JoinBuilder(ruleSet, rules, query).buildOpaque(name) };
  }
}
