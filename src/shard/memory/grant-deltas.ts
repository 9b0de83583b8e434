// Overlay and deltas of one tenant's grants, by subject or by object. The overlay has the commits that the state tables
// may still lack; a delta also has those made while a read of the store was in flight. Invariant: a read that is
// evaluated under the delta opened at its start never covers a newer commit with an older row.

import type { GrantAttributes } from '../../core/grant-attributes.ts';

/**
 * Changes of an entity during a read that one step applies. With more, its page becomes sparse and a listing restarts.
 */
export const CHANGES_MAX = 500;

export interface TupleChange {
  readonly relation: number;
  readonly counterpart: string;
  /** `null`: revoked. */
  readonly facts: GrantAttributes | null;
}

/** An entity contains no white space, so the key is unambiguous. */
const tupleKey = (relation: number, counterpart: string): string => `${relation} ${counterpart}`;

/** Changes in one generation of the overlay; the next generation starts after that. */
const GENERATION_CHANGES = 256;

/** The changes of one entity, by tuple. A single one needs no map: in a bulk write most objects have one. */
type Changes = TupleChange | Map<string, TupleChange>;

const keyOf = ({ relation, counterpart }: TupleChange): string => tupleKey(relation, counterpart);

const isTuple = (change: TupleChange, relation: number, counterpart: string): boolean =>
  change.relation === relation && change.counterpart === counterpart;

interface Generation {
  /** By entity; only the last commit to a tuple is kept. */
  readonly changes: Map<string, Changes>;
  count: number;
  lastSeq: number;
  next: Generation | undefined;
}

const createGeneration = (): Generation => ({ changes: new Map(), count: 0, lastSeq: 0, next: undefined });

/**
 * Opened at the start of a read: commits that were unconfirmed then, and every commit since. It is a position in the
 * chain of generations, so opening it or adding a commit costs nothing, however many deltas are open.
 */
export class GrantDelta {
  readonly #entity: string;
  readonly #first: Generation;

  constructor(entity: string, first: Generation) {
    this.#entity = entity;
    this.#first = first;
  }

  /** The number of changes to examine; at least the number of changed tuples. */
  get size(): number {
    let size = 0;
    for (const changes of this.#generations()) size += changes instanceof Map ? changes.size : 1;
    return size;
  }

  /** The state of changed tuples after `drafted`, which overrides what the store returned. */
  changes(drafted: Iterable<TupleChange> = []): EntityChanges {
    const merged = new Map<string, TupleChange>();
    for (const changes of this.#generations()) {
      if (!(changes instanceof Map)) merged.set(keyOf(changes), changes);
      else for (const [key, change] of changes) merged.set(key, change);
    }
    for (const change of drafted) merged.set(keyOf(change), change);
    return new EntityChanges(merged);
  }

  *#generations(): Generator<Changes> {
    for (let generation: Generation | undefined = this.#first; generation !== undefined; generation = generation.next) {
      const changes = generation.changes.get(this.#entity);
      if (changes !== undefined) yield changes;
    }
  }
}

/** The last change of each tuple of an entity. */
export class EntityChanges implements Iterable<TupleChange> {
  readonly #byTuple: ReadonlyMap<string, TupleChange>;

  constructor(byTuple: ReadonlyMap<string, TupleChange>) {
    this.#byTuple = byTuple;
  }

  get isEmpty(): boolean {
    return this.#byTuple.size === 0;
  }

  /** Undefined: what the store returned holds. */
  find(relation: number, counterpart: string): TupleChange | undefined {
    return this.#byTuple.get(tupleKey(relation, counterpart));
  }

  [Symbol.iterator](): Iterator<TupleChange> {
    return this.#byTuple.values();
  }
}

/**
 * The overlay is kept in generations, each dropped as a whole once it is fully confirmed. A single map that is
 * constantly filled and emptied would leave a chain of outgrown tables, with all their content, to the next full
 * garbage collection. A confirmed change that stays a little longer does no harm: newer changes stay longer still.
 */
export class GrantDeltas {
  /** Oldest first. Never empty once it had one, since open reads find their commits from there on. */
  #generations: Generation[] = [];

  /** A commit: every read that is in flight or starts later sees it. */
  commit(entity: string, change: TupleChange, seq: number): void {
    let newest = this.#generations.at(-1);
    if (newest === undefined || newest.count >= GENERATION_CHANGES) newest = this.#begin(newest);
    newest.count += 1;
    newest.lastSeq = seq;
    const changes = newest.changes.get(entity);
    if (changes instanceof Map) {
      changes.set(keyOf(change), change);
    } else if (changes === undefined || isTuple(changes, change.relation, change.counterpart)) {
      newest.changes.set(entity, change);
    } else {
      const both = new Map<string, TupleChange>();
      both.set(keyOf(changes), changes);
      both.set(keyOf(change), change);
      newest.changes.set(entity, both);
    }
  }

  #begin(previous: Generation | undefined): Generation {
    const generation = createGeneration();
    if (previous !== undefined) previous.next = generation;
    this.#generations.push(generation);
    return generation;
  }

  /** State now contains every commit up to `seq`: reads that start from here on find them there. */
  confirm(seq: number): void {
    const generations = this.#generations;
    let confirmed = 0;
    while (confirmed < generations.length && this.#isConfirmed(generations[confirmed], seq)) confirmed += 1;
    if (confirmed === 0) return;
    if (confirmed === generations.length) this.#begin(generations.at(-1));
    this.#generations = generations.slice(confirmed);
  }

  #isConfirmed(generation: Generation | undefined, seq: number): boolean {
    return generation !== undefined && generation.count > 0 && generation.lastSeq <= seq;
  }

  /** The unconfirmed commit to the tuple, if there is one. */
  find(entity: string, relation: number, counterpart: string): TupleChange | undefined {
    for (let index = this.#generations.length - 1; index >= 0; index -= 1) {
      const changes = this.#generations[index]?.changes.get(entity);
      if (changes instanceof Map) {
        const change = changes.get(tupleKey(relation, counterpart));
        if (change !== undefined) return change;
      } else if (changes !== undefined && isTuple(changes, relation, counterpart)) {
        return changes;
      }
    }
    return undefined;
  }

  /** Call this before the read is sent. */
  open(entity: string): GrantDelta {
    const [oldest = this.#begin(undefined)] = this.#generations;
    return new GrantDelta(entity, oldest);
  }

  /** Number of changes held. */
  get unconfirmed(): number {
    return this.#generations.reduce((sum, { count }) => sum + count, 0);
  }
}
