// The roles of a cluster on a real Cassandra, as the operating guide has it: migrate, three shards, a front, a console;
// grants and checks through an owner and readers; versions of the schema; and an orderly end of everything.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { SCHEMA_VERSION } from '../../../src/store/cassandra/schema/migrations.ts';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import { type SharedCassandra, shareCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { createAuthority } from '../../kit/certificates.ts';
import { DevProcess, type Ended } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { createRecordingLog, type RecordingLog } from '../../kit/store/store-directory.ts';
import { startTcpLink } from '../../kit/tcp-link.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { LargeTenant } from '../support/large-tenant.ts';
import { OperatorClient } from '../support/operator-client.ts';
import { migrateHere, refusalOf, startHere } from '../support/roles-here.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const SLOTS = '8';

const missing = await missingCassandra('the roles of a cluster');

describe('the roles of a cluster', { skip: missing ?? false }, () => {
  let store: SharedCassandra;
  /** Those of the cluster that the tests share; the first of them makes its schema. */
  let settings: Record<string, string>;
  const running: DevProcess[] = [];

  before(async () => {
    store = await shareCassandra();
    settings = {
      GRANTD_STORE: 'cassandra',
      GRANTD_CASSANDRA_CONTACT_POINTS: store.contactPoints.join(','),
      GRANTD_CASSANDRA_LOCAL_DATACENTER: store.localDatacenter,
      GRANTD_CASSANDRA_KEYSPACE: store.keyspace,
      GRANTD_CASSANDRA_REPLICATION_FACTOR: '1',
      GRANTD_SLOTS: SLOTS,
      GRANTD_DRAIN_SECONDS: '1',
    };
  });
  afterEach(async () => {
    for (const each of running.splice(0)) if (!each.hasEnded) await each.stop('SIGKILL');
  });
  after(() => store.release());

  function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): DevProcess {
    const service = new DevProcess(args, { ...BARE_ENVIRONMENT, ...settings, ...environment });
    running.push(service);
    return service;
  }

  /** The settings of a role, for ports of its own. */
  async function portsOf(
    serving: 'GRANTD_HTTP_ADDRESS' | 'GRANTD_CONSOLE_ADDRESS' | 'GRANTD_RPC_ADDRESS',
  ): Promise<{ environment: Record<string, string>; ops: string; address: string }> {
    const [opsPort, port] = await freePorts(2);
    const [opsAddress, address] = [`127.0.0.1:${opsPort}`, `127.0.0.1:${port}`];
    return {
      environment: { GRANTD_OPS_ADDRESS: opsAddress, [serving]: address },
      ops: `http://${opsAddress}`,
      address,
    };
  }

  /** A shard as a process, on ports of its own. */
  async function startShard(name: string, environment: Readonly<Record<string, string>> = {}) {
    const { environment: ports, ops, address } = await portsOf('GRANTD_RPC_ADDRESS');
    const service = start(['shard'], { GRANTD_SHARD_NAME: name, ...ports, ...environment });
    return { name, service, ops, rpc: address };
  }

  /** A shard within the test, on ports of its own. `started` resolves once it serves. */
  async function startShardHere(environment: Readonly<Record<string, string>> = {}) {
    const { environment: ports, ops, address } = await portsOf('GRANTD_RPC_ADDRESS');
    const log = createRecordingLog();
    const started = startHere('shard', { ...settings, GRANTD_SHARD_NAME: 'shard-1', ...ports, ...environment }, log);
    return { started, log, ops, rpc: address };
  }

  async function reasons(ops: string): Promise<readonly string[] | undefined> {
    const response = await fetch(`${ops}/readyz`).catch(() => undefined);
    if (response === undefined) return undefined;
    const body = (await response.json()) as { reasons?: readonly string[] };
    return body.reasons ?? [];
  }

  const ready = (ops: string, service?: DevProcess): Promise<void> =>
    waitFor('readiness', async () => {
      if (service?.hasEnded) assert.fail(service.stderr);
      return (await reasons(ops))?.length === 0;
    });

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
    const clusters = new Set<string | undefined>();
    const [first, second]: Ended[] = await Promise.all([start(['migrate']).ended, start(['migrate']).ended]);
    for (const ended of [first, second, await migrateHere(settings), await migrateHere(settings, { task: 'wait' })]) {
      assert.equal(ended?.code, 0, JSON.stringify(ended));
      assert.match(
        ended.stdout,
        new RegExp(`The schema is at version ${SCHEMA_VERSION}: 8 slots, LOCAL_SERIAL in datacenter1\\. .*\n?$`),
      );
      clusters.add(/The cluster is (clu_[0-9a-z]{26})\.\n?$/.exec(ended.stdout)?.[1]);
    }
    assert.equal(clusters.size, 1, 'one id, however often it is run');
    assert.ok(!clusters.has(undefined));
  });

  it('migrate takes the slots of the cluster where it is not told, and refuses others', async () => {
    assert.match((await migrateHere({ ...settings, GRANTD_SLOTS: '' })).stdout, /: 8 slots,/);
    const message = await refusalOf('migrate', { ...settings, GRANTD_SLOTS: '16' });
    assert.match(message, /GRANTD_SLOTS is 16, but the cluster was created with 8\./);
  });

  it('migrate refuses more copies than there are nodes, and names the setting that says otherwise', async () => {
    const copies = { GRANTD_CASSANDRA_KEYSPACE: `${store.keyspace}_copies`, GRANTD_CASSANDRA_REPLICATION_FACTOR: '' };
    assert.match(
      await refusalOf('migrate', { ...settings, ...copies }),
      /3 copies of each row, but datacenter1 has 1 node\. .* set GRANTD_CASSANDRA_REPLICATION_FACTOR=1;/,
    );
  });

  it('migrate --wait and a shard wait for the schema, saying so, and go on once another has migrated', async () => {
    const awaited = { GRANTD_CASSANDRA_KEYSPACE: `${store.keyspace}_later` };
    const waiting = start(['migrate', '--wait'], awaited);
    const shard = await startShardHere(awaited);
    await waitFor('the wait', () => /^Waiting: /m.test(waiting.stdout) || waiting.hasEnded);
    await waitFor('the reason', async () => /^waiting for the schema: /.test((await reasons(shard.ops))?.[0] ?? ''));
    assert.equal((await fetch(`${shard.ops}/livez`)).status, 200);
    // Nothing was changed by waiting.
    assert.equal((await migrateHere({ ...settings, ...awaited }, { task: 'wait', timeoutMs: 1000 })).code, 3);
    assert.equal(waiting.hasEnded, false, waiting.stderr);
    assert.equal((await migrateHere({ ...settings, ...awaited })).code, 0);
    assert.equal((await waiting.ended).code, 0);
    const role = await shard.started;
    assert.deepEqual(await reasons(shard.ops), []);
    assert.match(shard.log.lines.join('\n'), /"reason":"waiting for the schema: /);
    await role.stop();
  });

  it('shard starts on a later schema that serves it, and refuses one that does not', async () => {
    const keyspace = `${store.keyspace}_later`;
    const later = SCHEMA_VERSION + 1;
    await query(
      keyspace,
      `UPDATE meta SET schema_version = ${later}, schema_serves_from = 1 WHERE id = 'cluster' IF EXISTS`,
    );
    const served = await startShardHere({ GRANTD_CASSANDRA_KEYSPACE: keyspace });
    await (await served.started).stop();
    await query(keyspace, `UPDATE meta SET schema_serves_from = ${later} WHERE id = 'cluster' IF EXISTS`);
    const refused = await startShard('shard-1', { GRANTD_CASSANDRA_KEYSPACE: keyspace });
    const { code, stderr } = await refused.service.ended;
    assert.equal(code, 1);
    assert.match(stderr, /^grantd: .*version/m);
    await assert.rejects(
      migrateHere({ ...settings, GRANTD_CASSANDRA_KEYSPACE: keyspace }, { task: 'wait' }),
      /version/,
    );
  });

  it('shard refuses the settings of another cluster, with all that differs', async () => {
    const { environment } = await portsOf('GRANTD_RPC_ADDRESS');
    const other = { GRANTD_SLOTS: '16', GRANTD_CASSANDRA_SERIAL_LEVEL: 'SERIAL' };
    const message = await refusalOf('shard', { ...settings, ...environment, GRANTD_SHARD_NAME: 'shard-1', ...other });
    assert.match(message, /GRANTD_SLOTS is 16, but the cluster was created with 8\./);
    assert.match(message, /GRANTD_CASSANDRA_SERIAL_LEVEL is SERIAL, but the cluster was created with LOCAL_SERIAL\./);
  });

  it('fronts and shards prove themselves to one another by certificates, found by name', async (context) => {
    const directory = useDirectory();
    const authority = await createAuthority();
    const filesOf = async (name: string, names: readonly string[]): Promise<Record<string, string>> => {
      const files: Record<string, string> = {};
      for (const [part, text] of Object.entries(await authority.issue(name, names))) {
        const path = join(directory, `${name}.${part}`);
        writeFileSync(path, text);
        files[`GRANTD_RPC_TLS_${part.toUpperCase()}_FILE`] = path;
      }
      return files;
    };
    const shard = await startShardHere(await filesOf('shard', ['DNS:localhost']));
    const shardRole = await shard.started;
    const startClient = async (role: 'front' | 'console', environment: Readonly<Record<string, string>>) => {
      const {
        environment: ports,
        ops,
        address,
      } = await portsOf(role === 'front' ? 'GRANTD_HTTP_ADDRESS' : 'GRANTD_CONSOLE_ADDRESS');
      const log: RecordingLog = createRecordingLog();
      const client = await startHere(
        role,
        {
          GRANTD_DISCOVERY: `dns:localhost:${shard.rpc.split(':')[1]}`,
          GRANTD_BASE_URL: 'https://grantd.example.com',
          GRANTD_DRAIN_SECONDS: '0',
          ...(role === 'console' ? { GRANTD_OPERATOR_TOKEN: TOKEN } : {}),
          ...ports,
          ...environment,
        },
        log,
      );
      context.after(() => client.stop());
      return { log, ops, url: `http://${address}` };
    };
    const front = await startClient('front', await filesOf('front', []));
    const stranger = await startClient('front', {});
    const misled = await startClient('front', {
      ...(await filesOf('misled', [])),
      GRANTD_RPC_TLS_SERVER_NAME: 'another.example',
    });
    await ready(shard.ops);
    await ready(front.ops);
    for (const { log, ops } of [stranger, misled]) {
      await waitFor('a refused connection', () => log.lines.some((line) => line.includes('no connection to a shard')));
      assert.deepEqual(await reasons(ops), ['cannot reach any shard']);
    }
    const operator = await startClient('console', await filesOf('console', ['DNS:grantd-console']));
    const pretender = await startClient('console', await filesOf('grantd-front', []));
    await Promise.all([ready(operator.ops), ready(pretender.ops)]);
    const listTenants = (url: string): Promise<Response> =>
      fetch(`${url}/operator/v1/tenants`, { headers: { authorization: `Bearer ${TOKEN}` } });
    assert.equal((await listTenants(operator.url)).status, 200);
    assert.equal((await listTenants(pretender.url)).ok, false);
    assert.match(shard.log.lines.join('\n'), /a peer claims to be a console without proof/);
    // The shard calls itself over the same gRPC, with its own certificate, which is for no address of loop-back.
    await waitFor('some heartbeats', async () => (await heartbeats(shard.ops, 'applied')) > 15);
    assert.equal(await heartbeats(shard.ops, 'skipped'), 0);
    assert.ok(!shard.log.lines.some((line) => line.includes('fails its health checks')));
    await shardRole.stop();
  });

  it('three shards, a front and a console serve, and all end cleanly', async () => {
    const shards = await Promise.all(['shard-1', 'shard-2', 'shard-3'].map((name) => startShard(name)));
    const [frontPort = 0, frontOps = 0, consolePort = 0, consoleOps = 0] = await freePorts(4);
    const found = {
      // One is enough: it names the others.
      GRANTD_DISCOVERY: `static:${shards[0]?.rpc}`,
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
      ...shards.map(({ service, ops }) => ready(ops, service)),
      ready(`http://127.0.0.1:${frontOps}`, front),
      ready(`http://127.0.0.1:${consoleOps}`, operator),
    ]);
    const client = new OperatorClient(`http://127.0.0.1:${consolePort}`, TOKEN);
    const frontUrl = `http://127.0.0.1:${frontPort}`;
    assert.deepEqual(
      new Set((await client.members()).map(({ shard }) => shard)),
      new Set(shards.map(({ name }) => name)),
    );
    await waitFor(
      'a slot for each shard',
      async () => new Set((await client.slots()).map(({ shard }) => shard)).size === 3,
    );

    // Readers are the other two shards. The one that ends owns one of two tenants, and reads for the other.
    const [ending, ...staying] = shards;
    assert.ok(ending !== undefined);
    const owned = await LargeTenant.create(client, frontUrl, (owner) => owner === ending.name);
    const read = await LargeTenant.create(client, frontUrl, (owner) => owner !== ending.name);
    await Promise.all([owned.setReaders(2), read.setReaders(2)]);
    for (const { name } of staying) await waitFor('a reader of what it owns', () => owned.isReadBy(name));
    await waitFor('a reader at the shard that ends', () => read.isReadBy(ending.name));

    // It hands its slots over. No call fails meanwhile, and none is answered from the past.
    const stopped = ending.service.stop();
    let ended = false;
    void stopped.then(() => {
      ended = true;
    });
    while (!ended) await Promise.all([owned.change(), read.change()]);
    assert.equal((await stopped).code, 0, ending.service.stderr);
    for (const tenant of [owned, read]) {
      const { shard: owner } = await tenant.slot();
      const [reader] = staying.filter(({ name }) => name !== owner);
      await waitFor('the reader that stays', () => tenant.isReadBy(reader?.name ?? ''));
    }
    for (const service of [front, operator, ...staying.map((shard) => shard.service)]) {
      const end = await service.stop();
      assert.equal(end.code, 0, end.stderr);
      assert.match(end.stderr, /"msg":"stopped"/);
    }
  });

  it('shard waits for a Cassandra that starts later, serves, and stays ready when it is gone again', async (context) => {
    const link = await startTcpLink(`${store.contactPoints[0]}:9042`, context);
    link.takeAway();
    const { service, ops } = await startShard('shard-1', {
      GRANTD_CASSANDRA_CONTACT_POINTS: link.address,
      GRANTD_SHUTDOWN_SECONDS: '4',
    });
    await waitFor(
      'the reason',
      async () => /^waiting for Cassandra: /.test((await reasons(ops))?.[0] ?? '') || service.hasEnded,
    );
    link.bringBack();
    await ready(ops, service);
    // It stays ready without Cassandra; a handover that cannot be done is given up in time.
    link.takeAway();
    await waitFor('a heartbeat that fails', async () => (await heartbeats(ops, 'unknown')) > 0);
    assert.deepEqual(await reasons(ops), []);
    const { code, stderr } = await service.stop();
    assert.equal(code, 1, stderr);
    assert.match(stderr, /"msg":"shutdown timed out; the process exits"/);
  });
});
