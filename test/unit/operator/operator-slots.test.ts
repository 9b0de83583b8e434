// The slots of operators: one who holds all of his leaves room for others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorSlots } from '../../../src/operator/operator-slots.ts';

const overloaded = (message: RegExp) => ({ code: 'overloaded', message });

test('an operator takes no more than a share, and all of them no more than there are', () => {
  const slots = new OperatorSlots({ what: 'downloads', slotsMax: 3, slotsPerOperatorMax: 2 });
  const [first] = [slots.take('ada'), slots.take('ada')];
  for (let tries = 0; tries < 3; tries += 1) {
    assert.throws(() => slots.take('ada'), overloaded(/^You have 2 downloads open already/));
  }
  const other = slots.take('bob');
  assert.throws(() => slots.take('bob'), overloaded(/^Too many downloads are open/));
  assert.throws(() => slots.demandRoom('eve'), overloaded(/^Too many/));
  first?.[Symbol.dispose]();
  slots.take('eve');
  assert.throws(() => slots.take('ada'), overloaded(/^Too many/));
  other[Symbol.dispose]();
  slots.take('ada');
});
