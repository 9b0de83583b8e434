// Who owns what, from what shards say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryGate, RoutingTable } from '../../../../src/front/links/routing-table.ts';
import type { ShardLink } from '../../../../src/front/links/shard-link.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';

// The table only ever compares links.
const link = (address: string) => ({ address }) as unknown as ShardLink;
const owner = (slot: number, epoch: number) => ({ slot, epoch, incarnation: '', address: '' });

function createTable(slots = 2): RoutingTable {
  const table = new RoutingTable(systemClock, new RetryGate({ clock: systemClock, random: systemRandom }));
  table.setSlots(slots);
  return table;
}

test('the higher epoch wins, and what a shard says replaces what it said before', () => {
  const table = createTable();
  const [a, b] = [link('a'), link('b')];
  table.replace(
    a,
    new Map([
      [0, 1],
      [1, 1],
    ]),
  );
  assert.equal(table.complete, true);
  table.replace(b, new Map([[1, 2]]));
  assert.deepEqual([table.route(0)?.link, table.route(1)?.link], [a, b]);
  table.replace(a, new Map([[1, 1]]));
  assert.equal(table.route(0), undefined);
  assert.equal(table.route(1)?.link, b);
  assert.equal(table.complete, false);
  table.drop(b);
  assert.equal(table.route(1)?.link, a, 'the older claim still stands');
  table.drop(a);
  assert.equal(table.route(1), undefined);
});

test('a route is the same object for as long as owner, epoch and stream are', () => {
  const table = createTable();
  const a = link('a');
  table.replace(a, new Map([[0, 1]]));
  const first = table.route(0);
  table.replace(
    a,
    new Map([
      [0, 1],
      [1, 4],
    ]),
  );
  assert.equal(table.route(0), first);
  table.replace(a, new Map([[0, 2]]));
  assert.notEqual(table.route(0), first);
  const second = table.route(0);
  table.drop(a);
  table.replace(a, new Map([[0, 2]]));
  assert.notEqual(table.route(0), second);
});

test('a wrong owner’s answer undoes its own claim unless that is newer, and credits the owner it names', () => {
  const table = createTable();
  const [a, b] = [link('a'), link('b')];
  table.replace(a, new Map([[0, 3]]));
  table.replace(b, new Map());
  table.learn(a, owner(0, 2), undefined);
  assert.equal(table.route(0)?.link, a, 'the claim is newer than the answer');
  table.learn(a, owner(0, 4), b);
  assert.deepEqual([table.route(0)?.link, table.route(0)?.epoch], [b, 4]);
  table.learn(b, owner(0, 4), undefined);
  assert.equal(table.route(0), undefined);
  table.learn(a, owner(7, 9), b);
  assert.equal(table.route(7), undefined, 'no such slot');
});

test('waiters are woken once by a change, and after a while without one', async () => {
  const table = createTable();
  let woken = 0;
  const count = () => {
    woken += 1;
  };
  table.wait(count);
  table.wait(count);
  table.replace(link('a'), new Map([[0, 1]]));
  assert.equal(woken, 1, 'the same waiter waits once');
  table.replace(link('b'), new Map([[1, 1]]));
  assert.equal(woken, 1);
  const keepAlive = setInterval(() => {}, 1000);
  await new Promise<void>((resolve) => table.wait(resolve));
  clearInterval(keepAlive);
});
