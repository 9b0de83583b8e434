// States are read by their objects. All grants of states have the same subject, whose page may be endless: no check and
// no write loads it.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { grantOf, RuledSlot } from './ruled-slot.ts';

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

async function openCold({ mock }: TestContext) {
  const options = { cacheBytesMax: CACHE_BYTES };
  const ruled = await RuledSlot.open(RULES, ARCHIVED, options);
  const others = ['user:ada editor doc:1', 'user:ada editor doc:new', 'folder:f parent doc:new', '* published doc:new'];
  await ruled.write(others.map(grantOf));
  await ruled.goCold();
  const { memory } = ruled.slot;
  const one = mock.method(memory, 'listGrants');
  const each = mock.method(memory, 'listGrantsOfEach');
  /** Rows of the subject `*` that were read from the store, and entities that were asked for at all. */
  const read = async (): Promise<{ readonly rows: number; readonly entities: number }> => {
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
    };
  };
  return { ruled, read };
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
