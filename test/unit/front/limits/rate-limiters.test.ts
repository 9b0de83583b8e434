// The limits kept in memory: windows, plans, buckets, addresses.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { BUILT_IN_PLANS, type Plan, resolvePlan } from '../../../../src/core/plans.ts';
import { createFailureLimiter } from '../../../../src/front/limits/failure-limiter.ts';
import { createMemoryRateLimiter } from '../../../../src/front/limits/memory-rate-limiter.ts';
import type { RateLimiter, WindowHolder } from '../../../../src/front/limits/rate-limiter.ts';
import { createSharedRateLimiter } from '../../../../src/front/limits/shared-rate-limiter.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const plan = (requests: number | undefined, windowSeconds: number): Plan => ({
  ...resolvePlan(BUILT_IN_PLANS, 'free'),
  requests,
  windowSeconds,
});

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
});

test('a window lets its requests through, refuses the next and begins again', async () => {
  const limiter = createMemoryRateLimiter({ clock });
  const three = plan(3, 60);
  for (const remaining of [2, 1, 0]) {
    assert.deepEqual(await limiter.consume('ten_a', three), {
      allowed: true,
      limit: 3,
      remaining,
      resetSeconds: 60,
    });
  }
  clock.stall(58_500);
  const refused = { allowed: false, limit: 3, remaining: 0, resetSeconds: 2 };
  assert.deepEqual(await limiter.consume('ten_a', three), refused);
  assert.equal((await limiter.consume('ten_b', three))?.allowed, true);
  clock.stall(1499);
  assert.deepEqual(await limiter.consume('ten_a', three), { ...refused, resetSeconds: 1 });
  clock.stall(1);
  assert.equal((await limiter.consume('ten_a', three))?.remaining, 2);
});

test('the sessions of a tenant share its window, whichever of them begins it again', async () => {
  const limiter = createMemoryRateLimiter({ clock });
  const [one, other] = [{ rateWindow: undefined }, { rateWindow: undefined }];
  const left = async (limit: Plan, session?: WindowHolder): Promise<number | undefined> =>
    (await limiter.consume('ten_a', limit, session))?.remaining;
  const three = plan(3, 60);
  assert.deepEqual([await left(three, one), await left(three, other), await left(three)], [2, 1, 0]);
  assert.equal((await limiter.consume('ten_a', three, one))?.allowed, false);
  clock.stall(60_000);
  assert.deepEqual([await left(three, other), await left(three, one), await left(three)], [2, 1, 0]);
  // The next windows are in another generation: one of them runs while its generation is the older one.
  for (let window = 0; window < 5; window += 1) {
    await clock.advance(61_000);
    assert.equal(await left(three, one), 2, `window ${window}`);
    await clock.advance(59_000);
    assert.deepEqual([await left(three, other), await left(three)], [1, 0], `window ${window}`);
  }
  assert.equal(await left(plan(9, 60), one), 8, 'another plan counts by itself');
  assert.equal((await limiter.consume('ten_a', three, one))?.allowed, false, 'and so does the one before');
  assert.equal((await limiter.consume('ten_b', three))?.remaining, 2);
});

test('each key has a reserve of its own for revoking keys', async () => {
  const limiter = createMemoryRateLimiter({ clock });
  for (let remaining = 59; remaining >= 0; remaining -= 1) {
    const decision = { allowed: true, limit: 60, remaining, resetSeconds: 60 };
    assert.deepEqual(await limiter.consumeRevocation('key_leaked'), decision);
  }
  assert.equal((await limiter.consumeRevocation('key_leaked')).allowed, false);
  assert.equal((await limiter.consumeRevocation('key_own')).remaining, 59);
  clock.stall(60_000);
  assert.equal((await limiter.consumeRevocation('key_leaked')).remaining, 59);
});

const sharedLimiter = (options: { readonly reservesMax: number }): RateLimiter =>
  createSharedRateLimiter(
    {
      counts: { reachable: false, fronts: 1, take: () => Promise.reject(new Error('away')) },
      clock,
      metrics: createMetrics(),
    },
    options,
  );

for (const [what, create] of [
  ['in memory', (options: { readonly reservesMax: number }) => createMemoryRateLimiter({ clock }, options)],
  ['over Redis', sharedLimiter],
] as const) {
  test(`${what} the reserves of keys are bounded: above it the oldest begin again, plans never do`, async () => {
    const limiter = create({ reservesMax: 4 });
    const one = plan(1, 60);
    await limiter.consume('ten_a', one);
    const used = async (key: string): Promise<number> => 60 - (await limiter.consumeRevocation(key)).remaining;
    assert.equal(await used('key_0'), 1);
    assert.equal(await used('key_0'), 2);
    for (let key = 1; key <= 4; key += 1) assert.equal(await used(`key_${key}`), 1);
    assert.equal(await used('key_4'), 2, 'the newest is still there');
    assert.equal(await used('key_0'), 1, 'the oldest has gone');
    assert.equal((await limiter.consume('ten_a', one))?.allowed, false);
  });
}

test('exactly the limit of a larger plan is let through in a window, however many ask at once', async () => {
  const limiter = createMemoryRateLimiter({ clock });
  const large = plan(1234, 10);
  for (let window = 0; window < 3; window += 1) {
    let allowed = 0;
    let sum = 0;
    for (let round = 0; round < 50; round += 1) {
      const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.consume('ten_a', large)));
      for (const decision of decisions) {
        assert.ok(decision !== undefined && decision.resetSeconds >= 1 && decision.resetSeconds <= 10);
        if (decision.allowed) allowed += 1;
        else assert.equal(decision.remaining, 0);
        sum += decision.remaining;
      }
      clock.stall(100);
    }
    assert.equal(allowed, 1234, `window ${window}`);
    assert.ok(sum > 0);
    clock.stall(5000);
  }
});

test('what is left of a block ends with its window and with its plan', async () => {
  const limiter = createMemoryRateLimiter({ clock });
  assert.equal((await limiter.consume('ten_a', plan(1000, 1)))?.remaining, 999);
  assert.equal((await limiter.consume('ten_a', plan(1000, 1)))?.remaining, 998);
  assert.equal((await limiter.consume('ten_a', plan(2000, 1)))?.remaining, 1999);
  clock.stall(1000);
  assert.equal((await limiter.consume('ten_a', plan(2000, 1)))?.remaining, 1999);
});

test('an address is refused after its sixtieth failure, until its window ends', () => {
  const limiter = createFailureLimiter({ clock });
  for (let count = 1; count <= 60; count += 1) {
    assert.equal(limiter.refusal('192.0.2.1'), undefined);
    limiter.record('192.0.2.1');
  }
  const refusal = { of: 'address', allowed: false, limit: 60, remaining: 0 };
  assert.deepEqual(limiter.refusal('192.0.2.1'), { ...refusal, resetSeconds: 60 });
  assert.equal(limiter.refusal('192.0.2.2'), undefined);
  clock.stall(30_000);
  limiter.record('192.0.2.1');
  assert.deepEqual(limiter.refusal('192.0.2.1'), { ...refusal, resetSeconds: 30 });
  clock.stall(30_000);
  assert.equal(limiter.refusal('192.0.2.1'), undefined);
  limiter.record('192.0.2.1');
  assert.equal(limiter.refusal('192.0.2.1'), undefined);
});

test('an IPv6 client fails for its /64, whichever address of it it takes', () => {
  const limiter = createFailureLimiter({ clock });
  for (let count = 1; count <= 60; count += 1) limiter.record(`2001:db8:0:1::${count.toString(16)}`);
  assert.equal(limiter.refusal('2001:db8::1:ffff:0:0:9')?.allowed, false);
  assert.equal(limiter.refusal('2001:db8:0:2::1'), undefined);
});

test('above the bound the address whose window began first is let go', () => {
  const limiter = createFailureLimiter({ clock }, { networksMax: 3 });
  const [first = '', ...others] = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  for (const address of [first, ...others]) {
    for (let count = 0; count < 60; count += 1) limiter.record(address);
  }
  assert.equal(limiter.refusal(first), undefined);
  for (const address of others) assert.equal(limiter.refusal(address)?.allowed, false);
  limiter.record(first);
  assert.equal(limiter.refusal(first), undefined, 'its count began again');
});

test('a key that fails again counts once against its address, and ten times against itself', () => {
  const limiter = createFailureLimiter({ clock });
  for (let count = 1; count <= 1000; count += 1) limiter.record('192.0.2.1', 'dead');
  const refused = { allowed: false, remaining: 0, resetSeconds: 60 };
  assert.deepEqual(limiter.refusal('192.0.2.1', 'dead'), { ...refused, of: 'key', limit: 10 });
  assert.equal(limiter.refusal('192.0.2.1', 'another'), undefined);
  assert.equal(limiter.refusal('192.0.2.2', 'dead'), undefined, 'it may fail elsewhere');
  for (let key = 1; key <= 58; key += 1) limiter.record('192.0.2.1', `key ${key}`);
  assert.equal(limiter.refusal('192.0.2.1', 'another'), undefined);
  limiter.record('192.0.2.1', 'key 59');
  assert.deepEqual(limiter.refusal('192.0.2.1', 'another'), { ...refused, of: 'address', limit: 60 });
  clock.stall(60_000);
  for (const key of ['dead', 'another']) assert.equal(limiter.refusal('192.0.2.1', key), undefined);
});

test('above the bound of keys the address whose window began first is let go, with its keys', () => {
  const limiter = createFailureLimiter({ clock }, { keysMax: 50 });
  for (let network = 1; network <= 100; network += 1) {
    for (let count = 0; count < 10; count += 1) {
      for (const key of ['one', 'two']) limiter.record(`192.0.2.${network}`, key);
    }
  }
  assert.equal(limiter.refusal('192.0.2.1', 'one'), undefined);
  assert.equal(limiter.refusal('192.0.2.100', 'one')?.of, 'key');
  // As many as the bound are remembered, after all those were forgotten.
  const remembered = Array.from({ length: 100 }, (_, index) => limiter.refusal(`192.0.2.${index + 1}`, 'one'));
  assert.ok(Math.abs(remembered.filter((each) => each !== undefined).length - 25) <= 1);
});

test('no window is longer because the wall clock was set back, nor shorter because it was set forward', async () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const limiter = createMemoryRateLimiter({ clock });
    const failures = createFailureLimiter({ clock });
    const one = plan(1, 60);
    await limiter.consume('ten_a', one);
    for (let count = 0; count < 60; count += 1) failures.record('192.0.2.1');
    clock.wallOffsetMs += jumpMs;
    clock.stall(59_000);
    assert.equal((await limiter.consume('ten_a', one))?.allowed, false);
    assert.equal(failures.refusal('192.0.2.1')?.resetSeconds, 1);
    clock.stall(1000);
    assert.equal((await limiter.consume('ten_a', one))?.allowed, true);
    assert.equal(failures.refusal('192.0.2.1'), undefined);
  }
});

test('no window is said to last longer than it is, whatever fraction of a millisecond it begins at', () => {
  const limiter = createMemoryRateLimiter({ clock });
  const failures = createFailureLimiter({ clock });
  // Where the end of a window lies beyond a power of two, it has a bit less behind the point than its begin (16,384 ms,
  // and 65,536).
  clock.stall(14_500);
  for (let window = 0; window < 1000; window += 1) {
    clock.stall(0.1);
    const decision = { allowed: true, limit: 2, remaining: 1, resetSeconds: 1 };
    assert.deepEqual(limiter.consume(`ten_${window}`, plan(2, 1)), decision);
    const address = `192.0.${window >> 8}.${window & 255}`;
    for (let count = 0; count < 60; count += 1) failures.record(address);
    assert.equal(failures.refusal(address)?.resetSeconds, 60);
  }
});
