// The window of entries whose operations may be repeated: nothing leaves it too soon, everything soon after, and no
// clock but the monotonic one has a say.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { IdempotencyWindow } from '../../../../../src/shard/log/idempotency/window.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';

const KEPT_MS = 20_000;
/** By how much an entry may leave late. */
const LATE_MS = KEPT_MS / 8;

describe('the idempotency window', () => {
  it("begins where an earlier owner left it until this owner's entries are old enough", async () => {
    const clock = new VirtualClock();
    const window = new IdempotencyWindow(clock, KEPT_MS, 7);
    assert.deepEqual([window.from, window.emptyInMs], [7, 0]);
    await clock.advance(10 * KEPT_MS);
    assert.equal(window.from, 7, 'it knows of no entry yet');
    // The open entry, and with it everything before.
    window.add(50);
    await clock.advance(KEPT_MS - 1);
    assert.deepEqual([window.from, window.emptyInMs], [7, 1]);
    await clock.advance(1);
    assert.deepEqual([window.from, window.emptyInMs], [51, 0]);
    window.startAt(20);
    assert.equal(window.from, 51, 'it never goes back');
    window.startAt(60);
    assert.equal(window.from, 60);
  });

  it('holds every entry for as long as it has to and hardly longer, whatever the wall clock does', async () => {
    const steps = fc.array(
      fc.record({ entries: fc.integer({ min: 0, max: 3 }), pauseMs: fc.integer({ min: 0, max: 9000 }) }),
      { minLength: 1, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.array(fc.integer()), async (plan, jumps) => {
        const clock = new VirtualClock();
        const window = new IdempotencyWindow(clock, KEPT_MS, 1);
        const addedAtMs: number[] = [];
        for (const [index, { entries, pauseMs }] of plan.entries()) {
          for (let each = 0; each < entries; each += 1) {
            addedAtMs.push(clock.monotonicMs());
            window.add(addedAtMs.length);
          }
          clock.wallOffsetMs += (jumps[index] ?? 0) * 1000;
          clock.stall(pauseMs);
          const nowMs = clock.monotonicMs();
          const { from } = window;
          for (const [at, atMs] of addedAtMs.entries()) {
            if (nowMs - atMs < KEPT_MS) assert.ok(at + 1 >= from, `seq ${at + 1} has left after ${nowMs - atMs} ms`);
            if (nowMs - atMs >= KEPT_MS + LATE_MS) assert.ok(at + 1 < from, `seq ${at + 1} is held ${nowMs - atMs} ms`);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
