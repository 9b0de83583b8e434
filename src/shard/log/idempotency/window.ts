// The idempotency window of a slot: the entries of its log whose operations may still be repeated, so that their ids
// have to be known. It says from which seq on they stand. It keeps: an entry leaves the window only when this owner has
// seen it stand for `keptMs` by its own monotonic clock, or an earlier owner has said so in a checkpoint. No wall
// clock, and no difference between two clocks, has a say: one that is wrong would let a repeat be done again.
//
// What has left is left for good, for every owner. So the start of the window is kept with the checkpoint: a next owner
// reads back from there, and the log is trimmed up to there at most.

import type { Clock } from '../../../core/async/clock.ts';

/** An entry leaves late by at most this part of the window, so that there are few marks. */
const MARKS_PER_WINDOW = 8;

/** Entries before `seq` stood at `atMs` already. */
interface Mark {
  readonly seq: number;
  readonly atMs: number;
}

export class IdempotencyWindow {
  readonly #clock: Clock;
  readonly #keptMs: number;
  #from: number;
  /** The oldest first. */
  readonly #marks: Mark[] = [];
  /** Behind the last entry. */
  #end: Mark | undefined;

  /** `from`: as an earlier owner has left it. */
  constructor(clock: Clock, keptMs: number, from: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#from = from;
  }

  /** The log itself says that earlier entries have left. */
  startAt(from: number): void {
    this.#from = Math.max(this.#from, from);
  }

  /** The entry at `seq` stands. Called in the order of the log. */
  add(seq: number): void {
    const atMs = this.#clock.monotonicMs();
    const markedAtMs = this.#marks.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    if (this.#end !== undefined && atMs - markedAtMs >= this.#keptMs / MARKS_PER_WINDOW) this.#marks.push(this.#end);
    this.#end = { seq: seq + 1, atMs };
  }

  /** The seq with which the window begins. Never goes back. */
  get from(): number {
    this.#moveOn(this.#clock.monotonicMs());
    return this.#from;
  }

  /** In how long the window will be empty, unless entries are added; 0 when it is. */
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
