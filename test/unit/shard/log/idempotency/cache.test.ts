// The idempotency window in memory: what is kept for how long, and that letting go waits for nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeOfId } from '../../../../../src/core/ids.ts';
import { OperationMemory } from '../../../../../src/shard/log/idempotency/cache.ts';
import type { DecidedOperation } from '../../../../../src/shard/log/idempotency/operation-table.ts';
import { WriteMemory } from '../../../../../src/shard/memory/write-memory.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';
import { attempt, ids, openSlot, tuple, waitFor } from '../../tools.ts';

const KEEP_MS = 20_000;

function createMemory() {
  const clock = new VirtualClock();
  const writes = new WriteMemory(100_000_000, () => {});
  const memory = new OperationMemory(clock, KEEP_MS, writes.hold('operations'));
  return { clock, memory, heldBytes: () => writes.state('operations').bytes };
}

function decide(requestId = ids.create('req'), count = 1): DecidedOperation[] {
  return Array.from({ length: count }, (_, index) => {
    const grantId = ids.create('grt');
    const grant = { kind: 'created' as const, grantId, createdAtMs: timeOfId(grantId) ?? 0 };
    return { requestId, index, outcome: { result: { kind: 'grant', grant } } };
  });
}

test('each operation is known for the window, and soon afterwards its memory and timer are released', async () => {
  const { clock, memory, heldBytes } = createMemory();
  const remembered: { requestId: string; atMs: number }[] = [];
  for (let second = 0; second < 60; second += 1) {
    const requestId = ids.create('req');
    memory.remember(decide(requestId, 3));
    remembered.push({ requestId, atMs: clock.monotonicMs() });
    await clock.advance(1000);
    for (const each of remembered) {
      const ageMs = clock.monotonicMs() - each.atMs;
      const known = memory.restore(each.requestId, 2) !== undefined;
      if (ageMs <= KEEP_MS) assert.ok(known, `${ageMs} ms old`);
      if (ageMs > 1.5 * KEEP_MS) assert.ok(!known, `${ageMs} ms old`);
    }
  }
  assert.ok(heldBytes() > 0);
  await clock.advance(2 * KEEP_MS);
  assert.equal(heldBytes(), 0);
  assert.equal(clock.timers, 0);
});

test('an ended tenure holds no memory, and late results are discarded', async () => {
  const { clock, memory, heldBytes } = createMemory();
  memory.remember(decide());
  const restore = memory.beginRebuild(clock.monotonicMs());
  const keep = restore.add(decide(), 1);
  memory.drop();
  keep();
  restore.end();
  const [late] = decide();
  assert.ok(late !== undefined);
  memory.remember([late]);
  assert.equal(memory.restore(late.requestId, 0), undefined);
  assert.equal(heldBytes(), 0);
  assert.equal(clock.timers, 0);
});

test('of the log that is read back, entries of an epoch are kept by their position, and void ones release their memory', () => {
  const { clock, memory, heldBytes } = createMemory();
  const [valid, late, newest] = [decide(), decide(), decide()];
  const restore = memory.beginRebuild(clock.monotonicMs());
  // In the log: epoch 3, the first entry of epoch 4, a late write of epoch 3, epoch 4. Read from its end.
  const keepNewest = restore.add(newest, 4);
  restore.add(late, 3);
  restore.add([], 4)();
  const keepValid = restore.add(valid, 3);
  keepValid();
  keepNewest();
  const before = heldBytes();
  restore.end();
  assert.ok(heldBytes() < before);
  const known = (decided: DecidedOperation[]) => memory.restore(decided[0]?.requestId ?? '', 0) !== undefined;
  assert.deepEqual([known(valid), known(late), known(newest)], [true, false, true]);
});

test('operations that are read back are kept as long as those decided before the opening can be repeated', async () => {
  const { clock, memory, heldBytes } = createMemory();
  const openedAtMs = clock.monotonicMs();
  await clock.advance(KEEP_MS / 2);
  const restore = memory.beginRebuild(openedAtMs);
  const decided = decide();
  restore.add(decided, 1)();
  restore.end();
  await clock.advance(KEEP_MS / 2 - 1);
  assert.ok(memory.restore(decided[0]?.requestId ?? '', 0) !== undefined);
  await clock.advance(KEEP_MS);
  assert.equal(heldBytes(), 0);
});

test('operation ids expire while the store does not respond, without maintenance', async () => {
  const { slot, handle } = await openSlot({ operationsKeptMs: 200 });
  const by = attempt();
  await slot.grant(handle, tuple('user:a', 'doc:1'), by);
  const bytes = () => slot.budget.writes.state('operations').bytes;
  assert.ok(bytes() > 0);
  slot.faults.turn('hold', ['readRecord', 'readRecords', 'writeState', 'writeCheckpoint', 'append', 'removeSegment']);
  await waitFor(() => bytes() === 0);
});
