// Promises of an owner that nobody is shown a commit of a tenant: how long an entry waits for them, and what is never
// promised; and how writes of such a tenant, its neighbours, and the next tenure of its slot go on meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { AppendTimes, SlotPromises } from '../../../../src/shard/log/quiet-promises.ts';
import { READER_LIMITS } from '../../../../src/shard/memory/limits.ts';
import { QUIET_SLACK_MS } from '../../../../src/shard/shard.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { createMemoryStore, ids, OpenSlot, SLOT, type SlotOptions, settled, soon, tuple, waitFor } from '../tools.ts';

const FIRST = ids.create('ten');
const SECOND = ids.create('ten');
/** In these tests the slot's time is that of a wall clock, and runs with the monotonic one. */
const slotTime = (clock: VirtualClock): number => clock.wallMs();

test('an entry waits for the promises to its own tenants, each for the last one to end', async () => {
  const clock = new VirtualClock();
  const promises = new SlotPromises(clock);
  const hold = (...tenants: (typeof FIRST)[]): number =>
    promises.holdMs(
      tenants.map((tenantId) => ({ tenantId })),
      slotTime(clock),
    );
  assert.equal(hold(FIRST), 0);
  assert.equal(promises.give(FIRST, 40, slotTime(clock), undefined), 40);
  await clock.advance(10);
  assert.equal(promises.give(FIRST, 10, slotTime(clock), undefined), 10);
  assert.equal(promises.give(SECOND, 50, slotTime(clock), undefined), 50);
  assert.deepEqual([hold(FIRST), hold(SECOND), hold(FIRST, SECOND), hold(ids.create('ten'))], [30, 50, 50, 0]);
  await clock.advance(30);
  assert.deepEqual([hold(FIRST), hold(SECOND)], [0, 20]);
  const over = promises.over();
  await clock.advance(19);
  assert.equal(await settled(over), false);
  await clock.advance(1);
  assert.equal(await settled(over), true);
});

test('what was promised is forgotten once it is over', async () => {
  const clock = new VirtualClock();
  const promises = new SlotPromises(clock);
  for (let count = 0; count < 1000; count += 1) {
    promises.give(ids.create('ten'), 40, slotTime(clock), undefined);
    await clock.advance(10);
  }
  assert.ok(promises.size <= 5, `${promises.size} are kept`);
});

test('an entry beyond the time that promises rest on waits for all of them, and none is given meanwhile', async () => {
  const clock = new VirtualClock();
  const promises = new SlotPromises(clock);
  promises.give(FIRST, 40, slotTime(clock), undefined);
  await clock.advance(10);
  assert.equal(promises.holdMs([], slotTime(clock) + QUIET_SLACK_MS), 0, 'clocks run that far apart');
  clock.wallOffsetMs += 3_600_000;
  const entryMs = slotTime(clock);
  assert.equal(promises.holdMs([], entryMs), 30);
  assert.equal(promises.give(SECOND, 40, slotTime(clock), entryMs), 0);
  clock.wallOffsetMs -= 3_600_000;
  assert.equal(promises.give(SECOND, 40, slotTime(clock), entryMs), 0, 'nor once the clock was set back');
  await clock.advance(30);
  assert.equal(promises.holdMs([], entryMs), 0);
  clock.wallOffsetMs += 3_600_000;
  assert.equal(promises.give(SECOND, 40, slotTime(clock), entryMs), 40);
  assert.equal(promises.holdMs([], slotTime(clock)), 0, 'it rests on the new time');
});

test('appends are expected to take their median', () => {
  const appends = new AppendTimes();
  assert.equal(appends.medianMs, 0);
  for (const tookMs of [10, 12, 5000]) appends.add(tookMs);
  assert.equal(appends.medianMs, 12);
  for (let count = 0; count < 15; count += 1) appends.add(3);
  assert.equal(appends.medianMs, 3);
});

// ---- at a slot ----

const PLANS = new Map(Array.from(BUILT_IN_PLANS, ([name, plan]) => [name, { ...plan, readers: 1 }]));

async function openWithReaders(options: SlotOptions = {}) {
  const slot = await OpenSlot.open(await createMemoryStore(), { ...options, plans: PLANS });
  slot.leaseLeftMs = 2000;
  const tenantId = await slot.createTenant();
  const handle = await slot.handle(tenantId);
  const ask = async (): Promise<number> =>
    (await slot.front.call('readPosition', {}, { slot: SLOT, tenantId })).quietMs;
  /** The tenant has had no commit for long. */
  const rest = (): void => {
    const { tenants, lastSeq } = slot.tenure;
    for (const memory of tenants.values()) memory.keepCommits(lastSeq).committedAtMs = Number.NEGATIVE_INFINITY;
  };
  rest();
  return { slot, tenantId, handle, ask, rest };
}

const { quietMs: QUIET_MS } = READER_LIMITS;

test('a promise lasts for an append while a tenant writes, longer after a rest, and never beyond the lease', async () => {
  const { slot, handle, ask, rest } = await openWithReaders();
  assert.equal(await ask(), QUIET_MS);
  slot.leaseLeftMs = 7.5;
  assert.equal(await ask(), 7);
  slot.leaseLeftMs = Number.POSITIVE_INFINITY;
  assert.equal(await ask(), 0, 'the readers of a store that belongs to one process are in that process');
  slot.leaseLeftMs = 2000;
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  assert.ok((await ask()) < QUIET_MS);
  rest();
  assert.equal(await ask(), QUIET_MS);
  slot.tenure.mayPromise = false;
  assert.equal(await ask(), 0);
});

test('nothing is promised while a write of the tenant waits or is appended, and again once it has ended', async () => {
  const { slot, handle, ask, rest } = await openWithReaders();
  slot.faults.turn('hold', ['append']);
  const first = slot.grant(handle, tuple('user:a', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  assert.equal(await ask(), 0);
  const second = slot.grant(handle, tuple('user:a', 'doc:2'));
  await waitFor(() => slot.tenure.queueLength === 1);
  assert.equal(await ask(), 0);
  slot.faults.restore(['append']);
  await Promise.all([first, second]);
  rest();
  assert.equal(await ask(), QUIET_MS);
  const expired = slot.grant(handle, tuple('user:a', 'doc:3'), { ...slot.attempt(), expiresAtMs: 0 });
  await assert.rejects(expired, { kind: 'expired' });
  rest();
  await waitFor(() => !slot.promises.standing);
  assert.equal(await ask(), QUIET_MS, 'one that was refused leaves nothing behind');
});

test('a commit is shown to nobody before the promise is over, and a write of another tenant does not wait', async () => {
  const { slot, tenantId, handle } = await openWithReaders();
  const other = await slot.handle(await slot.createTenant());
  const follow = () =>
    slot.reader.shard.call('followTenant', {}, { tenantId, epoch: slot.tenure.epoch, seq, advance: false });
  const { seq } = await slot.front.call('readPosition', {}, { slot: SLOT, tenantId });
  await waitFor(() => !slot.promises.standing);
  const order: string[] = [];
  const untilMs = slot.clock.monotonicMs() + 150;
  assert.equal(slot.promises.give(tenantId, 150, slot.tenure.slotTime.nowMs, undefined), 150);
  const promised = slot.grant(handle, tuple('user:a', 'doc:1')).then(() => {
    order.push('promised');
    return slot.clock.monotonicMs();
  });
  for (const object of ['doc:1', 'doc:2', 'doc:3']) await slot.grant(other, tuple('user:a', object));
  order.push('others');
  const shown = [await slot.check(handle, tuple('user:a', 'doc:1')), (await follow()).commits];
  if (slot.clock.monotonicMs() < untilMs) assert.deepEqual([order, shown], [['others'], [false, '']]);
  assert.ok((await promised) >= untilMs, 'it is acknowledged once the promise is over');
  assert.equal(await slot.check(handle, tuple('user:a', 'doc:1')), true);
  assert.notEqual((await follow()).commits, '');
});

test('an entry that is in the log before the promise is over waits for it', async () => {
  const { slot, tenantId, handle } = await openWithReaders();
  slot.faults.turn('hold', ['append']);
  const write = slot.grant(handle, tuple('user:a', 'doc:1')).then(() => slot.clock.monotonicMs());
  await waitFor(() => slot.faults.heldCalls() === 1);
  // As if the promise had been given in the moment before.
  const untilMs = slot.clock.monotonicMs() + 100;
  slot.promises.give(tenantId, 100, slot.tenure.slotTime.nowMs, undefined);
  slot.faults.restore(['append']);
  assert.ok((await write) >= untilMs);
});

test('a tenant whose grants may expire meanwhile is promised nothing', async () => {
  const { slot, handle, ask, rest } = await openWithReaders();
  const grant = (object: string, inMs: number) =>
    slot.connection.writeGrants(handle, slot.attempt(), [
      { ...tuple('user:a', object), revoke: false, expiresAtMs: slot.tenure.slotTime.nowMs + inMs },
    ]);
  await grant('doc:1', 60_000);
  rest();
  assert.equal(await ask(), QUIET_MS);
  await waitFor(() => !slot.promises.standing);
  await grant('doc:2', QUIET_MS + QUIET_SLACK_MS - 1);
  rest();
  assert.equal(await ask(), 0);
});

test('the next tenure of the slot in this process serves nothing before the promises of the last are over', async () => {
  const { slot, tenantId, handle } = await openWithReaders();
  const { lastSeq } = slot.tenure;
  slot.faults.turn('hold', ['append']);
  const write = slot.grant(handle, tuple('user:a', 'doc:1'));
  await waitFor(() => slot.faults.heldCalls() === 1);
  const untilMs = slot.clock.monotonicMs() + 150;
  slot.promises.give(tenantId, 150, slot.tenure.slotTime.nowMs, undefined);
  slot.faults.restore(['append']);
  await waitFor(async () => (await slot.memory.readRecord(SLOT, lastSeq + 1, soon())) !== undefined);
  slot.tenure.end('it was lost');
  await assert.rejects(write, { kind: 'undecided' });
  const next = await OpenSlot.open(slot.memory, { plans: PLANS, promises: slot.promises });
  assert.ok(next.clock.monotonicMs() >= untilMs);
  assert.equal(await next.check(await next.handle(tenantId), tuple('user:a', 'doc:1')), true);
});
