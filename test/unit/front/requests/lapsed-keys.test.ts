// Keys that an owner refused after it had accepted them: how often it is asked about them again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LapsedKeys } from '../../../../src/front/requests/lapsed-keys.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

test('a revoked key that is sent for ever is asked about ever more seldom, for ten minutes', () => {
  const clock = new VirtualClock();
  const lapsed = new LapsedKeys(clock);
  lapsed.add('revoked');
  const askedWithin = (ms: number): number => {
    let asked = 0;
    for (let passed = 0; passed < ms; passed += 50) {
      if (lapsed.mayAskAgain('revoked')) asked += 1;
      assert.equal(lapsed.mayAskAgain('another'), false, 'an exemption is for its key alone');
      clock.stall(50);
    }
    return asked;
  };
  assert.equal(askedWithin(2500), 10);
  const [first, rest] = [askedWithin(60_000), askedWithin(537_500)];
  assert.ok(first > 20 && first < 40 && rest > 15 && rest < 30, `${first}, then ${rest}`);
  assert.equal(askedWithin(600_000), 0);
});

test('a pause is at most a tenth of what the fault lasted, and each success begins anew', () => {
  const clock = new VirtualClock();
  const lapsed = new LapsedKeys(clock);
  lapsed.add('key');
  for (let waited = 0; waited < 300_000; waited += 100) {
    lapsed.mayAskAgain('key');
    clock.stall(100);
  }
  clock.stall(30_000);
  assert.equal(lapsed.mayAskAgain('key'), true);
  clock.stall(300_000);
  lapsed.add('key');
  clock.stall(599_999);
  assert.equal(lapsed.mayAskAgain('key'), true);
  clock.stall(1);
  assert.equal(lapsed.mayAskAgain('key'), false);
});

test('the number of remembered keys is bounded', () => {
  const clock = new VirtualClock();
  const lapsed = new LapsedKeys(clock, 100);
  for (let key = 0; key < 10_000; key += 1) lapsed.add(`key ${key}`);
  let exempt = 0;
  for (let key = 0; key < 10_000; key += 1) exempt += lapsed.mayAskAgain(`key ${key}`) ? 1 : 0;
  assert.ok(exempt > 0 && exempt <= 100, `${exempt} keys`);
});
