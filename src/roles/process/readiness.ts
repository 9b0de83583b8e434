// Whether a process should get traffic, and if not, why. It starts as not ready, with the reason for its wait, which is
// logged once, when the wait begins. Once it serves, a condition decides. After `stop` it is never ready again.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';

export class Readiness {
  readonly #log: Log;
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  #reason = 'starting';
  #judge: () => string | undefined = () => undefined;
  /** What does not work although it is ready. */
  warnings: () => readonly string[] = () => [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Not ready, for this reason. No effect once it serves or stops. */
  wait(reason: string): void {
    if (this.#phase !== 'starting' || reason === this.#reason) return;
    this.#reason = reason;
    this.#log.info({ reason }, 'not ready yet');
  }

  /** Ready from now on, unless `judge` returns a reason. No effect once it stops. */
  serve(judge: () => string | undefined): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'serving';
    this.#judge = judge;
  }

  /** Never ready again. */
  stop(): void {
    this.#phase = 'stopping';
  }

  /** Why it is not ready; empty: it is. */
  reasons(): readonly string[] {
    if (this.#phase === 'stopping') return ['stopping'];
    const reason = this.#phase === 'starting' ? this.#reason : this.#judge();
    return reason === undefined ? [] : [reason];
  }
}

// ---- fronts: ready by the shards that they reach ----
//
// At first a front must reach an owner of every slot, or some owners for long enough: a slot without an owner is then a
// problem of the cluster, and keeping fronts away from traffic would turn a small outage into a complete one. After
// that, slots that change or lack their owner never make a front unready. Only a front that has reached no shard at all
// for longer than any request may take is cut off, because other fronts may do better.

const POLL_MS = 100;
/** The deadline of requests: a request that waits that long for a shard gets an error anyway. */
const CUT_OFF_MS = 10_000;
/** Several failovers: a slot without an owner after this time needs more than waiting. */
const INCOMPLETE_MS_MAX = 30_000;

export const NO_SHARD = 'cannot reach any shard';
export const INCOMPLETE = 'some slots have no reachable owner';

export interface Reach {
  /** Why the front should get no traffic now; undefined: it may. */
  judge(): string | undefined;
  close(): void;
}

/** `complete`: every slot has an owner that can be reached. `reachesShards`: any shard can be reached. */
export function watchReach(clock: Clock, front: { complete(): boolean; reachesShards(): boolean }): Reach {
  let fit = false;
  let reachedAtMs: number | undefined;
  let firstReachedAtMs: number | undefined;
  let timer: Timer;

  function poll(): void {
    const nowMs = clock.monotonicMs();
    if (front.reachesShards()) {
      reachedAtMs = nowMs;
      firstReachedAtMs ??= nowMs;
      fit ||= front.complete() || nowMs - firstReachedAtMs >= INCOMPLETE_MS_MAX;
    }
    timer = clock.setTimer(poll, POLL_MS);
  }
  poll();

  return {
    judge() {
      if (reachedAtMs === undefined) return NO_SHARD;
      if (!fit) return front.complete() ? undefined : INCOMPLETE;
      return clock.monotonicMs() - reachedAtMs > CUT_OFF_MS ? NO_SHARD : undefined;
    },
    close: () => timer.cancel(),
  };
}
