// A tenant's life over two fronts, a console and a shard on real streams: whatever an operator decides is in force at
// once on every front, and what the tenant asks of all of them is counted in one place.

import assert from 'node:assert/strict';
import { mock, type TestContext, test } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import type { TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plan } from '../../../src/core/plans.ts';
import { ALL_SCOPES } from '../../../src/core/scopes.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront } from '../../../src/front/create-front.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { listenShardServer } from '../../../src/rpc/serving/server.ts';
import { HandleTable } from '../../../src/shard/peers/handles.ts';
import type { TenantChange } from '../../../src/shard/shard.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { call } from '../../kit/http-client.ts';
import { ShardHarness } from '../../kit/shard-harness.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { contextFor, listenApi, reportingClock, silentLog, until } from './harness.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
const TIGHT: Plan = {
  name: 'tight',
  requests: 3,
  windowSeconds: 60,
  namespacesMax: 2,
  keysMax: 2,
  grantsMax: undefined,
  streamsMax: 10,
  readers: 0,
  readersMax: 4,
};
const PLANS = new Map([...BUILT_IN_PLANS, ['tight', TIGHT] as const]);

async function startService(t: TestContext) {
  const harness = new ShardHarness({ plans: PLANS, maintenanceMs: 50 });
  t.after(() => harness.killAll());
  const shard = await harness.start();
  const server = await listenShardServer(
    { shard: () => shard.node, clock: systemClock, log: silentLog, metrics: createMetrics() },
    { address: '127.0.0.1:0', version: 'test', unprovenPeers: true },
  );
  t.after(() => server.close());
  const open = (peer: 'front' | 'console') => {
    const front = createFront(
      {
        discovery: createStaticDiscovery([server.address]),
        clock: reportingClock,
        random: systemRandom,
        log: silentLog,
        metrics: createMetrics(),
      },
      { name: peer, peer },
    );
    t.after(() => front.close());
    return front;
  };
  const fronts = [open('front'), open('front')];
  const { operator } = open('console');
  await until(() => fronts.every((front) => front.ready()));
  const urls = await Promise.all(fronts.map((front) => listenApi(t, front, { plans: PLANS })));
  const make = async (plan = 'unlimited') => {
    const { tenantId } = await operator.createTenant(contextFor(), { name: 'Acme', plan, operator: 'ann' });
    const session = await operator.tenant(contextFor(), tenantId, 'ann');
    const key = { name: '', scopes: ALL_SCOPES, expiresAtMs: undefined };
    return { tenantId, key: (await session.createKey(contextFor(), key)).text };
  };
  const check = (url: string, key: string) => call(url, { method: 'POST', path: '/v1/check', key, body: TUPLE });
  const statuses = (key: string) => Promise.all(urls.map(async (url) => (await check(url, key)).status));
  const update = (tenantId: TenantId, change: Partial<TenantChange>) =>
    operator.call('updateTenant', contextFor(), { tenantId, operator: 'ann', ...change });
  return { fronts, operator, urls, make, check, statuses, update };
}

test('a deleted tenant is refused on every front from the answer on, and is soon gone', async (t) => {
  const { operator, make, statuses, update } = await startService(t);
  const { tenantId, key } = await make();
  assert.deepEqual(await statuses(key), [200, 200]);
  assert.equal((await update(tenantId, { state: 'deleting' })).state, 'deleting');
  assert.deepEqual(await statuses(key), [401, 401]);
  await waitFor('the end of the deletion', async () => {
    try {
      return (await operator.call('readTenant', contextFor(), { tenantId })).state !== 'deleting';
    } catch (error) {
      return GrantdError.from(error).code === 'tenant-not-found';
    }
  });
  assert.deepEqual(await statuses(key), [401, 401]);
  await assert.rejects(operator.call('readUsage', contextFor(), { tenantId, sinceMs: 0 }), {
    code: 'tenant-not-found',
  });
});

test('the requests of a tenant are counted over all fronts, and those of another tenant apart', async (t) => {
  const { operator, urls, make, check, statuses } = await startService(t);
  const [one, other, quiet] = [await make('tight'), await make(), await make()];
  const read = async (tenantId: TenantId) =>
    (await operator.call('readUsage', contextFor(), { tenantId, sinceMs: Date.now() - 3_600_000 })).buckets;
  assert.deepEqual(await read(one.tenantId), []);
  // Three of each front are let through: these limiters share nothing.
  for (let round = 0; round < 5; round += 1) await statuses(one.key);
  const [url = ''] = urls;
  const bulk = { checks: Array.from({ length: 7 }, () => TUPLE) };
  assert.equal((await call(url, { method: 'POST', path: '/v1/check/bulk', key: other.key, body: bulk })).status, 200);
  assert.equal((await check(url, other.key)).status, 200);
  assert.equal((await call(url, { method: 'GET', path: '/v1/namespaces', key: other.key })).status, 200);
  assert.equal((await call(url, { method: 'POST', path: '/v1/check', key: other.key, body: '{' })).status, 400);
  // Revocations have a reserve of their own.
  const revocation = { method: 'DELETE', path: '/v1/keys/key_00000000000000000000000000', key: other.key };
  assert.equal((await call(url, revocation)).status, 404);
  // What the operator asks is not the tenant's.
  const session = await operator.tenant(contextFor(), quiet.tenantId, 'ann');
  await session.check(contextFor(), TUPLE);

  const sum = async (tenantId: TenantId) => {
    const minutes = await read(tenantId);
    for (const { atMs } of minutes) assert.ok(atMs % 60_000 === 0 && Date.now() - atMs < 180_000);
    return ['requests', 'refused', 'checks'].map((name) =>
      minutes.reduce((total, minute) => total + minute[name as 'requests'], 0),
    );
  };
  await waitFor('the reports', async () => (await sum(one.tenantId))[0] === 10 && (await sum(other.tenantId))[0] === 4);
  assert.deepEqual(await sum(one.tenantId), [10, 4, 6]);
  assert.deepEqual(await sum(other.tenantId), [4, 0, 8]);
  assert.deepEqual(await read(quiet.tenantId), []);

  // Of the last seconds alone, in which a busy machine may have asked nothing.
  let [load] = await operator.listLoads(contextFor());
  await waitFor('a load', async () => {
    await check(url, other.key);
    [load] = await operator.listLoads(contextFor());
    return load !== undefined && load.checksPerSecond > 0;
  });
  assert.equal(load?.shardName, 'shard-1');
  assert.equal(load.failuresPerSecond, 0);
  assert.ok(load.p99Ms !== undefined && load.p99Ms > 0 && load.p99Ms < 60_000, String(load.p99Ms));
});

test('a change of plan reaches every key on every front, and none of them authenticates again', async (t) => {
  const { operator, fronts, make, update } = await startService(t);
  const { tenantId, key } = await make();
  const owner = await operator.tenant(contextFor(), tenantId, 'ann');
  const other = await owner.createKey(contextFor(), { name: '', scopes: ALL_SCOPES, expiresAtMs: undefined });
  const sessions = await Promise.all(
    fronts.flatMap((front) => [key, other.text].map((text) => front.authenticate(contextFor(), text))),
  );
  const plans = () => sessions.map(({ plan }) => plan);
  assert.deepEqual(plans(), new Array(4).fill('unlimited'));
  const issue = mock.method(HandleTable.prototype, 'issue');
  t.after(() => issue.mock.restore());
  assert.equal((await update(tenantId, { plan: 'tight' })).plan, 'tight');
  await until(() => plans().every((plan) => plan === 'tight'));
  for (const session of sessions) assert.equal((await session.check(contextFor(), TUPLE)).authorized, false);
  assert.equal(issue.mock.callCount(), 0);
  await update(tenantId, { state: 'suspended' });
  for (const session of sessions) {
    await assert.rejects(session.check(contextFor(), TUPLE), { code: 'tenant-suspended' });
  }
});
