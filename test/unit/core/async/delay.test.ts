// Waiting for a time, which a signal ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { delay } from '../../../../src/core/async/clock.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const reason = new Error('stopping');

describe('a delay', () => {
  it('ends after its time', async () => {
    const clock = new VirtualClock();
    let ended = false;
    const waiting = delay(clock, 100).then(() => {
      ended = true;
    });
    await clock.advance(99);
    assert.equal(ended, false);
    await clock.advance(1);
    await waiting;
    assert.equal(ended, true);
  });

  it('ends with the reason of the signal, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const stopping = new AbortController();
    const waiting = delay(clock, 100, stopping.signal);
    stopping.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
    assert.equal(clock.timers, 0);
    await assert.rejects(delay(clock, 100, stopping.signal), (error) => error === reason);
  });
});
