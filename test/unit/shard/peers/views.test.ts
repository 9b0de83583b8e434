// What peers are told of the rows of the store.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordOf } from '../../../../src/shard/peers/audit-log-rows.ts';
import { clusterMemberOf, slotClaimOf } from '../../../../src/shard/peers/cluster.ts';

test('nothing but what its port names leaves the shard, whatever columns a row has', () => {
  const more = { column: 'of a later version' };
  const member = {
    incarnation: 'inc_1',
    shardName: 'shard-0',
    address: '127.0.0.1:8082',
    state: 'alive',
    heartbeat: 7,
    startedAtMs: 5,
  } as const;
  assert.deepEqual(clusterMemberOf({ ...member, healthyHeartbeat: 6, wallMs: 7, place: 'host', ...more }), member);
  const row = { slot: 3, epoch: 4, owner: 'inc_1', opened: 9, first: 1, ...more };
  assert.deepEqual(slotClaimOf(row), { slot: 3, epoch: 4, incarnation: 'inc_1' });
  const record = { seq: 1, index: 0, atMs: 5, actor: 'system', requestId: 'req_1', change: '{}' };
  assert.deepEqual(auditRecordOf({ ...record, ...more }), record);
});
