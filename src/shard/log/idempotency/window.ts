// The idempotency window of a slot: the log entries whose operations may still be repeated, so that their ids must be
// known. This file tracks the seq at which the window begins. Invariant: an entry leaves the window only when this
// owner has seen it in the log for `keptMs`, by its own monotonic clock, or when a checkpoint of an earlier owner
// records that. Wall clocks and differences between clocks do not count: a wrong one would let an operation happen
// twice.
//
// An entry leaves the window for good, for every owner. So the checkpoint stores the start of the window: the next
// owner reads back from there, and the log is never trimmed beyond it.

import type { Clock } from '../../../core/async/clock.ts';

/** An entry leaves late by at most this fraction of the window, which keeps the number of marks small. */
const MARKS_PER_WINDOW = 8;

/** Entries before `seq` were in the log at `atMs`. */
interface Mark {
  readonly seq: number;
  readonly atMs: number;
}

export class IdempotencyWindow {
  readonly #clock: Clock;
  readonly #keptMs: number;
  #from: number;
  /** Oldest first. */
  readonly #marks: Mark[] = [];
  /** The mark after the last entry. */
  #end: Mark | undefined;

  /** `from`: the start of the window as an earlier owner left it. */
  constructor(clock: Clock, keptMs: number, from: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#from = from;
  }

  /** The log itself proves that earlier entries have left. */
  startAt(from: number): void {
    this.#from = Math.max(this.#from, from);
  }

  /** The entry at `seq` is in the log. Call this in log order. */
  add(seq: number): void {
    const atMs = this.#clock.monotonicMs();
    const markedAtMs = this.#marks.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    if (this.#end !== undefined && atMs - markedAtMs >= this.#keptMs / MARKS_PER_WINDOW) this.#marks.push(this.#end);
    this.#end = { seq: seq + 1, atMs };
  }

  /** The first seq of the window. Never decreases. */
  get from(): number {
    this.#moveOn(this.#clock.monotonicMs());
    return this.#from;
  }

  /** Time until the window is empty, unless entries are added; 0: it is empty. */
  get emptyInMs(): number {
    if (this.#end === undefined || this.#from >= this.#end.seq) return 0;
    return Math.max(0, this.#end.atMs + this.#keptMs - this.#clock.monotonicMs());
  }

  #moveOn(nowMs: number): void {
    const hasLeft = (mark: Mark | undefined): mark is Mark => mark !== undefined && nowMs - mark.atMs >= this.#keptMs;
    for (let [oldest] = this.#marks; hasLeft(oldest); [oldest] = this.#marks) {
      this.startAt(oldest.seq);
      this.#marks.shift();
    }
    if (hasLeft(this.#end)) this.startAt(this.#end.seq);
  }
}
