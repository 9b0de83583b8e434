// The order of a listing, kept change by change: right by bytes, and cheap however alike the texts are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import { firstAfter, searchText, TextOrder } from '../../../../src/shard/memory/text-order.ts';

const unit = fc.constantFrom('a', 'b', 'é', '\uD7FF', '\uE000', '\uFFFD', '\u{10000}', '\u{1F600}', '\u{10FFFF}');
const text = fc.array(unit, { maxLength: 6 }).map((units) => `doc:${units.join('')}`);

test('it holds what a sorted set holds, whatever is added and deleted in whatever order', () => {
  const step = fc.record({ add: fc.boolean(), text });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const order = new TextOrder();
      const model = new Set<string>();
      for (const each of steps) {
        if (!each.add) {
          order.delete(each.text);
          model.delete(each.text);
        } else if (!model.has(each.text)) {
          order.add(each.text);
          model.add(each.text);
        }
        assert.deepEqual(order.texts, [...model].sort(compareUtf8));
      }
    }),
  );
});

test('firstAfter finds the first greater by bytes', () => {
  fc.assert(
    fc.property(fc.uniqueArray(text), text, (texts, after) => {
      const sorted = texts.sort(compareUtf8);
      const expected = sorted.findIndex((each) => compareUtf8(each, after) > 0);
      assert.equal(firstAfter(sorted, after), expected < 0 ? sorted.length : expected);
    }),
  );
});

test('a search among ten thousand texts with one long prefix reads few of them', () => {
  const texts = Array.from({ length: 10_000 }, (_, index) => `doc:${'\u{1F600}'.repeat(250)}${10_000 + index}`);
  let looks = 0;
  const at = (index: number): string => {
    looks += 1;
    return texts[index] ?? '';
  };
  for (let index = 0; index < 10_000; index += 100) assert.equal(searchText(at, texts[index] ?? '', 0, 10_000), index);
  assert.ok(looks <= 100 * 14, `${looks} texts were looked at`);
  assert.equal(searchText(at, `${texts[5]}x`, 0, 10_000), -1 - 6);
});
