// A suspended machine as a process sees it: no time has passed on its monotonic clock, and its wall clock says
// otherwise.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler } from './scheduler.ts';
import { SeededRandom } from './seeded-random.ts';
import { SimulatedProcess } from './simulated-process.ts';

function startProcess() {
  const random = new SeededRandom('suspension');
  const scheduler = new Scheduler(random.fork('ties'));
  const process = new SimulatedProcess('process', scheduler, random.fork('process'));
  const runTo = (ms: number) => {
    // Time goes from event to event.
    scheduler.after(ms - scheduler.nowMs, () => {});
    return scheduler.runUntil(() => false, ms);
  };
  return { scheduler, process, runTo };
}

test('the monotonic clock and the timers of a suspended machine stand still, and its wall clock runs on', async () => {
  const { scheduler, process, runTo } = startProcess();
  const { clock } = process;
  const fired: string[] = [];
  clock.setTimer(() => fired.push('before'), 50);
  clock.setTimer(() => fired.push('due while suspended'), 1000);
  clock.setTimer(() => fired.push('due after it woke'), 8000);
  const cancelled = clock.setTimer(() => fired.push('cancelled'), 1000);
  scheduler.after(100, () => process.suspend());
  scheduler.after(5100, () => process.resume());
  await runTo(100.5);
  const [monotonicMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
  scheduler.after(1000, () => process.deliver(() => fired.push('arrived')));
  await runTo(5099);
  assert.equal(clock.monotonicMs(), monotonicMs);
  assert.ok(clock.wallMs() - wallMs > 4900);
  assert.deepEqual(fired, ['before']);
  cancelled.cancel();
  await runTo(5950);
  assert.deepEqual(fired, ['before', 'arrived']);
  await runTo(6100);
  assert.deepEqual(fired, ['before', 'arrived', 'due while suspended']);
  await runTo(12_900);
  assert.equal(fired.length, 3);
  await runTo(13_200);
  assert.deepEqual(fired.at(-1), 'due after it woke');
});

test('the timers of a paused process are late, and its clocks run on', async () => {
  const { scheduler, process, runTo } = startProcess();
  const { clock } = process;
  const startMs = clock.monotonicMs();
  const firedAtMs: number[] = [];
  clock.setTimer(() => firedAtMs.push(clock.monotonicMs() - startMs), 1000);
  scheduler.after(100, () => process.pause());
  scheduler.after(5100, () => process.resume());
  await runTo(6000);
  assert.equal(firedAtMs.length, 1);
  assert.ok((firedAtMs[0] ?? 0) > 5000);
});
