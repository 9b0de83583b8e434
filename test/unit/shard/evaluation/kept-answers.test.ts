// A few of the cases of `kept-answers-cases.ts` (`test/property/slow` runs more), and what small worlds do not reach.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testKeptAnswers } from './kept-answers-cases.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

testKeptAnswers('union', 5);
testKeptAnswers('whole', 5);

test('the answers of a bulk rest on the search from the subject that they share', async () => {
  // The search from the object costs so much that the one from the subject decides.
  const teams = Array.from({ length: 300 }, (_, number) => number);
  const ruled = await RuledSlot.open(
    { rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }], groups: true },
    [
      ...['doc:1', 'doc:2'].flatMap((object) => teams.map((team) => grantOf(`team:${team}#member viewer ${object}`))),
      grantOf('user:a member club:1'),
    ],
  );
  const checks = ['doc:1', 'doc:2'].map((object) => grantOf(`user:a can_read ${object}`));
  const known = () => checks.map((each) => ruled.slot.connection.checkKnown(ruled.handle, each));
  // The first time, pages are loaded.
  for (let time = 0; time < 2; time += 1) assert.deepEqual((await ruled.named(checks)).authorized, [false, false]);
  assert.deepEqual(known(), [false, false]);
  await ruled.write([grantOf('user:a member team:299')]);
  assert.deepEqual(known(), [undefined, undefined]);
  assert.deepEqual((await ruled.named(checks)).authorized, [true, true]);
});

test('the next pages of a listing are those of the present state, whichever grant changes', async () => {
  const ruled = await RuledSlot.open(
    { rules: [{ namespace: 'doc', name: 'viewer', any_of: ['viewer from parent'] }], groups: true },
    [
      ...Array.from({ length: 9 }, (_, number) => grantOf(`folder:${number % 3} parent doc:${number}`)),
      ...[0, 1].map((folder) => grantOf(`team:${folder}#member viewer folder:${folder}`)),
      ...[0, 1].map((team) => grantOf(`user:a member team:${team}`)),
    ],
  );
  const first = () => ruled.objects('user:a', 'viewer', 1, 'doc');
  const holders = () => ruled.holders('doc:0', 'viewer', 1);
  assert.equal((await first()).length, 6);
  assert.ok((await holders()).length > 2);
  for (const text of [
    'folder:1 parent doc:7',
    'user:a member team:1',
    'team:1#member viewer folder:1',
    'user:a viewer folder:2',
    'user:c viewer doc:0',
    'user:d member team:0',
    'user:a viewer doc:8',
    'doc:3#viewer viewer doc:2',
  ]) {
    for (const isRevoked of [false, true, false]) {
      await ruled.write([grantOf(text)], isRevoked);
      const what = `${text}, ${isRevoked}`;
      // What is listed at once is evaluated anew, and what is listed by one comes from what the second page kept.
      assert.deepEqual(await first(), await ruled.objects('user:a', 'viewer', 50, 'doc'), what);
      assert.deepEqual(await holders(), await ruled.holders('doc:0', 'viewer', 50), what);
      assert.deepEqual(await first(), await ruled.objects('user:a', 'viewer', 50, 'doc'), what);
    }
  }
});
