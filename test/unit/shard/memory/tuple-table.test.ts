// The tuples of an entity, against a map, from none to many and back.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { compareUtf8 } from '../../../../src/core/tuples.ts';
import {
  bytesOf,
  counterpartsIn,
  deleteTuple,
  NO_TUPLES,
  relationsIn,
  setTuple,
  sizeOf,
  type Tuples,
  valueIn,
  visitFrom,
} from '../../../../src/shard/memory/tuple-table.ts';
import { counterpartAt, relationAt, valueAt } from '../../../../src/shard/memory/tuple-text.ts';

/**
 * Few enough to meet again; several share their last characters, one another's beginning, or both but for the length.
 */
const counterpart = fc.oneof(
  fc.integer({ min: 0, max: 12 }).map((number) => `document:${number}`),
  fc.integer({ min: 0, max: 6 }).map((number) => `${number}:the-same-end-of-all`),
  fc.constantFrom(
    'a:b',
    'aa:b',
    'a:ü',
    'a:😀',
    `a:${'x'.repeat(256)}`,
    `a:${'x'.repeat(255)}y`,
    `${'n'.repeat(64)}:${'😀'.repeat(256)}`,
  ),
);
/** In one byte, in two, and some beyond. */
const relation = fc.constantFrom(1, 2, 3, 9, 255, 256, 300, 65_535);
/** Short ones, of which each character holds a byte; as many characters that do not; and others. */
const shortValue = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  minLength: 16,
  maxLength: 16,
});
const value = fc.oneof(
  { weight: 20, arbitrary: shortValue },
  { weight: 1, arbitrary: fc.constantFrom(`${'ü'.repeat(15)}ł`, '', 'longer than a short value', null) },
);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('set'), relation, counterpart, value }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), relation, counterpart, value: fc.constant(null) }) },
);

const keyOf = (tuple: { readonly relation: number; readonly counterpart: string }): string =>
  `${tuple.relation} ${tuple.counterpart}`;

type Tuple = readonly [relation: number, counterpart: string, value: string | null];

function tuplesFrom(tuples: Tuples, relationFrom: number, from: string): Tuple[] {
  const found: Tuple[] = [];
  visitFrom(tuples, relationFrom, from, (text, place) => {
    found.push([relationAt(text, place), counterpartAt(text, place), valueAt(text, place)]);
    return true;
  });
  return found;
}

const ascending = (left: Tuple, right: Tuple): number => left[0] - right[0] || compareUtf8(left[1], right[1]);

it('holds what a map holds, in order', () => {
  let largest = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), relation, counterpart, (steps, fromRelation, from) => {
      let tuples: Tuples = NO_TUPLES;
      const model = new Map<string, Tuple>();
      for (const { kind, relation: number, counterpart: text, value } of steps) {
        const key = keyOf({ relation: number, counterpart: text });
        if (kind === 'set') {
          tuples = setTuple(tuples, number, text, value);
          model.set(key, [number, text, value]);
        } else {
          tuples = deleteTuple(tuples, number, text);
          model.delete(key);
        }
        assert.equal(sizeOf(tuples), model.size);
        assert.equal(valueIn(tuples, number, text), model.get(key)?.[2]);
        largest = Math.max(largest, model.size);
      }
      for (const each of steps) {
        assert.equal(valueIn(tuples, each.relation, each.counterpart), model.get(keyOf(each))?.[2]);
      }
      const expected = [...model.values()].sort(ascending);
      assert.deepEqual(tuplesFrom(tuples, 0, ''), expected);
      assert.deepEqual(
        tuplesFrom(tuples, fromRelation, from),
        expected.filter((each) => ascending(each, [fromRelation, from, null]) >= 0),
      );
      const relations = [...new Set(expected.map(([each]) => each))];
      assert.deepEqual(relationsIn(tuples), relations);
      for (const each of relations) {
        const ofIt = expected.filter(([other]) => other === each);
        assert.deepEqual(
          counterpartsIn(tuples, each),
          ofIt.map(([, text]) => text),
        );
      }
      for (const [number, text] of expected) tuples = deleteTuple(tuples, number, text);
      assert.equal(tuples, NO_TUPLES);
      assert.equal(bytesOf(tuples), 0);
    }),
    { numRuns: 300 },
  );
  assert.ok(largest > 60, 'the tuples took several texts');
});
