// Two owners over one store: at most one of them can commit, the other one notices and steps down, and what either of
// them has acknowledged stays.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { encodeEntry, encodeOperation } from '../../../../src/shard/log/entries.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { createShardNode } from '../../../../src/shard/shard-node.ts';
import type { LogRecord } from '../../../../src/store/store.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { directOwners } from '../../../kit/direct-owners.ts';
import { createProcessClock } from '../../../kit/process-clock.ts';
import { HARNESS_META as META, ShardHarness } from '../../../kit/shard-harness.ts';
import { delayedStore, WRITE_BEHIND } from '../../../kit/store/faulty-store.ts';
import { attempt, createMemoryStore, ids, OpenSlot, random, SLOT, soon, tuple, turns, waitFor } from '../tools.ts';

const TUPLE = tuple('user:a', 'doc:1');

test('the previous owner collides and steps down, and nothing acknowledged is lost', async () => {
  const memory = await createMemoryStore();
  const former = await OpenSlot.open(memory);
  const tenantId = await former.createTenant();
  const handle = await former.handle(tenantId);
  await former.grant(handle, TUPLE);
  // Its background writes would also detect the loss, on a busy machine before its next append.
  former.faults.turn('hold', WRITE_BEHIND);
  const heir = await OpenSlot.open(memory);
  const write = attempt();
  await assert.rejects(former.grant(handle, tuple('user:a', 'doc:2'), write), { kind: 'not-serving' });
  assert.equal(former.lost.length, 1);
  assert.equal(former.tenure.state, 'ended');
  await assert.rejects(former.check(handle, TUPLE), { kind: 'handle-unknown' });
  await assert.rejects(former.operator.authenticateOperator({ tenantId, operator: 'test' }), { kind: 'not-serving' });
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, TUPLE), true);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:2')), false);
  // The front repeats what the former owner did not do.
  assert.equal((await heir.grant(again, tuple('user:a', 'doc:2'), write)).kind, 'created');
});

test('all waiting and all in-flight writes of the previous owner are refused', async () => {
  const memory = await createMemoryStore();
  const former = await OpenSlot.open(memory);
  const tenantId = await former.createTenant();
  const handle = await former.handle(tenantId);
  former.faults.turn('hold', ['append']);
  const inFlight = former.grant(handle, TUPLE);
  await waitFor(() => former.faults.heldCalls() === 1);
  const waiting = former.grant(handle, tuple('user:a', 'doc:2'));
  await turns(2);
  const heir = await OpenSlot.open(memory);
  former.faults.restore(['append']);
  await assert.rejects(inFlight, { kind: 'not-serving' });
  await assert.rejects(waiting, { kind: 'not-serving' });
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, TUPLE), false);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:2')), false);
});

test('an entry of the previous owner before the open entry counts', async () => {
  const memory = await createMemoryStore();
  const former = await OpenSlot.open(memory);
  const tenantId = await former.createTenant();
  const handle = await former.handle(tenantId);
  const heir = await OpenSlot.claim(memory);
  heir.faults.turn('hold', ['append']);
  const opening = heir.tenure.open();
  await waitFor(() => heir.faults.heldCalls() === 1);
  // The heir has read the log to its end; the former owner does not know of it yet.
  const by = attempt();
  const created = await former.grant(handle, TUPLE, by);
  await former.revoke(handle, TUPLE);
  await former.grant(handle, tuple('user:a', 'doc:2'));
  heir.faults.restore(['append']);
  await opening;
  const again = await heir.handle(tenantId);
  assert.equal(await heir.check(again, TUPLE), false);
  assert.equal(await heir.check(again, tuple('user:a', 'doc:2')), true);
  assert.deepEqual(await heir.grant(again, TUPLE, by), created);
  await assert.rejects(former.grant(handle, tuple('user:a', 'doc:3')), { kind: 'not-serving' });
});

test('an entry of a lower epoch after a higher one is void, for recovery and for the appender', async () => {
  const memory = await createMemoryStore();
  const former = await OpenSlot.open(memory);
  const tenantId = await former.createTenant();
  await former.grant(await former.handle(tenantId), TUPLE);
  const { epoch } = former.tenure;
  const second = await former.restart();
  const voidEntry = (seq: number, object: string): LogRecord => {
    const operation = {
      tenantId,
      actor: 'operator:test',
      requestId: `req_void_${object}`,
      index: 0,
      atMs: Date.now(),
      changes: [
        {
          kind: 'grant-created' as const,
          grant: { ...tuple('user:a', object), grantId: ids.create('grt'), createdAtMs: 1 },
          newSubject: true,
        },
      ],
    };
    const body = encodeEntry({ base: Date.now() * 1000 + 1_000_000, elapsedMs: 0 }, [encodeOperation(operation)]);
    return { slot: SLOT, seq, epoch, entryId: ids.create('ent'), body };
  };
  // The appender finds its seq taken by an entry that does not count, and goes on behind it.
  const handle = await second.handle(tenantId);
  await memory.append(voidEntry(second.tenure.lastSeq + 1, 'doc:void1'), soon());
  assert.equal((await second.grant(handle, tuple('user:a', 'doc:2'))).kind, 'created');
  assert.equal(second.tenure.state, 'serving');
  await second.tenure.checkpointed();
  await memory.append(voidEntry(second.tenure.lastSeq + 1, 'doc:void2'), soon());

  const third = await second.restart();
  const again = await third.handle(tenantId);
  for (const object of ['doc:void1', 'doc:void2']) {
    assert.equal(await third.check(again, tuple('user:a', object)), false);
    // Nor does it answer for the operation that it holds.
    const by = { requestId: `req_void_${object}`, expiresAtMs: soon() };
    assert.equal((await third.revoke(again, tuple('user:a', object), by)).kind, 'not-found');
  }
  assert.equal(await third.check(again, TUPLE), true);
  assert.equal(await third.check(again, tuple('user:a', 'doc:2')), true);
});

/** Undefined: the first node found out by its own heartbeat, before its write did. */
async function loseSlotsByWriting(harness: ShardHarness) {
  const first = await harness.start();
  const tenantId = await harness.createTenant(first);
  const handle = await harness.open(first, tenantId);
  await harness.write(first, handle, TUPLE);
  let changes = 0;
  first.node.watchRoutes(() => {
    changes += 1;
  });
  // The second incarnation declares the first one dead, although it lives.
  const second = await harness.start();
  assert.equal(second.node.routes().epochs.size, 4);
  const write = harness.write(first, handle, tuple('user:a', 'doc:2'));
  const kind = await write.then(
    () => 'written',
    (error) => error.kind,
  );
  if (kind === 'handle-unknown' || first.node.routes().epochs.size === 0) return undefined;
  assert.equal(kind, 'not-serving');
  assert.equal(first.node.routes().epochs.size, 3);
  assert.equal(changes, 1);
  return { first, second, tenantId };
}

test('a node that lost its slots reports it, drops their routes and does not take them from a live owner', async () => {
  let harness = new ShardHarness();
  let lost = await loseSlotsByWriting(harness);
  for (let attempt = 1; lost === undefined && attempt < 10; attempt += 1) {
    harness.killAll();
    harness = new ShardHarness();
    lost = await loseSlotsByWriting(harness);
  }
  assert.ok(lost !== undefined, 'a write came before the next heartbeat');
  const { first, second, tenantId } = lost;
  assert.equal(await second.connection.check(await harness.open(second, tenantId), 'user:a', 6, 'doc:1'), true);
  const reads = first.faults.calls('listMembers');
  const claims = first.faults.calls('claimSlot');
  await waitFor(() => first.faults.calls('listMembers') > reads, 'the first to look for its slots');
  await turns(20);
  assert.equal(first.faults.calls('claimSlot'), claims);
  assert.equal(second.node.routes().epochs.size, 4);
  harness.killAll();
});

test('a node that is stopped while it opens its slots leaves none of them claimed', async () => {
  const harness = new ShardHarness();
  const first = await harness.start();
  await harness.stop(first);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const clock = createProcessClock();
  const { store, faults } = delayedStore(harness.store, clock, {
    fault: (operation) => (operation === 'claimSlot' ? { kind: 'delay', until: () => held } : undefined),
  });
  const log = createLog({ level: 'silent', pretty: false });
  const node = createShardNode(
    {
      store,
      clock,
      random,
      log,
      metrics: createMetrics(),
      budget: new MemoryBudget(1024 * 1024, new FairTurns(clock)),
      owners: directOwners(clock),
    },
    { shardName: 'shard-1', address: '127.0.0.1:1', meta: META, plans: BUILT_IN_PLANS, exclusive: true },
  );
  await node.join();
  const starting = node.start();
  await waitFor(() => faults.calls('claimSlot') === META.slots);
  const stopping = node.stop();
  release();
  await Promise.all([starting, stopping]);
  assert.equal(node.routes().epochs.size, 0);
  for (const row of await harness.store.listSlots(soon())) assert.equal(row.owner, undefined);
  assert.deepEqual(await harness.store.listMembers(soon()), []);
  clock.kill();
});
