// How a process learns to which cluster it belongs, and what it thinks of shards of others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterId } from '../../../../src/core/ids.ts';
import type { ReceivedWelcome } from '../../../../src/rpc/messages.ts';
import { ClusterIdentity } from '../../../../src/rpc/transport/cluster-identity.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { newClusterId } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const [OURS, THEIRS] = [newClusterId(), newClusterId()];
const LONE_MS = 5000;

function setUp(id?: ClusterId) {
  const clock = new VirtualClock();
  const log = createRecordingLog();
  const metrics = createMetrics();
  const cluster = new ClusterIdentity({ clock, log, metrics }, id);
  let changes = 0;
  cluster.watch(() => {
    changes += 1;
  });
  return {
    clock,
    log,
    cluster,
    changes: () => changes,
    meet: (address: string, clusterId: string) =>
      cluster.meet(address, { clusterId, shardName: `at ${address}` } as ReceivedWelcome),
    foreign: async () => (await metrics.foreignClusterAddresses.get()).values[0]?.value,
    errors: () => log.lines.filter((line) => line.startsWith('error: ')),
  };
}

describe('a process that was given the id', () => {
  it('refuses every other cluster, names it once for each address and id, and counts the addresses', async () => {
    const { cluster, meet, foreign, errors } = setUp(OURS);
    assert.equal(meet('a:1', OURS), 'same');
    assert.deepEqual(cluster.warnings(), []);
    for (let times = 0; times < 3; times += 1) assert.equal(meet('b:1', THEIRS), 'foreign');
    assert.equal(errors().length, 1);
    assert.equal(meet('c:1', THEIRS), 'foreign');
    assert.equal(errors().length, 2);
    assert.equal(await foreign(), 2);
    const [warning = ''] = cluster.warnings();
    for (const part of [OURS, THEIRS, 'b:1', 'c:1']) assert.ok(warning.includes(part), warning);
    assert.equal(cluster.problem(), undefined);
    cluster.miss('b:1');
    cluster.forget('c:1');
    assert.deepEqual([await foreign(), cluster.warnings()], [0, []]);
  });

  it('refuses what is not the id of a cluster', () => {
    const { meet } = setUp(OURS);
    for (const text of ['', 'clu_', `${OURS}x`, OURS.toUpperCase()]) assert.equal(meet('a:1', text), 'foreign', text);
  });
});

describe('a process that has to learn the id', () => {
  it('waits for an outcome at every address that discovery names', () => {
    const { cluster, meet, changes } = setUp();
    cluster.expect(['a:1', 'b:1', 'c:1', 'd:1']);
    assert.equal(meet('a:1', OURS), 'undecided');
    assert.equal(meet('b:1', OURS), 'undecided');
    assert.equal(meet('c:1', OURS), 'undecided');
    assert.match(cluster.problem() ?? '', /3 of 4/);
    cluster.miss('d:1');
    assert.deepEqual([cluster.id, cluster.problem(), changes()], [OURS, undefined, 1]);
  });

  it('uses none of two clusters, says which answer where and what to set, and learns once one has gone', async () => {
    const { clock, cluster, meet, foreign, errors } = setUp();
    cluster.expect(['a:1', 'b:1']);
    assert.equal(meet('a:1', OURS), 'undecided');
    assert.equal(meet('b:1', THEIRS), 'undecided');
    await clock.advance(10 * LONE_MS);
    assert.equal(cluster.id, undefined);
    const problem = cluster.problem() ?? '';
    for (const part of [OURS, THEIRS, 'a:1', 'b:1', 'GRANTD_CLUSTER_ID']) assert.ok(problem.includes(part), problem);
    assert.equal(await foreign(), 2);
    assert.equal(errors().length, 1);
    assert.match(errors()[0] ?? '', /several clusters answer; none is used/);
    cluster.expect(['a:1']);
    cluster.forget('b:1');
    assert.equal(meet('a:1', OURS), 'same');
    assert.deepEqual([cluster.problem(), await foreign()], [undefined, 0]);
  });

  it('keeps the id that it knows, however many shards of another cluster come', async () => {
    const { clock, cluster, meet, changes } = setUp();
    cluster.expect(['a:1']);
    assert.equal(meet('a:1', OURS), 'same');
    cluster.expect(['a:1', 'b:1', 'c:1', 'd:1']);
    for (const address of ['b:1', 'c:1', 'd:1']) assert.equal(meet(address, THEIRS), 'foreign');
    cluster.miss('a:1');
    await clock.advance(10 * LONE_MS);
    assert.equal(meet('b:1', THEIRS), 'foreign');
    assert.deepEqual([cluster.id, changes()], [OURS, 1]);
  });

  it('presumes the id of the few that answer after a while, and uses none of them once another one answers', async () => {
    const { clock, cluster, meet } = setUp();
    cluster.expect(['a:1', 'b:1', 'c:1']);
    meet('a:1', THEIRS);
    cluster.miss('b:1');
    cluster.miss('c:1');
    await clock.advance(LONE_MS - 1);
    assert.equal(cluster.id, undefined);
    await clock.advance(1);
    assert.equal(meet('a:1', THEIRS), 'same');
    assert.equal(meet('b:1', OURS), 'undecided');
    assert.equal(meet('a:1', THEIRS), 'undecided');
    assert.match(cluster.problem() ?? '', /several clusters/);
    cluster.miss('b:1');
    assert.equal(meet('a:1', THEIRS), 'same');
    // More than half of the addresses settle it.
    assert.equal(meet('c:1', THEIRS), 'same');
    assert.equal(meet('b:1', OURS), 'foreign');
    assert.equal(meet('a:1', THEIRS), 'same');
  });

  it('begins to wait anew if another cluster answers in place of the first', async () => {
    const { clock, cluster, meet } = setUp();
    cluster.expect(['a:1', 'b:1']);
    meet('a:1', THEIRS);
    await clock.advance(LONE_MS - 1);
    meet('a:1', OURS);
    await clock.advance(LONE_MS - 1);
    assert.equal(cluster.id, undefined);
    await clock.advance(1);
    assert.equal(cluster.id, OURS);
  });

  it('never learns what is not an id', async () => {
    const { clock, cluster, meet } = setUp();
    cluster.expect(['a:1']);
    meet('a:1', '');
    await clock.advance(10 * LONE_MS);
    assert.equal(cluster.id, undefined);
    assert.match(cluster.problem() ?? '', /no cluster at a:1/);
  });
});
