// A restored copy of a cluster, as real processes on a real Cassandra: its shard, with higher epochs, stands at an
// address of discovery of the original. It is refused and named, and neither a wrong answer nor a lost write comes of
// it.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import { type SharedCassandra, shareCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { DevProcess } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { OperatorClient } from '../support/operator-client.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const SLOTS = '8';
const ROUNDS = 40;
/** Of changes of owner that the copy has had since. */
const EPOCHS = 1000;
const STATEMENT_MS_MAX = 120_000;
const TABLE_COLUMNS = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?';

const missing = await missingCassandra('a restored copy beside its original');

interface Served {
  readonly ops: string;
  readonly address: string;
  readonly service: DevProcess;
}

describe('a restored copy beside its original', { skip: missing ?? false }, () => {
  let store: SharedCassandra;
  let client: cassandra.Client;
  let copy: string;
  const running: DevProcess[] = [];

  before(async () => {
    store = await shareCassandra();
    copy = `${store.keyspace}_copy`;
    client = new cassandra.Client({
      contactPoints: [...store.contactPoints],
      localDataCenter: store.localDatacenter,
      // To empty a table on a busy machine takes longer than a read.
      socketOptions: { readTimeout: STATEMENT_MS_MAX },
    });
  });
  after(async () => {
    await Promise.all(running.map((each) => each.hasEnded || each.stop('SIGKILL')));
    await client.shutdown();
    await store.release();
  });

  const settings = (keyspace: string) => ({
    ...BARE_ENVIRONMENT,
    GRANTD_STORE: 'cassandra',
    GRANTD_CASSANDRA_CONTACT_POINTS: store.contactPoints.join(','),
    GRANTD_CASSANDRA_LOCAL_DATACENTER: store.localDatacenter,
    GRANTD_CASSANDRA_KEYSPACE: keyspace,
    GRANTD_CASSANDRA_REPLICATION_FACTOR: '1',
    GRANTD_SLOTS: SLOTS,
    GRANTD_DRAIN_SECONDS: '0',
  });

  function start(args: readonly string[], environment: Readonly<Record<string, string>>): DevProcess {
    const service = new DevProcess(args, environment);
    running.push(service);
    return service;
  }

  async function serve(role: string, setting: string, environment: Record<string, string>): Promise<Served> {
    const [opsPort, port] = await freePorts(2);
    const address = environment[setting] ?? `127.0.0.1:${port}`;
    const ops = `127.0.0.1:${opsPort}`;
    const service = start([role], { ...environment, [setting]: address, GRANTD_OPS_ADDRESS: ops });
    return { ops: `http://${ops}`, address, service };
  }

  async function readyz({ ops, service }: Served) {
    if (service.hasEnded) assert.fail(service.stderr);
    const response = await fetch(`${ops}/readyz`).catch(() => undefined);
    const body = await response?.json();
    return { status: response?.status, reasons: [], warnings: [], ...(body as object) } as {
      readonly status: number | string;
      readonly reasons: readonly string[];
      readonly warnings: readonly string[];
    };
  }
  const isReady = async (served: Served) => (await readyz(served)).status === 'ready';

  async function metric({ ops }: Served, name: string): Promise<number> {
    const text = await (await fetch(`${ops}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  }

  async function migrate(keyspace: string, ...options: readonly string[]) {
    const ended = await start(['migrate', ...options], settings(keyspace)).ended;
    return { ...ended, clusters: ended.stdout.match(/clu_[0-9a-z]{26}/g) ?? [] };
  }

  /** As a restore of snapshots leaves it, with the epochs that many restarts would have made. */
  async function restoreCopy(): Promise<void> {
    assert.equal((await migrate(copy)).code, 0);
    const tables = await client.execute(TABLE_COLUMNS, [store.keyspace], { prepare: true });
    for (const { table_name: table } of tables.rows) {
      await client.execute(`TRUNCATE ${copy}.${table}`);
      const { rows } = await client.execute(`SELECT JSON * FROM ${store.keyspace}.${table}`);
      for (const row of rows) {
        await client.execute(`INSERT INTO ${copy}.${table} JSON ?`, [row['[json]']], { prepare: true });
      }
    }
    const slots = await client.execute(`SELECT slot, epoch FROM ${copy}.slots`);
    for (const { slot, epoch } of slots.rows) {
      const query = `UPDATE ${copy}.slots SET epoch = ? WHERE slot = ?`;
      await client.execute(query, [epoch.add(EPOCHS), slot], { prepare: true });
    }
  }

  async function ask(
    { address }: Served,
    key: string,
    path: string,
    body: object,
  ): Promise<{ status: number } & object> {
    const response = await fetch(`http://${address}/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { ...((await response.json()) as object), status: response.status };
  }

  const grant = (object: string) => ({ subject: 'user:ann', relation: 'viewer', object });
  async function isAuthorized(front: Served, key: string, object: string): Promise<unknown> {
    const answer = await ask(front, key, 'check', grant(object));
    return answer.status === 200 && 'authorized' in answer ? answer.authorized : answer.status;
  }
  async function revoke({ address }: Served, key: string, object: string): Promise<void> {
    const response = await fetch(`http://${address}/v1/grants`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(grant(object)),
    });
    assert.ok(response.ok, await response.text());
  }

  /** A shard at more than half of the addresses of discovery, which a front has to know for certain. */
  async function openOriginal() {
    const made = await migrate(store.keyspace);
    const [ours = ''] = made.clusters;
    assert.match(ours, /^clu_/, made.stderr);
    const [shardPort, foreignPort] = await freePorts(2);
    const [shardAddress, foreignAddress] = [`127.0.0.1:${shardPort}`, `127.0.0.1:${foreignPort}`];
    const shard = await serve('shard', 'GRANTD_RPC_ADDRESS', {
      ...settings(store.keyspace),
      GRANTD_SHARD_NAME: 'original-1',
      GRANTD_RPC_ADDRESS: `0.0.0.0:${shardPort}`,
      GRANTD_RPC_ADVERTISE: shardAddress,
      GRANTD_RPC_INSECURE: 'true',
    });
    const addresses = [shardAddress, `127.0.0.2:${shardPort}`, foreignAddress];
    const discovery = { ...BARE_ENVIRONMENT, GRANTD_DISCOVERY: `static:${addresses.join(',')}` };
    const asFront = { ...discovery, GRANTD_BASE_URL: 'http://localhost', GRANTD_DRAIN_SECONDS: '0' };
    const told = await serve('front', 'GRANTD_HTTP_ADDRESS', { ...asFront, GRANTD_CLUSTER_ID: ours });
    await waitFor('the shard', () => isReady(shard));
    const learning = await serve('front', 'GRANTD_HTTP_ADDRESS', asFront);
    const console = await serve('console', 'GRANTD_CONSOLE_ADDRESS', {
      ...discovery,
      GRANTD_OPERATOR_TOKEN: TOKEN,
      GRANTD_ERRORS_BASE: 'https://errors.example',
      GRANTD_CLUSTER_ID: ours,
      GRANTD_DRAIN_SECONDS: '0',
    });
    for (const each of [told, learning, console]) await waitFor('readiness', () => isReady(each));
    const operator = new OperatorClient(`http://${console.address}`, TOKEN);
    const { key } = await operator.createTenant('acme');
    for (const object of ['doc:kept', 'doc:revoked']) {
      assert.equal((await ask(told, key, 'grants', grant(object))).status, 201);
    }
    return { ours, shardAddress, foreignAddress, asFront, told, learning, console, operator, key };
  }

  /** Gives the copy an id, which the original, whose shard runs, does not get. Resolves to that of the copy. */
  async function giveNewId(ours: string, shardAddress: string): Promise<string> {
    const refused = await migrate(store.keyspace, '--new-cluster-id');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, new RegExp(`original-1 at ${shardAddress}`));
    assert.deepEqual((await migrate(store.keyspace, '--wait')).clusters, [ours]);

    await restoreCopy();
    const given = await migrate(copy, '--new-cluster-id');
    const [before, theirs = ''] = given.clusters;
    assert.equal(given.code, 0, given.stderr);
    assert.equal(before, ours);
    assert.notEqual(theirs, ours);
    const members = await client.execute(`SELECT state FROM ${copy}.members`);
    assert.deepEqual(new Set(members.rows.map(({ state }) => state)), new Set(['dead']));
    return theirs;
  }

  async function expectNamed(served: Served, parts: readonly string[]): Promise<void> {
    await waitFor('the name of the other cluster', async () => (await readyz(served)).warnings.length > 0);
    const { status, warnings } = await readyz(served);
    assert.equal(status, 'ready');
    for (const part of parts) assert.ok(warnings[0]?.includes(part), String(warnings));
    assert.equal(await metric(served, 'grantd_foreign_cluster_addresses'), 1);
    assert.match(served.service.stderr, /"msg":"shard refused: it is of another cluster"/);
  }

  /** Resolves to the objects of the writes, all of them acknowledged. */
  async function expectRight(fronts: readonly Served[], key: string): Promise<readonly string[]> {
    const written: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const front of fronts) {
        const object = `doc:${round}-${front.address}`;
        assert.equal((await ask(front, key, 'grants', grant(object))).status, 201);
        written.push(object);
        for (const each of fronts) assert.equal(await isAuthorized(each, key, object), true);
        assert.equal(await isAuthorized(front, key, 'doc:kept'), true);
        assert.equal(await isAuthorized(front, key, 'doc:revoked'), false);
      }
    }
    return written;
  }

  it('is given an id of its own, and is refused and named by every process of the original', async () => {
    const original = await openOriginal();
    const { ours, shardAddress, foreignAddress, asFront, told, learning, console, operator, key } = original;
    const theirs = await giveNewId(ours, shardAddress);

    await revoke(told, key, 'doc:revoked');
    const foreign = await serve('shard', 'GRANTD_RPC_ADDRESS', {
      ...settings(copy),
      GRANTD_SHARD_NAME: 'copy-1',
      GRANTD_RPC_ADDRESS: foreignAddress,
    });
    await waitFor('the shard of the copy', () => isReady(foreign));
    for (const each of [told, learning, console]) await expectNamed(each, [ours, theirs, foreignAddress]);
    assert.match(foreign.service.stderr, /"msg":"peer refused: it is of another cluster"/);
    assert.ok((await metric(foreign, 'grantd_foreign_cluster_refusals_total')) > 0);
    const written = await expectRight([told, learning], key);
    assert.deepEqual(new Set((await operator.slots()).map(({ shard: owner }) => owner)), new Set(['original-1']));

    // A front that starts beside both serves neither, unless it is told which is its own.
    const both = `static:${shardAddress},${foreignAddress}`;
    const late = await serve('front', 'GRANTD_HTTP_ADDRESS', { ...asFront, GRANTD_DISCOVERY: both });
    await waitFor('the reason', async () => /several clusters/.test((await readyz(late)).reasons[0] ?? ''));
    const { status, reasons } = await readyz(late);
    assert.equal(status, 'not ready');
    for (const part of [ours, theirs, shardAddress, foreignAddress, 'GRANTD_CLUSTER_ID']) {
      assert.ok(reasons[0]?.includes(part), String(reasons));
    }
    await foreign.service.stop('SIGKILL');
    await waitFor('the front that now meets one cluster', () => isReady(late));
    for (const object of written) assert.equal(await isAuthorized(late, key, object), true, 'an acknowledged write');
    assert.equal(await isAuthorized(late, key, 'doc:revoked'), false);

    // A shard that is to work on the original does not start on the copy.
    const misled = start(['shard'], {
      ...settings(copy),
      GRANTD_CLUSTER_ID: ours,
      GRANTD_RPC_ADDRESS: foreignAddress,
      GRANTD_OPS_ADDRESS: '127.0.0.1:0',
    });
    const { code, stderr } = await misled.ended;
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`GRANTD_CLUSTER_ID is ${ours}, but the store is that of ${theirs}`));
  });
});
