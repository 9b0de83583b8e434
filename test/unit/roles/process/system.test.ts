// The real clock keeps what the port promises.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../src/roles/process/system.ts';

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

  it('refuses a delay that Node would take for 1 ms', () => {
    assert.throws(() => systemClock.setTimer(() => {}, 2 ** 31), /Assertion failed/);
  });
});
