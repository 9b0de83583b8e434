// The contract of the rate limiter, sentence by sentence, for any way to count. Every test has tenants of its own, so
// that the suite can run on counts that others use. Windows are real time here, so they are short where one has to end.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_PLANS, type Plan, resolvePlan } from '../../../src/core/plans.ts';
import type { RateDecision, RateLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { waitFor } from '../../kit/wait-for.ts';

export const planOf = (requests: number | undefined, windowSeconds: number): Plan => ({
  ...resolvePlan(BUILT_IN_PLANS, 'free'),
  requests,
  windowSeconds,
});

let tenants = 0;
/** A tenant that nobody has used before, in any run. */
export function newTenant(): string {
  tenants += 1;
  return `ten_${process.pid}_${Date.now()}_${tenants}`;
}

/** `limiter`: called in each test, when the suite's engine is there. */
export function defineLimiterContract(name: string, limiter: () => RateLimiter): void {
  const consume = async (tenant: string, plan: Plan): Promise<RateDecision> => {
    const decision = await limiter().consume(tenant, plan);
    assert.ok(decision !== undefined);
    return decision;
  };

  describe(`rate limiter contract: ${name}`, () => {
    for (const [requests, what] of [
      [3, 'few'],
      [700, 'many'],
    ] as const) {
      it(`counts down from the limit, then refuses until the window ends: ${what} requests`, async () => {
        const [tenant, plan] = [newTenant(), planOf(requests, 60)];
        const begunMs = performance.now();
        /** What is left of the window, which began with the first request, or a little later. */
        const assertReset = ({ resetSeconds }: RateDecision): void => {
          const passedSeconds = (performance.now() - begunMs) / 1000;
          assert.ok(resetSeconds >= 59 - passedSeconds && resetSeconds <= 60, `${resetSeconds}`);
        };
        for (let remaining = requests - 1; remaining >= 0; remaining -= 1) {
          const decision = await consume(tenant, plan);
          assert.deepEqual(decision, {
            allowed: true,
            limit: requests,
            remaining,
            resetSeconds: decision.resetSeconds,
          });
          assertReset(decision);
        }
        const refused = await consume(tenant, plan);
        assert.deepEqual(
          { ...refused, resetSeconds: 0 },
          { allowed: false, limit: requests, remaining: 0, resetSeconds: 0 },
        );
        assertReset(refused);
      });
    }

    for (const requests of [2, 300]) {
      it(`begins again when the window has ended: ${requests} requests`, async () => {
        const [tenant, plan] = [newTenant(), planOf(requests, 1)];
        const begunMs = performance.now();
        await Promise.all(Array.from({ length: requests }, () => consume(tenant, plan)));
        const { allowed } = await consume(tenant, plan);
        const inTime = performance.now() - begunMs < 900;
        assert.ok(!inTime || !allowed);
        let renewed: RateDecision | undefined;
        await waitFor('the next window', async () => {
          renewed = await consume(tenant, plan);
          return renewed.allowed;
        });
        assert.ok(!inTime || performance.now() - begunMs >= 990, 'the window was cut short');
        // A process that was held up for too long may have begun the next window before.
        if (inTime) assert.equal(renewed?.remaining, requests - 1);
      });
    }

    it('lets exactly the limit through, however many ask at once', async () => {
      const [tenant, plan] = [newTenant(), planOf(1234, 60)];
      const decisions = await Promise.all(Array.from({ length: 3000 }, () => consume(tenant, plan)));
      assert.equal(decisions.filter(({ allowed }) => allowed).length, 1234);
      assert.ok(decisions.every(({ allowed, remaining }) => allowed || remaining === 0));
    });

    it('keeps tenants apart', async () => {
      const [ada, bob, one] = [newTenant(), newTenant(), planOf(1, 60)];
      await consume(ada, one);
      assert.equal((await consume(ada, one)).allowed, false);
      assert.equal((await consume(bob, one)).allowed, true);
    });

    it('gives each key a reserve of 60 revocations in 60 s, apart from every plan and from other keys', async () => {
      const [leaked, own] = [newTenant(), newTenant()];
      await consume(leaked, planOf(1, 60));
      const revoke = (key: string) => limiter().consumeRevocation(key);
      assert.deepEqual(await revoke(leaked), { allowed: true, limit: 60, remaining: 59, resetSeconds: 60 });
      for (let remaining = 58; remaining >= 0; remaining -= 1)
        assert.equal((await revoke(leaked)).remaining, remaining);
      const { allowed, limit, remaining, resetSeconds } = await revoke(leaked);
      assert.deepEqual({ allowed, limit, remaining }, { allowed: false, limit: 60, remaining: 0 });
      assert.ok(resetSeconds >= 50 && resetSeconds <= 60);
      assert.equal((await revoke(own)).remaining, 59);
      assert.equal((await consume(own, planOf(1, 60))).allowed, true, 'a tenant of the same name is another count');
    });

    it('knows no window of a plan without a limit, and holds another plan from the next request on', async () => {
      const tenant = newTenant();
      assert.equal(await limiter().consume(tenant, planOf(undefined, 1)), undefined);
      await consume(tenant, planOf(1, 60));
      assert.equal((await consume(tenant, planOf(1, 60))).allowed, false);
      assert.equal((await consume(tenant, planOf(5, 60))).remaining, 4);
      assert.equal((await consume(tenant, planOf(900, 60))).remaining, 899);
    });
  });
}
