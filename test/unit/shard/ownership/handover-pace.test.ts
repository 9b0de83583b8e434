// How many slots go at once, by how soon those before were claimed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HANDOVERS_MAX, HandoverPace } from '../../../../src/shard/ownership/handover-pace.ts';

describe('the pace of handovers', () => {
  it('begins with one, and grows with each promptly claimed slot, up to its bound', () => {
    const pace = new HandoverPace();
    const limits = Array.from({ length: 10 }, () => {
      const limit = pace.limitAt(0);
      pace.took(50, 0);
      return limit;
    });
    assert.deepEqual(limits, [1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
    assert.equal(HANDOVERS_MAX, 8);
  });

  it('grows beyond four only while slots are claimed even sooner', () => {
    const pace = new HandoverPace();
    for (let count = 0; count < 10; count += 1) pace.took(80, 0);
    assert.equal(pace.limitAt(0), 4);
    pace.took(50, 0);
    assert.equal(pace.limitAt(0), 5);
  });

  it('halves with each slot that stays unclaimed for long, and never stops', () => {
    const pace = new HandoverPace();
    for (let count = 0; count < 10; count += 1) pace.took(50, 0);
    const limits = Array.from({ length: 4 }, () => {
      pace.took(1500, 0);
      return pace.limitAt(0);
    });
    assert.deepEqual(limits, [4, 2, 1, 1]);
  });

  it('is the full one for a shard that has not left after a while, whatever it has seen', () => {
    const pace = new HandoverPace();
    pace.leave(5000);
    pace.scanned(7000);
    assert.equal(pace.limitAt(15_000), 1);
    pace.took(1500, 15_000);
    assert.equal(pace.limitAt(15_001), HANDOVERS_MAX);
  });

  it('begins with one again after a rest, since the next successor may have just started', () => {
    const pace = new HandoverPace();
    for (let count = 0; count < 10; count += 1) pace.took(50, 1000);
    assert.equal(pace.limitAt(3000), HANDOVERS_MAX);
    assert.equal(pace.limitAt(3001), 1);
    pace.took(50, 3100);
    assert.equal(pace.limitAt(3100), 2);
  });

  it('hands over nothing before the notice is over and a later scan has begun', () => {
    const pace = new HandoverPace();
    pace.scanned(4000);
    assert.equal(pace.awaitsScan(1_000_000), false);
    pace.leave(5000);
    pace.scanned(5900);
    assert.deepEqual([pace.leaves, pace.awaitsScan(5900)], [false, false]);
    assert.deepEqual([pace.leaves, pace.awaitsScan(6000)], [false, true]);
    pace.scanned(6000);
    assert.deepEqual([pace.leaves, pace.awaitsScan(6100)], [true, false]);
  });

  it('stays as it is while claims are neither', () => {
    const pace = new HandoverPace();
    pace.took(200, 0);
    assert.equal(pace.limitAt(0), 1);
  });
});
