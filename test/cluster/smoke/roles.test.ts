// A cluster started by hand on a real Cassandra, as the operating guide has it: migrate, two shards, a front, a
// console; a grant and a check; versions of the schema; and an orderly end of everything.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { SCHEMA_VERSION } from '../../../src/store/cassandra/schema/migrations.ts';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { createAuthority, createDirectory } from '../../kit/certificates.ts';
import { DevProcess, type Ended } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const SLOTS = '8';
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
/** A start on a machine that does much else. */
const START_MS_MAX = 60_000;

const missing = await missingCassandra('the roles of a cluster');

describe('the roles of a cluster', { skip: missing ?? false }, () => {
  let store: CassandraCluster;
  let settings: Record<string, string>;
  const running: DevProcess[] = [];

  before(async () => {
    store = await startCassandra({ nodes: 1 });
    settings = {
      ...BARE_ENVIRONMENT,
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_CONTACT_POINTS: store.contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: store.localDatacenter,
      GRANTD_CASSANDRA_REPLICATION_FACTOR: '1',
      GRANTD_SLOTS: SLOTS,
      GRANTD_DRAIN_SECONDS: '1',
    };
  });
  afterEach(async () => {
    for (const each of running.splice(0)) if (!each.hasEnded) await each.stop('SIGKILL');
  });
  after(() => store?.stop());

  function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): DevProcess {
    const service = new DevProcess(args, { ...settings, ...environment });
    running.push(service);
    return service;
  }

  async function migrate(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended> {
    return start(['migrate', ...args], environment).ended;
  }

  /** A shard on ports of its own. */
  async function startShard(
    name: string,
    environment: Readonly<Record<string, string>>,
  ): Promise<{ service: DevProcess; ops: string; rpc: string }> {
    const [ops = 0, rpc = 0] = await freePorts(2);
    const service = start(['shard'], {
      GRANTD_SHARD_NAME: name,
      GRANTD_OPS_ADDRESS: `127.0.0.1:${ops}`,
      GRANTD_RPC_ADDRESS: `127.0.0.1:${rpc}`,
      ...environment,
    });
    return { service, ops: `http://127.0.0.1:${ops}`, rpc: `127.0.0.1:${rpc}` };
  }

  async function reasons(ops: string): Promise<readonly string[] | undefined> {
    const response = await fetch(`${ops}/readyz`).catch(() => undefined);
    if (response === undefined) return undefined;
    const body = (await response.json()) as { reasons?: readonly string[] };
    return body.reasons ?? [];
  }

  const ready = (service: DevProcess, ops: string): Promise<void> =>
    waitFor(
      'readiness',
      async () => {
        if (service.hasEnded) assert.fail(service.stderr);
        return (await reasons(ops))?.length === 0;
      },
      START_MS_MAX,
    );

  /** Heartbeats of a shard so far, by their outcome. */
  async function heartbeats(ops: string, outcome: string): Promise<number> {
    const text = await (await fetch(`${ops}/metrics`)).text();
    return Number(
      new RegExp(`^grantd_heartbeat_seconds_count\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
    );
  }

  async function query(keyspace: string, statement: string): Promise<void> {
    const client = new cassandra.Client({
      contactPoints: [...store.contactPoints],
      localDataCenter: store.localDatacenter,
      keyspace,
    });
    await client.execute(statement);
    await client.shutdown();
  }

  it('migrate may be run twice and by two at once, and says what stands', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'twice' };
    const [first, second] = await Promise.all([migrate(keyspace), migrate(keyspace)]);
    for (const ended of [first, second, await migrate(keyspace), await migrate(keyspace, '--wait')]) {
      assert.equal(ended.code, 0, `${ended.stdout}${ended.stderr}`);
      assert.ok(
        ended.stdout.endsWith(`The schema is at version ${SCHEMA_VERSION}: 8 slots, LOCAL_SERIAL in datacenter1.\n`),
      );
    }
  });

  it('migrate takes the slots of the cluster where it is not told, and refuses others', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'slots' };
    assert.equal((await migrate(keyspace)).code, 0);
    assert.match((await migrate({ ...keyspace, GRANTD_SLOTS: '' })).stdout, /: 8 slots,/);
    const other = await migrate({ ...keyspace, GRANTD_SLOTS: '16' });
    assert.equal(other.code, 1, other.stdout);
    assert.match(other.stderr, /GRANTD_SLOTS is 16, but the cluster was created with 8\./);
  });

  it('migrate refuses more copies than there are nodes, and names the setting that says otherwise', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'copies', GRANTD_CASSANDRA_REPLICATION_FACTOR: '' };
    const { code, stderr } = await migrate(keyspace);
    assert.equal(code, 1, stderr);
    assert.match(
      stderr,
      /3 copies of each row, but datacenter1 has 1 node\. .* set GRANTD_CASSANDRA_REPLICATION_FACTOR=1;/,
    );
  });

  it('migrate --wait changes nothing, and ends once another has migrated', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'awaited' };
    const waiting = start(['migrate', '--wait'], keyspace);
    await waitFor('the wait', () => /^Waiting: /m.test(waiting.stdout) || waiting.hasEnded, START_MS_MAX);
    assert.equal(waiting.hasEnded, false, waiting.stderr);
    assert.equal((await migrate(keyspace, '--wait', '--timeout', '1')).code, 3);
    assert.equal((await migrate(keyspace)).code, 0);
    assert.equal((await waiting.ended).code, 0);
  });

  it('shard waits for the schema, saying so, and then serves', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'waiting' };
    const { service, ops } = await startShard('shard-1', keyspace);
    await waitFor(
      'the reason',
      async () => /^waiting for the schema: /.test((await reasons(ops))?.[0] ?? '') || service.hasEnded,
      START_MS_MAX,
    );
    assert.equal((await fetch(`${ops}/livez`)).status, 200);
    assert.equal((await migrate(keyspace)).code, 0);
    await ready(service, ops);
    assert.match(service.stderr, /"reason":"waiting for the schema: /);
    assert.equal((await service.stop()).code, 0, service.stderr);
  });

  it('shard starts on a later schema that serves it, and refuses one that does not', async () => {
    const keyspace = 'later';
    const later = SCHEMA_VERSION + 1;
    const environment = { GRANTD_CASSANDRA_KEYSPACE: keyspace };
    assert.equal((await migrate(environment)).code, 0);
    await query(
      keyspace,
      `UPDATE meta SET schema_version = ${later}, schema_serves_from = 1 WHERE id = 'cluster' IF EXISTS`,
    );
    const served = await startShard('shard-1', environment);
    await ready(served.service, served.ops);
    assert.equal((await served.service.stop()).code, 0);
    await query(keyspace, `UPDATE meta SET schema_serves_from = ${later} WHERE id = 'cluster' IF EXISTS`);
    const { service } = await startShard('shard-1', environment);
    const ended = await service.ended;
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^grantd: .*version/m);
    assert.equal((await migrate(environment, '--wait')).code, 1);
  });

  it('shard refuses the settings of another cluster, with all that differs', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'other' };
    assert.equal((await migrate(keyspace)).code, 0);
    const { service } = await startShard('shard-1', {
      ...keyspace,
      GRANTD_SLOTS: '16',
      GRANTD_CASSANDRA_SERIAL_LEVEL: 'SERIAL',
    });
    const ended = await service.ended;
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /GRANTD_SLOTS is 16, but the cluster was created with 8\./);
    assert.match(
      ended.stderr,
      /GRANTD_CASSANDRA_SERIAL_LEVEL is SERIAL, but the cluster was created with LOCAL_SERIAL\./,
    );
  });

  it('fronts and shards prove themselves to one another by certificates, found by name', async (context) => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'certified' };
    assert.equal((await migrate(keyspace)).code, 0);
    const directory = await createDirectory(context);
    const authority = await createAuthority(context);
    const filesOf = async (name: string, names: readonly string[]): Promise<Record<string, string>> => {
      const files: Record<string, string> = {};
      for (const [part, text] of Object.entries(await authority.issue(name, names))) {
        const path = join(directory, `${name}.${part}`);
        writeFileSync(path, text);
        files[`GRANTD_RPC_TLS_${part.toUpperCase()}_FILE`] = path;
      }
      return files;
    };
    const shard = await startShard('shard-1', { ...keyspace, ...(await filesOf('shard', ['DNS:localhost'])) });
    const startFront = async (environment: Readonly<Record<string, string>>) => {
      const [port = 0, ops = 0] = await freePorts(2);
      const service = start(['front'], {
        GRANTD_DISCOVERY: `dns:localhost:${shard.rpc.split(':')[1]}`,
        GRANTD_BASE_URL: 'https://grantd.example.com',
        GRANTD_HTTP_ADDRESS: `127.0.0.1:${port}`,
        GRANTD_OPS_ADDRESS: `127.0.0.1:${ops}`,
        ...environment,
      });
      return { service, ops: `http://127.0.0.1:${ops}` };
    };
    const front = await startFront(await filesOf('front', []));
    const stranger = await startFront({});
    const misled = await startFront({
      ...(await filesOf('misled', [])),
      GRANTD_RPC_TLS_SERVER_NAME: 'another.example',
    });
    await ready(shard.service, shard.ops);
    await ready(front.service, front.ops);
    for (const { service, ops } of [stranger, misled]) {
      await waitFor('a refused connection', () => service.stderr.includes('no connection to a shard'));
      assert.deepEqual(await reasons(ops), ['cannot reach any shard']);
    }
    const startConsole = async (environment: Readonly<Record<string, string>>) => {
      const [port = 0, ops = 0] = await freePorts(2);
      const service = start(['console'], {
        GRANTD_DISCOVERY: `dns:localhost:${shard.rpc.split(':')[1]}`,
        GRANTD_BASE_URL: 'https://grantd.example.com',
        GRANTD_CONSOLE_ADDRESS: `127.0.0.1:${port}`,
        GRANTD_OPS_ADDRESS: `127.0.0.1:${ops}`,
        GRANTD_OPERATOR_TOKEN: TOKEN,
        ...environment,
      });
      return { service, url: `http://127.0.0.1:${port}`, ops: `http://127.0.0.1:${ops}` };
    };
    const operator = await startConsole(await filesOf('console', ['DNS:grantd-console']));
    const pretender = await startConsole(await filesOf('grantd-front', []));
    await Promise.all([operator, pretender].map(({ service, ops }) => ready(service, ops)));
    const listTenants = (url: string): Promise<Response> =>
      fetch(`${url}/operator/v1/tenants`, { headers: { authorization: `Bearer ${TOKEN}` } });
    assert.equal((await listTenants(operator.url)).status, 200);
    assert.equal((await listTenants(pretender.url)).ok, false);
    assert.match(shard.service.stderr, /a peer claims to be a console without proof/);
    // The shard calls itself over the same gRPC, with its own certificate, which is for no address of loop-back.
    await waitFor('some heartbeats', async () => (await heartbeats(shard.ops, 'applied')) > 15, START_MS_MAX);
    assert.equal(await heartbeats(shard.ops, 'skipped'), 0);
    assert.ok(!shard.service.stderr.includes('fails its health checks'));
  });

  it('shard waits for a Cassandra that starts later, serves, and stays ready when it is gone again', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'late' };
    assert.equal((await migrate(keyspace)).code, 0);
    await store.kill(1);
    const { service, ops } = await startShard('shard-1', { ...keyspace, GRANTD_SHUTDOWN_SECONDS: '4' });
    await waitFor(
      'the reason',
      async () => /^waiting for Cassandra: /.test((await reasons(ops))?.[0] ?? '') || service.hasEnded,
      START_MS_MAX,
    );
    await store.restart(1);
    await ready(service, ops);
    // It stays ready without Cassandra; a handover that cannot be done is given up in time.
    await store.kill(1);
    await waitFor('a heartbeat that fails', async () => (await heartbeats(ops, 'unknown')) > 0, START_MS_MAX);
    assert.deepEqual(await reasons(ops), []);
    const { code, stderr } = await service.stop();
    await store.restart(1);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /"msg":"shutdown timed out; the process exits"/);
  });

  it('two shards, a front and a console serve, and all end cleanly', async () => {
    const keyspace = { GRANTD_CASSANDRA_KEYSPACE: 'whole' };
    assert.equal((await migrate(keyspace)).code, 0);
    const shards = await Promise.all([startShard('shard-1', keyspace), startShard('shard-2', keyspace)]);
    const [frontPort = 0, frontOps = 0, consolePort = 0, consoleOps = 0] = await freePorts(4);
    const found = {
      // One is enough: it names the other.
      GRANTD_DISCOVERY: `static:${shards[0].rpc}`,
      GRANTD_BASE_URL: `http://127.0.0.1:${frontPort}`,
    };
    const front = start(['front'], {
      ...found,
      GRANTD_HTTP_ADDRESS: `127.0.0.1:${frontPort}`,
      GRANTD_OPS_ADDRESS: `127.0.0.1:${frontOps}`,
    });
    const operator = start(['console'], {
      ...found,
      GRANTD_CONSOLE_ADDRESS: `127.0.0.1:${consolePort}`,
      GRANTD_OPS_ADDRESS: `127.0.0.1:${consoleOps}`,
      GRANTD_OPERATOR_TOKEN: TOKEN,
    });
    await Promise.all([
      ...shards.map(({ service, ops }) => ready(service, ops)),
      ready(front, `http://127.0.0.1:${frontOps}`),
      ready(operator, `http://127.0.0.1:${consoleOps}`),
    ]);

    const call = async (url: string, token: string, body?: unknown): Promise<Record<string, unknown>> => {
      const response = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      assert.ok(response.ok, JSON.stringify(answer));
      return answer;
    };
    const consoleUrl = `http://127.0.0.1:${consolePort}/operator/v1`;
    const frontUrl = `http://127.0.0.1:${frontPort}/v1`;
    const tenant = await call(`${consoleUrl}/tenants`, TOKEN, { name: 'example', plan: 'scale' });
    const { key } = await call(`${consoleUrl}/tenants/${tenant.tenant_id}/keys`, TOKEN, {
      name: 'test',
      scopes: ['check:read', 'grant:write'],
    });
    assert.equal((await call(`${frontUrl}/check`, String(key), TUPLE)).authorized, false);
    await call(`${frontUrl}/grants`, String(key), TUPLE);
    assert.equal((await call(`${frontUrl}/check`, String(key), TUPLE)).authorized, true);
    const members = await call(`${consoleUrl}/members`, TOKEN);
    assert.match(JSON.stringify(members), /"shard-1".*"shard-2"|"shard-2".*"shard-1"/);

    // One shard hands its slots over, and nobody is refused meanwhile.
    const ending = shards[1].service.stop();
    let ended = false;
    void ending.then(() => {
      ended = true;
    });
    let checks = 0;
    while (!ended) {
      assert.equal((await call(`${frontUrl}/check`, String(key), TUPLE)).authorized, true);
      checks += 1;
    }
    assert.ok(checks > 0, `${checks} checks during the handover`);
    assert.equal((await ending).code, 0, shards[1].service.stderr);
    for (const service of [front, operator, shards[0].service]) {
      const end = await service.stop();
      assert.equal(end.code, 0, end.stderr);
      assert.match(end.stderr, /"msg":"stopped"/);
    }
  });
});
