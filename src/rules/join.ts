// The join of a name: how a list of objects on which a subject holds it follows from grants that an application mirrors
// beside its own data, and from the sets of the subject, which it asks for. A pure function of the rules.
//
// The formula says what holds on an object, over atoms: what suffices there without a gate. Names on containers are
// followed upwards along mirrored grants; which of their other grants count is asked (`held`). A name that depends on
// a gate is opaque on a container, and decided where it is asked. Every name of every rule set has a join: one that
// would be too large, or take too long, is opaque on the object itself.

import { bitOf, type CompiledRules, type Requirement } from './compiled-rules.ts';
import { type RuleSet, SELF } from './rule-set.ts';
import { StepSize, type Steps } from './steps.ts';
import { entitiesBehind } from './strata.ts';

/** Levels of containers above an object: what is only found beyond is undecided. */
export const JOIN_DEPTH_MAX = 25;
/** Of a join in JSON, about: twice the bytes of the largest rules. */
export const JOIN_BYTES_MAX = 256 * 1024;
/** JSON around the texts of a part, and around each of them. */
const PART_BYTES = 40;
const TEXT_BYTES = 3;
/** What a join takes, and a step of it, in the grants that a search examines in the same time: up to 2 ms a step. */
const WORK_MAX = 500_000;
const WORK_PER_STEP = 1000;
/** Names and elements that are looked at in the time of one such grant. */
const LOOKED_AT_PER_GRANT = 8;
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

class JoinTooLarge extends Error {}

const NEVER: Formula = { any_of: [] };
const isNever = (formula: Formula): boolean =>
  typeof formula === 'object' && 'any_of' in formula && formula.any_of.length === 0;

/** Numbers depend on which relations an owner has met before: rules have one join, in the order of texts. */
const ascending = (texts: Iterable<string>): string[] => [...texts].sort();

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
  /** Names that are followed to entities of every namespace with rules. */
  readonly #everywhere = new Set<string>();
  readonly #ask = new Set<string>();
  readonly #step = new StepSize(WORK_PER_STEP);
  #bytes = 0;
  #work = 0;
  /** In the present part. Whatever the rules have kept of it: rules have one join. */
  #looked = 0;
  /** Namespaces with numbers: each is worked out once. */
  readonly #wantedBefore = new Set<string>();

  constructor(ruleSet: RuleSet, rules: CompiledRules, { namespace, deep }: JoinQuery) {
    this.#ruleSet = ruleSet;
    this.#rules = rules;
    this.#namespace = namespace;
    this.#mirrored = new Set([namespace, ...deep]);
    this.#ruled = ascending(new Set(ruleSet.rules.map((rule) => rule.namespace)));
    this.#entities = entitiesBehind(ruleSet);
  }

  /** Throws `JoinTooLarge`. */
  *build(number: number): Steps<JoinParts> {
    this.#grow(this.#ruleSet.public);
    const formula = yield* this.#formula(number, new Set());
    const nesting: NestedName[] = [];
    for (const each of this.#nested.values()) nesting.push(yield* this.#nestedName(each));
    return { formula, nesting, ...this.#mirrorAndAtoms() };
  }

  /** The live half lists the objects. */
  buildOpaque(name: string): JoinParts {
    this.#ask.add(name);
    this.#atoms.set('a', { relations: [], own: [], held: name, from: [] });
    return { formula: 'a', nesting: [], ...this.#mirrorAndAtoms() };
  }

  #mirrorAndAtoms(): Pick<Join, 'mirror' | 'atoms' | 'ask'> {
    return {
      mirror: Array.from(this.#mirror, ([namespace, relations]) => ({ namespace, relations: ascending(relations) })),
      atoms: Object.fromEntries(this.#atoms),
      ask: ascending(this.#ask),
    };
  }

  /** A step may end behind it. */
  *#part<Result>(run: () => Result): Steps<Result> {
    this.#looked = 1;
    const result = run();
    this.#work += this.#looked;
    if (this.#work > WORK_MAX) throw new JoinTooLarge();
    yield* this.#step.add(this.#looked);
    return result;
  }

  /** A part of the join, with these texts. */
  #grow(texts: readonly string[]): void {
    this.#bytes += PART_BYTES;
    for (const text of texts) this.#bytes += TEXT_BYTES + text.length;
    if (this.#bytes > JOIN_BYTES_MAX) throw new JoinTooLarge();
  }

  #mirrorOf(namespace: string, relations: readonly string[]): void {
    if (relations.length === 0) return;
    const known = this.#mirror.get(namespace) ?? new Set();
    this.#mirror.set(namespace, known);
    this.#grow(relations.filter((relation) => !known.has(relation)));
    for (const relation of relations) known.add(relation);
  }

  #wanted(namespace: string, number: number): Requirement {
    const wanted = this.#rules.wanted(`${namespace}:`, bitOf(number));
    const key = `${namespace} ${number}`;
    if (!this.#wantedBefore.has(key)) this.#looked += wanted.work / LOOKED_AT_PER_GRANT;
    this.#wantedBefore.add(key);
    return wanted;
  }

  #describe(numbers: readonly number[]): readonly string[] {
    return ascending(numbers.map((each) => this.#rules.describe(each)));
  }

  /** `within`: the gates that it is a part of. What holds only through itself does not hold. */
  *#formula(number: number, within: ReadonlySet<number>): Steps<Formula> {
    if (within.size > GATES_MAX) throw new JoinTooLarge();
    this.#grow([]);
    const { gates } = yield* this.#part(() => this.#wanted(this.#namespace, number));
    const atom = yield* this.#atom(number);
    const any: Formula[] = atom === undefined ? [] : [atom];
    for (const gate of gates) {
      if (within.has(gate)) continue;
      const opened = yield* this.#gate(gate, within);
      if (!isNever(opened)) any.push(opened);
    }
    return any.length === 1 ? (any[0] ?? NEVER) : { any_of: any };
  }

  *#gate(number: number, within: ReadonlySet<number>): Steps<Formula> {
    const gate = this.#rules.gateOf(`${this.#namespace}:`, number);
    if (gate.kind === 'every') {
      const from = yield* this.#part(() => this.#from(this.#namespace, gate.relation, this.#describe([gate.name])));
      return this.#addAtom({ relations: [], own: [], from: [from], every: true }) ?? NEVER;
    }
    const inside = new Set([...within, number]);
    const [all, none]: [Formula[], Formula[]] = [[], []];
    for (const each of gate.all) {
      const formula = yield* this.#formula(each, inside);
      if (isNever(formula)) return NEVER;
      all.push(formula);
    }
    for (const each of gate.none) {
      const formula = yield* this.#formula(each, inside);
      if (!isNever(formula)) none.push(formula);
    }
    return { all_of: all, ...(none.length === 0 ? {} : { none_of: none }) };
  }

  *#atom(number: number): Steps<string | undefined> {
    if (!this.#atomOf.has(number)) this.#atomOf.set(number, this.#addAtom(yield* this.#node(this.#namespace, number)));
    return this.#atomOf.get(number);
  }

  #addAtom(atom: JoinedNode): string | undefined {
    if (atom.relations.length + atom.own.length + atom.from.length === 0) return undefined;
    const key = atomKey(this.#atoms.size);
    this.#atoms.set(key, atom);
    return key;
  }

  /** What suffices on objects of a namespace whose grants are all mirrored, without gates. */
  *#node(namespace: string, number: number): Steps<JoinedNode> {
    const { relations, states, parents, names } = this.#wanted(namespace, number);
    const granted = this.#describe([...relations, ...states]);
    const own = this.#withSelf(this.#ruleSet.groups ? this.#rules.groupNamesIn(names) : [], names);
    this.#grow([...granted, ...own]);
    this.#mirrorOf(namespace, granted);
    return { relations: granted, own, from: yield* this.#fromParents(namespace, parents) };
  }

  *#fromParents(namespace: string, parents: Requirement['parents']): Steps<readonly JoinedFrom[]> {
    const from: JoinedFrom[] = [];
    for (const { relation, names } of parents)
      from.push(
        yield* this.#part(() => this.#from(namespace, relation, this.#withSelf(this.#rules.namesIn(names), names))),
      );
    return from;
  }

  /** Behind these texts the object itself, if the names include it. */
  #withSelf(texts: readonly string[], names: bigint): readonly string[] {
    return [...ascending(texts), ...(this.#rules.includesSelf(names) ? [SELF] : [])];
  }

  /** Where types name other namespaces, grants from before may still lead from these: there, all is asked for. */
  #from(namespace: string, number: number, names: readonly string[]): JoinedFrom {
    const relation = this.#rules.describe(number);
    this.#grow([relation, ...names]);
    this.#mirrorOf(namespace, [relation]);
    const behind = this.#entities.get(`${namespace} ${relation}`);
    for (const name of names) {
      this.#ask.add(name);
      if (behind === undefined && this.#everywhere.has(name)) continue;
      if (behind === undefined) this.#everywhere.add(name);
      for (const each of behind ?? this.#ruled) this.#nest({ namespace: each, name });
    }
    return { relation, names };
  }

  #nest(nested: Pick<NestedName, 'namespace' | 'name'>): void {
    const { namespace, name } = nested;
    const key = `${namespace} ${name}`;
    this.#looked += 1;
    if (this.#nested.has(key)) return;
    // In what is asked for, too.
    this.#grow([namespace, name, name]);
    this.#nested.set(key, nested);
  }

  *#nestedName({ namespace, name }: Pick<NestedName, 'namespace' | 'name'>): Steps<NestedName> {
    const number = this.#rules.numberOf(name);
    // An entity that is the subject.
    if (number === undefined) return { namespace, name, relations: [], own: [name], from: [] };
    const { gates, states, parents } = yield* this.#part(() => this.#wanted(namespace, number));
    if (gates.length > 0) return { namespace, name, relations: [], own: [], held: name, from: [] };
    if (this.#mirrored.has(namespace)) return { namespace, name, ...(yield* this.#node(namespace, number)) };
    const granted = this.#describe(states);
    this.#grow(granted);
    this.#mirrorOf(namespace, granted);
    const from = yield* this.#fromParents(namespace, parents);
    return { namespace, name, relations: granted, own: [], held: name, from };
  }
}

/** `number`: of the name. `rules`: compiled from the rule set. In steps of a few milliseconds at most. */
export function* joinSteps(ruleSet: RuleSet, rules: CompiledRules, query: JoinQuery, number: number): Steps<Join> {
  const { namespace, name } = query;
  const head = { namespace, name, groups: ruleSet.groups, public: ruleSet.public, depth_max: JOIN_DEPTH_MAX };
  try {
    return { ...head, ...(yield* new JoinBuilder(ruleSet, rules, query).build(number)) };
  } catch (error) {
    if (!(error instanceof JoinTooLarge)) throw error;
    return { ...head, ...new JoinBuilder(ruleSet, rules, query).buildOpaque(name) };
  }
}
