// The limits kept in memory: windows, plans, buckets, addresses.

import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { BUILT_IN_PLANS, type Plan, resolvePlan } from '../../../../src/core/plans.ts';
import { createFailureLimiter } from '../../../../src/front/limits/failure-limiter.ts';
import { createMemoryRateLimiter } from '../../../../src/front/limits/memory-rate-limiter.ts';

const plan = (requests: number | undefined, windowSeconds: number): Plan => ({
  ...resolvePlan(BUILT_IN_PLANS, 'free'),
  requests,
  windowSeconds,
});

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_700_000_000_000 });
});

test('a window lets its requests through, refuses the next and begins anew', async () => {
  const limiter = createMemoryRateLimiter();
  const three = plan(3, 60);
  for (const remaining of [2, 1, 0]) {
    assert.deepEqual(await limiter.consume('ten_a', three, 'plan'), {
      allowed: true,
      limit: 3,
      remaining,
      resetSeconds: 60,
    });
  }
  mock.timers.tick(58_500);
  const refused = { allowed: false, limit: 3, remaining: 0, resetSeconds: 2 };
  assert.deepEqual(await limiter.consume('ten_a', three, 'plan'), refused);
  assert.equal((await limiter.consume('ten_b', three, 'plan'))?.allowed, true);
  mock.timers.tick(1499);
  assert.deepEqual(await limiter.consume('ten_a', three, 'plan'), { ...refused, resetSeconds: 1 });
  mock.timers.tick(1);
  assert.equal((await limiter.consume('ten_a', three, 'plan'))?.remaining, 2);
});

test('keys have a bucket of their own, whatever the plan', async () => {
  const limiter = createMemoryRateLimiter();
  const one = plan(1, 60);
  await limiter.consume('ten_a', one, 'plan');
  assert.equal((await limiter.consume('ten_a', one, 'plan'))?.allowed, false);
  const keys = await limiter.consume('ten_a', one, 'keys');
  assert.deepEqual(keys, { allowed: true, limit: 60, remaining: 59, resetSeconds: 60 });
  assert.equal((await limiter.consume('ten_a', plan(undefined, 1), 'keys'))?.remaining, 58);
});

test('a plan without a limit has no window, and another plan holds at the next request', async () => {
  const limiter = createMemoryRateLimiter();
  assert.equal(limiter.consume('ten_a', plan(undefined, 1), 'plan'), undefined);
  await limiter.consume('ten_a', plan(1, 60), 'plan');
  assert.equal((await limiter.consume('ten_a', plan(1, 60), 'plan'))?.allowed, false);
  assert.equal((await limiter.consume('ten_a', plan(5, 1), 'plan'))?.remaining, 4);
});

test('exactly the limit of a larger plan is let through in a window, however many ask at once', async () => {
  const limiter = createMemoryRateLimiter();
  const large = plan(1234, 10);
  for (let window = 0; window < 3; window += 1) {
    let allowed = 0;
    let sum = 0;
    for (let round = 0; round < 50; round += 1) {
      const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.consume('ten_a', large, 'plan')));
      for (const decision of decisions) {
        assert.ok(decision !== undefined && decision.resetSeconds >= 1 && decision.resetSeconds <= 10);
        if (decision.allowed) allowed += 1;
        else assert.equal(decision.remaining, 0);
        sum += decision.remaining;
      }
      mock.timers.tick(100);
    }
    assert.equal(allowed, 1234, `window ${window}`);
    assert.ok(sum > 0);
    mock.timers.tick(5000);
  }
});

test('what is left of a block ends with its window and with its plan', async () => {
  const limiter = createMemoryRateLimiter();
  assert.equal((await limiter.consume('ten_a', plan(1000, 1), 'plan'))?.remaining, 999);
  assert.equal((await limiter.consume('ten_a', plan(1000, 1), 'plan'))?.remaining, 998);
  assert.equal((await limiter.consume('ten_a', plan(2000, 1), 'plan'))?.remaining, 1999);
  mock.timers.tick(1000);
  assert.equal((await limiter.consume('ten_a', plan(2000, 1), 'plan'))?.remaining, 1999);
});

test('an address is refused after its sixtieth failure, until its window ends', async () => {
  const limiter = createFailureLimiter();
  for (let count = 1; count <= 60; count += 1) {
    assert.equal(limiter.blockedSeconds('192.0.2.1'), undefined);
    limiter.record('192.0.2.1');
    await Promise.resolve();
  }
  assert.equal(limiter.blockedSeconds('192.0.2.1'), 60);
  assert.equal(limiter.blockedSeconds('192.0.2.2'), undefined);
  mock.timers.tick(30_000);
  limiter.record('192.0.2.1');
  assert.equal(limiter.blockedSeconds('192.0.2.1'), 30);
  mock.timers.tick(30_000);
  assert.equal(limiter.blockedSeconds('192.0.2.1'), undefined);
  limiter.record('192.0.2.1');
  await Promise.resolve();
  assert.equal(limiter.blockedSeconds('192.0.2.1'), undefined);
});

test('above the bound the address whose window began first is let go', async () => {
  const limiter = createFailureLimiter({ addressesMax: 3 });
  const fail = async (address: string) => {
    for (let count = 0; count < 60; count += 1) limiter.record(address);
    await Promise.resolve();
  };
  for (const address of ['a', 'b', 'c', 'd']) await fail(address);
  assert.equal(limiter.blockedSeconds('a'), undefined);
  for (const address of ['b', 'c', 'd']) assert.equal(limiter.blockedSeconds(address), 60);
  limiter.record('a');
  await Promise.resolve();
  assert.equal(limiter.blockedSeconds('a'), undefined, 'its count began anew');
});
