// The picture of the cluster, where shards do not agree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeSlots, type ShardReport } from '../../../../src/front/operator/cluster-survey.ts';

const status = { state: 'serving', logEnd: 9, checkpoint: 7, tenants: 1 } as const;

function report(name: string, change: Partial<ShardReport>): ShardReport {
  const address = `${name}:1`;
  const nothing = { leaseLeftMs: 1, owned: [], owners: [], readers: [] };
  return { incarnation: `inc_${name}`, shardName: name, address, ...nothing, ...change };
}

const shown = (slots: ReturnType<typeof mergeSlots>) =>
  slots.map(({ state, epoch, shardName }) => `${state} ${epoch} ${shardName}`);

test('an owner that has not heard of a later claim does not count', () => {
  const zombie = report('a', {
    owned: [{ slot: 0, epoch: 3, ...status }],
    owners: [{ slot: 0, epoch: 3, incarnation: 'inc_a' }],
  });
  const next = report('b', {
    owned: [{ slot: 0, epoch: 4, ...status, state: 'opening' }],
    owners: [{ slot: 0, epoch: 4, incarnation: 'inc_b' }],
  });
  assert.deepEqual(shown(mergeSlots(1, [zombie, next], [])), ['opening 4 b']);
  assert.deepEqual(shown(mergeSlots(1, [next, zombie], [])), ['opening 4 b']);
  // The later owner is known from a row alone.
  const witness = report('c', { owners: [{ slot: 0, epoch: 4, incarnation: 'inc_b' }] });
  assert.deepEqual(shown(mergeSlots(1, [zombie, witness], [])), ['unreachable 4 undefined']);
});

test('of rows of the same epoch the release is the later one', () => {
  const claimed = report('a', { owners: [{ slot: 0, epoch: 3, incarnation: 'inc_z' }] });
  const released = report('b', { owners: [{ slot: 0, epoch: 3, incarnation: undefined }] });
  assert.deepEqual(shown(mergeSlots(1, [claimed, released], [])), ['unowned 3 undefined']);
  assert.deepEqual(shown(mergeSlots(1, [released, claimed], [])), ['unowned 3 undefined']);
});

test('an absent owner is named from its member row; slots outside the cluster are not shown', () => {
  const witness = report('a', {
    owners: [
      { slot: 1, epoch: 2, incarnation: 'inc_z' },
      { slot: 7, epoch: 2, incarnation: 'inc_z' },
    ],
  });
  const member = {
    incarnation: 'inc_z',
    shardName: 'z',
    address: 'z:1',
    state: 'dead',
    heartbeat: 1,
    startedAtMs: 0,
  } as const;
  const slots = mergeSlots(2, [witness], [member]);
  assert.deepEqual(shown(slots), ['unclaimed undefined undefined', 'unreachable 2 z']);
  assert.equal(slots[1]?.address, 'z:1');
});

test('readers stand with their slot, by tenant and shard, whatever is known of the owner', () => {
  const counts = { epoch: 3, position: 9, calls: 2, readIndexes: 1, handedOver: 0, begun: 1 };
  const north = report('north', { readers: [{ tenantId: 'ten_b', slot: 1, ...counts }] });
  const south = report('south', {
    readers: [
      { tenantId: 'ten_b', slot: 1, ...counts },
      { tenantId: 'ten_a', slot: 1, ...counts },
      { tenantId: 'ten_c', slot: 7, ...counts },
    ],
  });
  const [without, slot] = mergeSlots(2, [south, north], []);
  assert.deepEqual(without?.readers, []);
  assert.deepEqual(
    slot?.readers.map(({ tenantId, shardName }) => `${tenantId} ${shardName}`),
    ['ten_a south', 'ten_b north', 'ten_b south'],
  );
  assert.deepEqual(slot?.readers[0], { tenantId: 'ten_a', shardName: 'south', ...counts });
});
