// Three nodes, of which one is paused, one is killed, all are killed: what was acknowledged stands, a member keeps its
// lease as long as a quorum lives, and nothing waits for a node that is away longer than it takes to notice. Bounds of
// time are stretched by how busy the machine is.

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
import { Strain } from '../../kit/strain.ts';
import { waitFor } from '../../kit/wait-for.ts';

const missing = await missingCassandra('Cassandra with nodes that fail');
const now = (): number => systemClock.monotonicMs();
const HEARTBEAT_INTERVAL_MS = 500;
const HEARTBEAT_TIMEOUT_MS = 700;
const CALL_MS = 5000;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Runs again and again until it is stopped; knows how often it went well, and the longest time without that. */
class Loop {
  readonly #done: Promise<void>;
  #stopped = false;
  #lastMs = now();
  #longestMs = 0;
  count = 0;

  constructor(work: () => Promise<void>, intervalMs: number) {
    this.#done = this.#run(work, intervalMs);
  }

  get lastMs(): number {
    return this.#lastMs;
  }

  /** Since it was last asked. */
  takeLongestMs(): number {
    const longest = Math.max(this.#longestMs, now() - this.#lastMs);
    this.#longestMs = 0;
    return longest;
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
        this.#longestMs = Math.max(this.#longestMs, now() - this.#lastMs);
        this.#lastMs = now();
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
  }, 20);
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

  it('serve on while one is paused, while one is killed, and at once when all are back', async (test) => {
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
    }, 20);
    const scans = new Loop(async () => {
      assert.ok((await store.listMembers(now() + CALL_MS)).length >= heartbeats.length);
      await store.listSlots(now() + CALL_MS);
    }, 200);
    loops.push(...heartbeats, ...logs.map(({ loop }) => loop), checks, scans);
    const strain = new Strain();
    test.after(() => strain.stop());
    const measure = (what: string): void => {
      const factor = strain.take();
      const [heartbeat, append, check, scan] = [
        Math.max(...heartbeats.map((loop) => loop.takeLongestMs())),
        Math.max(...logs.map(({ loop }) => loop.takeLongestMs())),
        checks.takeLongestMs(),
        scans.takeLongestMs(),
      ].map(Math.round);
      test.diagnostic(
        `${what}, the longest time in ms without a heartbeat ${heartbeat}, append ${append}, check ${check}, scan ${scan}; strain ${factor.toFixed(1)}`,
      );
      assert.ok((heartbeat ?? 0) < META.leaseMs * factor, `${what}: no lease ends`);
      for (const time of [append, check, scan]) assert.ok((time ?? 0) < CALL_MS * factor, what);
    };

    await pause(2000);
    measure('before');
    await cluster.pause(2);
    await pause(6000);
    measure('one paused');
    await cluster.resume(2);
    await pause(2000);
    measure('it goes on');
    await cluster.kill(3);
    await pause(4000);
    measure('one killed');
    await cluster.restart(3);
    measure('it is back');

    await cluster.kill(1, 2, 3);
    await pause(3000);
    await cluster.restart(1, 2, 3);
    strain.take();
    const backMs = now();
    await waitFor('all to be back', () => loops.every((loop) => loop.lastMs >= backMs));
    const tookMs = now() - backMs;
    const [first, second] = heartbeats.map((loop) => loop.lastMs);
    const factor = strain.take();
    test.diagnostic(
      `all were killed; everything works ${Math.round(tookMs)} ms after they were back; strain ${factor.toFixed(1)}`,
    );
    assert.ok(tookMs < CALL_MS * factor, 'all are back soon after the database is');
    assert.ok(Math.abs((first ?? 0) - (second ?? 0)) < 2000 * factor, 'processes are back at about the same time');
    await Promise.all(loops.map((loop) => loop.stop()));

    for (const { slot, acknowledged } of logs) {
      assert.ok(acknowledged.length > 50);
      const standing = await readLog(store, slot);
      assert.deepEqual(standing.slice(0, acknowledged.length), acknowledged);
    }
  });
});
