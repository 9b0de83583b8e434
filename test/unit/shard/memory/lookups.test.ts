// Lookups are counted, and one in sixteen is sampled with its page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lookups, type NamedPage } from '../../../../src/shard/log/hot-pages.ts';
import { ids } from '../tools.ts';

function createPlace() {
  const noted: NamedPage[] = [];
  const memory = { tenantId: ids.create('ten') };
  return { noted, memory, tenure: { hotPages: { note: (page: NamedPage) => noted.push(page) } } };
}

test('one in sixteen single lookups is sampled', () => {
  const lookups = new Lookups();
  const place = createPlace();
  const page = { referenced: false, entity: 'user:ann' };
  for (let count = 0; count < 33; count += 1) lookups.hit(place, page);
  assert.equal(lookups.hits, 33);
  assert.ok(page.referenced);
  const { tenantId } = place.memory;
  assert.deepEqual(
    place.noted,
    Array.from({ length: 2 }, () => ({ tenantId, side: 'subject', entity: 'user:ann' })),
  );
});

test('a bulk call is sampled at most once, at changing positions', () => {
  const lookups = new Lookups();
  const place = createPlace();
  for (let call = 0; call < 7; call += 1) lookups.hitMany(place, 5, (index) => `user:${index}`);
  assert.equal(lookups.hits, 35);
  assert.equal(place.noted.length, 1);
  for (let call = 0; call < 100; call += 1) lookups.hitMany(place, 33, (index) => `user:${index}`);
  assert.equal(place.noted.length, 101);
  // A place without a page is not noted.
  lookups.hitMany(place, 33, () => undefined);
  assert.equal(place.noted.length, 101);
});
