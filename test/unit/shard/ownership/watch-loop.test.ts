// The rounds of a shard: how often it reads the members.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { createShardNode } from '../../../../src/shard/shard-node.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { directOwners } from '../../../kit/direct-owners.ts';
import { HARNESS_META } from '../../../kit/shard-harness.ts';
import { MemoryStore } from '../../../kit/store/memory-store.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

async function startShard() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  await store.initializeMeta(HARNESS_META, Number.POSITIVE_INFINITY);
  const scans: number[] = [];
  const { listMembers } = store;
  store.listMembers = (deadline) => {
    scans.push(clock.monotonicMs());
    return listMembers.call(store, deadline);
  };
  const node = createShardNode(
    {
      store,
      clock,
      random: { bytes: (length) => randomBytes(length) },
      log: createLog({ level: 'silent', pretty: false }),
      metrics: createMetrics(),
      budget: new MemoryBudget(16 * 1024 * 1024, new FairTurns(clock)),
      owners: directOwners(clock, new Map()),
    },
    { shardName: 'shard-1', address: 'shard-1:1', meta: HARNESS_META, plans: BUILT_IN_PLANS },
  );
  const joining = node.join();
  await clock.advance(1000);
  await joining;
  void node.start();
  await clock.advance(10_000);
  return { clock, node, scans };
}

test('after a sign that a member has ended, a shard scans at once and every 50 ms for a second, then as before', async () => {
  const { clock, node, scans } = await startShard();
  const countIn = async (ms: number) => {
    scans.length = 0;
    await clock.advance(ms);
    return scans.length;
  };
  assert.equal(await countIn(5000), 20);
  await clock.advance(200);
  scans.length = 0;
  node.lookAtMembers();
  await clock.advance(0);
  assert.deepEqual(scans, [clock.monotonicMs()]);
  assert.equal(await countIn(1000), 19);
  // Signs that go on do not make it the rule.
  node.lookAtMembers();
  assert.ok((await countIn(2000)) <= 8);
});
