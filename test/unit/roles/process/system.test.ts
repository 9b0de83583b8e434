// The real clock keeps what the port promises.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';

const wait = (delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    // The timers of the port keep no process alive, so this one does.
    const keepAlive = setInterval(() => {}, 1000);
    systemClock.setTimer(() => {
      clearInterval(keepAlive);
      resolve();
    }, delayMs);
  });

describe('systemClock', () => {
  it('never fires a timer before its delay has passed', async () => {
    for (let round = 0; round < 30; round += 1) {
      const delayMs = round / 7;
      const start = systemClock.monotonicMs();
      await wait(delayMs);
      assert.ok(systemClock.monotonicMs() - start >= delayMs);
    }
  });

  it('does not fire a timer that was cancelled', async () => {
    let fired = false;
    systemClock
      .setTimer(() => {
        fired = true;
      }, 1)
      .cancel();
    await wait(5);
    assert.equal(fired, false);
  });

  it('refuses a delay that Node would take for 1 ms', () => {
    assert.throws(() => systemClock.setTimer(() => {}, 2 ** 31), /Assertion failed/);
  });

  it('never goes back, and returns the wall time in whole milliseconds', () => {
    let last = systemClock.monotonicMs();
    for (let round = 0; round < 1000; round += 1) {
      const now = systemClock.monotonicMs();
      assert.ok(now >= last);
      last = now;
    }
    const beforeMs = Date.now();
    const wallMs = systemClock.wallMs();
    assert.ok(Number.isInteger(wallMs));
    assert.ok(wallMs >= beforeMs && wallMs <= Date.now(), `${wallMs}`);
  });

  it('runs an immediate after the current turn', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      systemClock.setImmediate(() => {
        order.push('immediate');
        resolve();
      });
      order.push('turn');
    });
    assert.deepEqual(order, ['turn', 'immediate']);
  });
});

describe('systemRandom', () => {
  it('returns the requested number of bytes, never the same', () => {
    assert.equal(systemRandom.bytes(24).length, 24);
    assert.notDeepEqual(systemRandom.bytes(24), systemRandom.bytes(24));
  });
});
