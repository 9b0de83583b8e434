// A deleted tenant is refused at once, and everything of it goes, whatever interrupts the removal; only its row and its
// audit log stay.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { purgeTenants, writeKeyUses } from '../../../../src/shard/log/maintenance.ts';
import type { MaintenancePorts } from '../../../../src/shard/log/row-removal.ts';
import { WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import {
  attempt,
  createMemoryStore,
  OpenSlot,
  portsOf,
  SLOT,
  type SlotOptions,
  soon,
  tuple,
  waitFor,
} from '../tools.ts';

async function openSlot(options: SlotOptions = {}) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, options);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < 120; index += 1) await slot.grant(handle, tuple(`user:${index % 9}`, `doc:${index}`));
  await slot.revoke(handle, tuple('user:0', 'doc:0'));
  const key = await slot.createKey(handle, tenantId);
  await slot.front.authenticate(key);
  await writeKeyUses(portsOf(slot, 0), slot.tenure);
  return { memory, slot, tenantId, handle, key };
}

/** Rows of the tenant that are left, the audit log's and its own apart. */
const rowsLeft = (memory: MemoryStore, tenantId: TenantId): number =>
  memory
    .rowsOf(SLOT, tenantId)
    .values()
    .reduce((sum, rows) => sum + rows, 0);

const stateOf = async (memory: MemoryStore) => (await memory.listTenants({ slot: SLOT, limit: 10 }, soon()))[0]?.state;

test('a deleted tenant is refused immediately, and all its data is removed', async () => {
  const { memory, slot, tenantId, handle, key } = await openSlot();
  const granted = await slot.front.authenticate(key);
  await slot.applied();
  assert.ok(rowsLeft(memory, tenantId) > 120);
  await slot.update({ tenantId, state: 'deleting' });
  await assert.rejects(slot.front.confirm(granted.handle), { kind: 'handle-unknown' });
  await assert.rejects(slot.check(handle, tuple('user:1', 'doc:1')), { kind: 'handle-unknown' });
  await assert.rejects(slot.front.authenticate(key), { code: 'unauthorized' });
  await assert.rejects(slot.handle(tenantId), { code: 'tenant-not-found' });
  await assert.rejects(slot.update({ tenantId, state: 'active' }), { code: 'tenant-not-found' });
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  assert.equal(rowsLeft(memory, tenantId), 0);
  await assert.rejects(slot.operator.readTenant({ tenantId }), { code: 'tenant-not-found' });
  assert.deepEqual(await slot.operator.listTenants({ after: undefined, limit: 10 }), []);
  await slot.applied();
  assert.equal(await stateOf(memory), 'deleted');
  const heir = await slot.restart();
  await assert.rejects(heir.front.authenticate(key), { code: 'unauthorized' });
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('no replay of the log brings back what was removed', async () => {
  const { memory, slot, tenantId } = await openSlot();
  await slot.update({ tenantId, state: 'deleting' });
  await slot.applied();
  // The removal waits for the checkpoint: a recovery from before it would write the rows again.
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  const purging = purgeTenants(portsOf(slot, 0), slot.tenure);
  const before = slot.faults.calls('writeCheckpoint');
  await waitFor(() => slot.faults.calls('writeCheckpoint') > before + 1);
  assert.equal(slot.faults.calls('purgeTenant'), 0);
  slot.faults.restore(['writeCheckpoint']);
  await purging;
  assert.equal(rowsLeft(memory, tenantId), 0);
  const heir = await slot.restart();
  await heir.tenure.checkpointed();
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('writes that race with the deletion leave nothing behind', async () => {
  const { memory, slot, tenantId, handle, key } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const first = slot.grant(handle, tuple('user:1', 'doc:new'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const racing = Promise.allSettled([
    slot.update({ tenantId, state: 'deleting' }),
    slot.grant(handle, tuple('user:2', 'doc:new')),
    slot.connection.createNamespace(handle, attempt(), 'late'),
    slot.createKey(handle, tenantId),
    slot.connection.revokeKey(handle, attempt(), key.keyId),
  ]);
  await waitFor(() => slot.tenure.queueLength >= 4);
  slot.faults.restore(['append']);
  assert.equal((await first).kind, 'created');
  const [deletion, ...others] = await racing;
  assert.equal(deletion?.status, 'fulfilled');
  for (const other of others) {
    assert.ok(other.status === 'rejected');
    assert.equal(other.reason.kind, 'handle-unknown');
  }
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  await slot.applied();
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('data with stamps in the future is removed, too, after the wall clock was set back', async () => {
  let wall = Date.now();
  const { memory, slot, tenantId } = await openSlot({ wallMs: () => wall });
  wall -= 3_600_000;
  await slot.update({ tenantId, state: 'deleting' });
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('a failing store only delays the removal', async () => {
  const { memory, slot, tenantId } = await openSlot();
  await slot.update({ tenantId, state: 'deleting' });
  slot.faults.turn('fail-after', ['purgeTenant']);
  await assert.rejects(purgeTenants(portsOf(slot, 0), slot.tenure));
  slot.faults.restore([...WRITE_BEHIND, 'purgeTenant']);
  await purgeTenants(portsOf(slot, 0), slot.tenure);
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('a key that is looked up while its tenant is deleted gets no handle', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const key = await slot.createKey(await slot.handle(tenantId), tenantId);
  await slot.tenure.checkpointed();
  const heir = await slot.restart();
  heir.faults.turn('hold', ['listKeys']);
  const authenticating = heir.front.authenticate(key);
  await waitFor(() => heir.faults.heldCalls() === 1);
  await heir.update({ tenantId, state: 'deleting' });
  heir.faults.restore(['listKeys']);
  await assert.rejects(authenticating, { code: 'unauthorized' });
});

/**
 * Where the owner is killed: at the n-th call of an operation after the deletion was acknowledged, before or after its
 * effect.
 */
const KILLS = [
  ['before the checkpoint', 'writeCheckpoint', 1, 'delay'],
  ['after the checkpoint', 'writeCheckpoint', 1, 'delay-reply'],
  ['before the first part', 'purgeTenant', 1, 'delay'],
  ['after the first part', 'purgeTenant', 1, 'delay-reply'],
  ['before the last part', 'purgeTenant', 2, 'delay'],
  ['after the last part', 'purgeTenant', 2, 'delay-reply'],
  ['before the last entry', 'append', 1, 'delay'],
  ['after the last entry', 'append', 1, 'delay-reply'],
] as const;

for (const [where, operation, nth, kind] of KILLS) {
  test(`after a kill ${where}, the next owner completes the removal and touches nothing else`, async () => {
    let deleted = false;
    let calls = 0;
    const { memory, slot, tenantId, key } = await openSlot({
      hooks: {
        fault: (called) => {
          if (!deleted || called !== operation) return undefined;
          calls += 1;
          return calls === nth ? { kind, until: () => new Promise(() => {}) } : undefined;
        },
      },
    });
    const bystander = await slot.createTenant();
    const handle = await slot.handle(bystander);
    for (let user = 0; user < 9; user += 1) await slot.grant(handle, tuple(`user:${user}`, 'doc:1'));
    const before = await slot.update({ tenantId, state: 'deleting' });
    assert.equal(before.state, 'deleting');
    // What state holds already is not what the kill is about.
    await slot.applied();
    deleted = true;
    purgeTenants(portsOf(slot, 0), slot.tenure).catch(() => {});
    await waitFor(() => calls >= nth, `the ${operation}`);
    const heir = await slot.restart();
    await assert.rejects(heir.front.authenticate(key), { code: 'unauthorized' });
    await assert.rejects(heir.handle(tenantId), { code: 'tenant-not-found' });
    if (where !== 'after the last entry') {
      assert.equal((await heir.operator.readTenant({ tenantId })).state, 'deleting');
    }
    await purgeTenants(portsOf(heir, 0), heir.tenure);
    await heir.tenure.checkpointed();
    assert.equal(rowsLeft(memory, tenantId), 0);
    await assert.rejects(heir.operator.readTenant({ tenantId }), { code: 'tenant-not-found' });
    const stored = await memory.listTenants({ slot: SLOT, limit: 10 }, soon());
    assert.deepEqual(new Map(stored.map((tenant) => [tenant.tenantId, tenant.state])).get(tenantId), 'deleted');
    const heirs = await heir.handle(bystander);
    for (let user = 0; user < 9; user += 1) {
      assert.equal(await heir.check(heirs, tuple(`user:${user}`, 'doc:1')), true);
    }
  });
}

test('the removal takes several short rounds', async () => {
  let nowMs = 0;
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < 600; index += 1) await slot.grant(handle, tuple(`user:${index % 9}`, `doc:${index}`));
  await slot.update({ tenantId, state: 'deleting' });
  assert.deepEqual((await slot.operator.readTenant({ tenantId })).deletion, {
    partsRemoved: 0,
    lastPartAtMs: undefined,
  });
  // Every look at the clock takes 400 ms of a round's second.
  const ports = portsOf(slot, 0);
  const slow: MaintenancePorts = {
    ...ports,
    clock: {
      wallMs: () => ports.clock.wallMs(),
      idleMs: () => ports.clock.idleMs(),
      setTimer: (run, delayMs) => ports.clock.setTimer(run, delayMs),
      setImmediate: (run) => ports.clock.setImmediate(run),
      monotonicMs: () => {
        nowMs += 400;
        return ports.clock.monotonicMs() + nowMs;
      },
    },
  };
  const seen: number[] = [];
  for (let round = 0; round < 100; round += 1) {
    await purgeTenants(slow, slot.tenure);
    const left = slot.tenure.tenants.get(tenantId);
    if (left === undefined) break;
    const [listed] = await slot.operator.listTenants({ after: undefined, limit: 10 });
    assert.equal(listed?.state, 'deleting');
    assert.ok((listed.deletion?.lastPartAtMs ?? 0) > 1_700_000_000_000);
    assert.equal(listed.counts, undefined);
    seen.push(listed.deletion?.partsRemoved ?? 0);
  }
  assert.ok(seen.length >= 2, `${seen.length} rounds`);
  assert.deepEqual(
    seen,
    seen.toSorted((left, right) => left - right),
  );
  assert.ok(new Set(seen).size === seen.length, 'every round came further');
  assert.equal(rowsLeft(memory, tenantId), 0);
});

test('the last use of a key is not written for a tenant whose data is being removed', async () => {
  const { memory, slot, tenantId, key } = await openSlot();
  await slot.front.authenticate(key);
  await slot.update({ tenantId, state: 'deleting' });
  const use = slot.tenure.tenants.get(tenantId)?.keyUses.get(key.keyId) ?? assert.fail();
  use.writtenAtMs = 0;
  use.usedAtMs = slot.clock.wallMs() + 60_000;
  const before = (await memory.listKeyUses(tenantId, [key.keyId], soon())).get(key.keyId);
  await writeKeyUses(portsOf(slot, 0), slot.tenure);
  assert.equal((await memory.listKeyUses(tenantId, [key.keyId], soon())).get(key.keyId), before);
});
