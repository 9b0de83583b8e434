// Collection: each expired grant is recorded once, and nothing else; across failures, owners and many grants.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { SUBJECT_BUCKETS } from '../../../../src/core/slots.ts';
import { reportShard } from '../../../../src/shard/observers.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { createMemoryStore, OpenSlot, reportedParts, SLOT, type SlotOptions, soon, tuple, turns } from '../tools.ts';

const START_MS = Date.UTC(2026, 10, 1);

async function openAt(time: { ms: number }, memory?: MemoryStore, options: SlotOptions = {}) {
  const store = memory ?? (await createMemoryStore());
  const slot = await OpenSlot.open(store, { ...options, wallMs: () => time.ms });
  return { memory: store, slot };
}

async function grant(slot: OpenSlot, handle: number, subject: string, object: string, expiresAtMs: number | null) {
  const writes = [{ ...tuple(subject, object), revoke: false, expiresAtMs }];
  await slot.connection.writeGrants(handle, slot.attempt(), writes);
}

/** The audit log: action, subject, object and actor of each entry about a grant. */
async function auditOf(slot: OpenSlot, tenantId: TenantId): Promise<string[]> {
  await slot.tenure.applied();
  const entries = await readAll((cursor) => slot.operator.listAuditLog({ tenantId, limit: 1000, cursor }));
  return entries.flatMap(({ change, actor }) => {
    const { action, subject, object } = JSON.parse(change);
    return String(action).startsWith('grant.') ? [`${action} ${subject} ${object} ${actor}`] : [];
  });
}

async function indexOf(memory: MemoryStore, tenantId: TenantId): Promise<number> {
  let rows = 0;
  const after = { expiresAtMs: 0, subject: '', relation: '', object: '' };
  for (let bucket = 0; bucket < SUBJECT_BUCKETS; bucket += 1) {
    rows += (await memory.listExpiries({ tenantId, bucket, after, limit: 10_000 }, soon())).length;
  }
  return rows;
}

test('an expired grant is recorded once, by the system, and its rows become tombstone rows on both sides', async () => {
  const time = { ms: START_MS };
  const { memory, slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 10);
  await grant(slot, handle, 'user:b', 'doc:1', START_MS + 20);
  await grant(slot, handle, 'user:c', 'doc:1', null);
  await slot.collect();
  time.ms = START_MS + 10;
  for (let round = 0; round < 3; round += 1) await slot.collect();
  const recorded = (await auditOf(slot, tenantId)).filter((line) => line.startsWith('grant.expired'));
  assert.deepEqual(recorded, ['grant.expired user:a doc:1 system']);
  assert.equal(await memory.readGrant(tenantId, 'user:a', 'viewer', 'doc:1', soon()), undefined);
  assert.deepEqual(memory.grantsOnOneSide(tenantId), []);
  assert.equal(slot.tenure.tenants.get(tenantId)?.grantCount.grants, 2);
  assert.equal(await indexOf(memory, tenantId), 1);
});

test('nothing is written while no grant has expired, nor for a tenant without grants that expire', async () => {
  const time = { ms: START_MS };
  const { slot } = await openAt(time);
  const handle = await slot.handle(await slot.createTenant());
  const other = await slot.handle(await slot.createTenant());
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 1000);
  await grant(slot, other, 'user:a', 'doc:1', null);
  const { lastSeq } = slot.tenure;
  time.ms = START_MS + 999;
  await slot.collect();
  assert.equal(slot.tenure.lastSeq, lastSeq);
  assert.equal(slot.faults.calls('listExpiries'), 0);
});

test('a grant that was revoked, made permanent or prolonged before its first expiry is not collected then', async () => {
  const time = { ms: START_MS };
  const { memory, slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (const object of ['doc:1', 'doc:2', 'doc:3', 'doc:4']) await grant(slot, handle, 'user:a', object, START_MS + 10);
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  await grant(slot, handle, 'user:a', 'doc:2', null);
  await grant(slot, handle, 'user:a', 'doc:3', START_MS + 1000);
  time.ms = START_MS + 500;
  await slot.collect();
  const recorded = async () => (await auditOf(slot, tenantId)).filter((line) => line.startsWith('grant.expired'));
  assert.deepEqual(await recorded(), ['grant.expired user:a doc:4 system']);
  assert.equal(await indexOf(memory, tenantId), 1);
  time.ms = START_MS + 1000;
  await slot.collect();
  assert.deepEqual((await recorded()).slice(1), ['grant.expired user:a doc:3 system']);
  assert.deepEqual(await slot.list(handle, 'user:a'), ['doc:2']);
});

test('a grant with several expired expiries, of its own or of earlier ones, is collected once', async () => {
  const time = { ms: START_MS };
  const { slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 20);
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 10);
  time.ms = START_MS + 10;
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 30);
  time.ms = START_MS + 40;
  await slot.collect();
  const actions = (await auditOf(slot, tenantId)).map((line) => line.split(' ')[0]);
  assert.deepEqual(actions, ['grant.created', 'grant.updated', 'grant.expired', 'grant.created', 'grant.expired']);
  assert.equal(slot.tenure.tenants.get(tenantId)?.grantCount.grants, 0);
});

test('a grant whose expiry changes while its collection waits stays', async () => {
  const time = { ms: START_MS };
  const { slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 10);
  await slot.tenure.applied();
  slot.faults.turn('hold', ['append']);
  // Decided before the expiry, and in the log after it.
  const prolonged = grant(slot, handle, 'user:a', 'doc:1', START_MS + 5000);
  while (slot.faults.heldCalls() === 0) await new Promise((resolve) => setImmediate(resolve));
  time.ms = START_MS + 20;
  const collected = slot.collect();
  await turns(20);
  slot.faults.restore(['append']);
  await Promise.all([prolonged, collected]);
  await slot.collect();
  assert.deepEqual(await slot.list(handle, 'user:a'), ['doc:1']);
  assert.ok((await auditOf(slot, tenantId)).every((line) => !line.startsWith('grant.expired')));
});

test('many grants that expire at once are all collected, in entries of bounded size', async () => {
  const time = { ms: START_MS };
  const { memory, slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const long = '\u{1f600}'.repeat(200);
  const writes = Array.from({ length: 700 }, (_, index) => ({
    ...tuple(`user:${index % 5}`, `doc:${index}${index < 100 ? long : ''}`),
    revoke: false,
    expiresAtMs: START_MS + 10 + (index % 3),
  }));
  await slot.connection.writeGrants(handle, slot.attempt(), writes);
  time.ms = START_MS + 12;
  slot.batches.length = 0;
  // A round ends with the tenant's turn, so a slow machine needs several.
  do await slot.collect();
  while ((await indexOf(memory, tenantId)) > 0);
  assert.equal(slot.tenure.tenants.get(tenantId)?.grantCount.grants, 0);
  assert.equal((await auditOf(slot, tenantId)).filter((line) => line.startsWith('grant.expired')).length, 700);
  assert.equal(await indexOf(memory, tenantId), 0);
  assert.ok(slot.batches.length >= 14);
});

test('a new owner continues the collection of its predecessor, also after the log was applied and trimmed', async () => {
  const time = { ms: START_MS };
  const { memory, slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  await grant(slot, handle, 'user:a', 'doc:1', START_MS + 10);
  await grant(slot, handle, 'user:b', 'doc:2', START_MS + 50);
  await slot.tenure.checkpointed();
  time.ms = START_MS + 20;
  await slot.collect();
  await slot.tenure.checkpointed();
  slot.kill();
  const { slot: heir } = await openAt(time, memory);
  await heir.collect();
  const { lastSeq } = heir.tenure;
  await heir.collect();
  assert.equal(heir.tenure.lastSeq, lastSeq);
  time.ms = START_MS + 50;
  await heir.collect();
  const recorded = (await auditOf(heir, tenantId)).filter((line) => line.startsWith('grant.expired'));
  assert.deepEqual(recorded, ['grant.expired user:a doc:1 system', 'grant.expired user:b doc:2 system']);
  const [count] = await memory.listGrantCounts({ slot: SLOT, limit: 10 }, soon());
  assert.ok(count?.collectedToBaseMs !== undefined && count.collectedToBaseMs >= START_MS + 20);
});

for (const operation of ['listExpiries', 'append', 'removeExpiries'] as const) {
  test(`a later round completes one in which ${operation} failed`, async () => {
    const time = { ms: START_MS };
    const { memory, slot } = await openAt(time);
    const tenantId = await slot.createTenant();
    const handle = await slot.handle(tenantId);
    await grant(slot, handle, 'user:a', 'doc:1', START_MS + 10);
    await slot.tenure.applied();
    time.ms = START_MS + 10;
    if (operation !== 'append') {
      slot.faults.turn('fail-before', [operation]);
      await slot.collect();
      slot.faults.restore([operation]);
      await slot.collect();
    } else {
      slot.faults.turn('fail-after', [operation]);
      const round = slot.collect();
      await turns(20);
      slot.faults.restore([operation]);
      await round;
    }
    await slot.tenure.applied();
    assert.equal(await memory.readGrant(tenantId, 'user:a', 'viewer', 'doc:1', soon()), undefined);
    const recorded = (await auditOf(slot, tenantId)).filter((line) => line.startsWith('grant.expired'));
    assert.equal(recorded.length, 1);
  });
}

test('the metrics count the recorded expiries, by any path, and show how long the oldest has waited', async () => {
  const time = { ms: START_MS };
  const { slot } = await openAt(time);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const metrics = createMetrics();
  const read = async (name: string): Promise<string | undefined> =>
    new RegExp(`^${name} (.+)$`, 'm').exec(await metrics.render())?.[1];
  metrics.onRender(() => reportShard(metrics, reportedParts(slot)));
  for (const subject of ['user:a', 'user:b', 'user:c']) await grant(slot, handle, subject, 'doc:1', START_MS + 1000);
  await grant(slot, handle, 'user:d', 'doc:1', START_MS + 60_000);
  assert.equal(await read('grantd_expiry_lag_seconds'), '0');
  time.ms = START_MS + 31_000;
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  assert.equal(await read('grantd_expiry_lag_seconds'), '30');
  await slot.collect();
  assert.equal(await read('grantd_expiry_lag_seconds'), '0');
  assert.equal(
    slot.expired.reduce((sum, count) => sum + count, 0),
    3,
  );
});
