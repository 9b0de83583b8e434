// The public interface in this process on a free port, over a front in memory, with bounds short enough to test.

import type { Turns } from '../../../src/core/async/turns.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plan, REVOCATION_RESERVE } from '../../../src/core/plans.ts';
import type {
  FailureLimiter,
  FailureRefusal,
  RateDecision,
  RateLimiter,
} from '../../../src/front/limits/rate-limiter.ts';
import { type HttpOptions, listenHttp } from '../../../src/http/server.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type { DecisionRecorder } from '../../../src/telemetry/decision-log.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { FakeFront } from './fake-front.ts';

/** Windows that never end: what a tenant may do is counted from the start of the test. */
export class FakeRateLimiter implements RateLimiter {
  readonly #used = new Map<string, number>();
  /** Set by a test: decisions come as promises, as with a store behind them. */
  slow = false;

  consume(tenantId: string, { requests }: Plan) {
    return requests === undefined ? undefined : this.#take(tenantId, requests);
  }

  consumeRevocation(keyId: string) {
    return this.#take(keyId, REVOCATION_RESERVE.requests);
  }

  #take(id: string, limit: number) {
    const used = (this.#used.get(id) ?? 0) + 1;
    this.#used.set(id, used);
    const decision: RateDecision = {
      allowed: used <= limit,
      limit,
      remaining: Math.max(0, limit - used),
      resetSeconds: 7,
    };
    return this.slow ? Promise.resolve(decision) : decision;
  }
}

export class FakeFailureLimiter implements FailureLimiter {
  readonly failures = new Map<string, number>();
  max = Number.POSITIVE_INFINITY;

  refusal(address: string): FailureRefusal | undefined {
    if ((this.failures.get(address) ?? 0) < this.max) return undefined;
    return { of: 'address', allowed: false, limit: this.max, remaining: 0, resetSeconds: 42 };
  }

  record(address: string): void {
    this.failures.set(address, (this.failures.get(address) ?? 0) + 1);
  }
}

export interface HttpInProcess {
  readonly url: string;
  readonly front: FakeFront;
  readonly rateLimiter: FakeRateLimiter;
  readonly failureLimiter: FakeFailureLimiter;
  readonly metrics: Metrics;
  drain(): void;
  /** So much time has passed for the server, with no timer fired for it. */
  pass(ms: number): void;
  close(): Promise<void>;
}

export async function startHttp(
  options: Partial<HttpOptions> = {},
  turns?: Turns,
  decisions?: DecisionRecorder,
): Promise<HttpInProcess> {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const front = new FakeFront(systemClock, systemRandom);
  const rateLimiter = new FakeRateLimiter();
  const failureLimiter = new FakeFailureLimiter();
  const metrics = createMetrics();
  const server = await listenHttp(
    {
      front,
      rateLimiter,
      failureLimiter,
      ids: new IdFactory(systemClock, systemRandom),
      clock,
      turns,
      random: systemRandom,
      log: createLog({ level: 'silent', pretty: false }),
      metrics,
      decisions,
    },
    {
      address: '127.0.0.1:0',
      baseUrl: undefined,
      errorsBase: undefined,
      plans: new Map([...BUILT_IN_PLANS, ['tiny', { ...tiny }]]),
      trustedProxies: [],
      ...options,
    },
  );
  const pass = (ms: number): void => {
    aheadMs += ms;
  };
  const close = async (): Promise<void> => {
    await server.close();
    await front.close();
  };
  return { ...server, front, rateLimiter, failureLimiter, metrics, pass, close };
}

const tiny: Plan = {
  name: 'tiny',
  requests: 2,
  windowSeconds: 60,
  namespacesMax: 1000,
  keysMax: 1000,
  grantsMax: undefined,
  streamsMax: 3,
  readers: 0,
  readersMax: 4,
};

/** What a store that is away makes of a call. */
export const unavailable = (): GrantdError => new GrantdError('unavailable', 'The owner cannot be reached.');
