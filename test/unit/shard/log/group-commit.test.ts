// Group commit: what shares an entry, in which order, within which bounds, and which answers wait for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TenantId } from '../../../../src/core/ids.ts';
import { ENTRY_BYTES_MAX } from '../../../../src/shard/log/entries.ts';
import {
  attempt,
  createMemoryStore,
  ids,
  OpenSlot,
  RELEASE,
  SLOT,
  settled,
  soon,
  tuple,
  turns,
  waitFor,
} from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

async function openSlot(options: Parameters<typeof OpenSlot.open>[1] = {}) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, options);
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  slot.batches.length = 0;
  return { memory, slot, tenantId, handle };
}

/** Namespaces made below the connection, with nothing pinned: only its place in the queue matters. */
function submit(slot: OpenSlot, tenantId: TenantId, name: string = ids.create('req'), reserved = 1, made = reserved) {
  return slot.tenure.submit({
    tenantId,
    actor: 'operator:test',
    requestId: ids.create('req'),
    index: 0,
    expiresAtMs: soon(60_000),
    bytesMax: 1500,
    changesMax: reserved,
    decide: () => ({
      result: { kind: 'namespace', created: true, namespace: { name, createdAtMs: 1 } },
      changes: Array.from({ length: made }, () => ({ kind: 'namespace-created', name, createdAtMs: 1 }) as const),
    }),
  });
}

test('writes of one turn, and those that arrive while an append is in flight, share one entry', async () => {
  const { slot, handle } = await openSlot();
  await slot.check(handle, TUPLE);
  slot.faults.turn('hold', ['append']);
  const first = [1, 2, 3].map((index) => slot.grant(handle, tuple('user:a', `doc:${index}`)));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const second = Array.from({ length: 500 }, (_, index) => slot.grant(handle, tuple('user:b', `doc:${index}`)));
  await turns(5);
  assert.equal(slot.faults.heldCalls(), 1, 'one append in flight');
  slot.faults.restore(['append']);
  await Promise.all([...first, ...second]);
  assert.deepEqual(slot.batches, [3, 500]);
});

test('a tenant with 5,000 waiting writes does not delay one with a single write', async () => {
  const { slot, tenantId } = await openSlot();
  const other = await slot.createTenant();
  slot.batches.length = 0;
  slot.faults.turn('hold', ['append']);
  const first = submit(slot, tenantId, 'n');
  await waitFor(() => slot.faults.heldCalls() === 1);
  let done = 0;
  const many = Array.from({ length: 5000 }, async (_, index) => {
    await submit(slot, tenantId, `n${index}`);
    done += 1;
  });
  const single = submit(slot, other, 'single').then(() => done);
  slot.faults.restore(['append']);
  await first;
  assert.ok((await single) <= 1024, 'it was in the next entry');
  await Promise.all(many);
  assert.ok(Math.max(...slot.batches) <= 1024);
});

test("the order of one tenant's writes is kept across entries", async () => {
  const { slot, tenantId } = await openSlot();
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 3000 }, async (_, index) => {
      await submit(slot, tenantId, `n${index}`);
      order.push(index);
    }),
  );
  assert.deepEqual(
    order,
    order.map((_, index) => index),
  );
});

test('an entry of the longest tuples stays within 1 MiB, and the rest goes into the next', async () => {
  const { memory, slot, handle, tenantId } = await openSlot();
  // 256 code points each, of the encoding that costs most: four bytes of UTF-8, or an escape.
  const long = (index: number, character: string) =>
    `${'n'.repeat(64)}:${String(index).padStart(4, '0')}${character.repeat(252)}`;
  for (const character of ['\u{1F600}', '"', '\\', '\uFFFD']) {
    const writes = Array.from({ length: 1000 }, (_, index) => ({
      ...tuple(long(index % 3, character), long(index, character)),
      revoke: false,
    }));
    const results = await slot.connection.writeGrants(handle, attempt(), writes);
    assert.ok(results.every(({ kind }) => kind === 'created'));
  }
  for (let seq = 1; seq <= slot.tenure.lastSeq; seq += 1) {
    const record = await memory.readRecord(SLOT, seq, soon());
    assert.ok(Buffer.byteLength(record?.body ?? '') <= ENTRY_BYTES_MAX);
  }
  assert.ok(slot.batches.length > 4);
  const heir = await slot.restart();
  const last = tuple(long(999 % 3, '\\'), long(999, '\\'));
  assert.equal(await heir.check(await heir.handle(tenantId), last), true);
});

test('beyond its bound a tenant gets overloaded and nothing changes, while other tenants continue', async () => {
  const { slot, tenantId } = await openSlot();
  const other = await slot.createTenant();
  slot.faults.turn('hold', ['append']);
  const waiting = Array.from({ length: 10_000 }, (_, index) => submit(slot, tenantId, `n${index}`));
  await assert.rejects(submit(slot, tenantId, 'refused'), { code: 'overloaded' });
  const more = submit(slot, other, 'other');
  slot.faults.restore(['append']);
  await Promise.all([...waiting, more]);
  const names = await slot.connection.listNamespaces(await slot.handle(tenantId));
  assert.equal(names.length, 10_000);
  assert.ok(!names.some(({ name }) => name === 'refused'));
  // A repeat of what was refused is no repeat: nothing was decided.
  assert.equal((await submit(slot, tenantId, 'refused')).kind, 'namespace');
});

test('answers that change nothing wait for the commit that they depend on', async () => {
  const { slot, handle } = await openSlot();
  await slot.check(handle, TUPLE);
  slot.faults.turn('hold', ['append']);
  const created = slot.grant(handle, TUPLE);
  const exists = slot.grant(handle, TUPLE);
  const revoked = slot.revoke(handle, TUPLE);
  const absent = slot.revoke(handle, TUPLE);
  await waitFor(() => slot.faults.heldCalls() === 1);
  for (const answer of [created, exists, revoked, absent]) assert.equal(await settled(answer), false);
  slot.faults.restore(['append']);
  const kinds = (await Promise.all([created, exists, revoked, absent])).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['created', 'exists', 'revoked', 'not-found']);
  assert.deepEqual(slot.batches, [2], 'what changes nothing is not in the log');
});

test('answers that depend on a commit that never comes are refused with it', async () => {
  const { memory, slot, handle } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const created = slot.grant(handle, TUPLE);
  const exists = slot.grant(handle, TUPLE);
  await waitFor(() => slot.faults.heldCalls() === 1);
  await OpenSlot.open(memory);
  slot.faults.restore(['append']);
  for (const answer of [created, exists]) await assert.rejects(answer, { kind: 'not-serving' });
});

test('a batch that changes nothing appends nothing', async () => {
  const { slot, handle } = await openSlot();
  assert.equal((await slot.revoke(handle, TUPLE)).kind, 'not-found');
  const { lastSeq } = slot.tenure;
  assert.equal((await slot.revoke(handle, TUPLE)).kind, 'not-found');
  assert.equal(slot.tenure.lastSeq, lastSeq);
});

test('writes wait while write-behind lags past its bound, and continue when it has caught up', async () => {
  const { slot, tenantId, handle } = await openSlot({ cacheBytesMax: 400_000_000 });
  await slot.check(handle, TUPLE);
  slot.faults.turn('hold', ['writeState']);
  const submitMany = (prefix: string) =>
    Promise.all(Array.from({ length: 9000 }, (_, index) => submit(slot, tenantId, `${prefix}${index}`)));
  await submitMany('a');
  await submitMany('b');
  // Each is two rows: the bound of 40,000 lies within the third.
  const third = submitMany('c');
  assert.equal(await settled(third), false);
  await waitFor(() => slot.tenure.queueLength > 0);
  await turns(50);
  const queued = slot.tenure.queueLength;
  assert.ok(queued > 5000, 'the entries stop at the bound');
  assert.equal(await settled(third), false);
  // Checks are answered meanwhile.
  assert.equal(await slot.check(handle, TUPLE), false);
  slot.faults.restore(['writeState']);
  await third;
  assert.equal(slot.tenure.queueLength, 0);
});

test('a release finishes writes in flight and refuses later ones', async () => {
  const { memory, slot, handle, tenantId } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const inFlight = slot.grant(handle, TUPLE);
  await waitFor(() => slot.faults.heldCalls() === 1);
  const waiting = slot.grant(handle, tuple('user:a', 'doc:2'));
  await turns(5);
  const release = slot.tenure.release(RELEASE);
  await assert.rejects(slot.grant(handle, tuple('user:a', 'doc:3')), { kind: 'not-serving' });
  slot.faults.restore(['append']);
  assert.equal((await inFlight).kind, 'created');
  assert.equal((await waiting).kind, 'created');
  await release;
  assert.equal(slot.tenure.state, 'releasing');
  assert.equal((await memory.readCheckpoint(SLOT, soon()))?.seq, slot.tenure.lastSeq);
  const heir = await slot.restart();
  const again = await heir.handle(tenantId);
  assert.deepEqual(
    [await heir.check(again, tuple('user:a', 'doc:2')), await heir.check(again, tuple('user:a', 'doc:3'))],
    [true, false],
  );
});

test('a defect during a commit ends the tenure; the log keeps the commit', async () => {
  const { slot, tenantId, handle } = await openSlot();
  const memoryOfTenant = slot.tenure.tenants.get(tenantId);
  assert.ok(memoryOfTenant !== undefined);
  memoryOfTenant.commit = () => {
    throw new Error('a defect');
  };
  const by = attempt();
  await assert.rejects(slot.grant(handle, TUPLE, by), { kind: 'undecided' });
  assert.match(slot.lost[0] ?? '', /a defect/);
  const heir = await slot.restart();
  const again = await heir.handle(tenantId);
  assert.equal((await heir.grant(again, TUPLE, by)).kind, 'created');
  assert.equal(await heir.check(again, TUPLE), true);
});

test('a call of which the log has a part is undecided; its repeat finds that part and does the rest', async () => {
  const { slot, handle } = await openSlot();
  // More than one entry holds.
  const writes = Array.from({ length: 700 }, (_, index) => ({ ...tuple('user:a', `doc:${index}`), revoke: false }));
  await slot.check(handle, tuple('user:a', 'doc:0'));
  slot.faults.turn('hold', ['append']);
  const by = attempt();
  const expiresAtMs = slot.clock.monotonicMs() + 300;
  const call = slot.connection.writeGrants(handle, { ...by, expiresAtMs }, writes);
  const outcome = assert.rejects(call, { kind: 'undecided' });
  await waitFor(() => slot.faults.heldCalls() === 1);
  await waitFor(() => slot.clock.monotonicMs() > expiresAtMs);
  slot.faults.restore(['append']);
  await outcome;
  const [first = 0] = slot.batches;
  assert.ok(first > 0 && first < 700, `${first} stand`);
  const results = await slot.connection.writeGrants(handle, by, writes);
  assert.ok(results.every(({ kind }) => kind === 'created'));
});

test('a call of which the log has nothing fails as its writes did', async () => {
  const { slot, handle } = await openSlot();
  const writes = Array.from({ length: 10 }, (_, index) => ({ ...tuple('user:a', `doc:${index}`), revoke: false }));
  const late = { ...attempt(), expiresAtMs: slot.clock.monotonicMs() - 1 };
  await assert.rejects(slot.connection.writeGrants(handle, late, writes), { kind: 'expired' });
});

test('the end of a tenure refuses many waiting writes in several steps, each as not applied', async () => {
  const { slot, tenantId } = await openSlot();
  slot.faults.turn('hold', ['append']);
  let refused = 0;
  const writes = Array.from({ length: 2600 }, (_, index) =>
    submit(slot, tenantId, `n${index}`).catch((error: { kind: string }) => {
      if (error.kind === 'not-serving') refused += 1;
    }),
  );
  await waitFor(() => slot.faults.heldCalls() === 1);
  const waiting = slot.tenure.queueLength;
  assert.ok(waiting > 2000, `${waiting} wait`);
  slot.tenure.end('the test ends it');
  for (let step = 1; refused < waiting; step += 1) {
    await turns(1);
    // `end` refuses the first ones itself, then one more step each turn.
    assert.ok(refused <= 500 * (step + 1), `${refused} were refused by step ${step}`);
    assert.ok(step < 100);
  }
  slot.faults.restore(['append']);
  await Promise.all(writes);
});

test('an entry has a bounded number of changes, and an operation that needed less than it reserved leaves room', async () => {
  const { memory, slot, tenantId } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const first = submit(slot, tenantId, 'n');
  await waitFor(() => slot.faults.heldCalls() === 1);
  const { lastSeq } = slot.tenure;
  const many = [400, 400, 400].map((count) => submit(slot, tenantId, undefined, count));
  const less = Array.from({ length: 5 }, () => submit(slot, tenantId, undefined, 500, 10));
  slot.faults.restore(['append']);
  await Promise.all([first, ...many, ...less]);
  assert.deepEqual(slot.batches, [1, 2, 6]);
  const record = await memory.readRecord(SLOT, lastSeq + 2, soon());
  assert.equal(record?.body.match(/namespace-created/g)?.length, 800);
});

test('waiting operations with many changes count as that many writes, for the tenant and in memory', async () => {
  const { slot, tenantId } = await openSlot();
  const other = await slot.createTenant();
  slot.faults.turn('hold', ['append']);
  const first = submit(slot, tenantId, 'n');
  await waitFor(() => slot.faults.heldCalls() === 1);
  const { bytes } = slot.budget.writes.state('queue');
  const waiting = Array.from({ length: 10 }, () => submit(slot, tenantId, undefined, 1000, 1));
  assert.ok(slot.budget.writes.state('queue').bytes - bytes >= 10_000_000);
  await assert.rejects(submit(slot, tenantId, undefined, 1), { code: 'overloaded' });
  const more = submit(slot, other, 'other');
  slot.faults.restore(['append']);
  await Promise.all([first, ...waiting, more]);
  assert.ok(slot.budget.writes.state('queue').bytes <= bytes);
  await submit(slot, tenantId, undefined, 1000, 1);
});
