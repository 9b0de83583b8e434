// What this front has asked of one shard since its last report. On the path of every check: it keeps to plain
// additions, with the moments that others have read from the clock already.

import type { ErrorCode } from '../../core/errors.ts';
import { ERROR_CATALOGUE } from '../../core/errors.ts';
import { LATENCY_BUCKETS, latencyBucket } from '../../core/structures/latency-histogram.ts';
import type { Load } from '../../rpc/gen/grantd/v1/Load.ts';
import type { RequestContext } from '../front.ts';

export class LoadTally {
  /** When the answers that are being taken in arrived, on the monotonic clock. */
  nowMs = 0;
  #checks = 0;
  #failures = 0;
  readonly #latencies = new Uint32Array(LATENCY_BUCKETS);

  /** `count` checks of one request were answered. A request that did not come from a tenant does not count. */
  answered(context: RequestContext, count: number): void {
    const { arrivedAtMs } = context;
    if (arrivedAtMs === undefined) return;
    this.#checks += count;
    const bucket = latencyBucket(this.nowMs - arrivedAtMs);
    this.#latencies[bucket] = (this.#latencies[bucket] ?? 0) + 1;
  }

  /** A request, a check or another, was refused. Refusals that are the client's own do not count. */
  refused(context: RequestContext, code: ErrorCode): void {
    if (context.arrivedAtMs !== undefined && ERROR_CATALOGUE[code].httpStatus >= 500) this.#failures += 1;
  }

  /** What has gathered; begins again. */
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
