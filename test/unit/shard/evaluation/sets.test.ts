// The moment of the sets of a subject, what is read for them, and what interrupts them. That they are right is the
// matter of `sets-definition.test.ts`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageGraph } from '../../../../src/shard/evaluation/page-graph.ts';
import type { TenantMemory } from '../../../../src/shard/memory/tenant-memory.ts';
import type { SetsQuery, SubjectSets } from '../../../../src/shard/shard.ts';
import { settled, waitFor } from '../tools.ts';
import { grantOf, RuledSlot, relationOf } from './ruled-slot.ts';

const RULES = {
  rules: [
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'can_read from parent'] },
    { namespace: 'folder', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
};
const GRANTS = ['user:a member team:1', 'team:1#member viewer document:1', 'user:a viewer folder:1'];

const setsOf = (ruled: RuledSlot, more: Partial<SetsQuery> = {}): Promise<SubjectSets> =>
  ruled.slot.connection.readSets(ruled.handle, {
    subject: 'user:a',
    namespace: 'document',
    name: 'can_read',
    deep: [],
    perhaps: false,
    ...more,
  });
const foundIn = ({ subjects, held }: SubjectSets): readonly string[] => [...subjects, ...held];

test('sets say how far a mirror has to be: the last commit of what the join mirrors', async () => {
  const ruled = await RuledSlot.open(RULES, [...GRANTS, 'folder:1 parent document:2'].map(grantOf));
  const ALL = ['user:a', 'team:1#member', 'folder:1#can_read'];
  const first = await setsOf(ruled);
  assert.deepEqual(foundIn(first), ALL);
  assert.equal(first.seq, ruled.slot.tenure.lastSeq);
  // Neither a relation that is not mirrored nor another tenant moves it on.
  await ruled.write([grantOf('user:b member team:1')]);
  const second = await setsOf(ruled);
  assert.ok(second.seq > first.seq);
  assert.equal(second.through, first.through);
  await ruled.slot.createTenant();
  const kept = await setsOf(ruled);
  assert.ok(kept.seq > second.seq, 'a kept answer is that of the present place');
  assert.deepEqual([foundIn(kept), kept.through], [ALL, first.through]);
  await ruled.write([grantOf('user:b viewer document:9')]);
  const third = await setsOf(ruled);
  assert.deepEqual([third.seq, third.through], [ruled.slot.tenure.lastSeq, ruled.slot.tenure.lastSeq]);
  await ruled.write([grantOf('user:b viewer document:9')], true);
  const fourth = await setsOf(ruled);
  assert.ok(fourth.through > third.through, 'a revocation is a commit of it, too');
  await ruled.goCold();
  const cold = await setsOf(ruled);
  for (const each of ALL) assert.ok(foundIn(cold).includes(each), each);
  assert.equal(cold.through, ruled.slot.tenure.begunSeq);
  assert.ok(cold.through > fourth.through);
});

test('other rules have another join, and sets of their own', async () => {
  const ruled = await RuledSlot.open(RULES, [...GRANTS, 'folder:1 parent document:2'].map(grantOf));
  const before = await setsOf(ruled);
  await ruled.setRules({ ...RULES, groups: false });
  const after = await setsOf(ruled);
  assert.notEqual(after.revision, before.revision);
  assert.deepEqual(foundIn(after), ['user:a', 'folder:1#can_read']);
  await ruled.setRules({ rules: [] });
  await assert.rejects(setsOf(ruled), { code: 'invalid-relation' });
  assert.deepEqual(foundIn(await setsOf(ruled, { name: 'viewer' })), ['user:a']);
});

const START_MS = Date.UTC(2026, 10, 1);
const END_MS = START_MS + 1000;

/** `ending`: which of them expires. */
async function openExpiring(ending: string) {
  const wall = { ms: START_MS };
  const ruled = await RuledSlot.open(RULES, [], { wallMs: () => wall.ms });
  const writes = GRANTS.map((text) => {
    const { subject, relation, object } = grantOf(text);
    const ends = text === ending ? { expiresAtMs: END_MS } : {};
    return { subject, relation: relationOf(relation), object, revoke: false, ...ends };
  });
  await ruled.slot.connection.writeGrants(ruled.handle, ruled.slot.attempt(), writes);
  return { wall, ruled };
}

test('a membership ends to the millisecond, once the log says so', async () => {
  const { wall, ruled } = await openExpiring('user:a member team:1');
  wall.ms = END_MS - 1;
  const before = await setsOf(ruled);
  assert.deepEqual([foundIn(before), before.timeMs], [['user:a', 'team:1#member'], END_MS - 1]);
  wall.ms = END_MS;
  ruled.slot.faults.turn('hold', ['append']);
  const asked = setsOf(ruled);
  assert.equal(await settled(asked), false, 'the log does not know yet');
  ruled.slot.faults.restore(['append']);
  const after = await asked;
  assert.deepEqual(foundIn(after), ['user:a']);
  assert.ok(after.timeMs >= END_MS && after.seq > before.seq);
});

test('a kept answer waits for the log, too, where a mirrored grant has expired', async () => {
  const { wall, ruled } = await openExpiring('team:1#member viewer document:1');
  const kept = [await setsOf(ruled), await setsOf(ruled)];
  for (const each of kept) assert.deepEqual(foundIn(each), ['user:a', 'team:1#member']);
  wall.ms = END_MS;
  ruled.slot.faults.turn('hold', ['append']);
  const asked = setsOf(ruled);
  assert.equal(await settled(asked), false, 'the mirror would say that it has expired, and the log does not');
  ruled.slot.faults.restore(['append']);
  const { timeMs } = await asked;
  assert.ok(timeMs >= END_MS && timeMs <= ruled.slot.tenure.slotTime.loggedMs);
});

/** More than a page has room for. */
const OWN = 12_000;

test('the objects of a subject that no grant names as containers are not read, however many there are', async (t) => {
  const documents = Array.from({ length: OWN }, (_, index) => grantOf(`user:a viewer document:${index}`));
  const others = [...GRANTS, 'folder:1 parent document:2'].map(grantOf);
  // Otherwise a page that is asked much of is read beside calls, as far as it has room.
  const options = { pageLimits: { readsBeforeWhole: 1_000_000 } };
  const ruled = await RuledSlot.open(RULES, [...documents, ...others], options);
  await ruled.goCold();
  const { memory } = ruled.slot;
  const one = t.mock.method(memory, 'listGrants');
  const each = t.mock.method(memory, 'listGrantsOfEach');
  const cold = await setsOf(ruled);
  assert.deepEqual(cold.held, ['folder:1#can_read']);
  assert.ok(cold.subjects.includes('team:1#member') && cold.subjects.length < 10);
  let rows = 0;
  for (const { result } of one.mock.calls) rows += (await result)?.grants.length ?? 0;
  for (const { result } of each.mock.calls) for (const { grants } of (await result) ?? []) rows += grants.length;
  assert.ok(rows < OWN / 20, `${rows} rows`);
  // The first grant that names one of them makes a difference.
  await ruled.write([grantOf('document:7#viewer viewer document:9')]);
  assert.ok((await setsOf(ruled)).subjects.includes('document:7#viewer'));
});

const tenantOf = ({ slot, tenantId }: RuledSlot): TenantMemory => slot.tenure.tenants.get(tenantId) ?? assert.fail();

/** A tree of folders of two levels. */
const FOLDERS = 1200;

test('what is below a container is not read, unless a group is there', async (t) => {
  const inherited = (name: string) => [{ namespace: 'folder', name, any_of: ['viewer', `${name} from parent`] }];
  const rules = { ...RULES, rules: [...RULES.rules.slice(0, 1), ...inherited('can_read')] };
  const tree = Array.from({ length: FOLDERS }, (_, index) => [
    grantOf(`folder:${index > 50 ? 1 + (index % 50) : 0} parent folder:${index + 1}`),
    grantOf(`folder:${index + 1} parent document:${index}`),
  ]).flat();
  const grants = ['user:a owner folder:0', 'user:a viewer folder:0', 'user:a member team:1'].map(grantOf);
  const ruled = await RuledSlot.open(rules, [...tree, ...grants, grantOf('team:1#member viewer folder:9')]);
  const look = t.mock.method(PageGraph.prototype, 'objectsOf');
  const asked = async (): Promise<readonly [SubjectSets, number]> => {
    look.mock.resetCalls();
    return [await setsOf(ruled), look.mock.callCount()];
  };
  const [sets, looks] = await asked();
  assert.deepEqual(sets.held, ['folder:0#can_read', 'folder:9#can_read']);
  assert.ok(looks < 10, `${looks}`);
  // The next owner knows it once it has read the subjects.
  await ruled.goCold();
  await setsOf(ruled);
  await waitFor(() => tenantOf(ruled).subjects.groupNamespaces !== undefined);
  await ruled.write([grantOf('user:b member team:1')]);
  const [again, looksAgain] = await asked();
  assert.deepEqual(again.held, sets.held);
  assert.ok(looksAgain < 10, `${looksAgain}`);
  // Its members are all who may read what is above it.
  await ruled.write([grantOf(`folder:${FOLDERS}#can_read member team:2`), grantOf('team:2#member viewer document:1')]);
  const [below, looksBelow] = await asked();
  for (const each of [`folder:${FOLDERS}#can_read`, 'team:2#member']) assert.ok(below.subjects.includes(each), each);
  assert.ok(looksBelow > FOLDERS);
});
