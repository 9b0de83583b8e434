// The map by text, against a Map: the same answers in any order of additions and removals, and an order of entries that
// does not depend on the secret of the process.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StringMap } from '../../../../src/core/structures/string-map.ts';

/** Few enough to meet again. */
const text = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 60 }).map((number) => `user:${number}`) },
  { weight: 1, arbitrary: fc.constantFrom('', 'user:ü', 'user:😀', 'x'.repeat(321), `${'x'.repeat(320)}y`) },
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set'), text, value: fc.option(fc.nat()) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), text, value: fc.constant(null) }) },
);

describe('a map by text', () => {
  it('holds what a Map holds', () => {
    let largest = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
        const map = new StringMap<number | null>();
        const model = new Map<string, number | null>();
        for (const { kind, text: key, value } of steps) {
          if (kind === 'set') {
            map.set(key, value);
            model.set(key, value);
          } else {
            assert.equal(map.delete(key), model.delete(key));
          }
          assert.equal(map.size, model.size);
          assert.equal(map.get(key), model.get(key));
          largest = Math.max(largest, map.size);
        }
        for (const { text: key } of steps) {
          assert.equal(map.get(key), model.get(key));
          assert.equal(map.has(key), model.has(key));
        }
        const keys = [...steps.map((each) => each.text), 'never'];
        assert.deepEqual(
          map.getMany(keys),
          keys.map((key) => model.get(key)),
        );
        assert.deepEqual(new Map(map.entries()), model);
        assert.deepEqual(new Set(map.keys()), new Set(model.keys()));
        assert.deepEqual([...map.values()].sort(), [...model.values()].sort());
      }),
      { numRuns: 300 },
    );
    assert.ok(largest > 40, 'the maps grew several times');
  });

  it('finds every one of a hundred thousand texts, and the rest of them after most are gone', () => {
    const map = new StringMap<number>();
    const textOf = (number: number): string => `document:${number * 7919}`;
    for (let number = 0; number < 100_000; number += 1) map.set(textOf(number), number);
    for (let number = 0; number < 100_000; number += 1) assert.equal(map.get(textOf(number)), number);
    for (let number = 0; number < 100_000; number += 1) {
      if (number % 100 !== 0) assert.ok(map.delete(textOf(number)));
    }
    assert.equal(map.size, 1000);
    for (let number = 0; number < 100_000; number += 1) {
      assert.equal(map.get(textOf(number)), number % 100 === 0 ? number : undefined);
    }
    map.clear();
    assert.equal(map.size, 0);
    assert.equal(map.get(textOf(0)), undefined);
  });

  it('gives entries in the order of their addition; the last takes the place of one that is deleted', () => {
    const map = new StringMap<number>();
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) map.set(key, index);
    map.set('c', 20);
    assert.deepEqual([...map.keys()], ['a', 'b', 'c', 'd', 'e']);
    map.delete('b');
    assert.deepEqual(
      [...map.entries()],
      [
        ['a', 0],
        ['e', 4],
        ['c', 20],
        ['d', 3],
      ],
    );
  });
});
