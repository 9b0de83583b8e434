// The moment's wait for writers that were answered: how long, until when, and when it is given up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GroupCommitWindow } from '../../../../src/shard/log/write-queue.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

class Bench {
  readonly clock = new VirtualClock();
  readonly window = new GroupCommitWindow(this.clock);
  waiting = 0;

  /** Until when the gathering after an append lasts, in ms from now; undefined while it goes on. */
  gather(answered: number, appendMs: number): { lastedMs: number | undefined } {
    const startMs = this.clock.monotonicMs();
    const gathering: { lastedMs: number | undefined } = { lastedMs: undefined };
    void this.window
      .gather(answered, appendMs, () => this.waiting)
      .then(() => {
        gathering.lastedMs = this.clock.monotonicMs() - startMs;
      });
    return gathering;
  }

  async arrive(count: number): Promise<void> {
    this.waiting += count;
    this.window.arrived(this.waiting);
    await this.clock.advance(0);
  }
}

describe('the window of writers', () => {
  it('is complete when as many writers have arrived as were answered, besides those that waited', async () => {
    const bench = new Bench();
    bench.waiting = 5;
    const gathering = bench.gather(3, 20);
    await bench.clock.advance(4);
    await bench.arrive(2);
    assert.equal(gathering.lastedMs, undefined);
    await bench.arrive(1);
    assert.equal(gathering.lastedMs, 4);
    assert.equal(bench.clock.timers, 0);
  });

  it('lasts no longer than the append took, and at most 25 ms', async () => {
    for (const [appendMs, waitMs] of [
      [6, 6],
      [500, 25],
    ] as const) {
      const bench = new Bench();
      const gathering = bench.gather(2, appendMs);
      await bench.arrive(1);
      await bench.clock.advance(waitMs - 1);
      assert.equal(gathering.lastedMs, undefined);
      await bench.clock.advance(1);
      assert.equal(gathering.lastedMs, waitMs);
    }
  });

  it('is skipped if an append takes no time, or replied to no caller', async () => {
    const bench = new Bench();
    const gatherings = [bench.gather(8, 0.5), bench.gather(0, 20)];
    await bench.clock.advance(0);
    assert.deepEqual(gatherings, [{ lastedMs: 0 }, { lastedMs: 0 }]);
  });

  it('opens less and less often if writers do not come, and every time again once they do', async () => {
    const bench = new Bench();
    const waits: boolean[] = [];
    for (let append = 0; append < 12; append += 1) {
      const gathering = bench.gather(4, 10);
      await bench.clock.advance(30);
      waits.push(gathering.lastedMs !== 0);
    }
    // After a wait in vain one append goes without, then three, then seven.
    assert.deepEqual(waits, [true, false, true, false, false, false, true, ...Array.from({ length: 5 }, () => false)]);
    for (let append = 0; append < 2; append += 1) bench.gather(4, 10);
    await bench.clock.advance(30);
    for (let append = 0; append < 3; append += 1) {
      const gathering = bench.gather(4, 10);
      await bench.arrive(1);
      await bench.clock.advance(30);
      assert.equal(gathering.lastedMs, 10, `append ${append}`);
    }
  });

  it('ends once it is cancelled', async () => {
    const bench = new Bench();
    const gathering = bench.gather(4, 10);
    await bench.clock.advance(3);
    bench.window.end();
    await bench.clock.advance(0);
    assert.equal(gathering.lastedMs, 3);
    assert.equal(bench.clock.timers, 0);
  });
});
