// What a cluster's speed stands on: warm checks that ask Cassandra nothing, a cold subject that costs one read however
// many ask, and writes that share an append.

import assert from 'node:assert/strict';
import { LoadClient } from '../../../../bench/load/load-client.ts';
import { slotOfTenant } from '../../../../src/core/slots.ts';
import { Strain } from '../../../kit/strain.ts';
import type { Cluster } from '../cluster.ts';
import type { TenantWithKey } from '../operator-client.ts';
import type { ServiceProcess } from '../service-process.ts';
import { startSlowProxy } from '../slow-proxy.ts';
import { readsSince, StoreReads } from '../store-reads.ts';
import type { Bench, Trial } from './trial.ts';

const WARM_CHECKS = 1000;
/**
 * What a check reads, every round reads; an append whose outcome is not known, or a log that is read back, reads but
 * once.
 */
const WARM_ROUNDS = 3;
const CONNECTIONS = 32;
const COLD_CHECKS = 64;
/**
 * Tables that hold what checks are answered from, and the log. The others are read as time passes, by the members'
 * heartbeats.
 */
const TENANT_TABLES = ['grants', 'keys', 'tenants', 'namespaces', 'subjects', 'log'];
const WRITERS = 64;
const GROUP_COMMIT_MS = 2000;
/** A way of a length that the processors, which the writers share, do not matter. */
const FAR_MS = 100;
const STORE_PORT = 9042;
const GROUP_COMMIT_RATIO_MIN = 30;
/** Nearly all of the writers that are not being answered. */
const GRANTS_PER_APPEND_MIN = 16;
const GRANTS_PREPARED = 5000;

/** Pages that a list of hot pages names without a sample. */
const PRELOADED_MAX = 128;
const SUBJECT = 'user:warm';
const tuple = (index: number) => ({ subject: SUBJECT, relation: 'viewer', object: `doc:${index}` });

async function post(cluster: Cluster, { key }: TenantWithKey, path: string, body: object): Promise<Response> {
  const [{ url } = { url: '' }] = cluster.frontUrls;
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function assertAuthorized(cluster: Cluster, tenant: TenantWithKey, index: number): Promise<void> {
  const response = await post(cluster, tenant, '/v1/check', tuple(index));
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(JSON.parse(text).authorized, true, text);
}

/** `others`: subjects with a grant, before the one that is checked. */
async function createTenant(cluster: Cluster, others = 0): Promise<TenantWithKey> {
  const tenant = await cluster.operator.createTenant('speed');
  for (let index = 0; index < others; index += 1) {
    const response = await post(cluster, tenant, '/v1/grants', { ...tuple(0), subject: `user:${index}` });
    assert.equal(response.status, 201, await response.text());
  }
  for (let index = 0; index < 10; index += 1) {
    const response = await post(cluster, tenant, '/v1/grants', tuple(index));
    assert.equal(response.status, 201, await response.text());
  }
  return tenant;
}

async function ownerOf(cluster: Cluster, { tenantId }: TenantWithKey): Promise<ServiceProcess> {
  const slots = await cluster.operator.slots();
  const owner = slots[slotOfTenant(tenantId, slots.length)]?.shard;
  const shard = cluster.shards.find(({ name }) => name === owner);
  if (shard === undefined) throw new Error(`The slot of ${tenantId} has no owner.`);
  return shard;
}

async function countReads(reads: StoreReads, run: () => Promise<void>): Promise<Map<string, number>> {
  const before = await reads.count();
  await run();
  const all = readsSince(before, await reads.count());
  return new Map([...all].filter(([table]) => TENANT_TABLES.includes(table)));
}

const warmChecks: Trial = {
  name: 'warm checks ask Cassandra nothing',
  async run({ cluster, cassandra, say }) {
    const tenant = await createTenant(cluster);
    await assertAuthorized(cluster, tenant, 0);
    const reads = new StoreReads(cassandra);
    const client = new LoadClient();
    const [{ url } = { url: '' }] = cluster.frontUrls;
    const requests = Array.from({ length: WARM_CHECKS }, (_, index) => ({
      body: JSON.stringify(tuple(index % 10)),
      expectedStart: '{"authorized":true',
    }));
    const job = { url, key: tenant.key, path: '/v1/check', expectedStatus: 200, connections: CONNECTIONS, requests };
    try {
      let counted = new Map<string, number>();
      for (let round = 0; round < WARM_ROUNDS; round += 1) {
        counted = await countReads(reads, async () => {
          const result = await client.run({ ...job, mode: { kind: 'each-once' } });
          assert.equal(result.answered, WARM_CHECKS);
          say(`  ${(result.answered / result.seconds).toFixed(0)} checks/s, p50 ${result.latencyMs.p50.toFixed(1)} ms`);
        });
        say(`  reads of Cassandra during ${WARM_CHECKS} warm checks: ${JSON.stringify(Object.fromEntries(counted))}`);
        if (counted.size === 0) break;
      }
      assert.deepEqual(counted, new Map());
    } finally {
      client.close();
      await reads.close();
    }
  },
};

const coldSubject: Trial = {
  name: 'a cold subject costs one read however many ask',
  async run({ cluster, cassandra, say }) {
    // No check has looked at the subject, since one check in 16 is sampled, and the next owner preloads what was. What
    // else that owner preloads are the first pages in memory, as long as they are few.
    const tenant = await createTenant(cluster, PRELOADED_MAX);
    const reads = new StoreReads(cassandra);
    const owner = await ownerOf(cluster, tenant);
    await owner.stop();
    await cluster.waitUntilServed();
    try {
      // The keys of the tenant are read by a check of another subject.
      await (await post(cluster, tenant, '/v1/check', { ...tuple(0), subject: 'user:other' })).text();
      const counted = await countReads(reads, async () => {
        await Promise.all(
          Array.from({ length: COLD_CHECKS }, (_, index) => assertAuthorized(cluster, tenant, index % 10)),
        );
      });
      say(
        `  reads of Cassandra for ${COLD_CHECKS} checks at once of a cold subject: ${JSON.stringify(Object.fromEntries(counted))}`,
      );
      // No check reads the log; the maintenance of a slot does, whenever its round comes.
      counted.delete('log');
      assert.deepEqual(counted, new Map([['grants', 1]]));
    } finally {
      await reads.close();
      owner.start();
      await cluster.waitUntilServed();
    }
  },
};

async function readBatches(shard: ServiceProcess): Promise<{ operations: number; appends: number }> {
  return {
    operations: await shard.readMetric('grantd_append_batch_operations_sum'),
    appends: await shard.readMetric('grantd_append_batch_operations_count'),
  };
}

/** The shard alone reaches Cassandra over a long way. */
async function withStoreFarAway(
  { cluster, cassandra }: Bench,
  shard: ServiceProcess,
  run: () => Promise<void>,
): Promise<void> {
  const nodes = cassandra.contactPoints.map((host) => `${host}:${STORE_PORT}`);
  const proxies = await Promise.all(nodes.map((node) => startSlowProxy(node, FAR_MS)));
  const restart = async (environment: Record<string, string>): Promise<void> => {
    await shard.stop();
    shard.start(environment);
    await cluster.waitUntilServed();
  };
  await restart({ TEST_REDIRECTS: proxies.map(({ address }, index) => `${nodes[index]}=${address}`).join(',') });
  await run();
  await restart({});
  for (const proxy of proxies) proxy.close();
}

async function createTenantOn(cluster: Cluster, shard: ServiceProcess): Promise<TenantWithKey> {
  for (;;) {
    const tenant = await cluster.operator.createTenant('speed');
    if ((await ownerOf(cluster, tenant)) === shard) return tenant;
  }
}

const groupCommit: Trial = {
  name: `${WRITERS} writers of one tenant get at least ${GROUP_COMMIT_RATIO_MIN} times the grants of one`,
  run: (bench) => {
    const { cluster, judgeTimes, say } = bench;
    const owner = cluster.shard(0);
    return withStoreFarAway(bench, owner, async () => {
      const { key } = await createTenantOn(cluster, owner);
      const [{ url } = { url: '' }] = cluster.frontUrls;
      const client = new LoadClient();
      let used = 0;
      const perSecond = async (connections: number): Promise<number> => {
        const requests = Array.from({ length: GRANTS_PREPARED }, (_, index) => ({
          body: JSON.stringify({
            subject: `user:${(used + index) % 100}`,
            relation: 'viewer',
            object: `doc:${used + index}`,
          }),
          expectedStart: '{"grant_id":"grt_',
        }));
        used += GRANTS_PREPARED;
        const job = { url, key, path: '/v1/grants', expectedStatus: 201, connections, requests };
        const mode = { kind: 'saturate', durationMs: GROUP_COMMIT_MS } as const;
        const { answered, seconds } = await client.run({ ...job, mode });
        return answered / seconds;
      };
      try {
        using strain = new Strain();
        const single = await perSecond(1);
        const before = await readBatches(owner);
        const many = await perSecond(WRITERS);
        const after = await readBatches(owner);
        const perAppend = (after.operations - before.operations) / (after.appends - before.appends);
        const factor = strain.take();
        say(
          `  grants/s: ${single.toFixed(1)} with one writer, ${many.toFixed(0)} with ${WRITERS}: ratio ${(many / single).toFixed(1)}, ${perAppend.toFixed(1)} grants per append (strain ${factor.toFixed(1)})`,
        );
        assert.ok(perAppend >= GRANTS_PER_APPEND_MIN, `${perAppend} grants per append`);
        judgeTimes(factor, () => assert.ok(many / single >= GROUP_COMMIT_RATIO_MIN, `the ratio is ${many / single}`));
      } finally {
        client.close();
      }
    });
  },
};

export const SPEED: readonly Trial[] = [warmChecks, coldSubject];
/** Not in every run. */
export const SLOW_SPEED: readonly Trial[] = [groupCommit];
