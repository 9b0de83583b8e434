// A page of a subject against a plain map.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../src/core/tuples.ts';
import { firstAfter, SubjectPage } from '../../../src/shard/subject-page.ts';

const object = fc.constantFrom('doc:1', 'doc:2', 'doc:\u{FFFD}', 'doc:\u{1F600}', 'a:1', 'z:9');
const change = fc.record({ relation: fc.integer({ min: 1, max: 9 }), object, present: fc.boolean() });
const facts = (index: number) => ({ grantId: `grt_${index}`, createdAtMs: index });
const createPage = (whole: boolean) => new SubjectPage('user:a', whole, () => {});

for (const whole of [true, false]) {
  test(`a ${whole ? 'whole' : 'sparse'} page holds what a map holds, and its estimate returns to its base`, () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const page = createPage(whole);
        const base = page.estimate;
        const model = new Map<string, ReturnType<typeof facts> | null>();
        for (const [index, each] of changes.entries()) {
          const value = each.present ? facts(index) : null;
          page.set(each.relation, each.object, value);
          if (whole && value === null) model.delete(`${each.relation} ${each.object}`);
          else model.set(`${each.relation} ${each.object}`, value);
          assert.ok(page.estimate >= base);
          assert.equal(page.tuples, model.size);
        }
        for (const each of changes) {
          const expected = model.get(`${each.relation} ${each.object}`);
          assert.deepEqual(page.find(each.relation, each.object), whole ? (expected ?? null) : expected);
        }
        if (whole) {
          for (let relation = 1; relation <= 9; relation += 1) {
            const expected = [...model.keys()]
              .filter((key) => key.startsWith(`${relation} `))
              .map((key) => key.slice(2));
            assert.deepEqual(page.objects(relation), expected.sort(compareUtf8));
          }
          for (const each of changes) page.set(each.relation, each.object, null);
        } else {
          page.trim(0);
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

for (const tuples of [10, 100]) {
  test(`a sparse page of ${tuples} tuples forgets down to half of its bound, and only while nobody relies on it`, () => {
    const page = createPage(false);
    for (let index = 0; index < tuples; index += 1) page.set(1 + (index % 3), `doc:${index}`, facts(index));
    page.trim(tuples);
    assert.equal(page.tuples, tuples);
    page.trim(8);
    assert.equal(page.tuples, 4);
    page.pins = 1;
    assert.throws(() => page.trim(1), /relies/);
  });
}

test('a sparse page at its bound comes to know what is asked for now, of each relation', () => {
  const page = createPage(false);
  for (let index = 0; index < 10_000; index += 1) {
    page.set(1 + (index % 2), `doc:${index}`, null);
    page.trim(200);
  }
  for (const relation of [1, 2]) {
    const newest = Array.from({ length: 50 }, (_, place) => 9_998 - 2 * place + (relation - 1));
    const known = newest.filter((index) => page.holds(relation, `doc:${index}`) === false);
    assert.ok(known.length >= 20, `${known.length} of the newest 50 of relation ${relation} are known`);
  }
});

test('all grants of a page come by the bytes of relation and object', () => {
  const page = createPage(true);
  page.set(6, 'doc:2', facts(1));
  page.set(1, 'doc:9', facts(2));
  page.set(6, 'doc:1', facts(3));
  page.set(2, 'doc:5', facts(4));
  assert.deepEqual(
    page.grants().map((each) => `${each.relation} ${each.object}`),
    ['admin doc:5', 'owner doc:9', 'viewer doc:1', 'viewer doc:2'],
  );
});

test('firstAfter finds the first greater by bytes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(object), object, (objects, after) => {
      const sorted = objects.sort(compareUtf8);
      const expected = sorted.findIndex((each) => compareUtf8(each, after) > 0);
      assert.equal(firstAfter(sorted, after), expected < 0 ? sorted.length : expected);
    }),
  );
});
