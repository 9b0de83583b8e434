// Revocations by a filter: every grant that matches at the moment of the decision, up to a bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RELATIONS, type Tuple } from '../../../../src/core/tuples.ts';
import { ENTRY_BYTES_MAX } from '../../../../src/shard/log/entries.ts';
import type { Attempt, GrantFilter } from '../../../../src/shard/shard.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import {
  attempt,
  numbered,
  type OpenSlot,
  openSlot,
  SLOT,
  type SlotOptions,
  soon,
  tuple,
  waitFor,
  wholeAuditLog,
} from '../tools.ts';

const ofSubject = (subject: string, relation?: GrantFilter['relation']): GrantFilter => ({ of: { subject }, relation });
const ofObject = (object: string, relation?: GrantFilter['relation']): GrantFilter => ({ of: { object }, relation });

const revoke = (slot: OpenSlot, handle: number, filter: GrantFilter, by: Attempt = slot.attempt()) =>
  slot.connection.revokeGrants(handle, by, filter);

const listed = async (slot: OpenSlot, handle: number, filter: GrantFilter): Promise<readonly string[]> => {
  const grants = await readAll((cursor) => slot.connection.listGrants(handle, { ...filter, limit: 1000, cursor }));
  return grants.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`);
};

const SIZES = [
  { name: 'from memory', options: {} },
  { name: 'too large for memory', options: { pageLimits: { rowsMax: 5, rowsPerRead: 5 } } },
] satisfies { name: string; options: SlotOptions }[];

for (const { name, options } of SIZES) {
  test(`the grants of a subject, or on an object, are revoked and no others: ${name}`, async () => {
    const { slot, handle, tenantId } = await openSlot(options);
    const objects = numbered(20, 'doc:');
    const viewers = objects.map((object) => tuple('user:a', object));
    const editors: Tuple[] = objects.map((object) => ({ subject: 'user:a', relation: 'editor', object }));
    const others = [tuple('user:b', 'doc:00001'), tuple('user:aa', 'doc:00001'), tuple('doc:00001', 'user:a')];
    await slot.writeAll(handle, [...viewers, ...editors, ...others]);
    for (const round of ['before it is in state', 'after']) {
      if (round === 'after') await slot.applied();
      const { lastSeq } = slot.tenure;
      assert.deepEqual(await revoke(slot, handle, ofSubject('user:a', 'editor')), { revoked: 20, complete: true });
      assert.equal(slot.tenure.lastSeq, lastSeq + 1, 'one entry');
      assert.equal((await listed(slot, handle, ofSubject('user:a'))).length, 20);
      assert.deepEqual(await revoke(slot, handle, ofObject('doc:00001')), { revoked: 3, complete: true });
      assert.deepEqual(await listed(slot, handle, ofObject('doc:00001')), []);
      assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 19, complete: true });
      assert.deepEqual(await listed(slot, handle, ofSubject('user:a')), []);
      assert.deepEqual(await listed(slot, handle, ofSubject('doc:00001')), ['doc:00001 viewer user:a']);
      await slot.writeAll(handle, [...viewers, ...editors, ...others]);
    }
    const heir = await slot.restart(options);
    const again = await heir.handle(tenantId);
    assert.equal((await listed(heir, again, ofSubject('user:a'))).length, 40);
    assert.deepEqual(await revoke(heir, again, ofSubject('user:a')), { revoked: 40, complete: true });
  });

  test(`where nothing matches, nothing is revoked or logged: ${name}`, async () => {
    const { slot, handle } = await openSlot(options);
    await slot.writeAll(
      handle,
      numbered(10, 'doc:').map((object) => tuple('user:a', object)),
    );
    const { lastSeq } = slot.tenure;
    const by = slot.attempt();
    assert.deepEqual(await revoke(slot, handle, ofSubject('user:a', 'owner'), by), { revoked: 0, complete: true });
    assert.deepEqual(await revoke(slot, handle, ofObject('doc:none')), { revoked: 0, complete: true });
    assert.equal(slot.tenure.lastSeq, lastSeq);
    // Its repeat revokes nothing either.
    await slot.connection.writeGrants(handle, slot.attempt(), [
      { subject: 'user:a', relation: 'owner', object: 'doc:1', revoke: false },
    ]);
    assert.deepEqual(await revoke(slot, handle, ofSubject('user:a', 'owner'), by), { revoked: 0, complete: true });
    assert.equal((await listed(slot, handle, ofSubject('user:a', 'owner'))).length, 1);
  });

  test(`what was committed after the read, or decided before in the same entry, counts: ${name}`, async () => {
    const { slot, handle } = await openSlot(options);
    const objects = numbered(10, 'doc:');
    await slot.writeAll(
      handle,
      objects.map((object) => tuple('user:a', object)),
    );
    await slot.applied();
    const calls = await slot.inOneEntry(
      () => slot.grant(handle, tuple('user:a', 'doc:00000x')),
      () => slot.revoke(handle, tuple('user:a', 'doc:00003')),
      () => slot.grant(handle, tuple('user:a', 'doc:00003x')),
      () => slot.revoke(handle, tuple('user:a', 'doc:00000x')),
      () => slot.grant(handle, tuple('user:b', 'doc:00003')),
      () => revoke(slot, handle, ofSubject('user:a')),
      () => slot.grant(handle, tuple('user:a', 'doc:after')),
    );
    await Promise.all(calls);
    assert.deepEqual(await calls[4], { revoked: 10, complete: true });
    assert.deepEqual(slot.batches, [1, 6], 'all of it in one entry');
    assert.deepEqual(await listed(slot, handle, ofSubject('user:a')), ['user:a viewer doc:after']);
    assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 1, complete: true });
    assert.deepEqual(await listed(slot, handle, ofObject('doc:00003')), ['user:b viewer doc:00003']);
  });

  test(`a call revokes 1,000 at most and says whether any are left: ${name}`, async () => {
    const { slot, handle } = await openSlot(options);
    await slot.writeAll(
      handle,
      numbered(2500, 'user:').map((subject) => tuple(subject, 'doc:1')),
    );
    const results = [];
    for (let calls = 0; calls < 3; calls += 1) results.push(await revoke(slot, handle, ofObject('doc:1')));
    assert.deepEqual(results, [
      { revoked: 1000, complete: false },
      { revoked: 1000, complete: false },
      { revoked: 500, complete: true },
    ]);
    await slot.writeAll(
      handle,
      numbered(1000, 'user:').map((subject) => tuple(subject, 'doc:2')),
    );
    assert.deepEqual(await revoke(slot, handle, ofObject('doc:2')), { revoked: 1000, complete: true });
  });

  test(`a preview says what the next call does, and changes nothing: ${name}`, async () => {
    let nowMs = Date.now();
    const { slot, handle, tenantId } = await openSlot({ ...options, wallMs: () => nowMs });
    await slot.writeAll(handle, [
      ...numbered(1200, 'doc:').map((object) => tuple('user:a', object)),
      { subject: 'user:a', relation: 'editor', object: 'doc:00001' },
      tuple('user:b', 'doc:00001'),
    ]);
    const expiring = { ...tuple('user:a', 'doc:00001x'), revoke: false, expiresAtMs: nowMs + 60_000 };
    await slot.connection.writeGrants(handle, slot.attempt(), [expiring]);
    nowMs += 120_000;
    const revocations = async (): Promise<number> =>
      (await wholeAuditLog(slot, tenantId)).filter(({ change }) => change.includes('grant.revoked')).length;
    const filters = [ofSubject('user:none'), ofSubject('user:a', 'editor'), ofObject('doc:00001'), ofSubject('user:a')];
    for (const filter of [...filters, ofSubject('user:a'), ofSubject('user:a')]) {
      const before = await revocations();
      const previewed = await slot.connection.previewRevocation(handle, filter);
      assert.deepEqual(await slot.connection.previewRevocation(handle, filter), previewed);
      assert.equal(await revocations(), before);
      assert.deepEqual(await revoke(slot, handle, filter), previewed);
      assert.equal(await revocations(), before + previewed.revoked);
    }
    assert.equal(await revocations(), 1202);
  });

  test(`two calls at once revoke each grant once: ${name}`, async () => {
    const { slot, handle, tenantId } = await openSlot(options);
    await slot.writeAll(
      handle,
      numbered(1500, 'doc:').map((object) => tuple('user:a', object)),
    );
    const results = await Promise.all([1, 2, 3].map(() => revoke(slot, handle, ofSubject('user:a'))));
    assert.deepEqual(
      results.map(({ revoked }) => revoked).toSorted((left, right) => left - right),
      [0, 500, 1000],
    );
    const revocations = (await wholeAuditLog(slot, tenantId)).filter(({ change }) => change.includes('grant.revoked'));
    assert.equal(revocations.length, 1500);
  });

  for (const how of ['from memory', 'by replay', 'from the tail of the log']) {
    test(`a repeat gets the first result and revokes nothing, ${how}: ${name}`, async () => {
      const { slot, handle, tenantId } = await openSlot(options);
      const tuples = numbered(1200, 'doc:').map((object) => tuple('user:a', object));
      await slot.writeAll(handle, tuples);
      const by = attempt();
      assert.deepEqual(await revoke(slot, handle, ofSubject('user:a'), by), { revoked: 1000, complete: false });
      if (how === 'from the tail of the log') await slot.tenure.checkpointed();
      const owner = how === 'from memory' ? slot : await slot.restart(options);
      const again = await owner.handle(tenantId);
      assert.deepEqual(await revoke(owner, again, ofSubject('user:a'), by), { revoked: 1000, complete: false });
      assert.equal((await listed(owner, again, ofSubject('user:a'))).length, 200);
    });
  }
}

test('what changed too much since it was read is read again', async () => {
  const { slot, handle } = await openSlot();
  const objects = numbered(600, 'doc:');
  await slot.grant(handle, tuple('user:a', 'doc:first'));
  slot.faults.turn('hold', ['append']);
  const ahead = slot.grant(handle, tuple('user:b', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const many = slot.connection.writeGrants(
    handle,
    slot.attempt(),
    objects.map((object) => ({ ...tuple('user:a', object), revoke: false })),
  );
  await waitFor(() => slot.tenure.queueLength === 600);
  const revoked = revoke(slot, handle, ofSubject('user:a'));
  await waitFor(() => slot.tenure.queueLength === 601);
  slot.faults.restore(['append']);
  await Promise.all([ahead, many]);
  assert.deepEqual(await revoked, { revoked: 601, complete: true });
});

test('the longest grants are revoked as far as an entry has room, and the rest by the next calls', async () => {
  const { memory, slot, handle } = await openSlot();
  const long = (index: number) => `${'n'.repeat(64)}:${String(index).padStart(4, '0')}${'\u{1F600}'.repeat(252)}`;
  const subject = long(9999);
  await slot.writeAll(
    handle,
    Array.from({ length: 500 }, (_, index) => tuple(subject, long(index))),
  );
  const { lastSeq } = slot.tenure;
  let revoked = 0;
  for (let complete = false; !complete; ) {
    const result = await revoke(slot, handle, ofSubject(subject));
    assert.ok(result.revoked > 100 || result.complete);
    revoked += result.revoked;
    complete = result.complete;
  }
  assert.equal(revoked, 500);
  assert.ok(slot.tenure.lastSeq - lastSeq > 1);
  for (let seq = lastSeq + 1; seq <= slot.tenure.lastSeq; seq += 1) {
    const record = await memory.readRecord(SLOT, seq, soon());
    assert.ok(Buffer.byteLength(record?.body ?? '') <= ENTRY_BYTES_MAX / 2);
  }
});

test('grants of every relation are revoked in turn', async () => {
  const { slot, handle } = await openSlot({ pageLimits: { rowsMax: 5, rowsPerRead: 5 } });
  const tuples: Tuple[] = RELATIONS.flatMap((relation) =>
    numbered(200, 'doc:').map((object) => ({ subject: 'user:a', relation, object })),
  );
  await slot.writeAll(handle, tuples);
  assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 1000, complete: false });
  assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 800, complete: true });
});

test('repeated calls do not read again what earlier ones revoked, and still find what was granted there since', async () => {
  const { slot, handle } = await openSlot({ pageLimits: { rowsMax: 5, rowsPerRead: 5 } });
  await slot.writeAll(
    handle,
    numbered(12_000, 'doc:').map((object) => tuple('user:a', object)),
  );
  await slot.applied();
  const readsOf = async (call: () => Promise<unknown>) => {
    const before = slot.faults.calls('listGrants');
    await call();
    return slot.faults.calls('listGrants') - before;
  };
  const reads: number[] = [];
  for (let calls = 0; calls < 8; calls += 1) {
    reads.push(
      await readsOf(async () => assert.equal((await revoke(slot, handle, ofSubject('user:a'))).revoked, 1000)),
    );
  }
  assert.ok(Math.max(...reads) <= 3, `${reads}`);
  // Before what was revoked, among it, and after it.
  const later = ['doc:', 'doc:00500', 'doc:07999x'].map((object) => tuple('user:a', `${object}!`));
  await slot.writeAll(handle, later);
  let revoked = 0;
  for (let complete = false; !complete; ) {
    const result = await revoke(slot, handle, ofSubject('user:a'));
    revoked += result.revoked;
    complete = result.complete;
  }
  assert.equal(revoked, 4003);
  assert.deepEqual(await listed(slot, handle, ofSubject('user:a')), []);
});

test('many tombstone rows are read in bounded parts, each call going on where the last one stopped', async () => {
  const { slot, handle } = await openSlot({ pageLimits: { rowsMax: 5, rowsPerRead: 5, rowsPerListing: 5 } });
  const tuples = numbered(800, 'doc:').map((object) => tuple('user:a', object));
  await slot.writeAll(handle, [...tuples, tuple('user:a', 'doc:last')]);
  await slot.writeAll(handle, tuples, true);
  await slot.applied();
  assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 0, complete: false });
  assert.deepEqual(await revoke(slot, handle, ofSubject('user:a')), { revoked: 1, complete: true });
});

test('calls that hold many grants wait for each other, and a tenant’s calls leave room for those of others', async () => {
  const { slot, handle } = await openSlot();
  await slot.writeAll(
    handle,
    numbered(1500, 'doc:').map((object) => tuple('user:a', object)),
  );
  const { bytes } = slot.budget.calls;
  slot.faults.turn('hold', ['append']);
  const calls = Array.from({ length: 8 }, () => revoke(slot, handle, ofSubject('user:a')));
  await waitFor(() => slot.tenure.queueLength > 0);
  assert.ok(slot.budget.calls.bytes - bytes >= 1_000_000, 'what is held is reserved');
  slot.faults.restore(['append']);
  const results = await Promise.all(calls);
  assert.equal(
    results.reduce((sum, { revoked }) => sum + revoked, 0),
    1500,
  );
  assert.equal(slot.budget.calls.bytes, bytes);
});
