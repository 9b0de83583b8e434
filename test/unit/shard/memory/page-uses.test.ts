// Which pages are used most: hottest first, tenants in turn, in bounded memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeHotPages,
  encodeHotPages,
  HOT_PAGES_MAX,
  type NamedPage,
  PageUses,
} from '../../../../src/shard/log/hot-pages.ts';
import { ids } from '../tools.ts';

const [first, second] = [ids.create('ten'), ids.create('ten')];

function note(uses: PageUses, page: NamedPage, times: number): void {
  for (let time = 0; time < times; time += 1) uses.note(page);
}

const page = (entity: string, tenantId = first, side: NamedPage['side'] = 'subject'): NamedPage => ({
  tenantId,
  side,
  entity,
});

test('the most used page comes first, and tenants take turns', () => {
  const uses = new PageUses();
  note(uses, page('user:a'), 1);
  note(uses, page('user:b'), 9);
  note(uses, page('user:c'), 5);
  note(uses, page('user:a', second), 1);
  note(uses, page('user:a', second, 'object'), 2);
  assert.deepEqual(
    [...uses.hottest()],
    [page('user:b'), page('user:a', second, 'object'), page('user:c'), page('user:a', second), page('user:a')],
  );
});

test('a page in use stays known however many others are used once, and those are forgotten', () => {
  const uses = new PageUses();
  for (let round = 0; round < 5000; round += 1) {
    note(uses, page(`user:${round}`), 1);
    if (round % 50 === 0) note(uses, page('user:hot'), 1);
  }
  const known = [...uses.hottest()];
  assert.deepEqual(known[0], page('user:hot'));
  assert.ok(known.length <= 512, `${known.length} are known`);
});

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
