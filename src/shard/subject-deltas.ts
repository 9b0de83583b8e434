// Overlay and deltas of one tenant's grants: what was committed and is not yet confirmed in the state tables, and what was
// committed while a read of the store was under way. A read that is evaluated under the delta opened at its start
// can never cover a newer commit with an older row.

import type { GrantFacts } from './subject-page.ts';

export interface TupleChange {
  readonly relation: number;
  readonly object: string;
  /** `null`: revoked. */
  readonly facts: GrantFacts | null;
}

/** An object holds no white space, so the key is unambiguous. */
const tupleKey = (relation: number, object: string): string => `${relation} ${object}`;

/** Opened at the start of a read, closed when its result was used. */
export class SubjectDelta {
  readonly subject: string;
  readonly #changes = new Map<string, TupleChange>();

  constructor(subject: string, overlay: Iterable<TupleChange>) {
    this.subject = subject;
    for (const change of overlay) this.add(change);
  }

  add(change: TupleChange): void {
    this.#changes.set(tupleKey(change.relation, change.object), change);
  }

  /** What holds for the tuple whatever the store said; undefined: what the store said. */
  find(relation: number, object: string): TupleChange | undefined {
    return this.#changes.get(tupleKey(relation, object));
  }

  changes(): Iterable<TupleChange> {
    return this.#changes.values();
  }
}

/** Changes in one generation of the overlay; then the next begins. */
const GENERATION_CHANGES = 256;

interface Generation {
  /** In the order of their commits: the last one to a tuple counts. */
  readonly changes: Map<string, TupleChange[]>;
  count: number;
  lastSeq: number;
}

/**
 * The overlay is kept by generation, and a generation goes as a whole once all of it is confirmed. One map that is always
 * filled and emptied would leave a chain of outgrown tables, and with it all that they held, to the next full garbage
 * collection. A confirmed change that stays a little longer does no harm: what is newer stays longer still.
 */
export class SubjectDeltas {
  /** The oldest first. */
  #generations: Generation[] = [];
  readonly #open = new Map<string, Set<SubjectDelta>>();

  /** A commit: from now on every read that is under way or starts sees it. */
  commit(subject: string, change: TupleChange, seq: number): void {
    let newest = this.#generations.at(-1);
    if (newest === undefined || newest.count >= GENERATION_CHANGES) {
      newest = { changes: new Map(), count: 0, lastSeq: seq };
      this.#generations.push(newest);
    }
    newest.count += 1;
    newest.lastSeq = seq;
    const changes = newest.changes.get(subject);
    if (changes === undefined) newest.changes.set(subject, [change]);
    else changes.push(change);
    const deltas = this.#open.get(subject);
    if (deltas !== undefined) for (const delta of deltas) delta.add(change);
  }

  /** State now holds every commit up to `seq`: reads that start from here on find them there. */
  confirm(seq: number): void {
    const first = this.#generations.findIndex(({ lastSeq }) => lastSeq > seq);
    this.#generations = first < 0 ? [] : this.#generations.slice(first);
  }

  /** What was committed for the tuple and is not confirmed. */
  find(subject: string, relation: number, object: string): TupleChange | undefined {
    for (let index = this.#generations.length - 1; index >= 0; index -= 1) {
      const changes = this.#generations[index]?.changes.get(subject);
      const change = changes?.findLast((each) => each.relation === relation && each.object === object);
      if (change !== undefined) return change;
    }
    return undefined;
  }

  /** Those with changes that may not be confirmed: at least every one that has some. */
  subjects(): ReadonlySet<string> {
    return new Set(this.#generations.flatMap(({ changes }) => [...changes.keys()]));
  }

  /** To be called before the read is sent. */
  open(subject: string): SubjectDelta {
    const overlay = this.#generations.flatMap(({ changes }) => changes.get(subject) ?? []);
    const delta = new SubjectDelta(subject, overlay);
    const deltas = this.#open.get(subject);
    if (deltas === undefined) this.#open.set(subject, new Set([delta]));
    else deltas.add(delta);
    return delta;
  }

  close(delta: SubjectDelta): void {
    const deltas = this.#open.get(delta.subject);
    if (deltas?.delete(delta) && deltas.size === 0) this.#open.delete(delta.subject);
  }

  /** Changes that are held. */
  get unconfirmed(): number {
    return this.#generations.reduce((sum, { count }) => sum + count, 0);
  }
}
