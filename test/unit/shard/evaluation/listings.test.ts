// Listings under rules, page by page: what is held throughout appears exactly once, what is never held never, whatever
// is committed between pages and during them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { SmallestTexts } from '../../../../src/shard/evaluation/evaluate-listings.ts';
import { type SlotOptions, turns } from '../tools.ts';
import { grantOf, RuledSlot } from './ruled-slot.ts';

const RULES = {
  rules: [
    { namespace: 'document', name: 'can_read', any_of: ['viewer', 'editor', 'viewer from parent'] },
    { namespace: 'folder', name: 'viewer', any_of: ['viewer from parent'] },
  ],
  groups: true,
  public: ['user'],
};
const STATES: readonly { name: string; cold: boolean; options: SlotOptions }[] = [
  { name: 'whole pages', cold: false, options: {} },
  { name: 'pages in parts', cold: true, options: { pageLimits: { rowsPerRead: 3 } } },
  { name: 'nothing in memory', cold: true, options: {} },
  {
    name: 'entities too large for a page',
    cold: true,
    options: { pageLimits: { rowsPerRead: 3, rowsMax: 9, rowsPerListing: 4 } },
  },
];
const COUNT = 40;

const numbered = (prefix: string): string[] =>
  Array.from({ length: COUNT }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`);

/** Changes one thing after the other until it is stopped. */
async function whileChanging<Result>(changes: readonly (() => Promise<void>)[], run: () => Promise<Result>) {
  let stopped = false;
  let made = 0;
  const churn = (async () => {
    for (let next = 0; !stopped; next += 1) {
      await changes[next % changes.length]?.();
      made += 1;
      await turns(2);
    }
  })();
  try {
    return await run();
  } finally {
    stopped = true;
    await churn;
    assert.ok(made > 0, 'something changed meanwhile');
  }
}

for (const { name, cold, options } of STATES) {
  test(`objects: ${name}`, async () => {
    const lasting = numbered('document:a');
    const moving = numbered('document:m');
    const fleeting = numbered('document:f');
    const foreign = numbered('document:z');
    const ruled = await RuledSlot.open(
      RULES,
      [
        'user:a member team:1',
        'user:a member team:2',
        'team:1#member viewer folder:1',
        'folder:1 parent folder:2',
        ...lasting.map((each) => `folder:2 parent ${each}`),
        ...moving.map((each) => `folder:2 parent ${each}`),
        ...fleeting.map((each) => `user:a viewer ${each}`),
        ...foreign.map((each) => `user:b viewer ${each}`),
      ].map(grantOf),
      options,
    );
    if (cold) await ruled.goCold();
    // What moves gets another chain before it loses the one that it has.
    const move = (from: string, to: string) => async () => {
      await ruled.write(moving.map((each) => grantOf(`${to} ${each}`)));
      await ruled.write(
        moving.map((each) => grantOf(`${from} ${each}`)),
        true,
      );
    };
    const flee = (revoke: boolean) => () =>
      ruled.write(
        fleeting.filter((_, index) => index % 2 === 0).map((each) => grantOf(`user:a viewer ${each}`)),
        revoke,
      );
    const changes = [
      move('folder:2 parent', 'team:2#member editor'),
      flee(true),
      move('team:2#member editor', 'user:* viewer'),
      flee(false),
      move('user:* viewer', 'folder:2 parent'),
    ];
    const expected = [...lasting, ...moving].sort(compareUtf8);
    await whileChanging(changes, async () => {
      for (const limit of [1, 7, 64]) {
        const listed = await ruled.objects('user:a', 'can_read', limit, 'document');
        assert.deepEqual(
          listed.filter((each) => !each.startsWith('document:f')),
          expected,
          `limit ${limit}`,
        );
        assert.deepEqual(listed, [...new Set(listed)].sort(compareUtf8));
      }
    });
  });

  test(`subjects: ${name}`, async () => {
    const lasting = numbered('user:a');
    const moving = numbered('user:m');
    const fleeting = numbered('user:f');
    const ruled = await RuledSlot.open(
      RULES,
      [
        'team:1#member viewer folder:1',
        'team:2#member editor document:1',
        'folder:1 parent document:1',
        ...lasting.map((each) => `${each} member team:1`),
        ...moving.map((each) => `${each} member team:1`),
        ...fleeting.map((each) => `${each} viewer document:1`),
        ...numbered('user:z').map((each) => `${each} member team:3`),
      ].map(grantOf),
      options,
    );
    if (cold) await ruled.goCold();
    const move = (from: string, to: string) => async () => {
      await ruled.write(moving.map((each) => grantOf(`${each} ${to}`)));
      await ruled.write(
        moving.map((each) => grantOf(`${each} ${from}`)),
        true,
      );
    };
    const flee = (revoke: boolean) => () =>
      ruled.write(
        fleeting.map((each) => grantOf(`${each} viewer document:1`)),
        revoke,
      );
    const changes = [
      move('member team:1', 'member team:2'),
      flee(true),
      move('member team:2', 'viewer folder:1'),
      flee(false),
      move('viewer folder:1', 'member team:1'),
    ];
    const expected = [...lasting, ...moving].sort(compareUtf8);
    await whileChanging(changes, async () => {
      for (const limit of [1, 7, 64]) {
        const listed = await ruled.holders('document:1', 'can_read', limit, 'user');
        assert.deepEqual(
          listed.filter((each) => !each.startsWith('user:f')),
          expected,
          `limit ${limit}`,
        );
        assert.deepEqual(listed, [...new Set(listed)].sort(compareUtf8));
      }
    });
  });
}

test('groups, public subjects and the groups of followed entities are listed as they are written, each once', async () => {
  const grants = ['team:1#member viewer folder:1', 'user:* viewer document:1', 'folder:1 parent document:1'];
  const ruled = await RuledSlot.open(RULES, [...grants, 'user:a member team:1'].map(grantOf));
  const others = ['folder:1#viewer', 'team:1#member', 'user:*', 'user:a'];
  assert.deepEqual(await ruled.holders('document:1', 'can_read', 2), others);
  const own = ['document:1#can_read', 'document:1#editor', 'document:1#viewer'];
  assert.deepEqual(await ruled.holders('document:1', 'can_read', 2, undefined, true), [...own, ...others]);
  assert.deepEqual(await ruled.holders('document:1', 'can_read', 2, 'document', true), own);
  assert.deepEqual(await ruled.holders('document:1', 'can_read', 2, 'document'), []);
  // An own name with a grant that counts is listed for its grant.
  await ruled.write([grantOf('document:1#editor viewer folder:1')]);
  assert.deepEqual(await ruled.holders('document:1', 'can_read', 2), ['document:1#editor', ...others]);
  await ruled.write([grantOf('document:1#editor viewer folder:1')], true);
  assert.deepEqual(await ruled.objects('user:a', 'can_read'), ['document:1']);
  const direct = { direct: true, namespace: undefined, limit: 100, cursor: undefined } as const;
  const held = { subject: 'user:a', relation: 'viewer', ...direct };
  assert.deepEqual((await ruled.slot.connection.listObjects(ruled.handle, held)).items, []);
  const holding = { object: 'document:1', relation: 'viewer', ...direct };
  assert.deepEqual((await ruled.slot.connection.listHolders(ruled.handle, holding)).items, ['user:*']);
});

test('a cursor of a listing by rules is invalid for another listing, also for one of direct grants', async () => {
  const grants = ['a', 'b', 'c'].flatMap((each) => [
    `user:a viewer document:${each}`,
    `user:${each} viewer document:a`,
  ]);
  const ruled = await RuledSlot.open(RULES, grants.map(grantOf));
  const { connection } = ruled.slot;
  const page = { namespace: undefined, limit: 1 };
  const lists = [
    (cursor: string | undefined) =>
      connection.listObjects(ruled.handle, { subject: 'user:a', relation: 'viewer', ...page, cursor }),
    (cursor: string | undefined) =>
      connection.listObjects(ruled.handle, { subject: 'user:a', relation: 'can_read', ...page, cursor }),
    (cursor: string | undefined) =>
      connection.listObjects(ruled.handle, { subject: 'user:a', relation: 'viewer', direct: true, ...page, cursor }),
    (cursor: string | undefined) =>
      connection.listHolders(ruled.handle, { object: 'document:a', relation: 'viewer', ...page, cursor }),
    (cursor: string | undefined) =>
      connection.listHolders(ruled.handle, { object: 'document:a', relation: 'can_read', ...page, cursor }),
  ];
  for (const [index, list] of lists.entries()) {
    const { nextCursor } = await list(undefined);
    assert.ok(nextCursor !== undefined);
    for (const [other, listOther] of lists.entries()) {
      if (other === index) await listOther(nextCursor);
      else await assert.rejects(async () => listOther(nextCursor), { code: 'invalid-cursor' }, `${index} in ${other}`);
    }
  }
});

test('a listing continues after rules are written between two pages, with and without its own groups', async () => {
  for (const includeSelf of [false, true]) {
    const ruled = await RuledSlot.open(
      { rules: [] },
      ['user:a viewer document:1', 'user:b viewer document:1'].map(grantOf),
    );
    const list = (cursor: string | undefined) =>
      ruled.slot.connection.listHolders(ruled.handle, {
        object: 'document:1',
        relation: 'viewer',
        namespace: undefined,
        includeSelf,
        limit: 1,
        cursor,
      });
    const first = await list(undefined);
    assert.deepEqual(first.items, ['user:a']);
    const request = { rules: RulesText.of(parseRuleSet(RULES)), ifMatch: undefined };
    await ruled.slot.connection.writeRules(ruled.handle, ruled.slot.attempt(), request);
    assert.deepEqual((await list(first.nextCursor)).items, ['user:b']);
    ruled.slot.kill();
  }
});

// Where the order of UTF-8 is not that of UTF-16, and where a prefix ends.
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', ':', ';', '9', '.', '\uFFFD', '\u{1F600}', '\u{E9}'),
  maxLength: 4,
});
const cases = fc.record({
  lists: fc.array(fc.array(texts, { maxLength: 60 }), { maxLength: 12 }),
  countMax: fc.integer({ min: 1, max: 12 }),
  after: texts,
  prefix: fc.constantFrom('', 'a', 'a:', 'b', '\uFFFD'),
});

const expectedOf = (all: readonly string[], countMax: number, after: string, prefix: string): string[] =>
  [...new Set(all)]
    .filter((text) => text.startsWith(prefix) && compareUtf8(text, after) > 0)
    .sort(compareUtf8)
    .slice(0, countMax);

test('the smallest strings after another, with a prefix, each once, in the order of their bytes', () => {
  fc.assert(
    fc.property(cases, ({ lists, countMax, after, prefix }) => {
      const page = new SmallestTexts(countMax, after, prefix);
      for (const text of lists.flat()) page.add(text);
      assert.deepEqual(page.texts, expectedOf(lists.flat(), countMax, after, prefix));
    }),
    { numRuns: 500 },
  );
});

test('no string is missed if ascending lists end at the first string beyond the page', () => {
  fc.assert(
    fc.property(cases, ({ lists, countMax, after, prefix }) => {
      const page = new SmallestTexts(countMax, after, prefix);
      for (const list of lists) {
        for (const text of list.toSorted(compareUtf8)) {
          if (page.isBeyond(text)) break;
          page.add(text);
        }
      }
      assert.deepEqual(page.texts, expectedOf(lists.flat(), countMax, after, prefix));
    }),
    { numRuns: 500 },
  );
});

test('it keeps about as many strings as the page takes, and leaves lists early', () => {
  const page = new SmallestTexts(10, '', 'a:');
  for (let index = 0; index < 10_000; index += 1) page.add(`a:${String(index).padStart(5, '0')}`);
  assert.ok(page.isBeyond('a:00500'));
  assert.ok(!page.isBeyond('a:00009'));
  assert.ok(page.isBeyond('b'));
  assert.ok(!page.isBeyond('a'));
  assert.deepEqual(page.texts.length, 10);
});
