// After a rollback to a version without rows by object, what that version revoked is dead by object too, even if
// it has removed the tombstone rows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { createMemoryStore, OpenSlot, SLOT, soon, tuple, waitFor } from '../tools.ts';
import { filled, Model, totalOf, walk } from './uncounted.ts';

const REVOKED = 1200;
const tuples = Array.from({ length: REVOKED + 3 }, (_, index) => tuple(`user:${index % 7}`, `doc:${index}`));
const revoked = tuples.slice(0, REVOKED);

/** The older version revokes grants that are stored by object, and removes their tombstone rows. */
async function rolledBack(count: number) {
  const { slot, tenantId, model } = await filled(tuples);
  await walk(slot);
  const old = await slot.restart({ countless: true });
  const handle = await old.handle(tenantId);
  await model.write(old, handle, revoked.slice(0, count), true);
  await old.tenure.checkpointed();
  await removeTombstones(old, tenantId, revoked.slice(0, count));
  // The revocations of this one are in the audit log as well.
  await model.write(old, handle, revoked.slice(0, 1));
  await old.tenure.checkpointed();
  return { old, tenantId, model };
}

async function removeTombstones(slot: OpenSlot, tenantId: TenantId, tuples: readonly Tuple[]): Promise<void> {
  const stamp = slot.tenure.nextBase - 1;
  await slot.store.removeTombstones(
    tuples.map((each) => ({ ...each, kind: 'grant', tenantId, stamp })),
    soon(),
  );
}

test('what the older version revoked is dead by object too, and what it created again is live', async () => {
  const { old, tenantId, model } = await rolledBack(REVOKED);
  const slot = await old.restart();
  assert.equal(slot.memory.grantsOnOneSide(tenantId).length, REVOKED + 1, 'live by object alone, or by subject alone');
  await walk(slot);
  assert.deepEqual(slot.memory.grantsOnOneSide(tenantId), []);
  assert.deepEqual(totalOf(slot, tenantId), model.total);
  assert.equal(model.grants.size, 4);
  assert.equal(slot.memory.rowsOf(SLOT, tenantId).get('grants by object'), 4, 'without tombstone rows');
  slot.kill();
});

test('a search that a change of owner interrupts goes on', async () => {
  const { old, tenantId, model } = await rolledBack(REVOKED);
  const first = await old.restart();
  let steps = 0;
  const { removeTombstones } = first.store;
  const interrupted = Object.assign(first, {
    store: {
      ...first.store,
      removeTombstones: async (...call: Parameters<typeof removeTombstones>) => {
        steps += 1;
        if (steps > 1) first.tenure.end('The test ends it.');
        await removeTombstones(...call);
      },
    },
  });
  await walk(interrupted);
  const heir = await first.restart();
  const searchedTo = heir.tenure.tenants.get(tenantId)?.grantCount.searchedTo;
  assert.equal(searchedTo, 0, 'what was searched is saved every few seconds');
  await walk(heir);
  assert.deepEqual(heir.memory.grantsOnOneSide(tenantId), []);
  assert.deepEqual(totalOf(heir, tenantId), model.total);
  heir.kill();
});

test('the count row of a tenant is stored before its first row by object', async () => {
  const old = await OpenSlot.open(await createMemoryStore(), { countless: true });
  const tenantId = await old.createTenant();
  await old.tenure.checkpointed();
  let writes = 0;
  const slot = await old.restart({
    hooks: {
      fault: (operation) => {
        if (operation !== 'writeState') return undefined;
        writes += 1;
        return writes === 1 ? undefined : { kind: 'fail-before' };
      },
    },
  });
  await new Model().write(slot, await slot.handle(tenantId), [tuple('user:ann', 'doc:1')]);
  void slot.applied();
  await waitFor(() => writes > 1);
  const rows = slot.memory.rowsOf(SLOT, tenantId);
  assert.deepEqual([rows.get('counts'), rows.get('grants by object')], [1, 0]);
  slot.kill();
});
