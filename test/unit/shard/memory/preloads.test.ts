// Pages loaded in the background: a few at a time, the lists in turn.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Preload, Preloads } from '../../../../src/shard/memory/memory-budget.ts';

function createLists() {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const list = function* (name: string, count: number): Generator<Preload> {
    for (let index = 0; index < count; index += 1) {
      yield () =>
        new Promise((resolve) => {
          started.push(`${name}${index}`);
          ends.push(resolve);
        });
    }
  };
  return { started, ends, list };
}

test('eight are loaded at once, and the lists take turns', async () => {
  const { started, ends, list } = createLists();
  const preloads = new Preloads();
  preloads.add(list('a', 20));
  assert.equal(started.length, 8);
  preloads.add(list('b', 2));
  for (let index = 0; index < 4; index += 1) ends[index]?.();
  await setImmediate();
  assert.deepEqual(started.slice(8), ['a8', 'b0', 'a9', 'b1']);
  for (let index = 4; index < ends.length; index += 1) {
    ends[index]?.();
    await setImmediate();
    assert.ok(started.length - index - 1 <= 8);
  }
  assert.equal(started.length, 22);
  // A later list finds nothing left of the earlier ones.
  preloads.add(list('c', 1));
  assert.equal(started.at(-1), 'c0');
});
