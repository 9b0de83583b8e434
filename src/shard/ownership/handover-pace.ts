// When a shard that leaves begins to hand its slots over, and how many slots go at once. It begins when the others know
// that it leaves, and it knows who else does, so that two do not hand slots to each other.
//
// To one that joins go as many as it takes up promptly: it begins with few, adds one for each that was claimed soon,
// and goes back to half for each that was not, since a new process, the store or this one may be what is slow. A shard
// that leaves has only so long, so it goes at the full pace: what it did not hand over in time would wait for its lease
// to end, all at once.

import { SCAN_MS } from './membership.ts';
import { HEARTBEAT_INTERVAL_MS } from './membership-lease.ts';

/** How often slots are looked at while some are moving; else as often as members are. */
export const MOVING_ROUND_MS = 50;
const HANDOVERS_MIN = 2;
/** Every other member has seen by then that this one drains: a heartbeat, and one scan of the members. */
const DRAIN_NOTICE_MS = HEARTBEAT_INTERVAL_MS + SCAN_MS;
/** Two owners that hand over to one new shard fill the openings that it begins at once (16). */
export const HANDOVERS_MAX = 8;
/** From the release to the claim, as the former owner sees it: on an idle machine 50 to 150 ms. */
const PROMPT_MS = 400;
const SLOW_MS = 1000;

export class HandoverPace {
  #limit = HANDOVERS_MIN;
  #noticedAtMs = Number.POSITIVE_INFINITY;
  #leaves = false;

  /** The session has begun to say that it drains. */
  leave(nowMs: number): void {
    this.#noticedAtMs = nowMs + DRAIN_NOTICE_MS;
  }

  /** Whether the others know, and nothing but a scan of the members is waited for. */
  awaitsScan(nowMs: number): boolean {
    return !this.#leaves && nowMs >= this.#noticedAtMs;
  }

  /** The members were scanned, which began at `startMs`. */
  scanned(startMs: number): void {
    this.#leaves = startMs >= this.#noticedAtMs;
  }

  /** Whether a shard that drains may hand its slots over. */
  get leaves(): boolean {
    return this.#leaves;
  }

  /** Handovers that may be in flight now. */
  get limit(): number {
    return this.#leaves ? HANDOVERS_MAX : this.#limit;
  }

  /** A slot was claimed so long after its release, or given up then. */
  took(elapsedMs: number): void {
    if (elapsedMs <= PROMPT_MS) this.#limit = Math.min(this.#limit + 1, HANDOVERS_MAX);
    else if (elapsedMs > SLOW_MS) this.#limit = Math.max(Math.floor(this.#limit / 2), HANDOVERS_MIN);
  }
}
