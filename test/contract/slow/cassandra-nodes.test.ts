// Three nodes, of which one is paused, one is killed, all are killed: every call goes on working as long as a quorum
// lives, and again once it is back, and what was acknowledged stands. How long a node that is away may delay anything
// is judged on a whole cluster (test/cluster/slow).

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { LogRecord, Store } from '../../../src/store/store.ts';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import {
  createGrantWrite,
  createMember,
  createRecord,
  META,
  newSlot,
  newTenantId,
  soon,
} from '../../kit/store/store-fixtures.ts';
import { waitFor } from '../../kit/wait-for.ts';

/** Of members in these tests. */
const WALL_MS = 1_700_000_000_000;

const missing = await missingCassandra('Cassandra with nodes that fail');
const now = (): number => systemClock.monotonicMs();
const HEARTBEAT_INTERVAL_MS = 500;
const HEARTBEAT_TIMEOUT_MS = 700;
const CALL_MS = 5000;
const CALL_INTERVAL_MS = 50;
/** Longer than the driver takes to lose every node. */
const OUTAGE_MS = 3000;
/** Of each kind, while a node is away: some are sent to each node. */
const CALLS = 6;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Runs again and again until it is stopped; knows how often it went well. */
class Loop {
  readonly #done: Promise<void>;
  #stopped = false;
  count = 0;

  constructor(work: () => Promise<void>, intervalMs: number) {
    this.#done = this.#run(work, intervalMs);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  async #run(work: () => Promise<void>, intervalMs: number): Promise<void> {
    while (!this.#stopped) {
      const startMs = now();
      try {
        await work();
        this.count += 1;
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
      }
      await pause(Math.max(1, startMs + intervalMs - now()));
    }
  }
}

/** A member that heartbeats as a shard does. */
async function startHeartbeats(store: Store): Promise<Loop> {
  const member = createMember({ heartbeat: 0 });
  await store.insertMember(member, soon());
  let standing = 0;
  let last = 0;
  return new Loop(async () => {
    last += 1;
    const heartbeat = {
      incarnation: member.incarnation,
      expectedHeartbeat: standing,
      heartbeat: last,
      healthyHeartbeat: 0,
      wallMs: WALL_MS,
      state: 'alive',
    } as const;
    const { applied, row } = await store.writeHeartbeat(heartbeat, now() + HEARTBEAT_TIMEOUT_MS);
    assert.ok(row !== undefined && row.heartbeat <= last && row.heartbeat >= standing);
    assert.ok(!applied || row.heartbeat === last);
    standing = row.heartbeat;
  }, HEARTBEAT_INTERVAL_MS);
}

/** A log that grows as an owner's does: the same record again until it stands. */
function startAppending(store: Store): { loop: Loop; slot: number; acknowledged: LogRecord[] } {
  const slot = newSlot();
  const acknowledged: LogRecord[] = [];
  let record = createRecord(slot, 1);
  const loop = new Loop(async () => {
    const outcome = await store.append(record, now() + CALL_MS);
    if (outcome.kind === 'occupied') assert.deepEqual(outcome.record, record);
    acknowledged.push(record);
    record = createRecord(slot, record.seq + 1);
  }, CALL_INTERVAL_MS);
  return { loop, slot, acknowledged };
}

async function readLog(store: Store, slot: number): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const read = await store.readRecords(slot, records.length + 1, META.segmentSize, soon());
    if (read.length === 0) return records;
    records.push(...read);
  }
}

describe('three nodes of Cassandra', { skip: missing ?? false }, () => {
  let cluster: CassandraCluster;
  const stores: Store[] = [];
  const loops: Loop[] = [];
  before(async () => {
    cluster = await startCassandra({ nodes: 3 });
  });
  after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await Promise.all(stores.map((store) => store.close()));
    await cluster.stop();
  });

  it('are migrated once by two at once, alike on every node', async () => {
    const [first, second] = await Promise.all([migrate(cluster), migrate(cluster)]);
    assert.deepEqual(first, second);
    const seen = new Set<string>();
    for (const contactPoint of cluster.contactPoints) {
      const client = new cassandra.Client({
        contactPoints: [contactPoint],
        localDataCenter: cluster.localDatacenter,
        policies: {
          loadBalancing: new cassandra.policies.loadBalancing.AllowListPolicy(
            new cassandra.policies.loadBalancing.RoundRobinPolicy(),
            [`${contactPoint}:9042`],
          ),
        },
      });
      try {
        const tables = await client.execute(
          "SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = 'grantd'",
        );
        seen.add(tables.rows.map((row) => `${row.table_name} ${row.id}`).join('\n'));
      } finally {
        await client.shutdown();
      }
    }
    assert.equal(seen.size, 1);
    assert.deepEqual(await migrate(cluster), first);
  });

  it('serve on while one is paused, while one is killed, and when all are back', async () => {
    stores.push(await openStore(cluster), await openStore(cluster));
    const [store] = stores;
    assert.ok(store !== undefined);
    const heartbeats = await Promise.all(stores.map(startHeartbeats));
    const logs = stores.map(startAppending);
    const tenantId = newTenantId();
    await store.writeState([createGrantWrite(tenantId)], soon());
    const checks = new Loop(async () => {
      const row = await store.readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', now() + CALL_MS);
      assert.ok(row !== undefined);
    }, CALL_INTERVAL_MS);
    const scans = new Loop(async () => {
      assert.ok((await store.listMembers(now() + CALL_MS)).length >= heartbeats.length);
      await store.listSlots(now() + CALL_MS);
    }, 200);
    loops.push(...heartbeats, ...logs.map(({ loop }) => loop), checks, scans);
    const eachWorks = async (what: string): Promise<void> => {
      const counts = loops.map(({ count }) => count);
      await waitFor(`every call to work: ${what}`, () =>
        loops.every(({ count }, index) => count >= (counts[index] ?? 0) + CALLS),
      );
    };

    await eachWorks('before');
    await cluster.pause(2);
    await eachWorks('one paused');
    await cluster.resume(2);
    await eachWorks('it goes on');
    await cluster.kill(3);
    await eachWorks('one killed');
    await cluster.kill(1, 2);
    await pause(OUTAGE_MS);
    await cluster.restart(1, 2, 3);
    await eachWorks('all were killed, and are back');
    await Promise.all(loops.map((loop) => loop.stop()));

    for (const { slot, acknowledged } of logs) {
      assert.ok(acknowledged.length > 50);
      const standing = await readLog(store, slot);
      assert.deepEqual(standing.slice(0, acknowledged.length), acknowledged);
    }
  });
});
