// The port of evaluation: the grants of one tenant at one moment, as far as they are in memory; expired grants are left
// out. The graph records what a run missed, and loads it before the next run.

/** The grants cannot be enumerated within the bounds of an evaluation. */
export const TOO_MANY = Symbol('too many grants to enumerate');

/** The other ends of an entity's grants of one relation. */
export interface Adjacent {
  readonly relation: number;
  /** Subjects or objects. Read them in the same step. */
  readonly texts: readonly string[];
}

/** Undefined: not known yet. */
export type Enumeration = readonly Adjacent[] | typeof TOO_MANY | undefined;

/** Sets of relations are ascending lists of their numbers. */
export interface Graph {
  /** The first of the relations, or of the states with the subject `*`, that is granted on the object; 0: none. */
  relationOf(subject: string, relations: readonly number[], object: string): number | typeof TOO_MANY | undefined;
  /** The subjects with grants on the object; only those of the form `ns:id#name`. */
  groupsOn(object: string, relations: readonly number[]): Enumeration;
  subjectsOn(object: string, relations: readonly number[]): Enumeration;
  /** `relations`: undefined for all. */
  objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration;
}

/** The third value is undefined: it cannot be decided. See docs/contributing/three-values.md. */
export type Truth = boolean | undefined;

/** The grants that hold for the call, and those that may: their conditions lack a parameter. */
export interface Grants {
  readonly certain: Graph;
  readonly possible: Graph;
  /** Whether a grant was met so far that only may hold. Until then, `possible` is the same as `certain`. */
  readonly differ: boolean;
}

/** What a search may cost. */
export interface SearchLimits {
  /** Groups and parents between the first grant of a chain and the last one. */
  readonly depthMax: number;
  /** Objects and groups that a search visits. */
  readonly entitiesMax: number;
  /** Grants that it examines. */
  readonly grantsMax: number;
  /** Grants of one entity that the graph enumerates: it answers `TOO_MANY` about entities with more. */
  readonly entityGrantsMax: number;
  /** Characters of the objects and groups that a search visits. */
  readonly charactersMax: number;
}

export type Bound = keyof SearchLimits;

/** A grant of a chain. */
export interface Step {
  readonly subject: string;
  readonly relation: number;
  readonly object: string;
}

const NOTHING: readonly Adjacent[] = [];

/** What several searches have cost together. */
export class TotalCost {
  entities = 0;
  grants = 0;
  characters = 0;
  /** What takes time besides, as so many grants. */
  others = 0;

  get spent(): number {
    return this.entities + this.grants + this.others;
  }
}

/** The progress of a search. */
export class SearchCost {
  readonly #limits: SearchLimits;
  /** What counts against the limits: of this search, or of several. */
  readonly #total: TotalCost;
  /** The search needs grants that are not known yet. */
  misses = false;
  /** The first bound that kept the search from being complete. */
  exceeded: Bound | undefined;
  /** The search may examine no more grants, so none need to be enumerated. */
  isSpent = false;

  constructor(limits: SearchLimits, total = new TotalCost()) {
    this.#limits = limits;
    this.#total = total;
  }

  get spent(): number {
    return this.#total.spent;
  }

  /** Whether the search may visit this entity, this deep. */
  visit(depth: number, entity: string): boolean {
    if (depth > this.#limits.depthMax) return this.#exceed('depthMax');
    if (this.#total.entities >= this.#limits.entitiesMax) return this.#exceed('entitiesMax');
    if (this.#total.characters >= this.#limits.charactersMax) return this.#exceed('charactersMax');
    this.#total.entities += 1;
    this.#total.characters += entity.length;
    return true;
  }

  /** The grants to examine; none if they are not known or too many. */
  enumerate(adjacent: Enumeration): readonly Adjacent[] {
    return this.known(adjacent) ?? NOTHING;
  }

  /** Undefined: it is not known, or cannot be. */
  known<Value>(value: Value | typeof TOO_MANY | undefined): Value | undefined {
    if (value === undefined) this.misses = true;
    else if (value === TOO_MANY) this.#exceed('entityGrantsMax');
    else return value;
    return undefined;
  }

  /** Takes as much time as so many grants, but counts against no bound. */
  charge(grants: number): void {
    this.#total.others += grants;
  }

  /** How many of `count` grants the search may examine now. */
  look(count: number): number {
    const allowed = Math.min(count, this.#limits.grantsMax - this.#total.grants);
    if (allowed < count) this.isSpent = !this.#exceed('grantsMax');
    this.#total.grants += allowed;
    return allowed;
  }

  #exceed(bound: Bound): false {
    this.exceeded ??= bound;
    return false;
  }
}

/** Grants that one step examines. */
const GRANTS_PER_STEP = 64;

/** Grants that a search has enumerated but not examined. A step examines a bounded number of them. */
export class Sources<Source extends Adjacent> {
  readonly #sources: Source[] = [];
  /** Index in the last source at which to continue. */
  #at = 0;

  get isEmpty(): boolean {
    return this.#sources.length === 0;
  }

  add(source: Source): void {
    if (source.texts.length > 0) this.#sources.push(source);
  }

  /** Looks at the next ones. `onText` ends it by returning true. What the bound of grants forbids is dropped. */
  look(cost: SearchCost, onText: (source: Source, text: string) => boolean): void {
    const source = this.#sources.at(-1);
    if (source === undefined) return;
    const { texts } = source;
    const start = this.#at;
    const end = start + cost.look(Math.min(texts.length - start, GRANTS_PER_STEP));
    let index = start;
    for (let ends = false; index < end && !ends; index += 1) ends = onText(source, texts[index] ?? '');
    this.#at = index;
    if (index < texts.length && end > start) return;
    this.#sources.pop();
    this.#at = 0;
  }
}
