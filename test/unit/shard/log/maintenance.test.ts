// Trimming the log and keeping the uses of keys: what goes, what stays, and how an interruption is made good.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { encodeEntry } from '../../../../src/shard/log/entries.ts';
import { KEY_USE_WRITE_MS, maintain, trimLog, writeKeyUses } from '../../../../src/shard/log/maintenance.ts';
import { reportShard } from '../../../../src/shard/observers.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import {
  createMemoryStore,
  ids,
  OpenSlot,
  openWithTenants,
  portsOf,
  reportedParts,
  SEGMENT_SIZE,
  SLOT,
  soon,
  tuple,
  waitFor,
} from '../tools.ts';

const HOUR_MS = 3_600_000;
const log = createLog({ level: 'silent', pretty: false });

/**
 * Both clocks of a machine: `passedMs` have passed besides the time that the test takes; `jumpMs`: of the wall clock
 * alone.
 */
function movableTime() {
  const time = { passedMs: 0, jumpMs: 0 };
  const clocks = { wallMs: () => Date.now() + time.passedMs + time.jumpMs, aheadMs: () => time.passedMs };
  return { time, clocks };
}

/** A slot with `entries` grants behind it, at clocks that can be moved. */
async function openSlot(entries: number) {
  const { time, clocks } = movableTime();
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, clocks);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < entries; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  return { time, clocks, memory, slot, tenantId, handle };
}

async function segmentsOf(memory: MemoryStore): Promise<number[]> {
  const segments: number[] = [];
  for (let segment = 0; segment < 20; segment += 1) {
    const from = Math.max(1, segment * SEGMENT_SIZE);
    if ((await memory.readRecords(SLOT, from, SEGMENT_SIZE, soon())).length > 0) segments.push(segment);
  }
  return segments;
}

test('whole segments are removed once they are applied and old enough, never the last one', async () => {
  const { time, clocks, memory, slot, tenantId, handle } = await openSlot(30);
  await slot.tenure.checkpointed();
  assert.deepEqual(await segmentsOf(memory), [0, 1, 2, 3, 4]);
  time.passedMs += HOUR_MS - 60_000;
  await slot.tenure.checkpointed();
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0, 'too young');
  time.passedMs += 61_000;
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 4);
  assert.deepEqual(await segmentsOf(memory), [4]);
  assert.equal((await memory.readSlot(SLOT, soon()))?.first, 4 * SEGMENT_SIZE);
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  await slot.grant(handle, tuple('user:a', 'doc:new'));
  const heir = await slot.restart(clocks);
  const again = await heir.handle(tenantId);
  for (const object of ['doc:0', 'doc:29', 'doc:new']) {
    assert.equal(await heir.check(again, tuple('user:a', object)), true);
  }
  await heir.grant(again, tuple('user:a', 'doc:newer'));
});

test('nothing beyond the checkpoint is removed', async () => {
  const { time, memory, slot, tenantId, handle } = await openSlot(0);
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  for (let index = 0; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  await slot.applied();
  time.passedMs += HOUR_MS + 1000;
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  const heir = await slot.restart();
  assert.equal(await heir.check(await heir.handle(tenantId), tuple('user:a', 'doc:29')), true);
  assert.equal((await segmentsOf(memory)).length, 5);
});

test('a young segment stays although older ones before it are removed', async () => {
  const { time, memory, slot, handle } = await openSlot(14);
  time.passedMs += HOUR_MS + 1000;
  for (let index = 0; index < 14; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  await slot.tenure.checkpointed();
  await trimLog(portsOf(slot), slot.tenure);
  assert.deepEqual(await segmentsOf(memory), [2, 3]);
});

const YEAR_MS = 365 * 24 * HOUR_MS;

test('no segment is removed whose operations may be repeated, however old it claims to be', async () => {
  const { time, memory, slot, tenantId, handle } = await openSlot(30);
  const ports = { ...portsOf(slot), logRetentionMs: 0 };
  const by = slot.attempt();
  const created = await slot.grant(handle, tuple('user:b', 'doc:1'), by);
  for (let index = 0; index < 20; index += 1) await slot.grant(handle, tuple('user:c', `doc:${index}`));
  time.jumpMs = YEAR_MS;
  time.passedMs += 19_000;
  await slot.tenure.checkpointed();
  assert.equal(await trimLog(ports, slot.tenure), 0);
  const heir = await slot.restart({ wallMs: () => Date.now() + YEAR_MS });
  await heir.tenure.checkpointed();
  assert.equal(await trimLog({ ...portsOf(heir), logRetentionMs: 0 }, heir.tenure), 0, 'nor by the next owner');
  assert.deepEqual(await heir.grant(await heir.handle(tenantId), tuple('user:b', 'doc:1'), by), created);
  assert.deepEqual(memory.seqsOf(SLOT)[0], 1);
});

test('entries that left the idempotency window are removed when a stored checkpoint says so, not before', async () => {
  const { time, slot } = await openSlot(30);
  const ports = { ...portsOf(slot), logRetentionMs: 0 };
  await slot.tenure.checkpointed();
  time.passedMs += 21_000;
  slot.faults.turn('fail-before', ['writeCheckpoint']);
  await slot.tenure.checkpointed();
  assert.equal(await trimLog(ports, slot.tenure), 0);
  slot.faults.restore(['writeCheckpoint']);
  await slot.tenure.checkpointed();
  assert.equal(await trimLog(ports, slot.tenure), 4);
});

test('nothing is removed while operation ids are still being read back, however long that takes', async () => {
  const { time, clocks, memory, slot } = await openSlot(30);
  await slot.tenure.checkpointed();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let opened = false;
  let held = false;
  const heir = await slot.restart({
    ...clocks,
    hooks: {
      fault: (operation) => {
        if (operation === 'append') opened = true;
        if (operation !== 'readRecords' || !opened || held) return undefined;
        held = true;
        return { kind: 'delay', until: () => released };
      },
    },
  });
  await heir.tenure.checkpointed();
  time.passedMs += 2 * HOUR_MS;
  await heir.tenure.checkpointed();
  assert.ok(heir.tenure.windowFrom > 30 && !heir.tenure.restored);
  const ports = { ...portsOf(heir), log };
  await maintain(ports, heir.tenure, { trim: true });
  assert.deepEqual(await segmentsOf(memory), [0, 1, 2, 3, 4]);
  release();
  await waitFor(() => heir.tenure.restored);
  assert.deepEqual(heir.lost, []);
  await maintain(ports, heir.tenure, { trim: true });
  assert.deepEqual(await segmentsOf(memory), [4]);
});

test('a wall clock that is set ahead by a year, by the owner or at a change of owners, takes no hour from the log', async () => {
  const { time, clocks, slot } = await openSlot(30);
  time.jumpMs = YEAR_MS;
  time.passedMs += HOUR_MS - 60_000;
  await slot.tenure.checkpointed();
  const day = (owner: OpenSlot) => ({ ...portsOf(owner), logRetentionMs: 24 * HOUR_MS });
  assert.equal(await trimLog(day(slot), slot.tenure), 0);
  time.passedMs += 2 * HOUR_MS;
  assert.equal(await trimLog(day(slot), slot.tenure), 0, 'its own clock says how old its entries are');
  time.jumpMs = 2 * YEAR_MS;
  const heir = await slot.restart(clocks);
  time.passedMs += HOUR_MS - 60_000;
  await heir.tenure.checkpointed();
  assert.equal(await trimLog(day(heir), heir.tenure), 0);
  time.passedMs += 61_000;
  assert.equal(await trimLog(day(heir), heir.tenure), 4);
});

test('a wall clock that was a year ahead once does not stop trimming for a year', async () => {
  const { time, clocks } = movableTime();
  time.jumpMs = YEAR_MS;
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, clocks);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  for (let index = 0; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
  time.jumpMs = 0;
  const day = (owner: OpenSlot) => ({ ...portsOf(owner), logRetentionMs: 24 * HOUR_MS });
  time.passedMs += 23 * HOUR_MS;
  await slot.tenure.checkpointed();
  assert.equal(await trimLog(day(slot), slot.tenure), 0, 'the owner knows how old its own entries are');
  const heir = await slot.restart(clocks);
  time.passedMs += HOUR_MS - 60_000;
  await heir.tenure.checkpointed();
  assert.equal(await trimLog(day(heir), heir.tenure), 0, 'the next owner knows of its own hour');
  time.passedMs += 61_000;
  assert.equal(await trimLog(day(heir), heir.tenure), 4);
});

test('entries of earlier owners are removed when they are as old as the retention by wall clocks', async () => {
  const { time, clocks, slot } = await openSlot(30);
  const day = (owner: OpenSlot) => ({ ...portsOf(owner), logRetentionMs: 24 * HOUR_MS });
  time.passedMs += 20 * HOUR_MS;
  const heir = await slot.restart(clocks);
  time.passedMs += 4 * HOUR_MS - 60_000;
  await heir.tenure.checkpointed();
  assert.equal(await trimLog(day(heir), heir.tenure), 0);
  time.passedMs += 61_000;
  assert.equal(await trimLog(day(heir), heir.tenure), 4);
});

test('a void entry, after the first of a later owner, does not count for the age of a segment', async () => {
  const { time, clocks, memory, slot, tenantId } = await openSlot(1);
  const { epoch } = slot.tenure;
  const heir = await slot.restart(clocks);
  const handle = await heir.handle(tenantId);
  time.passedMs += 2 * HOUR_MS;
  while (heir.tenure.lastSeq < SEGMENT_SIZE - 2)
    await heir.grant(handle, tuple('user:b', `doc:${heir.tenure.lastSeq}`));
  const body = encodeEntry({ base: 1, elapsedMs: 0 }, []);
  await memory.append({ slot: SLOT, seq: SEGMENT_SIZE - 1, epoch, entryId: ids.create('ent'), body }, soon());
  await heir.grant(handle, tuple('user:b', 'doc:next'));
  assert.equal(heir.tenure.lastSeq, SEGMENT_SIZE);
  time.passedMs += 60_000;
  await heir.tenure.checkpointed();
  assert.equal(await trimLog(portsOf(heir), heir.tenure), 0, 'a minute old');
  time.passedMs += HOUR_MS;
  assert.equal(await trimLog(portsOf(heir), heir.tenure), 1);
});

test('rows revoked in a segment are really removed before it; rows granted again stay', async () => {
  const { time, memory, slot, tenantId, handle } = await openSlot(3);
  const removed: { object: string; first: number | undefined }[] = [];
  await slot.revoke(handle, tuple('user:a', 'doc:0'));
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  for (let index = 0; index < 20; index += 1) await slot.grant(handle, tuple('user:b', `doc:${index}`));
  time.passedMs += HOUR_MS + 1000;
  await slot.tenure.checkpointed();
  const removeTombstones = memory.removeTombstones.bind(memory);
  memory.removeTombstones = async (rows, deadline) => {
    const row = await memory.readSlot(SLOT, soon());
    for (const each of rows) if (each.kind === 'grant') removed.push({ object: each.object, first: row?.first });
    return removeTombstones(rows, deadline);
  };
  await trimLog(portsOf(slot), slot.tenure);
  assert.deepEqual(
    removed.map(({ object }) => object),
    ['doc:0', 'doc:1'],
  );
  // `listGrants` looks at tombstone rows, too: of three one is no more.
  const looked = async (limit: number) =>
    (await memory.listGrants({ tenantId, subject: 'user:a', limit }, soon())).next !== undefined;
  assert.deepEqual([await looked(2), await looked(3)], [true, false]);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:1')), true);
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:0')), false);
  const heir = await slot.restart();
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:1')), true);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:0')), false);
});

for (const operation of ['readRecord', 'readRecords', 'removeTombstones', 'recordFirst', 'removeSegment'] as const) {
  for (const fault of ['fail-before', 'fail-after'] as const) {
    test(`trimming that was interrupted at ${operation} (${fault}) continues, also after a restart`, async () => {
      for (const restart of [false, true]) {
        const { time, clocks, memory, slot, tenantId, handle } = await openSlot(5);
        await slot.revoke(handle, tuple('user:a', 'doc:0'));
        for (let index = 5; index < 30; index += 1) await slot.grant(handle, tuple('user:a', `doc:${index}`));
        time.passedMs += HOUR_MS + 1000;
        await slot.tenure.checkpointed();
        slot.faults.turn(fault, [operation]);
        await assert.rejects(trimLog(portsOf(slot), slot.tenure));
        slot.faults.restore([operation]);
        const owner = restart ? await slot.restart(clocks) : slot;
        const again = await owner.handle(tenantId);
        if (restart) time.passedMs += HOUR_MS + 1000;
        await owner.tenure.checkpointed();
        await trimLog(portsOf(owner), owner.tenure);
        assert.equal(await owner.check(again, tuple('user:a', 'doc:29')), true);
        assert.equal(await owner.check(again, tuple('user:a', 'doc:0')), false);
        assert.deepEqual(await segmentsOf(memory), [4], 'nothing is left behind');
        owner.kill();
      }
    });
  }
}

test('an earlier owner trims nothing', async () => {
  const { time, memory, slot } = await openSlot(30);
  time.passedMs += HOUR_MS + 1000;
  await slot.tenure.checkpointed();
  await OpenSlot.open(memory);
  assert.equal(await trimLog(portsOf(slot), slot.tenure), 0);
  assert.deepEqual(await segmentsOf(memory), [0, 1, 2, 3, 4]);
});

test('the last use of a key is written at most every five minutes, and is never older than what was reported', async () => {
  const { time, clocks, memory, slot, tenantId, handle } = await openSlot(0);
  const key = await slot.createKey(handle, tenantId);
  const unused = await slot.createKey(handle, tenantId);
  const granted = await slot.front.authenticate(key);
  const stored = async () => (await memory.listKeyUses(tenantId, [key.keyId], soon())).get(key.keyId);
  const listed = async () => {
    const { items } = await slot.connection.listKeys(handle, { limit: 10, cursor: undefined });
    return items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs;
  };
  let writtenAtMs: number | undefined;
  for (let second = 0; second < 1200; second += 1) {
    time.passedMs += 1000;
    // In use for a while, idle for a while.
    if (second % 450 < 200) await slot.front.confirm(granted.handle);
    const before = slot.faults.calls('writeKeyUse');
    await writeKeyUses(portsOf(slot), slot.tenure);
    if (slot.faults.calls('writeKeyUse') === before) continue;
    assert.ok(writtenAtMs === undefined || clocks.wallMs() - writtenAtMs >= KEY_USE_WRITE_MS);
    writtenAtMs = clocks.wallMs();
  }
  assert.ok(slot.faults.calls('writeKeyUse') >= 3);
  assert.ok(((await stored()) ?? 0) <= ((await listed()) ?? 0));
  assert.equal((await memory.listKeyUses(tenantId, [unused.keyId], soon())).has(unused.keyId), false);
  const heir = await slot.restart(clocks);
  const { items } = await heir.connection.listKeys(await heir.handle(tenantId), { limit: 10, cursor: undefined });
  assert.equal(items.find(({ keyId }) => keyId === key.keyId)?.lastUsedAtMs, await stored());
  assert.equal(items.find(({ keyId }) => keyId === unused.keyId)?.lastUsedAtMs, undefined);
});

test('a failed write of a use is retried', async () => {
  const { memory, slot, tenantId, handle } = await openSlot(0);
  const key = await slot.createKey(handle, tenantId);
  await slot.front.authenticate(key);
  slot.faults.turn('fail-before', ['writeKeyUse']);
  await assert.rejects(writeKeyUses(portsOf(slot), slot.tenure));
  slot.faults.restore(['writeKeyUse']);
  await writeKeyUses(portsOf(slot), slot.tenure);
  assert.equal((await memory.listKeyUses(tenantId, [key.keyId], soon())).size, 1);
});

/** How often something walks through all tenants of the slot from now on. */
function countWalks({ tenure: { tenants } }: OpenSlot): () => number {
  const names = ['values', 'entries', 'keys', 'forEach', Symbol.iterator] as const;
  const walks = names.map((name) => mock.method(tenants, name));
  return () => walks.reduce((count, walk) => count + walk.mock.callCount(), 0);
}

test('a round of maintenance and a reading of the metrics visit none of 10,000 idle tenants', async () => {
  const { slot, ids: tenantIds } = await openWithTenants(10_000);
  const walks = countWalks(slot);
  const metrics = createMetrics();
  metrics.onRender(() => reportShard(metrics, reportedParts(slot)));
  const round = () => maintain({ ...portsOf(slot), log }, slot.tenure, { trim: true });
  const { deleting, usedKeys, reportedUsage, obsoleteRows, followed } = slot.tenure.due;
  const due = () => [deleting, usedKeys, reportedUsage, obsoleteRows, followed].map(({ size }) => size);
  await round();
  await metrics.render();
  assert.deepEqual([walks(), due()], [0, [0, 0, 0, 0, 0]]);

  const [tenantId, leaving] = tenantIds;
  assert.ok(tenantId !== undefined && leaving !== undefined);
  await slot.grant(await slot.handle(tenantId), tuple('user:a', 'doc:a'));
  await slot.update({ tenantId: leaving, state: 'deleting' });
  slot.tenure.tenants.get(tenantId)?.noteEmpty('user:b');
  assert.deepEqual(due(), [1, 0, 0, 1, 0]);
  assert.match(await metrics.render(), /^grantd_grants 1$/m);
  await round();
  assert.deepEqual([walks(), due()], [0, [0, 0, 0, 0, 0]]);
  assert.equal(slot.tenure.tenants.has(leaving), false);
});

test('a key that rests after its use was written is visited again once it is used', async () => {
  const { time, slot, tenantId, handle } = await openSlot(0);
  const { handle: used } = await slot.front.authenticate(await slot.createKey(handle, tenantId));
  const { usedKeys } = slot.tenure.due;
  const sizes: number[] = [];
  for (const passedMs of [0, 1000, KEY_USE_WRITE_MS, 1000]) {
    time.passedMs += passedMs;
    await writeKeyUses(portsOf(slot), slot.tenure);
    sizes.push(usedKeys.size);
  }
  assert.deepEqual([sizes.at(-1), slot.faults.calls('writeKeyUse')], [0, 1]);
  await slot.front.confirm(used);
  assert.equal(usedKeys.size, 1);
  await writeKeyUses(portsOf(slot), slot.tenure);
  assert.deepEqual([usedKeys.size, slot.faults.calls('writeKeyUse')], [1, 2]);
});
