// The bounds of an evaluation: what lies beyond is refused, never denied and never left out of a list. What one step
// costs is bounded, too, and costs grow with the entities visited, never with the number of paths.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SET_BYTES_MAX, SETS_MAX } from '../../../../src/core/limits.ts';
import { relationNumber } from '../../../../src/core/tuples.ts';
import { SearchCost } from '../../../../src/rules/graph.ts';
import { PageGraph } from '../../../../src/shard/evaluation/page-graph.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const DEPTH_MAX = 25;
/** Entities and grants that a step may spend before it ends with the check that it has begun. */
const STEP_MAX = 20_000;

const VIEWER = relationNumber('viewer') ?? 0;

const RULES = {
  rules: [
    { namespace: 'folder', name: 'viewer', any_of: ['viewer from parent'] },
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
  ],
  groups: true,
};

const numbered = <Item>(count: number, of: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => of(index));

const refusal = (message: RegExp) => ({ code: 'evaluation-too-large', message });

/** `user:a` reaches `document:1` over as many groups and folders. */
function chainOf(groups: number, folders: number): string[] {
  const top = folders === 0 ? 'document:1' : `folder:${folders}`;
  return [
    ...(groups === 0 ? [`user:a viewer ${top}`] : ['user:a member team:1', `team:${groups}#member viewer ${top}`]),
    ...numbered(Math.max(groups - 1, 0), (index) => `team:${index + 1}#member member team:${index + 2}`),
    ...numbered(folders, (index) => `folder:${index + 1} parent ${index === 0 ? 'document:1' : `folder:${index}`}`),
  ];
}

for (const [groups, folders] of [
  [DEPTH_MAX, 0],
  [0, DEPTH_MAX],
  [12, DEPTH_MAX - 12],
] as const) {
  test(`a chain of ${groups} groups and ${folders} folders is followed, a longer one is refused`, async () => {
    for (const cold of [false, true]) {
      const open = async (grants: readonly string[]) => {
        const ruled = await RuledSlot.open(RULES, grants.map(grantOf));
        if (cold) await ruled.goCold();
        return ruled;
      };
      const question = grantOf('user:a can_read document:1');
      const deep = await open(chainOf(groups, folders));
      assert.equal(await deep.check('user:a can_read document:1'), true);
      const { because } = await deep.named([question], true);
      assert.equal(because[0]?.length, DEPTH_MAX + 1);
      assert.deepEqual(await deep.objects('user:a', 'can_read'), ['document:1']);
      assert.ok((await deep.holders('document:1', 'can_read')).includes('user:a'));
      assert.equal(await deep.check('user:b can_read document:1'), false);
      deep.slot.kill();

      const longer = groups === 0 ? chainOf(0, folders + 1) : chainOf(groups + 1, folders);
      const deeper = await open(longer);
      const named = /at most 25 groups and parents/;
      await assert.rejects(deeper.named([question]), refusal(named));
      await assert.rejects(deeper.named([grantOf('user:b can_read document:2'), question]), refusal(named));
      await assert.rejects(deeper.named([question], true), refusal(named));
      await assert.rejects(deeper.objects('user:a', 'can_read'), refusal(named));
      await assert.rejects(deeper.holders('document:1', 'can_read'), refusal(named));
      // Of a subject without grants everything is known.
      assert.equal(await deeper.check('user:b can_read document:1'), false);
      await deeper.write([grantOf('user:a viewer document:1')]);
      assert.equal(await deeper.check('user:a can_read document:1'), true);
      assert.deepEqual((await deeper.named([question], true)).because[0]?.length, 1);
      deeper.slot.kill();
    }
  });
}

/** Counts entities and grants, and what of them comes between two turns. */
function measure(t: TestContext, ruled: RuledSlot) {
  const work = { total: 0, stepMax: 0 };
  let step = 0;
  const add = (count: number): void => {
    work.total += count;
    step += count;
    work.stepMax = Math.max(work.stepMax, step);
  };
  // By hand: a mock of node:test keeps every call with its stack, and there are hundreds of thousands.
  const { visit, look } = SearchCost.prototype;
  t.after(() => Object.assign(SearchCost.prototype, { visit, look }));
  SearchCost.prototype.visit = function count(depth, entity) {
    add(1);
    return visit.call(this, depth, entity);
  };
  SearchCost.prototype.look = function count(grants) {
    add(grants);
    return look.call(this, grants);
  };
  const { turns } = ruled.slot.budget;
  const run = turns.run.bind(turns);
  t.mock.method(turns, 'run', (...args: Parameters<typeof turns.run>) => {
    step = 0;
    run(...args);
  });
  const reset = (): void => {
    step = 0;
    Object.assign(work, { total: 0, stepMax: 0 });
  };
  return { work, reset };
}

test('a check through 25 nested groups costs the same with 10,000 members in one of them', async (t) => {
  const ruled = await RuledSlot.open(RULES, chainOf(DEPTH_MAX, 0).map(grantOf));
  await ruled.write(numbered(9_990, (index) => grantOf(`user:${index} member team:1`)));
  await ruled.goCold();
  const { work, reset } = measure(t, ruled);
  const users = ['user:7', 'user:nobody', ...numbered(98, (index) => `user:${2 * index}`)];
  const checks = users.map((user) => grantOf(`${user} can_read document:1`));
  for (const user of users.slice(0, 3)) {
    await ruled.check(`${user} can_read document:1`);
    reset();
    assert.equal(await ruled.check(`${user} can_read document:1`), user !== 'user:nobody');
    assert.ok(work.total < 500, `${work.total}`);
  }
  reset();
  const { authorized } = await ruled.named(checks);
  assert.equal(authorized.filter((each) => !each).length, 1);
  assert.ok(work.stepMax <= STEP_MAX + 1000, `${work.stepMax}`);
  assert.equal((await ruled.holders('document:1', 'can_read', 1000, 'user')).length, 9_991);
});

test('in a grid, costs grow with its entities, not with its paths', async (t) => {
  const WIDTH = 3;
  const names = ['n1', 'n2', 'n3'];
  const rules = names.map((name) => ({
    namespace: 'folder',
    name,
    any_of: ['viewer', ...names.map((each) => `${each} from parent`)],
  }));
  const level = (depth: number, at: number) => `folder:${depth}.${at}`;
  const grants = numbered(DEPTH_MAX, (depth) =>
    numbered(WIDTH, (at) => numbered(WIDTH, (to) => `${level(depth + 1, to)} parent ${level(depth, at)}`)),
  ).flat(2);
  const top = `user:a viewer ${level(DEPTH_MAX, 2)}`;
  const ruled = await RuledSlot.open({ rules, groups: true }, [...grants, top].map(grantOf));
  const { work, reset } = measure(t, ruled);
  // Of both searches: every name of every entity, and every grant.
  const costMax = 2 * (grants.length + (1 + names.length) * WIDTH * (DEPTH_MAX + 1));
  for (const [question, expected] of [
    [`user:a n1 ${level(0, 0)}`, true],
    [`user:b n3 ${level(0, 1)}`, false],
    [`${level(DEPTH_MAX, 0)} n3 ${level(0, 1)}`, false],
  ] as const) {
    for (const explain of [false, true]) {
      await ruled.named([grantOf(question)], explain);
      reset();
      const { authorized, because } = await ruled.named([grantOf(question)], explain);
      assert.deepEqual(authorized, [expected]);
      assert.ok(work.total <= costMax, `${work.total} for ${grants.length} grants`);
      if (explain) assert.equal(because[0]?.length, expected ? DEPTH_MAX + 1 : 0);
    }
  }
  reset();
  const questions = numbered(100, (index) => grantOf(`user:a n${1 + (index % 3)} ${level(index % 4, index % WIDTH)}`));
  assert.ok((await ruled.named(questions)).authorized.every(Boolean));
  assert.ok(work.stepMax <= STEP_MAX + costMax, `${work.stepMax}`);
  assert.equal((await ruled.objects('user:a', 'n2')).length, WIDTH * DEPTH_MAX + 1);
});

test('the entities that the checks of a call miss are loaded together', async (t) => {
  const each = numbered(100, (index) => index);
  const ruled = await RuledSlot.open(RULES, [
    ...each.map((index) => grantOf(`user:${index} member team:${index}`)),
    ...each.map((index) => grantOf(`team:${index}#member viewer folder:${index}`)),
    ...each.map((index) => grantOf(`folder:${index} parent document:${index}`)),
  ]);
  await ruled.goCold();
  const load = t.mock.method(PageGraph.prototype, 'load');
  const { authorized } = await ruled.named(each.map((index) => grantOf(`user:${index} can_read document:${index}`)));
  assert.ok(authorized.every(Boolean));
  assert.ok(load.mock.callCount() <= 10, `${load.mock.callCount()} rounds`);
  const wrong = each.map((index) => ({ ...grantOf(`user:x${index} can_read document:x${index}`) }));
  const named = wrong.with(70, grantOf('user:a unknown document:x'));
  await assert.rejects(ruled.named(named), { code: 'invalid-relation', message: /^"checks\[70\]\.relation"/ });
});

test('a check of too many entities is refused, and expensive checks take many steps', async (t) => {
  const CHECKS = 8;
  const ruled = await RuledSlot.open(RULES, [
    ...numbered(5_500, (index) => grantOf(`team:start#member member team:g${index}`)),
    ...numbered(5_500, (index) => grantOf(`team:g${index}#member member team:h${index}`)),
    ...numbered(5_500, (index) => grantOf(`team:w${index}#member member team:hub`)),
    ...numbered(5_500, (index) => grantOf(`team:v${index}#member member team:w${index}`)),
    grantOf('team:hub#member viewer document:broad'),
    ...numbered(CHECKS, (index) => grantOf(`team:x#member viewer document:${index}`)),
    ...numbered(3_000, (index) => grantOf(`team:y${index}#member member team:x`)),
    ...numbered(CHECKS, (index) => grantOf(`user:${index} member team:start`)),
  ]);
  await ruled.slot.applied();
  const question = 'user:1 can_read document:broad';
  await assert.rejects(ruled.check(question), refusal(/at most 10000 objects and groups/));
  await assert.rejects(ruled.named([grantOf(question)], true), refusal(/at most 10000 objects and groups/));
  assert.equal(await ruled.check('user:1 can_read document:none'), false);
  assert.equal(await ruled.check('user:none can_read document:broad'), false);

  const checks = numbered(CHECKS, (index) => grantOf(`user:${index} can_read document:${index}`));
  const { work, reset } = measure(t, ruled);
  assert.equal(await ruled.check('user:1 can_read document:1'), false);
  reset();
  await ruled.check('user:1 can_read document:1');
  const single = work.total;
  assert.ok(single > 3_000, `a dear check: ${single}`);
  reset();
  assert.ok((await ruled.named(checks)).authorized.every((each) => !each));
  assert.ok(work.total > STEP_MAX + 2 * single, `${work.total}`);
  assert.ok(work.stepMax <= STEP_MAX + 2 * single, `${work.stepMax}, a check is ${single}`);
  // A commit between two steps: the answers are those of one moment.
  const same = grantOf('user:0 can_read document:0');
  const bulk = ruled.named([...checks, same]);
  await new Promise((resolve) => setImmediate(resolve));
  await ruled.write([grantOf('user:0 viewer document:0')]);
  const { authorized } = await bulk;
  assert.equal(authorized[0], authorized.at(-1));
  assert.deepEqual((await ruled.named([same])).authorized, [true]);
});

test('a subject has 10,000 sets, and one more is refused, in short steps either way', async (t) => {
  const ruled = await RuledSlot.open(RULES, [
    ...numbered(SETS_MAX, (index) => grantOf(`user:a member team:${index}`)),
    ...numbered(SETS_MAX, (index) => grantOf(`team:${index}#member viewer document:1`)),
    grantOf('team:more#member viewer document:1'),
  ]);
  const query = { subject: 'user:a', namespace: 'document', name: 'can_read', deep: [], perhaps: false };
  const sets = () => ruled.slot.connection.readSets(ruled.handle, query);
  const { work, reset } = measure(t, ruled);
  reset();
  assert.equal((await sets()).subjects.length, SETS_MAX + 1);
  assert.ok(work.total >= SETS_MAX && work.stepMax <= STEP_MAX / 4, JSON.stringify(work));
  await ruled.write([grantOf('user:a member team:more')]);
  // Another tenant's turns come between those steps.
  const other = await ruled.slot.createTenant();
  const handle = await ruled.slot.handle(other);
  reset();
  const refused = assert.rejects(sets(), { code: 'too-many-sets', message: /10,000 sets.*"deep"/ });
  assert.equal(await ruled.slot.connection.check(handle, 'user:b', VIEWER, 'document:1'), false);
  await refused;
  assert.ok(work.stepMax <= STEP_MAX / 4, JSON.stringify(work));
  assert.equal(await ruled.check('user:a can_read document:1'), true);
});

test('sets of a megabyte are answered, and a longer one is refused', async () => {
  const teams = numbered(9000, (index) => `team:${1000 + index}${'é'.repeat(240)}`);
  const count = Math.floor(SET_BYTES_MAX / Buffer.byteLength(`${teams[0]}#member`));
  const fitting = teams.slice(0, count);
  const more = `user:a member ${teams[count]}`;
  const ruled = await RuledSlot.open(RULES, [
    ...fitting.map((team) => grantOf(`user:a member ${team}`)),
    ...teams.slice(0, count + 1).map((team) => grantOf(`${team}#member viewer document:1`)),
  ]);
  const query = { subject: 'user:a', namespace: 'document', name: 'can_read', deep: [], perhaps: false };
  const sets = () => ruled.slot.connection.readSets(ruled.handle, query);
  assert.equal((await sets()).subjects.length, count + 1);
  await ruled.write([grantOf(more)]);
  await assert.rejects(sets(), { code: 'too-many-sets', message: /1024 KiB/ });
});

test('gates in a nest are decided in short steps, although each search examines next to nothing', async (t) => {
  const gate = [{ all_of: ['member', 'owner'], but_not: ['editor'] }];
  const rules = [
    { namespace: 'team', name: 'trusted', any_of: gate },
    { namespace: 'document', name: 'can_read', any_of: ['viewer'] },
  ];
  const users = numbered(100, (index) => `user:${index}`);
  const ruled = await RuledSlot.open({ rules, groups: true }, [
    ...users.map((user) => grantOf(`${user} member team:1`)),
    ...numbered(DEPTH_MAX - 2, (index) => grantOf(`team:${index + 1}#trusted member team:${index + 2}`)),
    ...numbered(DEPTH_MAX - 1, (index) => grantOf(`team:1#member owner team:${index + 1}`)),
    grantOf(`team:${DEPTH_MAX - 1}#trusted viewer document:1`),
  ]);
  const checks = users.map((user) => grantOf(`${user} can_read document:1`));
  assert.ok((await ruled.named(checks)).authorized.every(Boolean));
  const { work, reset } = measure(t, ruled);
  reset();
  assert.ok((await ruled.named(checks)).authorized.every(Boolean));
  assert.equal((await ruled.holders('document:1', 'can_read', 1000, 'user')).length, users.length);
  assert.ok(work.total > STEP_MAX, `${work.total}`);
  assert.ok(work.stepMax <= STEP_MAX / 20, `${work.stepMax}`);
});
