// Readers of changes on Cassandra, killed a thousand times while shards are killed, drained and paused and the store
// has an outage: each has seen exactly what the audit log has.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { letRun, waitFor } from '../../kit/wait-for.ts';
import { Cluster } from '../support/cluster.ts';
import type { Load } from '../support/load.ts';
import { ResumingReaders } from '../support/resuming-readers.ts';
import { underLoad } from '../support/trials/trial.ts';

const SHARDS = 3;
const FRONTS = 2;
const SLOTS = 16;
const TENANTS = 6;
const REQUESTS_PER_SECOND = 150;
/** Of readers: in all, before the first fault, and between two faults. */
const LIVES = 1000;
const LIVES_BEFORE = 100;
const LIVES_BETWEEN = 50;
const BEFORE_MS = 1000;
const AFTER_MS = 1000;
/** Longer than the lease, so that another shard claims the slots. */
const PAUSE_MS = 8000;
/** For a cluster to be whole again, and for the lives that are left, on a machine with ten times the load. */
const BOUND_MS = 300_000;
const TRIAL_MS_MAX = 900_000;

async function startReaders(cluster: Cluster, tenants: Load['tenants']): Promise<ResumingReaders> {
  const urls = cluster.frontUrls.map(({ url }) => url);
  const anyUrl = (): string => urls[Math.floor(Math.random() * urls.length)] ?? '';
  return ResumingReaders.start(cluster.operator, anyUrl, tenants);
}

/** One fault after the other, the first once readers have begun. */
async function disturb(cluster: Cluster, cassandra: CassandraCluster, readers: ResumingReaders): Promise<void> {
  const [killed, drained, paused] = [cluster.shard(0), cluster.shard(1), cluster.shard(2)];
  const lives = (count: number) => waitFor(`${count} lives`, () => readers.lives >= count, BOUND_MS);
  await lives(LIVES_BEFORE);
  await killed.kill();
  await lives(readers.lives + LIVES_BETWEEN);
  killed.start();
  await cluster.waitUntilServed(BOUND_MS);
  await drained.stop();
  drained.start();
  await cluster.waitUntilServed(BOUND_MS);
  paused.signal('SIGSTOP');
  await letRun(PAUSE_MS);
  paused.signal('SIGCONT');
  await lives(readers.lives + LIVES_BETWEEN);
  await cassandra.pause(1);
  await letRun(PAUSE_MS);
  await cassandra.resume(1);
  await killed.kill();
  killed.start();
  await cluster.waitUntilServed(BOUND_MS);
  await lives(Math.max(LIVES, readers.lives + LIVES_BETWEEN));
}

const missing = await missingCassandra('readers of changes on Cassandra');

describe('readers of changes on Cassandra', { skip: missing ?? false }, () => {
  let cassandra: CassandraCluster | undefined;
  let cluster: Cluster | undefined;
  let failed = false;

  before(async () => {
    cassandra = await startCassandra({ nodes: 1 });
    cluster = await Cluster.start({ cassandra, shards: SHARDS, fronts: FRONTS, slots: SLOTS });
    await cluster.waitUntilServed(BOUND_MS);
  });
  after(async () => {
    await cluster?.end({ keepLogs: failed });
    await cassandra?.stop();
  });

  it(`killed ${LIVES} times, over kills, moves, a pause and an outage, they see the audit log`, {
    timeout: TRIAL_MS_MAX,
  }, async (context) => {
    assert.ok(cassandra !== undefined && cluster !== undefined);
    const say = (text: string): void => context.diagnostic(text);
    let readers: ResumingReaders | undefined;
    try {
      await underLoad(
        { cluster, beforeMs: BEFORE_MS, afterMs: AFTER_MS, say },
        'resumed-readers',
        async (load) => {
          readers = await startReaders(cluster as Cluster, load.tenants);
          await disturb(cluster as Cluster, cassandra as CassandraCluster, readers);
        },
        { tenants: TENANTS, requestsPerSecond: REQUESTS_PER_SECOND },
      );
      assert.ok(readers !== undefined);
      say(`  ${await readers.compare()}`);
    } catch (error) {
      failed = true;
      say(`The logs: ${cluster.directory}`);
      throw error;
    } finally {
      readers?.stop();
    }
  });
});
