// The memory budget keeps its bound, whatever is pinned, used, grown or removed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { Evictable, MemoryBudget, type Preload, Preloads } from '../../../../src/shard/memory/memory-budget.ts';
import { real, waitFor } from '../tools.ts';

class Item extends Evictable {
  evicted = false;
  override evict(): void {
    this.evicted = true;
  }
}

test('the bound is kept whatever is added, grown, shrunk and removed, unless everything is pinned', () => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'resize', 'remove', 'pin', 'unpin', 'use'),
    at: fc.nat(30),
    bytes: fc.integer({ min: 0, max: 40 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const budget = new MemoryBudget(100, new FairTurns(systemClock));
      const items: Item[] = [];
      for (const { kind, at, bytes } of steps) {
        const item = items[at % Math.max(1, items.length)];
        if (kind === 'add') {
          const added = new Item();
          items.push(added);
          budget.add(added, bytes);
        } else if (item !== undefined) {
          if (kind === 'resize') budget.resize(item, bytes);
          if (kind === 'remove') budget.remove(item);
          if (kind === 'pin' && item.place >= 0) item.pins += 1;
          if (kind === 'unpin') item.pins = 0;
          if (kind === 'use') item.referenced = true;
        }
        const held = items.filter(({ place }) => place >= 0);
        const sum = held.reduce((total, each) => total + each.bytes, 0);
        assert.equal(budget.bytes, sum);
        // Growth shrinks at once; what was pinned meanwhile goes with the next change.
        if (kind === 'add' || kind === 'resize') {
          const free = held.some(({ pins, bytes: size }) => pins === 0 && size > 0);
          assert.ok(sum <= 100 || !free, `${sum} bytes are held`);
        }
        for (const each of items) assert.ok(!(each.evicted && each.place >= 0));
        for (const each of items) if (each.pins > 0 && each.place < 0) assert.ok(kind === 'remove' || !each.evicted);
      }
    }),
  );
});

test('a pinned item stays; once unpinned it is the first to be evicted', () => {
  const budget = new MemoryBudget(10, new FairTurns(systemClock));
  const pinned = new Item();
  pinned.pins = 1;
  budget.add(pinned, 8);
  for (let index = 0; index < 10; index += 1) budget.add(new Item(), 3);
  assert.equal(pinned.evicted, false);
  assert.ok(budget.bytes <= 11);
  pinned.pins = 0;
  for (let index = 0; index < 4; index += 1) budget.add(new Item(), 3);
  assert.equal(pinned.evicted, true);
});

test('an item used since the hand passed gets a second chance', () => {
  const budget = new MemoryBudget(3, new FairTurns(systemClock));
  const items = [new Item(), new Item(), new Item()];
  for (const item of items) budget.add(item, 1);
  for (const item of items) item.referenced = false;
  const [, used] = items;
  assert.ok(used !== undefined);
  used.referenced = true;
  budget.add(new Item(), 1);
  budget.add(new Item(), 1);
  assert.deepEqual(
    items.map(({ evicted }) => evicted),
    [true, false, true],
  );
  assert.equal(budget.evictions, 2);
});

test('memory reserved by the gates evicts pages, and many items are removed in short steps', async () => {
  const budget = new MemoryBudget(1_000_000, new FairTurns(systemClock));
  const items = Array.from({ length: 10_000 }, () => new Item());
  for (const item of items) budget.add(item, 100);
  assert.equal(budget.evictions, 0);
  for (const item of items) item.referenced = false;
  const leave = await budget.loads.enter('tenant', 5000, real);
  assert.ok(budget.bytes <= 1_000_000);
  assert.ok(budget.evictions >= 50);
  leave();
  let steps = 0;
  const clock = {
    ...real,
    setImmediate: (run: () => void) => {
      steps += 1;
      setImmediate(run);
    },
  };
  const held = items.filter(({ place }) => place >= 0);
  const others = held.splice(0, 1500);
  await Promise.all([budget.removeAll(held, clock), budget.removeAll(others, clock)]);
  await waitFor(() => budget.bytes === 0);
  assert.ok(steps >= 9, `${steps} steps`);
  assert.ok(held.every(({ place, evicted }) => place < 0 && !evicted));
});

test('pages are evicted for held memory, all but a quarter of the budget', () => {
  const budget = new MemoryBudget(100, new FairTurns(systemClock));
  const items = Array.from({ length: 10 }, () => new Item());
  for (const item of items) budget.add(item, 10);
  budget.hold(50);
  assert.deepEqual([budget.pageBytes, budget.bytes], [50, 100]);
  budget.hold(1000);
  assert.equal(budget.pageBytes, 20);
  budget.hold(-1050);
  for (const item of items.filter(({ evicted }) => evicted)) budget.add(item, 10);
  assert.deepEqual([budget.pageBytes, budget.bytes], [100, 100]);
});

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
  void preloads.singly(list('a', 20));
  assert.equal(started.length, 8);
  void preloads.singly(list('b', 2));
  for (let index = 0; index < 4; index += 1) ends[index]?.();
  await nextTurn();
  assert.deepEqual(started.slice(8), ['a8', 'b0', 'a9', 'b1']);
  for (let index = 4; index < ends.length; index += 1) {
    ends[index]?.();
    await nextTurn();
    assert.ok(started.length - index - 1 <= 8);
  }
  assert.equal(started.length, 22);
  // A later list finds nothing left of the earlier ones.
  void preloads.singly(list('c', 1));
  assert.equal(started.at(-1), 'c0');
});

test('no load is begun while slots are opened', async () => {
  const { started, list } = createLists();
  const preloads = new Preloads();
  const openings = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = openings.map((opening) => preloads.holdDuring(() => opening.promise));
  void preloads.together(list('a', 1));
  openings[0]?.resolve();
  await held[0];
  assert.deepEqual(started, []);
  openings[1]?.reject(new Error('The test fails the opening.'));
  await assert.rejects(held[1] ?? Promise.resolve(), /fails the opening/);
  assert.deepEqual(started, ['a0']);
});

test('what is loaded together comes first, two at once, whichever list it is of', async () => {
  const { started, ends, list } = createLists();
  const preloads = new Preloads();
  const end = async (index: number): Promise<void> => {
    ends[index]?.();
    await nextTurn();
  };
  void preloads.singly(list('A', 4));
  for (const name of ['b', 'c']) void preloads.together(list(name, 2)).then(() => started.push(`${name} done`));
  assert.deepEqual(started, ['A0', 'A1', 'A2', 'A3', 'b0']);
  for (const index of [0, 1, 2]) await end(index);
  assert.equal(started.length, 5);
  for (const index of [3, 4, 5]) await end(index);
  assert.deepEqual(started.slice(5), ['b1', 'c0', 'c1', 'b done']);
  for (const index of [6, 7]) await end(index);
  assert.deepEqual(started.slice(9), ['c done']);
});
