// Equal lists: as long, and item by item the same.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { equalLists } from '../../../../src/core/structures/equal-lists.ts';

it('compares length, order and items', () => {
  assert.ok(equalLists([], []));
  assert.ok(equalLists(['a', 'b'], ['a', 'b']));
  assert.ok(!equalLists(['a', 'b'], ['b', 'a']));
  assert.ok(!equalLists(['a'], ['a', 'b']));
  assert.ok(!equalLists(['a', 'b'], ['a']));
});

it('takes the equality of its items from the caller', () => {
  const sameLength = (left: string, right: string) => left.length === right.length;
  assert.ok(equalLists(['ab'], ['cd'], sameLength));
  assert.ok(!equalLists(['ab'], ['c'], sameLength));
});
