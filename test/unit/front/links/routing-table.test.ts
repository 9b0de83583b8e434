// Who owns what, from what shards say.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RetryGate, RoutingTable } from '../../../../src/front/links/routing-table.ts';
import type { ShardLink } from '../../../../src/front/links/shard-link.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { AnnouncedRoutes, RouteAnnouncer } from '../../../../src/rpc/announced-routes.ts';
import { decodeShardMessage, encodeShardMessage } from '../../../../src/rpc/protocol.ts';

// The table only ever compares links.
const link = (address: string) => ({ address }) as unknown as ShardLink;
const owner = (slot: number, epoch: number) => ({ slot, epoch, incarnation: '', address: '' });

function createTable(slots = 2, note: (slot: number) => void = () => {}): RoutingTable {
  const table = new RoutingTable(systemClock, new RetryGate({ clock: systemClock, random: systemRandom }), { note });
  table.setSlots(slots);
  return table;
}

/** A shard serves these slots now, and says what has changed. */
function announce(table: RoutingTable, by: ShardLink, served: ReadonlyMap<number, number>): void {
  const { announcer, announced } = streams.get(by) ?? {
    announcer: new RouteAnnouncer(),
    announced: new AnnouncedRoutes(),
  };
  streams.set(by, { announcer, announced });
  table.update(
    by,
    announced.take(
      decodeShardMessage(encodeShardMessage({ routes: announcer.next({ epochs: served }) })).routes ?? assert.fail(),
    ),
  );
}
const streams = new WeakMap<ShardLink, { readonly announcer: RouteAnnouncer; readonly announced: AnnouncedRoutes }>();

function lose(table: RoutingTable, lost: ShardLink): void {
  streams.delete(lost);
  table.drop(lost);
}

test('the higher epoch wins, and what a shard says replaces what it said before', () => {
  const table = createTable();
  const [a, b] = [link('a'), link('b')];
  announce(
    table,
    a,
    new Map([
      [0, 1],
      [1, 1],
    ]),
  );
  assert.equal(table.complete, true);
  announce(table, b, new Map([[1, 2]]));
  assert.deepEqual([table.route(0)?.link, table.route(1)?.link], [a, b]);
  announce(table, a, new Map([[1, 1]]));
  assert.equal(table.route(0), undefined);
  assert.equal(table.route(1)?.link, b);
  assert.equal(table.complete, false);
  lose(table, b);
  assert.equal(table.route(1)?.link, a, 'the older claim still stands');
  lose(table, a);
  assert.equal(table.route(1), undefined);
});

test('a route is the same object for as long as owner, epoch and stream are', () => {
  const table = createTable();
  const a = link('a');
  announce(table, a, new Map([[0, 1]]));
  const first = table.route(0);
  announce(
    table,
    a,
    new Map([
      [0, 1],
      [1, 4],
    ]),
  );
  assert.equal(table.route(0), first);
  announce(table, a, new Map([[0, 2]]));
  assert.notEqual(table.route(0), first);
  const second = table.route(0);
  lose(table, a);
  announce(table, a, new Map([[0, 2]]));
  assert.notEqual(table.route(0), second);
});

test('a wrong owner’s answer undoes its own claim unless that is newer, and credits the owner it names', () => {
  const table = createTable();
  const [a, b] = [link('a'), link('b')];
  announce(table, a, new Map([[0, 3]]));
  announce(table, b, new Map());
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
  const awaited: number[] = [];
  const table = createTable(2, (slot) => awaited.push(slot));
  let woken = 0;
  const count = () => {
    woken += 1;
  };
  table.wait(1, count);
  table.wait(1, count);
  for (const slot of [-1, 2]) table.wait(slot, count);
  assert.deepEqual(awaited, [1, 1], 'only slots of the cluster');
  announce(table, link('a'), new Map([[0, 1]]));
  assert.equal(woken, 1, 'the same waiter waits once');
  announce(table, link('b'), new Map([[1, 1]]));
  assert.equal(woken, 1);
  const keepAlive = setInterval(() => {}, 1000);
  await new Promise<void>((resolve) => table.wait(0, resolve));
  clearInterval(keepAlive);
});

const SLOTS = 8;
const shardIndex = fc.nat(3);
const slotIndex = fc.nat(SLOTS - 1);
const epochNumber = fc.integer({ min: 1, max: 6 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('serve'), shard: shardIndex, slot: slotIndex, epoch: epochNumber }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('release'), shard: shardIndex, slot: slotIndex, epoch: epochNumber }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('learn'), shard: shardIndex, slot: slotIndex, epoch: epochNumber }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('lose'), shard: shardIndex, slot: slotIndex, epoch: epochNumber }),
  },
);

test('after any moves and replies, changes have led to the routes that whole tables lead to', () => {
  const links = ['a', 'b', 'c', 'd'].map(link);
  const at = (index: number): ShardLink => links[index] ?? assert.fail();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [byChanges, byTables] = [createTable(SLOTS), createTable(SLOTS)];
      const served = links.map(() => new Map<number, number>());
      for (const each of links) streams.delete(each);
      for (const { kind, shard, slot, epoch } of steps) {
        const by = at(shard);
        const serves = served[shard] ?? assert.fail();
        if (kind === 'learn') {
          for (const table of [byChanges, byTables])
            table.learn(by, owner(slot, epoch), at((shard + epoch) % links.length));
        } else if (kind === 'lose') {
          lose(byChanges, by);
          byTables.drop(by);
          serves.clear();
        } else {
          if (kind === 'serve') serves.set(slot, epoch);
          else serves.delete(slot);
          announce(byChanges, by, serves);
          const all = Array.from({ length: SLOTS }, (_, index) => index);
          byTables.update(by, { epochs: new Map(serves), changed: all });
        }
        for (let each = 0; each < SLOTS; each += 1) {
          const [left, right] = [byChanges.route(each), byTables.route(each)];
          assert.deepEqual([left?.link.address, left?.epoch], [right?.link.address, right?.epoch]);
        }
        assert.equal(byChanges.complete, byTables.complete);
      }
    }),
  );
});
