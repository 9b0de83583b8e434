// The stored list of hot pages: what was encoded is decoded, within bounds, and anything else is no list.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeHotPages,
  encodeHotPages,
  HOT_PAGES_MAX,
  type NamedPage,
} from '../../../../src/shard/memory/page-uses.ts';
import { ids } from '../tools.ts';

const LENGTH_MAX = 32 * 1024;
const tenants = Array.from({ length: 300 }, () => ids.create('ten'));
const pages: fc.Arbitrary<NamedPage[]> = fc.array(
  fc.record(
    {
      tenantId: fc.constantFrom(...tenants),
      side: fc.constantFrom('subject', 'object'),
      entity: fc.string({ unit: fc.constantFrom('a', ':', '"', '\u0001', 'ü', '😀'), minLength: 1, maxLength: 400 }),
    },
    { noNullPrototype: true },
  ),
  { maxLength: 400, size: 'max' },
);

test('a list holds the first of the pages, as many as fit, and reads back as they were', () => {
  fc.assert(
    fc.property(pages, (given) => {
      const text = encodeHotPages(given);
      assert.ok(text.length <= LENGTH_MAX, `${text.length} characters`);
      const read = decodeHotPages(text) ?? [];
      assert.deepEqual(read, given.slice(0, read.length));
      // Cut short only by one of the bounds: the longest page takes 2,500 characters.
      assert.ok(read.length === Math.min(given.length, HOT_PAGES_MAX) || text.length > LENGTH_MAX / 2);
    }),
    { numRuns: 100 },
  );
});

test('text that is no list, of a later version or too long is none', () => {
  const list = encodeHotPages([{ tenantId: tenants[0] ?? ids.create('ten'), side: 'subject', entity: 'user:ann' }]);
  assert.equal(decodeHotPages(list)?.length, 1);
  const damaged = [
    '',
    'null',
    '[]',
    list.slice(1),
    list.slice(0, -2),
    list.replace('"version":1', '"version":2'),
    list.replace('"subject"', '"other"'),
    list.replace('[0,', '[-1,'),
    list.replace('[0,', '[0.5,'),
    list + ' '.repeat(LENGTH_MAX),
  ];
  for (const text of damaged) assert.equal(decodeHotPages(text), undefined, text.slice(0, 80));
  // A page of no tenant, or of something else.
  assert.deepEqual(decodeHotPages(list.replace('[0,', '[1,')), []);
  assert.deepEqual(decodeHotPages(list.replace('ten_', 'key_')), []);
});
