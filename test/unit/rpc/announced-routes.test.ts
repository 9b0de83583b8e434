// Routes are announced once as a whole, and then as changes: a move of one slot sends one slot, however many there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnnouncedRoutes, RouteAnnouncer } from '../../../src/rpc/announced-routes.ts';
import { decodeShardMessage, encodeShardMessage } from '../../../src/rpc/protocol.ts';

test('a move of one of 400 slots announces one slot, and members only if they have changed', () => {
  const epochs = new Map(Array.from({ length: 400 }, (_, slot) => [slot, 1]));
  let members = [{ shardName: 'shard-2', address: 'shard-2:1' }];
  const announcer = new RouteAnnouncer();
  const announced = new AnnouncedRoutes();
  const announce = () => {
    const bytes = encodeShardMessage({ routes: announcer.next({ epochs, members }) });
    const { routes } = decodeShardMessage(bytes);
    assert.ok(routes !== null);
    const applied = announced.take(routes);
    assert.deepEqual(new Map(applied.epochs), epochs);
    assert.deepEqual(announced.whole.members, members);
    const { slots, removed } = routes;
    return { slots: slots.length, removed: removed.length, members: applied.members?.length, changed: applied.changed };
  };
  assert.equal(announce().slots, 400);
  epochs.set(7, 3);
  assert.deepEqual(announce(), { slots: 1, removed: 0, members: undefined, changed: [7] });
  epochs.delete(7);
  assert.deepEqual(announce(), { slots: 0, removed: 1, members: undefined, changed: [7] });
  members = [...members, { shardName: 'shard-3', address: 'shard-3:1' }];
  assert.deepEqual(announce(), { slots: 0, removed: 0, members: 2, changed: [] });
  members = [];
  assert.deepEqual(announce(), { slots: 0, removed: 0, members: 0, changed: [] });
  assert.deepEqual(announce(), { slots: 0, removed: 0, members: undefined, changed: [] });
});

test('slots that no cluster has are not kept, and a whole table replaces what was said before', () => {
  const announced = new AnnouncedRoutes();
  const message = { removed: [], members: [], sameMembers: false };
  announced.take({ ...message, isChange: false, slots: [1, 4_000_000_000], epochs: [1, 1] });
  assert.deepEqual([...announced.whole.epochs], [[1, 1]]);
  assert.deepEqual(announced.take({ ...message, isChange: false, slots: [2], epochs: [5] }).changed, [1, 2]);
  assert.deepEqual([...announced.whole.epochs], [[2, 5]]);
});
