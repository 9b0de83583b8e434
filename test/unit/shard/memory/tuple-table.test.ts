// The table of a subject's tuples, against a map, from none to many and back.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { TupleTable } from '../../../../src/shard/memory/tuple-table.ts';

/**
 * Few enough to meet again; several share their last characters, one another's beginning, or both but for the length.
 */
const counterpart = fc.oneof(
  fc.integer({ min: 0, max: 12 }).map((number) => `document:${number}`),
  fc.integer({ min: 0, max: 6 }).map((number) => `${number}:the-same-end-of-all`),
  fc.constantFrom('a:b', 'aa:b', 'a:ü', 'a:😀', `a:${'x'.repeat(256)}`, `a:${'x'.repeat(255)}y`),
);
const relation = fc.integer({ min: 1, max: 9 });
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

it('holds what a map holds', () => {
  let largest = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const table = new TupleTable();
      const model = new Map<string, string | null>();
      for (const { kind, relation: number, counterpart: text, value } of steps) {
        const key = keyOf({ relation: number, counterpart: text });
        if (kind === 'set') {
          assert.equal(table.set(number, text, value), !model.has(key));
          model.set(key, value);
        } else {
          assert.equal(table.delete(number, text), model.delete(key));
        }
        assert.equal(table.size, model.size);
        assert.equal(table.get(number, text), model.get(key));
        const known = model.get(key);
        assert.equal(table.has(number, text), known === undefined ? undefined : known !== null);
        largest = Math.max(largest, table.size);
      }
      for (const each of steps) assert.equal(table.get(each.relation, each.counterpart), model.get(keyOf(each)));
      assert.deepEqual(new Map(table.tuples().map((tuple) => [keyOf(tuple), tuple.value])), model);
    }),
    { numRuns: 300 },
  );
  assert.ok(largest > 40, 'the tables grew beyond what is looked through');
});
