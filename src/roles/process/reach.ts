// Whether a front is fit for traffic, judged by which shards it reaches. The first time, every slot has to have an
// owner that it reaches; or some, for long enough: a slot that has no owner is then the cluster's trouble, and a front
// kept away from traffic for it would make a small outage a whole one. From then on a slot that changes its owner or
// has none never makes a front unready. Only a front that has reached no shard at all for longer than any request may
// take is cut off, and others may do better.

import type { Clock, Timer } from '../../core/async/clock.ts';

const POLL_MS = 100;
/** The deadline of requests: whoever waits for a shard that long is answered with an error anyway. */
const CUT_OFF_MS = 10_000;
/** Several failovers: what is not there by then does not come by waiting. */
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
