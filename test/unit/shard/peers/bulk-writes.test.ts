// Bulk writes: many changes at one moment, or none of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkWrite, BulkWriteResult } from '../../../../src/shard/shard.ts';
import { attempt, openSlot, tuple, wholeAuditLog } from '../tools.ts';

const bulk = (parts: Partial<BulkWrite>): BulkWrite => ({ grants: [], revocations: [], conditions: [], ...parts });

const A = tuple('user:a', 'doc:1');
const B = tuple('user:b', 'doc:2');
const C = tuple('user:c', 'doc:3');

function written(result: BulkWriteResult): Extract<BulkWriteResult, { kind: 'written' }> {
  if (result.kind !== 'written') throw new Error(`The write was ${result.kind}.`);
  return result;
}

test('a bulk write says what it created, what existed and what it revoked, in the order of the request', async () => {
  const { slot, handle, tenantId } = await openSlot();
  const first = await slot.grant(handle, B);
  await slot.grant(handle, C);
  const result = written(
    await slot.connection.writeBulk(handle, attempt(), bulk({ grants: [A, B], revocations: [tuple('x:1', 'y:1'), C] })),
  );
  assert.deepEqual(
    result.grants.map(({ created }) => created),
    [true, false],
  );
  assert.ok(first.kind === 'created');
  assert.equal(result.grants[1]?.grantId, first.grantId);
  assert.deepEqual(result.revoked, [false, true]);
  assert.deepEqual(
    [await slot.check(handle, A), await slot.check(handle, B), await slot.check(handle, C)],
    [true, true, false],
  );
  const actions = (await wholeAuditLog(slot, tenantId)).map(({ change }) => JSON.parse(change).action);
  assert.deepEqual(actions.slice(-2), ['grant.created', 'grant.revoked']);
  slot.kill();
});
