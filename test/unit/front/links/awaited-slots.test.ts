// The slots that requests wait for: each is named soon, once, and again while requests still wait.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AwaitedSlots } from '../../../../src/front/links/awaited-slots.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

test('slots are told together, in the order of the waits, and again a second later', async () => {
  const clock = new VirtualClock();
  const told: number[][] = [];
  const awaited = new AwaitedSlots(clock, (slots) => told.push(slots));
  for (const slot of [7, 3, 7]) awaited.note(slot);
  await clock.advance(5);
  awaited.note(0);
  await clock.advance(5);
  assert.deepEqual(told, [[7, 3, 0]]);
  for (let count = 0; count < 10; count += 1) {
    awaited.note(3);
    awaited.note(7);
    awaited.note(9);
    await clock.advance(50);
  }
  assert.deepEqual(told.slice(1), [[9]]);
  await clock.advance(500);
  assert.equal(told.length, 2, 'nothing waits any more');
  for (const slot of [9, 3]) awaited.note(slot);
  await clock.advance(10);
  assert.deepEqual(told.slice(2), [[3]]);
  await clock.advance(1000);
  awaited.note(3);
  awaited.close();
  await clock.advance(10);
  assert.equal(told.length, 3);
});
