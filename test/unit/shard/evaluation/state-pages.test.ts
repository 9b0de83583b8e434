// States are read by their objects. All grants of states have the same subject, whose page may be endless: no check and
// no write loads it. A search for what a state gives goes through its objects: it reads them a few times at most,
// however many subjects, groups and names it looks at, and even where memory has no room for their page.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RevokedGrants } from '../../../../src/rules/access-changes.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { grantOf, RuledSlot, relationOf } from './ruled-slot.ts';

const COUNT = 10_000;
/** Less than the page of all states would take. */
const CACHE_BYTES = 512 * 1024;
const RULES = {
  states: ['archived', 'published'],
  groups: true,
  public: ['user'],
  rules: [
    { namespace: 'folder', name: 'frozen', any_of: ['archived'] },
    { namespace: 'doc', name: 'frozen', any_of: ['archived', 'frozen from parent'] },
    { namespace: 'doc', name: 'can_edit', any_of: [{ any_of: ['editor'], but_not: ['frozen'] }] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'published'] },
  ],
};
const ARCHIVED = Array.from({ length: COUNT }, (_, index) => grantOf(`* archived doc:${index}`));

async function openCold({ mock }: TestContext, rules: object = RULES, cacheBytesMax = CACHE_BYTES) {
  const ruled = await RuledSlot.open(rules, ARCHIVED, { cacheBytesMax });
  const others = ['user:ada editor doc:1', 'user:ada editor doc:new', 'folder:f parent doc:new', '* published doc:new'];
  await ruled.write(others.map(grantOf));
  await ruled.goCold();
  const { memory } = ruled.slot;
  const one = mock.method(memory, 'listGrants');
  const each = mock.method(memory, 'listGrantsOfEach');
  const onObjects = mock.method(memory, 'listObjectGrants');
  const onEachObject = mock.method(memory, 'listObjectGrantsOfEach');
  const reset = (): void => {
    for (const { mock: calls } of [one, each, onObjects, onEachObject]) calls.resetCalls();
  };
  /** Rows of the subject `*` that were read from the store, and what was asked for besides them. */
  const read = async (): Promise<{ readonly rows: number; readonly entities: number; readonly objects: number }> => {
    const rows: number[] = [];
    for (const { arguments: given, result } of one.mock.calls) {
      if (given[0].subject === '*') rows.push(((await result)?.grants ?? []).length);
    }
    for (const { arguments: given, result } of each.mock.calls) {
      const at = given[0].subjects.indexOf('*');
      if (at >= 0) rows.push((await result)?.[at]?.grants.length ?? 0);
    }
    return {
      rows: rows.reduce((sum, count) => sum + count, 0),
      entities: one.mock.callCount() + each.mock.callCount(),
      objects: onObjects.mock.callCount() + onEachObject.mock.callCount(),
    };
  };
  return { ruled, read, reset };
}

const CALLS: readonly (readonly [what: string, call: (ruled: RuledSlot) => Promise<void>])[] = [
  [
    'checks',
    async (ruled) => {
      assert.equal(await ruled.check('user:ada can_edit doc:1'), false);
      assert.equal(await ruled.check('user:ada can_edit doc:new'), true);
      assert.equal(await ruled.check('* archived doc:77'), true);
      assert.equal(await ruled.check('* archived doc:new'), false);
      assert.equal(await ruled.check('* can_read doc:new'), true);
      const denied = await ruled.named([grantOf('user:ada can_edit doc:1'), grantOf('* can_edit doc:1')], true);
      assert.match(denied.reasons[0] ?? '', /doc:1 is archived/);
    },
  ],
  [
    'writes',
    async (ruled) => {
      await ruled.write([grantOf('* archived doc:new'), grantOf('* archived folder:f'), grantOf('* archived doc:5')]);
      assert.equal(await ruled.check('user:ada can_edit doc:new'), false);
      await ruled.write([grantOf('* archived doc:new'), grantOf('* archived folder:f')], true);
      assert.equal(await ruled.check('user:ada can_edit doc:new'), true);
    },
  ],
];

for (const [what, call] of CALLS) {
  test(`the page of all states is not loaded: ${what}`, async (context) => {
    const { ruled, read } = await openCold(context);
    await call(ruled);
    await call(ruled);
    const { rows, entities } = await read();
    assert.ok(entities > 0, 'reads are counted');
    assert.equal(rows, 0);
  });
}

const GIVING = {
  states: ['archived', 'published'],
  groups: true,
  public: ['user'],
  rules: [
    { namespace: 'folder', name: 'can_read', any_of: ['viewer', 'archived'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'archived', 'can_read from parent'] },
  ],
};
const PAGE = 100;
const USERS = 4;
/** A page that is read and lost, in the small listing and the large one, and then the objects for the call alone. */
const READS_MAX = 4;

const first = async (ruled: RuledSlot, subject: string, relation: string): Promise<readonly string[]> => {
  const query = { subject, relation, namespace: 'doc', limit: PAGE, cursor: undefined };
  return (await ruled.slot.connection.listObjects(ruled.handle, query)).items;
};

async function readable(ruled: RuledSlot, subject: string): Promise<void> {
  assert.equal((await first(ruled, subject, 'can_read')).length, PAGE);
}

async function previewed(ruled: RuledSlot, from: string): Promise<void> {
  const rules = [{ namespace: 'doc', name: 'can_read', any_of: ['viewer', 'editor', from] }];
  await ruled.slot.connection.previewRules(ruled.handle, {
    rules: RulesText.of(parseRuleSet({ ...GIVING, rules })),
    ifMatch: undefined,
  });
}

const REVOKED: readonly RevokedGrants[] = [
  { subject: 'team:1#member' },
  { subject: '*', object: 'doc:7' },
  { subject: '*', relation: relationOf('archived') },
  { object: 'doc:7' },
];

const SEARCHES: readonly (readonly [what: string, call: (ruled: RuledSlot) => Promise<unknown>])[] = [
  ['the objects of a name', (ruled) => readable(ruled, 'user:ada')],
  ['the objects of a name, of somebody without grants', (ruled) => readable(ruled, 'user:nobody')],
  ['the objects of a name, of a group', (ruled) => readable(ruled, 'team:1#member')],
  ['the objects of a state', (ruled) => first(ruled, 'user:ada', 'archived')],
  [
    'the subjects of a name',
    async (ruled) => assert.equal((await ruled.holders('doc:7', 'can_read', PAGE)).length, 2 + USERS),
  ],
  [
    'the names on an object',
    (ruled) => {
      const query = { subject: 'user:ada', object: 'doc:7', limit: PAGE, cursor: undefined };
      return ruled.slot.connection.listNames(ruled.handle, query);
    },
  ],
  ['the reasons of a denial', (ruled) => ruled.named([grantOf('user:ada can_read doc:none')], true)],
  ['a preview of rules in which the state gives as much', (ruled) => previewed(ruled, 'archived')],
  ['a preview of rules in which another state gives', (ruled) => previewed(ruled, 'published')],
  ...REVOKED.map(
    (revoked) =>
      [
        `who would lose what by a revocation of ${JSON.stringify(revoked)}`,
        (ruled: RuledSlot) => ruled.slot.connection.compareAccess(ruled.handle, revoked),
      ] as const,
  ),
];

test('a search reads the objects of a state a few times, however little memory there is', async (context) => {
  const { ruled, read, reset } = await openCold(context, GIVING);
  const members = Array.from({ length: USERS }, (_, index) => grantOf(`user:u${index} member team:1`));
  const editors = Array.from({ length: USERS }, (_, index) => grantOf(`user:u${index} editor doc:${index}`));
  await ruled.write([...members, ...editors, grantOf('team:1#member viewer doc:7')]);
  for (const [what, call] of SEARCHES) {
    await context.test(what, async () => {
      await ruled.goCold();
      reset();
      await call(ruled);
      const { rows } = await read();
      assert.ok(rows <= READS_MAX * COUNT, `${rows} rows`);
    });
  }
});

test('where a listing needs more at one moment than the cache holds, it says so soon', async (context) => {
  const { ruled, read, reset } = await openCold(context);
  await ruled.setRules({
    ...RULES,
    rules: [...RULES.rules, { namespace: 'doc', name: 'can_see', any_of: ['archived'] }],
  });
  await ruled.goCold();
  reset();
  // Where gates are, each object that the state gives is decided by itself.
  const wanted = { code: 'overloaded', message: /leave the page cache.*larger page cache/ };
  await assert.rejects(first(ruled, 'user:ada', 'can_see'), wanted);
  const { rows, objects } = await read();
  assert.ok(rows <= READS_MAX * COUNT, `${rows} rows`);
  assert.ok(objects <= COUNT, `${objects} objects`);
});

test('while a listing goes through the objects of a state, a check of another tenant is answered', async (context) => {
  const { ruled } = await openCold(context, GIVING);
  const { slot } = ruled;
  const handle = await slot.handle(await slot.createTenant());
  const grant = { subject: 'user:eve', relation: 'viewer' as const, object: 'doc:1' };
  await slot.connection.writeGrants(handle, slot.attempt(), [{ ...grant, revoke: false }]);
  let isListed = false;
  const listing = ruled.objects('user:ada', 'can_read', 1000).finally(() => {
    isListed = true;
  });
  const request = {
    checks: [grant, { ...grant, object: 'doc:2' }],
    explain: false,
    list: 'checks',
    denyUndefined: false,
  };
  const { authorized } = await slot.connection.checkNamed(handle, request);
  assert.deepEqual([authorized, isListed], [[true, false], false]);
  assert.equal((await listing).length, COUNT);
});
