// Several fronts over one real Redis, under a load that lasts: in a window never more than the limit, and nearly all of
// it; and no request of a large plan waits for Redis.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plan } from '../../src/core/plans.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import { startSlowProxy } from '../cluster/support/slow-proxy.ts';
import { newTenant, planOf } from '../contract/rate-limiter/limiter-contract.ts';
import { type LimiterFront, openLimiterFronts, readShares } from '../contract/rate-limiter/redis-fronts.ts';
import { judgeTimes, Strain } from '../kit/strain.ts';
import { letRun } from '../kit/wait-for.ts';

const missing = await missingRedis('rate limits over several fronts');

/** Until what decides is compiled. */
const WARM_UP_MS = 500;

interface Decided {
  readonly atMs: number;
  readonly allowed: boolean;
}

/** A steady load over the fronts in turn, as even as the timers of this process are. */
async function load(
  fronts: readonly LimiterFront[],
  plan: Plan,
  options: { readonly tenant: string; readonly perMs: number; readonly durationMs: number },
): Promise<Decided[]> {
  const { tenant, perMs, durationMs } = options;
  const decided: Promise<Decided>[] = [];
  const startMs = performance.now();
  for (let passedMs = 0; passedMs < durationMs; passedMs = performance.now() - startMs) {
    for (let sent = decided.length; sent < passedMs * perMs; sent += 1) {
      const decision = fronts[sent % fronts.length]?.limiter.consume(tenant, plan);
      decided.push(
        Promise.resolve(decision).then((made) => ({ atMs: performance.now(), allowed: made?.allowed === true })),
      );
    }
    await letRun(1);
  }
  return Promise.all(decided);
}

describe('fronts that share a Redis', { skip: missing ?? false }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await RedisServer.start();
  });
  after(() => redis?.stop());

  for (const count of [1, 2, 4]) {
    it(`let the limit through and no more: ${count} at four times the limit`, async (t) => {
      const fronts = await openLimiterFronts(count, { GRANTD_REDIS_URL: `redis://${redis.address}` }, (close) =>
        t.after(close),
      );
      const [plan, windowMs] = [planOf(2000, 1), 1000];
      await load(fronts, plan, { tenant: newTenant(), perMs: 8, durationMs: WARM_UP_MS });
      using strain = new Strain();
      const before = await readShares(fronts);
      const decided = await load(fronts, plan, { tenant: newTenant(), perMs: 8, durationMs: 2 * windowMs });
      const shares = (await readShares(fronts)).map((after, index) => after - (before[index] ?? 0));
      // The first request began the first window, and in each the limit is used up long before its end: what is let
      // through in a moment before a window's end belongs to the next one.
      const firstMs = decided[0]?.atMs ?? 0;
      const allowed = [0, 0, 0];
      for (const each of decided) {
        const window = Math.floor((each.atMs - firstMs + windowMs / 10) / windowMs);
        if (each.allowed) allowed[window] = (allowed[window] ?? 0) + 1;
      }
      const text = `${JSON.stringify(allowed)} let through, without a reply in time ${JSON.stringify(shares)}`;
      t.diagnostic(text);
      judgeTimes(strain.take(), () => {
        for (const each of shares) assert.equal(each, 0, text);
        for (const each of allowed) assert.ok(each <= 2000, text);
        for (const each of allowed.slice(0, 2)) assert.ok(each >= 1980, text);
      });
    });
  }

  it('let no request of a larger plan wait for a Redis that is far away, once the load is steady', async (t) => {
    const proxy = await startSlowProxy(redis.address, 50);
    const fronts = await openLimiterFronts(2, { GRANTD_REDIS_URL: `redis://${proxy.address}` }, (close) =>
      t.after(close),
    );
    // After them, which leave by it.
    t.after(() => proxy.close());
    const [plan, tenant] = [planOf(10_000, 1), newTenant()];
    const waited = async (): Promise<number> => {
      const values = fronts.map((front) => front.value('grantd_rate_limit_decisions_total', { source: 'redis' }));
      return (await Promise.all(values)).reduce((sum, value) => sum + value, 0);
    };
    await load(fronts, plan, { tenant, perMs: 2, durationMs: 1200 });
    const atFirst = await waited();
    assert.ok(atFirst > 0, 'the first ones wait');
    using strain = new Strain();
    const decided = await load(fronts, plan, { tenant, perMs: 2, durationMs: 2000 });
    const late = (await waited()) - atFirst;
    assert.ok(decided.every(({ allowed }) => allowed));
    // None, but for what a stall of this machine may hold up.
    judgeTimes(strain.take(), () => assert.ok(late <= decided.length / 200, `${late} of ${decided.length} waited`));
  });
});
