// A reader beside a real owner: which questions it asks, what they cover, what it has applied at their answers, and
// what ends it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { relationNumber } from '../../../../src/core/tuples.ts';
import { evaluateSets } from '../../../../src/shard/evaluation/evaluate-sets.ts';
import { PAGE_LIMITS, READER_LIMITS } from '../../../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { ReaderTallies, TenantReader } from '../../../../src/shard/readers/tenant-reader.ts';
import type { FollowAnswer, FollowRequest } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { attempt, createMemoryStore, OpenSlot, SLOT, type SlotOptions, settled, tuple } from '../tools.ts';

const VIEWER = relationNumber('viewer') ?? 0;
const PLANS = new Map(Array.from(BUILT_IN_PLANS, ([name, plan]) => [name, { ...plan, readers: 2 }]));

/** What happens at the reader and its owner, in order. */
type Event = 'asks' | 'ends' | `reads ${string}`;

async function follow(options: SlotOptions = {}) {
  return followAt(await OpenSlot.open(await createMemoryStore(), { ...options, plans: PLANS }));
}

async function followAt(slot: OpenSlot) {
  const tenantId = [...slot.tenure.tenants.keys()][0] ?? (await slot.createTenant());
  const handle = await slot.handle(tenantId);
  const events: Event[] = [];
  /** Each answer waits for it. */
  const gate: { open: Promise<void> } = { open: Promise.resolve() };
  const ask = async (request: FollowRequest): Promise<FollowAnswer> => {
    const answer = await slot.reader.shard.call('followTenant', {}, request);
    await gate.open;
    return answer;
  };
  const may = { read: true };
  const clock = slot.clock;
  const store = {
    ...slot.store,
    listGrants: (...query: Parameters<typeof slot.store.listGrants>) => {
      events.push(`reads ${query[0].subject}`);
      return slot.store.listGrants(...query);
    },
  };
  const reader = new TenantReader(
    { tenantId, slot: SLOT, address: 'owner:7000', tally: new ReaderTallies(createMetrics(), 1).begin(tenantId) },
    await ask({ tenantId, epoch: 0, seq: 0, advance: false }),
    {
      owners: {
        follow: (_, request) => {
          events.push('asks');
          return ask(request);
        },
      },
      store,
      clock,
      mayRead: () => may.read,
      budget: new MemoryBudget(10_000_000, new FairTurns(clock)),
      pageLimits: PAGE_LIMITS,
      readerLimits: READER_LIMITS,
    },
    () => events.push('ends'),
  );
  const position = () => slot.front.call('readPosition', {}, { slot: SLOT, tenantId });
  return { slot, tenantId, handle, events, gate, may, reader, position };
}

const rejected = { kind: 'handle-unknown' };

test('one question serves everything that waits in one step', async () => {
  const { slot, handle, events, reader } = await follow();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  assert.notEqual(reader.lastSeq, slot.tenure.lastSeq);
  await Promise.all([reader.confirmed(), reader.confirmed(), reader.confirmed()]);
  assert.deepEqual([events, reader.lastSeq], [['asks'], slot.tenure.lastSeq]);
});

test('a question that has left does not cover what comes after it', async () => {
  const { slot, handle, events, gate, reader } = await follow();
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.open = promise;
  const before = slot.tenure.lastSeq;
  const first = reader.confirmed();
  assert.equal(await settled(first), false);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const later = [reader.confirmed(), reader.confirmed()];
  const ends: string[] = [];
  const note = async (name: string, promised: Promise<void>): Promise<void> => {
    await promised;
    ends.push(`${name} at ${reader.lastSeq - before}`);
  };
  const noted = [note('first', first), ...later.map((each) => note('later', each))];
  assert.deepEqual(events, ['asks']);
  resolve();
  await Promise.all(noted);
  assert.deepEqual(
    [events, ends],
    [
      ['asks', 'asks'],
      ['first at 0', 'later at 1', 'later at 1'],
    ],
  );
});

test('rows of the state tables are used only after a question that left when they had arrived', async () => {
  const { slot, handle, events, reader } = await follow();
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  await slot.applied();
  const page = await reader.memory.pages.load('user:a');
  assert.deepEqual(events, ['reads user:a', 'asks']);
  assert.deepEqual([page.holds(VIEWER, 'doc:1'), reader.lastSeq], [true, slot.tenure.lastSeq]);
});

test('a reader that lacks much takes it in parts, and the time of the end with the last one', async () => {
  const { slot, handle, events, gate, reader } = await follow();
  for (let batch = 0; batch < 4; batch += 1) {
    await slot.writeAll(
      handle,
      Array.from({ length: 500 }, (_, index) => tuple('user:a', `doc:${batch}-${index}`)),
    );
  }
  const [before, end] = [reader.nextBase, slot.tenure.lastSeq];
  const positions: number[] = [];
  const open = gate.open;
  Object.defineProperty(gate, 'open', {
    get: () => {
      positions.push(reader.lastSeq);
      if (reader.lastSeq < end) assert.equal(reader.nextBase, before);
      return open;
    },
  });
  await reader.confirmed();
  assert.ok(events.length > 1, `${events.length} questions`);
  assert.equal(positions.length, events.length);
  assert.deepEqual(positions, [...new Set(positions)], 'each part goes on');
  assert.deepEqual([reader.lastSeq, reader.memory.grantCount.grants], [end, 2000]);
  assert.ok(reader.nextBase > before);
});

test('an owner whose commits were evicted keeps them again from the beginning of a reader on', async () => {
  const { slot, tenantId, handle, reader } = await follow();
  const commits = slot.tenure.tenants.get(tenantId)?.keepCommits(slot.tenure.lastSeq);
  assert.ok(commits !== undefined);
  // As the budget does it.
  slot.budget.remove(commits);
  commits.evict();
  const beginning = await slot.reader.shard.call('followTenant', {}, { tenantId, epoch: 0, seq: 0, advance: false });
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  assert.notEqual(commits.after(beginning.seq), undefined);
  reader.end('idle');
});

test('a position is reached only with its epoch, and once its commits are applied', async () => {
  const { slot, tenantId, handle, events, reader, position } = await follow();
  const at = async () => new Map([[tenantId as string, await position()]]);
  const first = await at();
  assert.notEqual(reader.at(first), undefined);
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  const second = await at();
  assert.notEqual(reader.at(first), undefined);
  assert.deepEqual([reader.at(second), reader.at(new Map())], [undefined, undefined]);
  await reader.confirmed();
  assert.notEqual(reader.at(second), undefined);
  const other = { ...(await position()), epoch: reader.epoch + 1 };
  assert.equal(reader.at(new Map([[tenantId as string, other]])), undefined);
  reader.end('idle');
  assert.deepEqual([reader.at(second), events], [undefined, ['asks', 'ends']]);
});

test('the time of a position counts for the calls of its message alone', async () => {
  const { slot, tenantId, handle, reader, position } = await follow();
  const nowMs = slot.clock.wallMs();
  const grant = { ...tuple('user:a', 'doc:1'), expiresAtMs: nowMs + 3_600_000, revoke: false };
  await slot.connection.writeGrants(handle, attempt(), [grant]);
  await reader.confirmed();
  const honest = await position();
  const laterMs = nowMs + 10 * 365 * 24 * 3_600_000;
  const [before, loggedMs] = [reader.slotTime.nowMs, reader.slotTime.loggedMs];
  const forged = reader.at(new Map([[tenantId, { ...honest, nextBase: laterMs * 1000 + 1, nowMs: laterMs }]]));
  assert.ok(forged !== undefined);
  assert.deepEqual([forged.slotTime.nowMs, forged.slotTime.loggedMs], [laterMs, laterMs]);
  assert.deepEqual([reader.slotTime.nowMs, reader.slotTime.loggedMs], [before, loggedMs]);
  // The next message has an honest one, and hears nothing of it.
  const next = reader.at(new Map([[tenantId, honest]]));
  assert.equal(next?.slotTime.nowMs, Math.max(before, honest.nowMs));
  await next?.advance();
  await reader.confirmed();
  assert.ok(reader.slotTime.nowMs < laterMs && reader.nextBase < laterMs * 1000);
});

test('a commit counts, and sets when the next grant expires, as at the owner', async () => {
  const { slot, handle, reader } = await follow();
  const expiresAtMs = slot.clock.wallMs() + 3_600_000;
  await slot.grant(handle, tuple('user:a', 'doc:1'));
  await slot.connection.writeGrants(handle, attempt(), [{ ...tuple('user:b', 'doc:2'), expiresAtMs, revoke: false }]);
  await slot.revoke(handle, tuple('user:a', 'doc:1'));
  await reader.confirmed();
  const owner = slot.tenure.tenants.get(reader.tenantId);
  assert.deepEqual(
    [reader.memory.grantCount.total, reader.memory.nextExpiryMs],
    [owner?.grantCount.total, expiresAtMs],
  );
  assert.equal(owner?.nextExpiryMs, expiresAtMs);
});

test('once the owner has collected what has expired, sets at a reader need nothing of the log any more', async () => {
  const startMs = Date.UTC(2026, 10, 1);
  const [first, last] = [startMs + 1000, startMs + 3_600_000] as const;
  const wall = { ms: startMs };
  const { slot, handle, tenantId, events, reader } = await follow({ wallMs: () => wall.ms });
  for (const expiresAtMs of [last, first]) {
    const write = { ...tuple('user:a', `doc:${expiresAtMs}`), expiresAtMs, revoke: false };
    await slot.connection.writeGrants(handle, attempt(), [write]);
  }
  const query = { subject: 'user:a', namespace: 'doc', name: 'viewer', deep: [], perhaps: false };
  const listing = { tenure: reader, memory: reader.memory, clock: slot.clock, assertWanted: () => {} };
  /** How often the reader asked the owner. */
  const setsAt = async (): Promise<[timeMs: number | undefined, asked: number]> => {
    await reader.confirmed();
    events.length = 0;
    const { timeMs } = await evaluateSets(listing, query);
    return [timeMs, events.filter((event) => event === 'asks').length];
  };
  assert.deepEqual(await setsAt(), [wall.ms, 0]);
  wall.ms = first;
  const [timeMs, asked] = await setsAt();
  assert.ok(timeMs === first && asked > 0, 'the log has to say that a mirrored grant has expired');
  await slot.collect();
  wall.ms += 1;
  assert.deepEqual(await setsAt(), [wall.ms, 0]);
  // One that begins later knows it, too.
  const { reader: late } = await followAt(slot);
  assert.deepEqual([late.memory.nextExpiryMs, late.tenantId], [last, tenantId]);
});

test('a reader that begins while the owner collects knows of what has yet to be collected', async () => {
  const { slot } = await follow();
  const memory = slot.tenure.tenants.values().next().value;
  assert.ok(memory !== undefined);
  [memory.nextExpiryMs, memory.collectingMs] = [Number.POSITIVE_INFINITY, 4711];
  const { reader } = await followAt(slot);
  assert.equal(reader.memory.nextExpiryMs, 4711);
});

test('a shard that has lost the store answers nothing, from memory either, and goes on where it was', async () => {
  const { tenantId, events, may, reader, position } = await follow();
  const at = new Map([[tenantId as string, await position()]]);
  may.read = false;
  assert.equal(reader.at(at), undefined);
  await assert.rejects(reader.confirmed(), { kind: 'not-serving' });
  may.read = true;
  assert.notEqual(reader.at(at), undefined);
  assert.deepEqual(events, []);
});

test('an owner that refuses ends the reader, and all that waits hears of it', async () => {
  const { slot, events, reader } = await follow();
  slot.leaseValid = false;
  const waiting = [reader.confirmed(), reader.confirmed()];
  for (const each of waiting) await assert.rejects(each, rejected);
  slot.leaseValid = true;
  await assert.rejects(reader.confirmed(), rejected);
  assert.throws(() => reader.assertServing(), rejected);
  reader.end('idle');
  assert.deepEqual(events, ['asks', 'ends']);
});

test('a reader whose tenant has none any more ends at its next question, and nobody is told a position', async () => {
  const { slot, tenantId, events, reader, position } = await follow();
  const update = (readers: number | null) =>
    slot.operator.updateTenant(attempt(), { tenantId, readers, operator: 'test' });
  await update(1);
  await reader.confirmed();
  await update(0);
  await assert.rejects(reader.confirmed(), rejected);
  await assert.rejects(position(), rejected);
  const beginning = { tenantId, epoch: 0, seq: 0, advance: false };
  await assert.rejects(slot.reader.shard.call('followTenant', {}, beginning), rejected);
  assert.deepEqual(events, ['asks', 'asks', 'ends']);
  await update(null);
  assert.equal((await position()).seq, slot.tenure.lastSeq);
});

test('a reader and a front go by the time of the owner that opens a slot whose time was set back', async () => {
  const start = Date.UTC(2026, 10, 1);
  const wall = { ms: start };
  const { slot, reader: former, position: formerPosition } = await follow({ wallMs: () => wall.ms });
  wall.ms = start + 3_600_000;
  await slot.tenure.advance();
  wall.ms = start;
  await former.confirmed();
  assert.equal(former.slotTime.loggedMs, start + 3_600_000);
  assert.equal((await slot.operator.repairTime({ slot: SLOT, dryRun: false })).state, 'repaired');
  await assert.rejects(former.confirmed(), rejected);
  await assert.rejects(formerPosition());

  const heir = await OpenSlot.open(slot.memory, { plans: PLANS, wallMs: () => wall.ms });
  const { reader, handle, position } = await followAt(heir);
  wall.ms = start + 10;
  await heir.grant(handle, tuple('user:a', 'doc:1'));
  for (const ms of [start + 10, start + 1000]) {
    wall.ms = ms;
    await reader.advance();
    assert.deepEqual([reader.slotTime.loggedMs, reader.slotTime.nowMs], [ms, ms]);
    const at = reader.at(new Map([[reader.tenantId, await position()]]));
    assert.deepEqual([at?.slotTime.loggedMs, at?.slotTime.nowMs], [ms, ms]);
  }
});
