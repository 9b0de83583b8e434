// Lookups are counted, and one in sixteen is sampled with its page.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lookups, type NamedPage } from '../../../../src/shard/log/hot-pages.ts';
import { openSlot } from '../tools.ts';

async function createPlace() {
  const noted: NamedPage[] = [];
  const { slot, tenantId } = await openSlot();
  const memory = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  return { noted, memory, tenure: { hotPages: { note: (page: NamedPage) => noted.push(page) } } };
}

test('one in sixteen single lookups is sampled', async () => {
  const lookups = new Lookups();
  const place = await createPlace();
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

test('a bulk call is sampled at most once, at changing positions', async () => {
  const lookups = new Lookups();
  const place = await createPlace();
  for (let call = 0; call < 7; call += 1) lookups.hitMany(place, 5, (index) => `user:${index}`);
  assert.equal(lookups.hits, 35);
  assert.equal(place.noted.length, 1);
  for (let call = 0; call < 100; call += 1) lookups.hitMany(place, 33, (index) => `user:${index}`);
  assert.equal(place.noted.length, 101);
  // A place without a page is not noted.
  lookups.hitMany(place, 33, () => undefined);
  assert.equal(place.noted.length, 101);
});
