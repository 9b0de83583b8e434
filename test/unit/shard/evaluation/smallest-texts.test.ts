// The page of a listing whose strings come from many lists, against sorting all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import { SmallestTexts } from '../../../../src/shard/evaluation/evaluate-listings.ts';

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

test('nothing is missed where ascending lists are left at the first string that is beyond the page', () => {
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

test('it keeps about as many strings as the page takes, and a list is left early', () => {
  const page = new SmallestTexts(10, '', 'a:');
  for (let index = 0; index < 10_000; index += 1) page.add(`a:${String(index).padStart(5, '0')}`);
  assert.ok(page.isBeyond('a:00500'));
  assert.ok(!page.isBeyond('a:00009'));
  assert.ok(page.isBeyond('b'));
  assert.ok(!page.isBeyond('a'));
  assert.deepEqual(page.texts.length, 10);
});
