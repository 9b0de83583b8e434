// The changes of all tenants of a slot, from its log: each once, in the order of the log, whoever owns the slot, and
// nothing that was never decided.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeEntry, encodeOperation } from '../../../../src/shard/log/entries.ts';
import { purgeTenants, trimLog } from '../../../../src/shard/log/maintenance.ts';
import type { LoggedChange, LoggedPage } from '../../../../src/shard/shard.ts';
import {
  createMemoryStore,
  ids,
  OpenSlot,
  openSlot,
  portsOf,
  SEGMENT_SIZE,
  SLOT,
  soon,
  tuple,
  waitFor,
  wholeAuditLog,
} from '../tools.ts';

const read = (slot: OpenSlot, afterSeq: number, sinceMs = 0): Promise<LoggedPage> =>
  slot.operator.readLog({ slot: SLOT, afterSeq, sinceMs });

async function readToEnd(slot: OpenSlot, afterSeq = 0, sinceMs = 0) {
  const items: LoggedChange[] = [];
  let page = await read(slot, afterSeq, sinceMs);
  for (let pages = 1; ; pages += 1) {
    items.push(...page.items);
    if (page.atEnd) return { items, pages, nextSeq: page.nextSeq };
    page = await read(slot, page.nextSeq, sinceMs);
  }
}

const placesOf = (items: readonly LoggedChange[]): readonly string[] =>
  items.map(({ seq, index, change }) => `${seq}.${index} ${change}`);

test('the log tells what the audit logs of all tenants have, from every place, over owners and deletions', async () => {
  const memory = await createMemoryStore();
  let slot = await OpenSlot.open(memory);
  const tenants = [await slot.createTenant(), await slot.createTenant(), await slot.createTenant()];
  const [deleted = assert.fail()] = tenants;
  for (let round = 0; round < 12; round += 1) {
    for (const tenantId of tenants) {
      const handle = await slot.handle(tenantId);
      await slot.grant(handle, tuple('user:a', `doc:${round}`));
      if (round % 3 === 0) await slot.revoke(handle, tuple('user:a', `doc:${round}`));
    }
    if (round % 4 === 3) slot = await slot.restart();
  }
  await slot.update({ tenantId: deleted, state: 'deleting', operator: 'ann' });
  while (slot.tenure.tenants.has(deleted)) await purgeTenants(portsOf(slot, 0), slot.tenure);

  const { items, nextSeq } = await readToEnd(slot);
  assert.equal(nextSeq, slot.tenure.lastSeq);
  for (const tenantId of tenants) {
    const told = items.filter((item) => item.tenantId === tenantId).map(({ tenantId: _, ...row }) => row);
    assert.deepEqual(told, await wholeAuditLog(slot, tenantId), tenantId);
  }
  assert.equal(items.length, new Set(placesOf(items)).size);
  for (let seq = 0; seq <= slot.tenure.lastSeq; seq += 1) {
    const rest = await readToEnd(slot, seq);
    assert.deepEqual(
      rest.items,
      items.filter((item) => item.seq > seq),
    );
  }
});

test('a late entry of an earlier owner is not told, wherever reading begins', async () => {
  const { memory, slot: former, tenantId } = await openSlot();
  const { epoch } = former.tenure;
  const slot = await former.restart();
  const handle = await slot.handle(tenantId);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const before = slot.tenure.lastSeq;
  const late = { tenantId, actor: 'operator:mal', requestId: ids.create('req'), index: 0, atMs: 1 };
  const operation = encodeOperation({
    ...late,
    changes: [{ kind: 'namespace-created', name: 'late', createdAtMs: 1 }],
  });
  const body = encodeEntry({ base: slot.tenure.nextBase, elapsedMs: 0 }, [operation]);
  await memory.append({ slot: SLOT, seq: before + 1, epoch, entryId: ids.create('ent'), body }, soon());
  await slot.grant(handle, tuple('user:a', 'doc:2'));
  assert.equal(slot.tenure.lastSeq, before + 2);
  for (const seq of [0, before - 1, before]) {
    const { items } = await readToEnd(slot, seq);
    assert.doesNotMatch(JSON.stringify(items), /late/, `after ${seq}`);
    assert.match(items.at(-1)?.change ?? '', /doc:2/);
  }
});

test('changes since a time come without reading all of the log before it', async () => {
  let wall = Date.UTC(2026, 10, 1);
  const { slot, handle } = await openSlot({ wallMs: () => wall });
  const seqs: number[] = [];
  for (let day = 0; day < 100; day += 1) {
    wall += 24 * 3_600_000;
    await slot.grant(handle, tuple('user:a', `doc:${day}`));
    seqs.push(slot.tenure.lastSeq);
  }
  for (const day of [0, 1, 50, 77, 99]) {
    const sinceMs = Date.UTC(2026, 10, 2 + day);
    const readBefore = slot.faults.calls('readRecords');
    const { items } = await readToEnd(slot, 0, sinceMs);
    assert.deepEqual([...new Set(items.map(({ seq }) => seq))], seqs.slice(day), `since day ${day}`);
    const entries = slot.faults.calls('readRecords') - readBefore;
    assert.ok(entries <= 5 + Math.ceil((100 - day) / SEGMENT_SIZE), `${entries} reads since day ${day}`);
  }
  assert.deepEqual((await readToEnd(slot, 0, wall + 1)).items, []);
});

test('a place that the log no longer has, or not yet, is refused and never skipped', async () => {
  let aheadMs = 0;
  const { slot, handle } = await openSlot({ aheadMs: () => aheadMs });
  for (let count = 0; count < 5 * SEGMENT_SIZE; count += 1) await slot.grant(handle, tuple('user:a', `doc:${count}`));
  await slot.tenure.checkpointed();
  aheadMs += 2 * 3_600_000;
  await slot.grant(handle, tuple('user:a', 'doc:last'));
  await slot.tenure.checkpointed();
  assert.ok((await trimLog(portsOf(slot, 0), slot.tenure)) > 0);
  const { first, lastSeq } = slot.tenure;
  await assert.rejects(read(slot, first - 2), { code: 'cursor-too-old' });
  await assert.rejects(read(slot, 0), { code: 'cursor-too-old' });
  assert.equal((await read(slot, first - 1)).items[0]?.seq, first);
  assert.deepEqual((await slot.operator.listLogEnds()).ranges, [{ slot: SLOT, first, last: lastSeq }]);
  assert.deepEqual((await read(slot, lastSeq)).items, []);
  await assert.rejects(read(slot, lastSeq + 1), { code: 'invalid-cursor' });
});

test('a page is bounded, and what was committed while it was read is left to the next one', async () => {
  const { slot, handle } = await openSlot();
  const long = 'x'.repeat(900);
  for (let write = 0; write < 40; write += 1) {
    const grants = Array.from({ length: 50 }, (_, index) => tuple(`user:${long}${index}`, `doc:${long}${write}`));
    await slot.writeAll(handle, grants);
  }
  const { items, pages } = await readToEnd(slot);
  assert.equal(items.filter(({ change }) => change.includes('grant.created')).length, 2000);
  assert.ok(pages > 5, `${pages} pages`);
});

test('a shard without a lease, or whose tenure has ended, tells nothing', async () => {
  const { slot, handle } = await openSlot();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  slot.faults.turn('hold', ['readRecords']);
  const reading = read(slot, 0);
  await waitFor(() => slot.faults.heldCalls() > 0);
  slot.leaseValid = false;
  slot.faults.restore(['readRecords']);
  await assert.rejects(reading, { kind: 'not-serving' });
  await assert.rejects(read(slot, 0), { kind: 'not-serving' });
  assert.deepEqual((await slot.operator.listLogEnds()).ranges, []);
});
