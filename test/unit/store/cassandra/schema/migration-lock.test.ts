// The lock of a migration, over a driver that answers when a test says so.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acquireMigrationLock, type MigrationLock } from '../../../../../src/store/cassandra/schema/migration-lock.ts';
import { createRecordingLog } from '../../../../kit/store/store-directory.ts';
import { createSession } from '../fake-driver.ts';

const UNAVAILABLE = { code: 'unavailable' };

async function acquire() {
  const driver = createSession();
  const { executor, clock, calls } = driver;
  const acquiring = acquireMigrationLock({ executor, clock, log: createRecordingLog() }, 'k', 'me');
  await clock.advance(0);
  calls[0]?.answer({ '[applied]': true });
  return { ...driver, lock: await acquiring };
}

/** What came of it, once it has. */
function follow(promise: Promise<void>): { outcome: unknown } {
  const following: { outcome: unknown } = { outcome: 'pending' };
  promise.then(
    () => {
      following.outcome = 'done';
    },
    (error: unknown) => {
      following.outcome = error;
    },
  );
  return following;
}

describe('the lock of a migration', () => {
  const calls: readonly (readonly [string, (lock: MigrationLock) => Promise<void>])[] = [
    ['is renewed', (lock) => lock.renew()],
    ['records a step', (lock) => lock.recordStep({ version: 1, name: 'tables' })],
  ];
  for (const [what, call] of calls) {
    it(`${what} again while the outcome is not known`, async () => {
      const { lock, clock, calls } = await acquire();
      const following = follow(call(lock));
      await clock.advance(0);
      calls[1]?.fail(new Error('Server timeout during write query'));
      await clock.advance(499);
      assert.equal(calls.length, 2);
      await clock.advance(1);
      assert.equal(calls.length, 3);
      assert.equal(calls[2]?.query, calls[1]?.query);
      calls[2]?.answer({ '[applied]': true });
      await clock.advance(0);
      assert.equal(following.outcome, 'done');
      assert.equal(clock.timers, 0);
    });
  }

  it('is not renewed where another one has it, and no longer tried once it may have expired', async () => {
    const first = await acquire();
    const taken = first.lock.renew();
    await first.clock.advance(0);
    first.calls[1]?.answer({ '[applied]': false, holder: 'another' });
    await assert.rejects(taken, UNAVAILABLE);

    const second = await acquire();
    const startMs = second.clock.monotonicMs();
    const following = follow(second.lock.renew());
    while (following.outcome === 'pending') await second.clock.advance(100);
    assert.equal(Object(following.outcome).code, 'unavailable');
    assert.ok(second.clock.monotonicMs() - startMs <= 35_000);
    assert.ok(second.calls.length > 2);
  });
});
