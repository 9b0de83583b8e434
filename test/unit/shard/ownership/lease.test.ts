// The leases of a session: one that heartbeats renew, and one that lasts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LastingLease, RenewedLease } from '../../../../src/shard/ownership/lease.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const LEASE_MS = 3000;

describe('a lease that heartbeats renew', () => {
  const setUp = () => {
    const clock = new VirtualClock();
    const lease = new RenewedLease(clock, LEASE_MS);
    const now = () => ({ startMs: clock.monotonicMs(), wallOffsetMs: clock.wallMs() - clock.monotonicMs() });
    return { clock, lease, now };
  };

  it('is not valid before a heartbeat is stored', () => {
    const { lease } = setUp();
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
  });

  it('counts from the start of the attempt, and runs out', async () => {
    const { clock, lease, now } = setUp();
    const attempt = now();
    await clock.advance(400);
    lease.renew(attempt);
    assert.deepEqual([lease.valid, lease.leftMs], [true, LEASE_MS - 400]);
    await clock.advance(LEASE_MS - 401);
    assert.equal(lease.valid, true);
    await clock.advance(1);
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
  });

  it('is suspended while the wall clock differs from when the attempt began', () => {
    const { clock, lease, now } = setUp();
    lease.renew(now());
    clock.wallOffsetMs += 201;
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
    lease.renew(now());
    assert.equal(lease.valid, true);
  });

  it('ends for good', () => {
    const { lease, now } = setUp();
    lease.renew(now());
    lease.end();
    lease.renew(now());
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
  });
});

describe('a lease of a process that holds the store alone', () => {
  it('lasts from the first heartbeat to the end', () => {
    const lease = new LastingLease();
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
    lease.renew();
    assert.deepEqual([lease.valid, lease.leftMs], [true, Number.POSITIVE_INFINITY]);
    lease.end();
    lease.renew();
    assert.deepEqual([lease.valid, lease.leftMs], [false, 0]);
  });
});
