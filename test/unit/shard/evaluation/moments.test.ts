// An answer is that of one moment, whatever is committed while the call waits for the store: some of the cases of
// `moments-cases.ts` (`test/property/slow` runs all), and rules that change meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '../tools.ts';
import { CHAIN, LAST, RULES, testMoments } from './moments-cases.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

testMoments(false);

test('a name that rules no longer define is refused, although they did when the check began', async () => {
  const ruled = await RuledSlot.open(RULES, CHAIN.map(grantOf));
  await ruled.goCold();
  ruled.slot.faults.turn('hold', ['listGrants', 'listObjectGrants']);
  const calls = [
    () => ruled.check('user:a can_read document:1'),
    () => ruled.objects('user:a', 'can_read'),
    () => ruled.holders('document:1', 'can_read'),
  ].map((call) => assert.rejects(call(), { code: 'invalid-relation' }));
  await turns(20);
  assert.ok(ruled.slot.faults.heldCalls() > 0);
  await ruled.setRules({ rules: [], groups: true });
  ruled.slot.faults.restore(['listGrants', 'listObjectGrants']);
  await Promise.all(calls);
});

test('a waiting check also follows new rules that allow more', async () => {
  const ruled = await RuledSlot.open({ rules: [], groups: true }, [...CHAIN, LAST].map(grantOf));
  await ruled.goCold();
  ruled.slot.faults.turn('hold', ['listGrants', 'listObjectGrants']);
  const check = ruled.named([grantOf('user:a viewer document:1')]);
  await turns(20);
  await ruled.setRules(RULES);
  ruled.slot.faults.restore(['listGrants', 'listObjectGrants']);
  assert.deepEqual((await check).authorized, [true]);
});
