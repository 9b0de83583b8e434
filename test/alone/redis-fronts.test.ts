// Several fronts over one real Redis, at four times the limit: never more than the limit in a window, and nearly all of
// it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Plan } from '../../src/core/plans.ts';
import { missingRedis, RedisServer } from '../../tools/engines/redis.ts';
import { startSlowProxy } from '../cluster/support/slow-proxy.ts';
import { judgeUndisturbed } from '../cluster/support/undisturbed.ts';
import { newTenant, planOf } from '../contract/rate-limiter/limiter-contract.ts';
import { letRun } from '../kit/wait-for.ts';
import { type LimiterFront, openLimiterFronts } from './support/redis-fronts.ts';

const missing = await missingRedis('rate limits over several fronts');

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
      const windowMs = 1000;
      const sharesOf = () =>
        Promise.all(fronts.map((front) => front.value('grantd_rate_limit_decisions_total', { source: 'share' })));
      const measure = async () => {
        const before = await sharesOf();
        const options = { tenant: newTenant(), perMs: 8, durationMs: 2 * windowMs };
        const decided = await load(fronts, planOf(2000, 1), options);
        const shares = (await sharesOf()).map((after, index) => after - (before[index] ?? 0));
        return { decided, shares };
      };
      // The first request began the first window, and in each the limit is used up long before its end: what is let
      // through in a moment before a window's end belongs to the next one.
      await judgeUndisturbed(measure, ({ decided, shares }) => {
        const firstMs = decided[0]?.atMs ?? 0;
        const allowed = [0, 0, 0];
        for (const each of decided) {
          const window = Math.floor((each.atMs - firstMs + windowMs / 10) / windowMs);
          if (each.allowed) allowed[window] = (allowed[window] ?? 0) + 1;
        }
        assert.deepEqual(
          shares,
          fronts.map(() => 0),
        );
        for (const each of allowed) assert.ok(each <= 2000, JSON.stringify(allowed));
        for (const each of allowed.slice(0, 2)) assert.ok(each >= 1980, JSON.stringify(allowed));
      });
    });
  }

  it('are exact for plans of ten a second or less', async (t) => {
    const fronts = await openLimiterFronts(4, { GRANTD_REDIS_URL: `redis://${redis.address}` }, (close) =>
      t.after(close),
    );
    await judgeUndisturbed(
      () => load(fronts, planOf(100, 10), { tenant: newTenant(), perMs: 0.4, durationMs: 1000 }),
      (decided) => assert.equal(decided.filter(({ allowed }) => allowed).length, 100),
    );
  });

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
    assert.ok((await waited()) > 0, 'the first ones wait');
    const measure = async () => {
      const before = await waited();
      const decided = await load(fronts, plan, { tenant, perMs: 2, durationMs: 2000 });
      return { decided, late: (await waited()) - before };
    };
    await judgeUndisturbed(measure, ({ decided, late }) => {
      assert.ok(decided.every(({ allowed }) => allowed));
      // None, but for what a stall of this machine may hold up.
      assert.ok(late <= decided.length / 200, `${late} of ${decided.length} waited`);
    });
  });

  it('leave keys that expire, all with one prefix', async () => {
    const keys = (await redis.tell('keys', '*')).split('\n').filter((key) => key !== '');
    assert.ok(keys.length > 0);
    for (const key of keys) {
      assert.match(key, /^grantd:/);
      assert.ok(Number(await redis.tell('pttl', key)) !== -1, key);
    }
  });

  it('leave the set of the fronts when they end', async (t) => {
    const fronts = await openLimiterFronts(3, { GRANTD_REDIS_URL: `redis://${redis.address}` }, (close) =>
      t.after(close),
    );
    await Promise.all(fronts.map((front) => front.close()));
    assert.equal(await redis.tell('zcard', 'grantd:fronts'), '0');
  });
});
