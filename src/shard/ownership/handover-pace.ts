// When a shard that leaves starts to hand over its slots, and how many handovers run at once. It starts when every
// other member knows that it is leaving, and when it knows which others are leaving, so that two leaving shards do not
// hand slots to each other.
//
// As many slots move at once as the successor opens promptly: each pauses for about as long as all of them take
// together. The limit starts at one, grows by one for each slot that is opened soon, and halves for each one that is
// not: the successor, the store or this process may be slow. After a rest it starts again: the next successor may have
// just started. A leaving shard has limited time, so after a while it uses the full limit: the slots that it does not
// hand over have to wait, all at once, until its lease ends.

import { SCAN_MS } from './membership.ts';
import { HEARTBEAT_TIMEOUT_MS } from './membership-lease.ts';

/** How often the shard checks its slots while some are moving; otherwise as often as the members. */
export const MOVING_ROUND_MS = 50;
const HANDOVERS_MIN = 1;
/**
 * By then every other member has seen that this one drains: the heartbeat that is in flight, the one that says so, and
 * one scan of the members.
 */
const DRAIN_NOTICE_MS = HEARTBEAT_TIMEOUT_MS + SCAN_MS;
/** Two owners that hand over to one new shard use all the openings that it runs at once (16). */
export const HANDOVERS_MAX = 8;
/** The pause of a slot, as seen by the previous owner: some 20 ms on an idle machine. */
const PROMPT_MS = 80;
/** The same where more than four slots move at once. */
const PROMPT_OF_MANY_MS = 50;
const MANY = 4;
const SLOW_MS = 160;
/** As long as a handover that no longer holds up the next one. */
const REST_MS = 2000;
/** A third of the time that a shard has to stop, by default. */
const LEAVING_MS_MAX = 8000;

export class HandoverPace {
  #limit = HANDOVERS_MIN;
  #tookAtMs = Number.NEGATIVE_INFINITY;
  #noticedAtMs = Number.POSITIVE_INFINITY;
  #leavesSinceMs: number | undefined;

  /** The session has begun to announce that it drains. */
  leave(nowMs: number): void {
    this.#noticedAtMs = nowMs + DRAIN_NOTICE_MS;
  }

  /** Whether the others know, and only a scan of the members is still missing. */
  awaitsScan(nowMs: number): boolean {
    return !this.leaves && nowMs >= this.#noticedAtMs;
  }

  /** A scan of the members, which began at `startMs`, has finished. */
  scanned(startMs: number): void {
    if (startMs >= this.#noticedAtMs) this.#leavesSinceMs ??= startMs;
  }

  /** Whether a draining shard may hand over its slots. */
  get leaves(): boolean {
    return this.#leavesSinceMs !== undefined;
  }

  limitAt(nowMs: number): number {
    if (nowMs - this.#tookAtMs > REST_MS) this.#limit = HANDOVERS_MIN;
    const isLate = nowMs - (this.#leavesSinceMs ?? nowMs) > LEAVING_MS_MAX;
    return isLate ? HANDOVERS_MAX : this.#limit;
  }

  /** The successor opened a slot this long after this shard stopped to serve it, or this shard gave up waiting. */
  took(elapsedMs: number, nowMs: number): void {
    this.#tookAtMs = nowMs;
    const promptMs = this.#limit < MANY ? PROMPT_MS : PROMPT_OF_MANY_MS;
    if (elapsedMs <= promptMs) this.#limit = Math.min(this.#limit + 1, HANDOVERS_MAX);
    else if (elapsedMs > SLOW_MS) this.#limit = Math.max(Math.floor(this.#limit / 2), HANDOVERS_MIN);
  }
}
