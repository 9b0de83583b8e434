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

interface OverlayEntry extends TupleChange {
  readonly seq: number;
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

export class SubjectDeltas {
  readonly #overlay = new Map<string, Map<string, OverlayEntry>>();
  readonly #open = new Map<string, Set<SubjectDelta>>();

  /** A commit: from now on every read that is under way or starts sees it. */
  commit(subject: string, change: TupleChange, seq: number): void {
    let entries = this.#overlay.get(subject);
    if (entries === undefined) {
      entries = new Map();
      this.#overlay.set(subject, entries);
    }
    const { relation, object, facts } = change;
    entries.set(tupleKey(relation, object), { relation, object, facts, seq });
    const deltas = this.#open.get(subject);
    if (deltas !== undefined) for (const delta of deltas) delta.add(change);
  }

  /** State now holds the tuple as of `seq`: reads that start from here on find it there. */
  confirm(subject: string, relation: number, object: string, seq: number): void {
    const entries = this.#overlay.get(subject);
    const key = tupleKey(relation, object);
    const entry = entries?.get(key);
    if (entries === undefined || entry === undefined || entry.seq > seq) return;
    entries.delete(key);
    if (entries.size === 0) this.#overlay.delete(subject);
  }

  /** What was committed for the tuple and is not confirmed. */
  find(subject: string, relation: number, object: string): TupleChange | undefined {
    return this.#overlay.get(subject)?.get(tupleKey(relation, object));
  }

  /** To be called before the read is sent. */
  open(subject: string): SubjectDelta {
    const delta = new SubjectDelta(subject, this.#overlay.get(subject)?.values() ?? []);
    const deltas = this.#open.get(subject);
    if (deltas === undefined) this.#open.set(subject, new Set([delta]));
    else deltas.add(delta);
    return delta;
  }

  close(delta: SubjectDelta): void {
    const deltas = this.#open.get(delta.subject);
    if (deltas?.delete(delta) && deltas.size === 0) this.#open.delete(delta.subject);
  }

  /** Subjects with changes that state does not hold yet. */
  get unconfirmed(): number {
    return this.#overlay.size;
  }
}
