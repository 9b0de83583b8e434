// A page of a subject against a plain map.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import { GrantPage, type PagePlace } from '../../../../src/shard/memory/grant-page.ts';
import { RelationNumbers } from '../../../../src/shard/memory/relation-numbers.ts';

const counterpart = fc.constantFrom('doc:1', 'doc:2', 'doc:\u{FFFD}', 'doc:\u{1F600}', 'a:1', 'z:9');
const change = fc.record({ relation: fc.integer({ min: 1, max: 9 }), counterpart, present: fc.boolean() });
const facts = (index: number) => ({ grantId: `grt_${index}`, createdAtMs: index });
const RELATIONS_KNOWN = new RelationNumbers(() => {});
const createPage = (whole: boolean) => new GrantPage('user:a', whole, () => {});

for (const whole of [true, false]) {
  test(`a ${whole ? 'whole' : 'sparse'} page holds what a map holds, and its estimate returns to its base`, () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200, size: 'max' }), (changes) => {
        const page = createPage(whole);
        const base = page.estimate;
        const model = new Map<string, ReturnType<typeof facts> | null>();
        for (const [index, each] of changes.entries()) {
          const value = each.present ? facts(index) : null;
          page.set(each.relation, each.counterpart, value);
          if (whole && value === null) model.delete(`${each.relation} ${each.counterpart}`);
          else model.set(`${each.relation} ${each.counterpart}`, value);
          assert.ok(page.estimate >= base);
          assert.equal(page.tuples, model.size);
        }
        for (const each of changes) {
          const expected = model.get(`${each.relation} ${each.counterpart}`);
          assert.deepEqual(page.find(each.relation, each.counterpart), whole ? (expected ?? null) : expected);
        }
        if (whole) {
          for (let relation = 1; relation <= 9; relation += 1) {
            const expected = [...model.keys()]
              .filter((key) => key.startsWith(`${relation} `))
              .map((key) => key.slice(2));
            assert.deepEqual(page.byRelation([relation])[0]?.texts ?? [], expected.sort(compareUtf8));
          }
          for (const each of changes) page.set(each.relation, each.counterpart, null);
        } else {
          // What is not set again is forgotten at the second time.
          page.age(0);
          page.age(0);
        }
        assert.equal(page.tuples, 0);
        assert.equal(page.estimate, base);
      }),
    );
  });
}

test('a whole page denies what it does not hold; a sparse one says that it does not know', () => {
  assert.equal(createPage(true).find(1, 'doc:1'), null);
  assert.equal(createPage(false).find(1, 'doc:1'), undefined);
});

test('a sparse page never holds more than its bound, and always the newest half of it', () => {
  for (const tuplesMax of [1, 2, 10, 100]) {
    const page = createPage(false);
    for (let index = 0; index < 5 * tuplesMax; index += 1) {
      page.set(1 + (index % 3), `doc:${index}`, facts(index));
      page.age(tuplesMax);
      assert.ok(page.tuples <= Math.max(1, tuplesMax), `${page.tuples} of ${tuplesMax}`);
      for (let newest = Math.max(0, index + 1 - Math.ceil(tuplesMax / 2)); newest <= index; newest += 1) {
        assert.equal(page.holds(1 + (newest % 3), `doc:${newest}`), true);
      }
    }
  }
});

test('what a sparse page knew before counts only until a later change', () => {
  const page = createPage(false);
  page.set(1, 'doc:1', facts(1));
  page.age(2);
  page.set(1, 'doc:1', null);
  assert.equal(page.find(1, 'doc:1'), null);
  assert.equal(page.holds(1, 'doc:1'), false);
});

test('a sparse page at its bound learns the tuples requested now, of each relation', () => {
  const page = createPage(false);
  for (let index = 0; index < 10_000; index += 1) {
    page.set(1 + (index % 2), `doc:${index}`, null);
    page.age(200);
  }
  for (const relation of [1, 2]) {
    const newest = Array.from({ length: 50 }, (_, place) => 9_998 - 2 * place + (relation - 1));
    const known = newest.filter((index) => page.holds(relation, `doc:${index}`) === false);
    assert.ok(known.length >= 20, `${known.length} of the newest 50 of relation ${relation} are known`);
  }
});

test('the grants of a page are ordered by the bytes of relation and object, start after a tuple, and are no more than requested', () => {
  for (const more of [0, 40]) {
    const page = createPage(true);
    const objects = ['doc:2', 'doc:1', ...Array.from({ length: more }, (_, index) => `more:${index}`)];
    for (const relation of [6, 1, 2]) for (const each of objects) page.set(relation, each, facts(relation));
    const expected = ['admin', 'owner', 'viewer'].flatMap((relation) =>
      objects.toSorted(compareUtf8).map((each) => `${relation} ${each}`),
    );
    const given = (limit: number, ...after: PagePlace[]) =>
      page
        .grantsAfter(RELATIONS_KNOWN, after[0], limit, undefined, () => true)
        .map((each) => `${each.relation} ${each.counterpart}`);
    assert.deepEqual(given(1000), expected);
    assert.deepEqual(given(3), expected.slice(0, 3));
    for (const [index, each] of expected.entries()) {
      const [relation, at = ''] = each.split(' ');
      const position = {
        relation: relation === 'admin' || relation === 'owner' ? relation : 'viewer',
        counterpart: at,
      } as const;
      assert.deepEqual(given(5, position), expected.slice(index + 1, index + 6));
    }
    assert.deepEqual(
      given(2, { relation: 'editor', counterpart: 'zzz' }),
      expected.slice(objects.length, objects.length + 2),
    );
  }
});

test('groups are gathered once, counted from then on, and gathered again after one has changed', () => {
  const page = createPage(true);
  for (const [relation, text] of [
    [1, 'team:b#member'],
    [1, 'user:a'],
    [2, 'team:a#member'],
  ] as const)
    page.set(relation, text, facts(relation));
  assert.equal(page.marked, undefined);
  const before = page.estimate;
  const gathered = page.gatherMarked();
  assert.deepEqual(gathered, [
    { relation: 1, texts: ['team:b#member'] },
    { relation: 2, texts: ['team:a#member'] },
  ]);
  assert.ok(page.estimate > before + 'team:b#memberteam:a#member'.length);
  const counted = page.estimate;
  page.set(1, 'user:a', facts(3));
  assert.equal(page.marked, gathered);
  assert.equal(page.estimate, counted);
  page.set(1, 'team:b#member', null);
  assert.equal(page.marked, undefined);
  assert.deepEqual(page.gatherMarked(), [{ relation: 2, texts: ['team:a#member'] }]);
});

test('a page filled at once has what one has that was filled grant by grant', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
      const rows = new Map(
        changes.map((each, index) => {
          const expiry = each.present ? {} : { expiresAtMs: index };
          const relation = RELATIONS_KNOWN.nameOf(each.relation);
          return [
            `${relation} ${each.counterpart}`,
            { relation, counterpart: each.counterpart, ...facts(index), ...expiry },
          ];
        }),
      );
      const [filled, set] = [createPage(true), createPage(true)];
      const half = Math.floor(rows.size / 2);
      filled.add([...rows.values()].slice(0, half), RELATIONS_KNOWN);
      filled.add([...rows.values()].slice(half), RELATIONS_KNOWN);
      for (const { relation, counterpart: text, ...row } of rows.values())
        set.set(RELATIONS_KNOWN.of(relation), text, row);
      const all = (page: GrantPage) => page.grantsAfter(RELATIONS_KNOWN, undefined, 1000, undefined, () => true);
      assert.deepEqual(all(filled), all(set));
      assert.equal(filled.contingent, set.contingent);
      assert.equal(filled.tuples, rows.size);
    }),
  );
});

test('grants with wide characters count two bytes for each of theirs', () => {
  const bytes = (...texts: readonly string[]) => {
    const page = createPage(true);
    const base = page.estimate;
    for (const [index, text] of texts.entries()) page.set(1, text, facts(index));
    return page.estimate - base;
  };
  const wide = 'doc:\u4e2d\u6587\u5b57';
  const length = bytes('doc:abc', 'doc:abcd') - bytes('doc:abc') - 1;
  assert.equal(bytes(wide) - bytes('doc:abc'), length);
  assert.equal(bytes(wide, 'doc:a') - bytes('doc:abc', 'doc:a'), 2 * length - 2);
  assert.equal(bytes(`${wide}a`) - bytes(wide), 2);
  assert.equal(bytes('doc:\u{1F600}'), bytes('doc:\u4e2d\u6587'));
  assert.equal(bytes('doc:\u00e9\u00ff'), bytes('doc:ab'));
  const pages = [new GrantPage('user:\u4e2d', true, () => {}), new GrantPage('user:a', true, () => {})];
  assert.equal((pages[0]?.estimate ?? 0) - (pages[1]?.estimate ?? 0), 6);
});
