// What this front has requested from one shard since its last report. Every check passes here, so the tally only adds,
// and takes the time from callers that have already read the clock.

import type { ErrorCode } from '../../core/errors.ts';
import { ERROR_CATALOGUE } from '../../core/errors.ts';
import { LATENCY_BUCKETS, latencyBucket } from '../../core/structures/latency-histogram.ts';
import type { Load } from '../../rpc/messages.ts';
import type { RequestContext } from '../front.ts';

export class LoadTally {
  /** When the replies being processed arrived, on the monotonic clock. */
  nowMs = 0;
  #checks = 0;
  #failures = 0;
  readonly #latencies = new Uint32Array(LATENCY_BUCKETS);

  /** Counts answered checks of one request. Requests that do not come from a tenant do not count. */
  answered(context: RequestContext, count: number): void {
    const { arrivedAtMs } = context;
    if (arrivedAtMs === undefined) return;
    this.#checks += count;
    const bucket = latencyBucket(this.nowMs - arrivedAtMs);
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1;
  }

  /** Counts a refused request, a check or another. Refusals caused by the client do not count. */
  refused(context: RequestContext, code: ErrorCode): void {
    if (context.arrivedAtMs !== undefined && ERROR_CATALOGUE[code].httpStatus >= 500) this.#failures += 1;
  }

  /** Returns what has gathered, and starts over. */
  take(elapsedMs: number): Load {
    const load = {
      elapsedMs: Math.max(0, Math.round(elapsedMs)),
      checks: this.#checks,
      failures: this.#failures,
      latencies: [...this.#latencies],
    };
    this.#checks = 0;
    this.#failures = 0;
    this.#latencies.fill(0);
    return load;
  }
}
