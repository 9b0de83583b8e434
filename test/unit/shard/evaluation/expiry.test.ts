// Chains of grants of which one expires: no answer reports it before the log does, no answer is true at a time at which
// a grant of its chain has expired, and time never goes back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { type SlotOptions, settled, turns, waitFor } from '../tools.ts';
import { grantOf, RuledSlot, relationOf } from './ruled-slot.ts';

const START_MS = Date.UTC(2026, 10, 1);
const END_MS = START_MS + 1000;

const RULES = {
  rules: [{ namespace: 'document', name: 'viewer', any_of: ['viewer from parent', 'editor'] }],
  groups: true,
  public: ['user'],
};
const CHAIN = ['user:a member team:1', 'team:1#member viewer folder:1', 'folder:1 parent document:1'];
const OPEN_CHAIN = ['user:* member team:1', ...CHAIN.slice(1)];
const CHECK = grantOf('user:a viewer document:1');

const STATES: readonly { name: string; options: SlotOptions }[] = [
  { name: 'whole pages', options: {} },
  { name: 'sparse pages', options: { pageLimits: { rowsMax: 2, rowsPerRead: 1, rowsPerListing: 2 } } },
];

/** The chain beside other grants of the same entities, in a slot whose wall clock only the test moves. */
async function openChain(chain: readonly string[], ending: number, options: SlotOptions) {
  const wall = { ms: START_MS };
  const others = chain.flatMap((text) => {
    const { subject, relation, object } = grantOf(text);
    return [1, 2, 3].map((each) => ({ subject, relation, object: `${object}.${each}` }));
  });
  const others2 = [1, 2, 3].map((each) => grantOf(`user:x${each} member team:1`));
  const ruled = await RuledSlot.open(RULES, [...others, ...others2], { ...options, wallMs: () => wall.ms });
  const tuples = chain.map(grantOf).map((grant): Tuple => ({ ...grant, relation: relationOf(grant.relation) }));
  await ruled.slot.connection.writeGrants(
    ruled.handle,
    ruled.slot.attempt(),
    tuples.map((tuple, index) => ({
      ...tuple,
      revoke: false,
      ...(index === ending ? { expiresAtMs: END_MS } : {}),
    })),
  );
  return { wall, ruled };
}

for (const { name, options } of STATES) {
  for (const chain of [CHAIN, OPEN_CHAIN]) {
    for (const [ending, grant] of chain.entries()) {
      test(`a chain ends with "${grant}", after the log says so: ${name}`, async () => {
        for (const cold of [false, true]) {
          const { wall, ruled } = await openChain(chain, ending, options);
          if (cold) await ruled.goCold();
          wall.ms = END_MS - 1;
          const before = await ruled.named([CHECK]);
          assert.deepEqual(before.authorized, [true]);
          assert.ok(before.checkedAtMs < END_MS);
          const { because } = await ruled.named([CHECK], true);
          assert.deepEqual(
            because[0]?.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`),
            chain,
          );
          assert.equal(because[0]?.[ending]?.expiresAtMs, END_MS);
          wall.ms = END_MS;
          const { slotTime } = ruled.slot.tenure;
          assert.ok(slotTime.loggedMs < END_MS, 'the log does not know yet');
          ruled.slot.faults.turn('hold', ['append']);
          const answers = [ruled.named([CHECK]), ruled.named([CHECK, CHECK]), ruled.named([CHECK], true)];
          // Where groups count, the subjects of an object that is too large for a page are not listed.
          const lists = [ruled.objects('user:a', 'viewer')];
          if (name === 'whole pages') lists.push(ruled.holders('document:1', 'viewer'));
          await turns(50);
          for (const answer of [...answers, ...lists]) assert.ok(!(await settled(answer)), 'it waits for the log');
          ruled.slot.faults.restore(['append']);
          for (const answer of answers) {
            const { authorized, checkedAtMs } = await answer;
            assert.ok(authorized.every((each) => !each) && checkedAtMs >= END_MS);
          }
          const [objects, holders] = await Promise.all(lists);
          assert.ok(!objects?.includes('document:1'));
          // What is left of the chain before the grant still counts.
          const rest = ending === 0 ? ['team:1#member'] : [];
          if (holders !== undefined) {
            assert.deepEqual(
              holders.filter((each) => ['user:a', 'user:*', 'team:1#member'].includes(each)),
              rest,
            );
          }
          assert.ok(slotTime.loggedMs >= END_MS, 'the log knows');
          wall.ms = START_MS;
          assert.deepEqual((await ruled.named([CHECK])).authorized, [false], 'time does not go back');
          ruled.slot.kill();
        }
      });
    }
  }

  test(`what another chain still grants is answered without waiting: ${name}`, async () => {
    const { wall, ruled } = await openChain(CHAIN, 0, options);
    await ruled.write([grantOf('user:a editor document:1')]);
    wall.ms = END_MS;
    ruled.slot.faults.turn('hold', ['append']);
    const answer = await ruled.named([CHECK]);
    assert.deepEqual([answer.authorized, answer.checkedAtMs], [[true], END_MS]);
    ruled.slot.faults.restore(['append']);
  });
}

test('all checks of a call are answered at one time', async () => {
  const { wall, ruled } = await openChain(CHAIN, 1, {});
  const member = grantOf('user:a member team:1');
  const other = grantOf('user:a viewer folder:1');
  wall.ms = END_MS + 5;
  const { authorized, checkedAtMs } = await ruled.named([member, CHECK, other]);
  assert.deepEqual(authorized, [true, false, false]);
  assert.ok(checkedAtMs >= END_MS);
});

test('a chain holds longer once its grant expires later or never', async () => {
  const { wall, ruled } = await openChain(CHAIN, 1, {});
  const [, middle = ''] = CHAIN;
  const { subject, object } = grantOf(middle);
  const change = (expiresAtMs: number | null) =>
    ruled.slot.connection.writeGrants(ruled.handle, ruled.slot.attempt(), [
      { subject, relation: 'viewer', object, revoke: false, expiresAtMs },
    ]);
  await change(END_MS + 1000);
  wall.ms = END_MS;
  assert.equal((await ruled.named([CHECK])).authorized[0], true);
  await change(null);
  wall.ms = END_MS + 2000;
  assert.equal((await ruled.named([CHECK])).authorized[0], true);
  await change(wall.ms + 1);
  wall.ms += 1;
  assert.equal((await ruled.named([CHECK])).authorized[0], false);
  await waitFor(() => ruled.slot.tenure.slotTime.loggedMs >= wall.ms);
});
