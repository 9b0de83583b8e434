// The tasks of a shard on its slots: how many at once, one per slot, and when one that failed may be planned again.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  BACKOFF_MS_FIRST,
  BACKOFF_MS_MAX,
  OPENINGS_MAX,
  type SlotTask,
  SlotTasks,
} from '../../../../src/shard/ownership/slot-tasks.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

describe('the tasks on slots', () => {
  let clock: VirtualClock;
  let movingMax: number;
  let unawaitedMax: number;
  let failed: { readonly slot: number; readonly error: unknown; readonly retryInMs: number }[];
  let begun: number[];
  let running: Map<number, PromiseWithResolvers<void>>;
  let tasks: SlotTasks;

  const task = (slot: number, kind: SlotTask['kind'] = 'opening'): SlotTask => ({
    slot,
    kind,
    run: () => {
      const work = Promise.withResolvers<void>();
      begun.push(slot);
      running.set(slot, work);
      return work.promise;
    },
  });
  const many = (count: number, kind?: SlotTask['kind']) =>
    Array.from({ length: count }, (_, index) => task(index, kind));
  const end = async (slot: number, error?: Error) => {
    const work = running.get(slot);
    running.delete(slot);
    if (error === undefined) work?.resolve();
    else work?.reject(error);
    await clock.advance(0);
  };

  beforeEach(() => {
    clock = new VirtualClock();
    movingMax = 2;
    unawaitedMax = 3;
    failed = [];
    begun = [];
    running = new Map();
    tasks = new SlotTasks({
      clock,
      movingMax: () => movingMax,
      unawaitedMax: () => unawaitedMax,
      onFailed: (failure) => failed.push(failure),
    });
  });

  it('starts as many openings as the bound allows, and the next as these end, in the order of the plan', async () => {
    tasks.plan(many(OPENINGS_MAX + 2));
    assert.equal(begun.length, OPENINGS_MAX);
    await end(3);
    assert.deepEqual(begun.slice(OPENINGS_MAX), [OPENINGS_MAX]);
    await end(4, new Error('no'));
    assert.deepEqual(begun.slice(OPENINGS_MAX), [OPENINGS_MAX, OPENINGS_MAX + 1]);
  });

  it('begins openings that no request waits for only as far as that leaves the store to others', async () => {
    tasks.plan([...many(2), ...Array.from({ length: 4 }, (_, index) => task(10 + index, 'unawaited'))]);
    assert.deepEqual(begun, [0, 1, 10]);
    await end(0);
    assert.deepEqual(begun.slice(3), [11]);
    unawaitedMax = OPENINGS_MAX;
    await end(1);
    assert.deepEqual(begun.slice(4), [12, 13]);
    // Those that requests wait for are bounded by all of them, and by nothing else.
    tasks.plan(Array.from({ length: OPENINGS_MAX }, (_, index) => task(20 + index)));
    assert.equal(begun.length, 6 + OPENINGS_MAX - 4);
  });

  it('bounds handovers by what may move now, apart from openings', async () => {
    tasks.plan([...many(4, 'moving'), task(10)]);
    assert.deepEqual(begun, [0, 1, 10]);
    assert.equal(tasks.moving, 2);
    movingMax = 1;
    await end(0);
    assert.deepEqual(begun, [0, 1, 10]);
    movingMax = 3;
    await end(1);
    assert.deepEqual(begun, [0, 1, 10, 2, 3]);
  });

  it('runs one task at a time on a slot', async () => {
    tasks.plan([task(1), task(1)]);
    tasks.plan([task(1), task(2)]);
    assert.deepEqual(begun, [1, 2]);
    assert.deepEqual([...tasks.busySlots()], [1, 2]);
    await end(1);
    assert.deepEqual([...tasks.busySlots()], [2]);
    tasks.plan([task(1)]);
    assert.deepEqual(begun, [1, 2, 1]);
  });

  it('replaces the tasks of the previous plan that have not started', async () => {
    tasks.plan(many(OPENINGS_MAX + 1));
    tasks.plan([task(100)]);
    await end(0);
    assert.deepEqual(begun.slice(OPENINGS_MAX), [100]);
  });

  it('makes a slot whose task failed wait, twice as long after each failure up to a bound', async () => {
    const error = new Error('the store is away');
    const waits: number[] = [];
    for (let tries = 0; tries < 9; tries += 1) {
      tasks.plan([task(7)]);
      await end(7, error);
      const { retryInMs = 0 } = failed.at(-1) ?? {};
      waits.push(retryInMs);
      await clock.advance(retryInMs - 1);
      assert.ok(tasks.busySlots().has(7));
      await clock.advance(1);
      assert.ok(!tasks.busySlots().has(7));
    }
    const doubled = waits.map((_, tries) => Math.min(BACKOFF_MS_FIRST * 2 ** tries, BACKOFF_MS_MAX));
    assert.deepEqual(waits, doubled);
    assert.equal(waits.at(-1), BACKOFF_MS_MAX);
    assert.deepEqual(failed[0], { slot: 7, error, retryInMs: BACKOFF_MS_FIRST });
    assert.equal(tasks.failures, 9);
  });

  it('starts with the first wait again after a success, and after a reset', async () => {
    const fail = async () => {
      tasks.plan([task(7)]);
      await end(7, new Error('no'));
      return failed.at(-1)?.retryInMs;
    };
    await fail();
    assert.equal(await fail(), 2 * BACKOFF_MS_FIRST);
    tasks.plan([task(7)]);
    await end(7);
    assert.equal(await fail(), BACKOFF_MS_FIRST);
    tasks.reset();
    assert.equal(tasks.busySlots().size, 0);
    assert.equal(await fail(), BACKOFF_MS_FIRST);
  });

  it('treats a task that throws at once as failed', async () => {
    tasks.plan([{ slot: 1, kind: 'opening', run: () => assert.fail('at once') }, task(2)]);
    await clock.advance(0);
    assert.deepEqual([begun, failed.length], [[2], 1]);
    await end(2);
    await tasks.idle();
  });

  it('is idle when nothing is in flight; once cleared, it starts nothing more', async () => {
    let idle = false;
    tasks.plan(many(OPENINGS_MAX + 2));
    void tasks.idle().then(() => {
      idle = true;
    });
    await end(0);
    tasks.clear();
    for (let slot = 1; slot <= OPENINGS_MAX; slot += 1) {
      assert.equal(idle, false);
      await end(slot);
    }
    assert.equal(idle, true);
    assert.equal(begun.length, OPENINGS_MAX + 1);
  });
});
