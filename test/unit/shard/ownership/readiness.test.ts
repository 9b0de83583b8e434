// The readiness of a shard: what makes it ready, and who waits for it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { READY_WAIT_MS_MAX, Readiness } from '../../../../src/shard/ownership/readiness.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const setUp = () => {
  const clock = new VirtualClock();
  const readiness = new Readiness(clock);
  let waited = 0;
  void readiness.wait().then(() => {
    waited += 1;
  });
  return { clock, readiness, waited: () => waited };
};

describe('the readiness of a shard', () => {
  it('begins with its whole share, and stays whatever it loses', async () => {
    const { clock, readiness, waited } = setUp();
    readiness.update({ settled: true, complete: false });
    await clock.advance(1);
    assert.deepEqual([readiness.ready, waited()], [false, 0]);
    readiness.update({ settled: true, complete: true });
    await clock.advance(1);
    assert.deepEqual([readiness.ready, waited()], [true, 1]);
    readiness.update({ settled: true, complete: false });
    assert.equal(readiness.ready, true);
    await readiness.wait();
  });

  it('begins without the whole share once others have kept it for long, counted from settling', async () => {
    const { clock, readiness } = setUp();
    readiness.update({ settled: false, complete: false });
    await clock.advance(2 * READY_WAIT_MS_MAX);
    readiness.update({ settled: false, complete: false });
    readiness.update({ settled: true, complete: false });
    assert.equal(readiness.ready, false);
    await clock.advance(READY_WAIT_MS_MAX);
    readiness.update({ settled: true, complete: false });
    assert.equal(readiness.ready, false);
    await clock.advance(1);
    readiness.update({ settled: true, complete: false });
    assert.equal(readiness.ready, true);
  });

  it('ends every wait when the shard stops, and is not ready', async () => {
    const { clock, readiness, waited } = setUp();
    readiness.release();
    await clock.advance(1);
    assert.deepEqual([readiness.ready, waited()], [false, 1]);
  });
});
