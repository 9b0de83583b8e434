// An owner that stands still for longer than the log is kept, and wakes: the places that it would append at next have
// been trimmed and are empty, so that no fence is in its way there. What it does then changes nothing, and is never
// acknowledged.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimLog } from '../../../../src/shard/log/maintenance.ts';
import type { MemoryStore } from '../../../kit/store/memory-store.ts';
import {
  createMemoryStore,
  OpenSlot,
  openSlot,
  portsOf,
  SEGMENT_SIZE,
  SLOT,
  settled,
  soon,
  tuple,
  waitFor,
} from '../tools.ts';

const RETENTION_MS = 3_600_000;
const KEPT = tuple('user:a', 'doc:kept');

/** What every machine's clocks show: so much more than at the beginning. */
function sharedTime() {
  let passedMs = 0;
  const clocks = { wallMs: () => Date.now() + passedMs, aheadMs: () => passedMs };
  const pass = (byMs: number): void => {
    passedMs += byMs;
  };
  return { clocks, pass };
}

/** Another owner takes the slot over, fills more than a segment, and trims it once it is old. */
async function takeOverAndTrim(memory: MemoryStore, time: ReturnType<typeof sharedTime>): Promise<OpenSlot> {
  const heir = await OpenSlot.open(memory, time.clocks);
  const tenantId = await heir.createTenant();
  const handle = await heir.handle(tenantId);
  for (let index = 0; index < 3 * SEGMENT_SIZE; index += 1) await heir.grant(handle, tuple('user:b', `doc:${index}`));
  time.pass(RETENTION_MS + 1000);
  await heir.tenure.checkpointed();
  assert.ok((await trimLog(portsOf(heir, RETENTION_MS), heir.tenure)) >= 2);
  return heir;
}

for (const { name, fault } of [
  { name: 'repeats an append after waking', fault: 'fail-before' },
  { name: 'wakes between its last check and the sending of an append', fault: 'hold' },
] as const) {
  test(`an owner that ${name}, at a trimmed seq, neither acknowledges it nor changes anything`, async () => {
    const memory = await createMemoryStore();
    const time = sharedTime();
    const former = await OpenSlot.open(memory, time.clocks);
    const tenantId = await former.createTenant();
    const handle = await former.handle(tenantId);
    await former.grant(handle, KEPT);
    await former.tenure.checkpointed();
    const trimmedSeq = former.tenure.lastSeq + 1;
    const appends = former.faults.calls('append');
    former.faults.turn(fault, ['append', 'readRecord']);
    // Otherwise it hears of the heir here, a second after its start, if the machine takes that long for what follows.
    former.faults.turn('fail-before', ['recordOpened']);
    const write = former.revoke(handle, KEPT);
    write.catch(() => {});
    await waitFor(() => former.faults.calls('append') > appends);

    const heir = await takeOverAndTrim(memory, time);
    assert.ok(((await memory.readSlot(SLOT, soon()))?.first ?? 0) > trimmedSeq);
    const checkpoint = memory.checkpointOf(SLOT);

    // It was declared dead by the heir, and has not heard of it yet: its lease is over.
    former.leaseValid = false;
    former.faults.restore(['append', 'readRecord']);
    await waitFor(async () => (await memory.readRecord(SLOT, trimmedSeq, soon())) !== undefined);
    assert.equal(await settled(write), false);
    assert.equal(former.tenure.lastSeq, trimmedSeq - 1, 'it is not taken into memory');
    // Whatever write-behind it has may be done now.
    await former.tenure.applied();
    await former.tenure.checkpointed();
    assert.deepEqual(memory.checkpointOf(SLOT), checkpoint);
    former.tenure.end('Another member declared this one dead.');
    await assert.rejects(write, { kind: 'undecided' });

    assert.equal(await heir.check(await heir.handle(tenantId), KEPT), true);
    const third = await heir.restart(time.clocks);
    assert.equal(await third.check(await third.handle(tenantId), KEPT), true, 'what was acknowledged stands');
    for (const slot of [former, third]) slot.kill();
  });
}

test('a claimant that stalls before its open entry, and appends it where the log was trimmed, never serves', async () => {
  const memory = await createMemoryStore();
  const time = sharedTime();
  const first = await OpenSlot.open(memory, time.clocks);
  const tenantId = await first.createTenant();
  await first.grant(await first.handle(tenantId), KEPT);
  await first.tenure.checkpointed();
  first.kill();

  const { promise: asleep, resolve: wake } = Promise.withResolvers<void>();
  let stalls = 0;
  const stalled = await OpenSlot.claim(memory, {
    ...time.clocks,
    hooks: {
      // The second is the look beyond the end of the log, after which the open entry is made.
      fault: (operation, call) => {
        if (operation !== 'readRecords' || call !== 2) return undefined;
        stalls += 1;
        return { kind: 'delay-reply', until: () => asleep };
      },
    },
  });
  const opening = stalled.tenure.open();
  opening.catch(() => {});
  await waitFor(() => stalls === 1);
  const heir = await takeOverAndTrim(memory, time);
  const checkpoint = memory.checkpointOf(SLOT);
  const { first: firstSeq } = (await memory.readSlot(SLOT, soon())) ?? { first: 0 };

  stalled.leaseValid = false;
  wake();
  await waitFor(() => stalled.faults.calls('append') === 1);
  assert.equal(await settled(opening), false);
  assert.ok(
    memory.seqsOf(SLOT).some((seq) => seq < firstSeq),
    'the open entry is beyond what is read',
  );
  assert.notEqual(stalled.tenure.state, 'serving');
  stalled.tenure.end('Another member declared this one dead.');
  await assert.rejects(opening, { kind: 'not-serving' });
  assert.deepEqual(memory.checkpointOf(SLOT), checkpoint);
  const third = await heir.restart(time.clocks);
  assert.equal(await third.check(await third.handle(tenantId), KEPT), true);
});

test('an owner whose lease lapses during its append acknowledges it once it has a lease again', async () => {
  const { slot, handle } = await openSlot();
  slot.faults.turn('hold', ['append']);
  const write = slot.grant(handle, KEPT);
  await waitFor(() => slot.faults.heldCalls() === 1);
  slot.leaseValid = false;
  slot.faults.restore(['append']);
  assert.equal(await settled(write), false);
  slot.leaseValid = true;
  assert.equal((await write).kind, 'created');
  assert.equal(await slot.check(handle, KEPT), true);
});
