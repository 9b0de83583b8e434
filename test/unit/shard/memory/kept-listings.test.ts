// Whole listings that are kept for their next pages: until a commit changes what they rest on, within their bounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { KeptListings, ReadSet, TextBlocks } from '../../../../src/shard/memory/kept-listings.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const BUDGET_BYTES = 64 * 1024 * 1024;
const TEXTS = Array.from({ length: 1200 }, (_, number) => `doc:${String(number).padStart(5, '0')}`);

function create() {
  const budget = new MemoryBudget(BUDGET_BYTES, new FairTurns(new VirtualClock()));
  return { budget, listings: new KeptListings(budget) };
}

function listingOf(all: readonly string[], numbers: readonly number[], after = '') {
  const texts = new TextBlocks();
  for (let start = 0; start < all.length; start += 500) texts.add(all.slice(start, start + 500));
  const reads = new ReadSet();
  for (const number of numbers) reads.add(number);
  return { after, texts, reads };
}

test('pages of a kept listing begin and end anywhere', () => {
  const { listings } = create();
  listings.keep('a', listingOf(TEXTS, []));
  for (const after of [
    '',
    'doc:',
    'doc:00000',
    'doc:00498',
    'doc:00499',
    'doc:00499x',
    'doc:00500',
    'doc:01198',
    'x',
  ]) {
    for (const count of [1, 2, 500, 501, 5000]) {
      const expected = TEXTS.filter((text) => text > after).slice(0, count);
      assert.deepEqual(listings.find('a', after, count), expected, `${count} after ${after}`);
    }
  }
  assert.equal(listings.find('b', '', 1), undefined);
  listings.keep('b', listingOf(TEXTS.slice(7), [], TEXTS[6]));
  assert.equal(listings.find('b', TEXTS[5] ?? '', 1), undefined);
  assert.deepEqual(listings.find('b', TEXTS[6] ?? '', 1), [TEXTS[7]]);
});

test('a listing goes with a change of what it rests on, and with nothing else', () => {
  const { budget, listings } = create();
  const numbers = Array.from({ length: 1000 }, (_, index) => Math.imul(index + 1, 0x9e3779b1));
  for (const changed of [numbers[0] ?? 0, numbers[999] ?? 0, 0]) {
    listings.keep('a', listingOf(TEXTS, numbers));
    listings.change([1, 2, 3]);
    assert.notEqual(listings.find('a', '', 1), undefined);
    listings.change([4, changed, 5]);
    assert.equal(listings.find('a', '', 1), undefined);
  }
  listings.keep('a', listingOf(TEXTS, numbers));
  listings.change([numbers[500] ?? 0]);
  // More changes than are remembered.
  for (let count = 0; count < 20_000; count += 1) listings.change([1]);
  assert.equal(listings.find('a', '', 1), undefined);
  listings.keep('a', listingOf(TEXTS, numbers));
  listings.clear();
  assert.equal(listings.find('a', '', 1), undefined);
  assert.equal(budget.pageBytes, 0);
});

test('the listings used last stay, within the bytes of a tenant', () => {
  const { budget, listings } = create();
  for (let number = 0; number < 1000; number += 1) {
    listings.keep(`list ${number}`, listingOf(TEXTS, []));
    assert.notEqual(listings.find('list 0', '', 1), undefined);
    assert.ok(budget.pageBytes <= listings.bytesMax + 100_000);
  }
  assert.equal(listings.find('list 1', '', 1), undefined);
  assert.notEqual(listings.find('list 999', '', 1), undefined);
  const long = Array.from({ length: 20_000 }, (_, number) => `doc:${String(number).padStart(200, '0')}`);
  listings.keep('long', listingOf(long, []));
  assert.equal(listings.find('long', '', 1), undefined);
});

test('the budget evicts them before pages that are used, and after the end of the tenure nothing is kept', () => {
  const { budget, listings } = create();
  listings.keep('a', listingOf(TEXTS, []));
  const { pageBytes } = budget;
  const other = new KeptListings(budget);
  other.keep('b', listingOf(TEXTS, []));
  assert.notEqual(other.find('b', '', 1), undefined);
  budget.resize(other, BUDGET_BYTES - pageBytes + 1);
  assert.equal(listings.find('a', '', 1), undefined);
  assert.notEqual(other.find('b', '', 1), undefined);
  listings.drop();
  listings.keep('a', listingOf(TEXTS, []));
  assert.equal(listings.find('a', '', 1), undefined);
});
