// Who may do what: a node that demands passwords and client certificates, a role that may migrate and one that may only
// read and modify. The node has the weaker settings, too, of which the store warns.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import cassandra from 'cassandra-driver';
import { GrantdError } from '../../../src/core/errors.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { waitForSchema } from '../../../src/store/cassandra/schema/schema-gate.ts';
import { StoreRefusal } from '../../../src/store/store-adapter.ts';
import { type CassandraCluster, missingCassandra, startCassandra } from '../../../tools/engines/cassandra.ts';
import { cassandraOptions, migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { createRecordingLog } from '../../kit/store/store-directory.ts';
import { createGrantWrite, createRecord, META, newSlot, newTenantId, soon } from '../../kit/store/store-fixtures.ts';
import { waitFor } from '../../unit/shard/tools.ts';

const missing = await missingCassandra('passwords, rights and TLS of Cassandra');
const SERVICE = { username: 'grantd_service', password: 'pass-word-of-the-service' };

describe('access to Cassandra', { skip: missing ?? false }, () => {
  let cluster: CassandraCluster;

  async function asSuperuser(...statements: readonly string[]): Promise<void> {
    const client = new cassandra.Client({
      contactPoints: [...cluster.contactPoints],
      localDataCenter: cluster.localDatacenter,
      credentials: { username: 'cassandra', password: 'cassandra' },
      sslOptions: { ...cluster.tls },
    });
    for (const statement of statements) await client.execute(statement);
    await client.shutdown();
  }

  before(async () => {
    cluster = await startCassandra({ nodes: 1, auth: true, tls: true, commitlogSync: 'periodic', paxosVariant: 'v1' });
    await asSuperuser(`CREATE ROLE ${SERVICE.username} WITH PASSWORD = '${SERVICE.password}' AND LOGIN = true`);
  });
  after(() => cluster.stop());

  it('waits for a schema that is not there, saying why, changes nothing, and goes on once it is', async () => {
    const store = await openStore(cluster, { keyspace: 'later' });
    try {
      const reasons: string[] = [];
      const aborted = new AbortController();
      const ports = { clock: systemClock, log: createRecordingLog() };
      const choices = cassandraOptions(cluster);
      const waiting = { signal: aborted.signal, onWaiting: (reason: string) => void reasons.push(reason) };
      const tombstone = waitForSchema(ports, store, choices, waiting);
      await waitFor(() => reasons.length > 0);
      aborted.abort(new Error('enough'));
      await assert.rejects(tombstone, /enough/);
      assert.match(reasons[0] ?? '', /no schema yet/);
      const awaited = waitForSchema(ports, store, choices, { ...waiting, signal: new AbortController().signal });
      const made = await migrate(cluster, { keyspace: 'later' });
      assert.deepEqual(await awaited, made);
    } finally {
      await store.close();
    }
  });

  it('runs the store with the rights to read and to modify, which do not suffice to migrate', async () => {
    const { meta } = await migrate(cluster);
    await asSuperuser(
      `GRANT SELECT ON KEYSPACE grantd TO ${SERVICE.username}`,
      `GRANT MODIFY ON KEYSPACE grantd TO ${SERVICE.username}`,
    );
    const store = await openStore(cluster, { credentials: SERVICE });
    try {
      assert.deepEqual(await store.readMeta(soon()), meta);
      const record = createRecord(newSlot(), 1);
      assert.deepEqual(await store.append(record, soon()), { kind: 'appended' });
      await store.removeSegment(record.slot, 0, soon());
      const tenantId = newTenantId();
      const grant = createGrantWrite(tenantId, { tombstone: true });
      await store.writeState([grant], soon());
      await store.removeTombstones([grant], soon());
      assert.equal(await store.purgeTenant({ slot: 0, tenantId }, grant.stamp, soon()), true);
    } finally {
      await store.close();
    }
    await assert.rejects(
      migrate(cluster, { credentials: SERVICE, keyspace: 'another' }),
      (error: unknown) => error instanceof StoreRefusal && /permission/.test(error.message),
    );
  });

  it('cannot be entered with a wrong password, and tells it to nobody', async () => {
    const log = createRecordingLog();
    const wrong = { username: SERVICE.username, password: 'a-wrong-pass-word' };
    await assert.rejects(openStore(cluster, { credentials: wrong }, log), (error: unknown) => {
      assert.ok(error instanceof GrantdError && error.retryable);
      assert.match(error.message, /rejects the user name or password/);
      assert.doesNotMatch(JSON.stringify([error.message, error.details, String(error.cause)]), /a-wrong-pass-word/);
      return true;
    });
    assert.doesNotMatch(log.lines.join('\n'), /a-wrong-pass-word/);
  });

  it('cannot be entered without a certificate, nor where the authority is another one', async () => {
    const { ca = '' } = cluster.tls ?? {};
    const isOutage = (error: unknown): boolean => error instanceof GrantdError && error.code === 'unavailable';
    await assert.rejects(openStore(cluster, { tls: { ca } }), isOutage);
    const { cert = '', key = '' } = cluster.tls ?? {};
    await assert.rejects(openStore(cluster, { tls: { cert, key } }), isOutage);
  });

  it('names the datacenters that there are when another one is configured', async () => {
    await assert.rejects(openStore(cluster, { localDatacenter: 'nowhere' }), (error: unknown) => {
      assert.ok(error instanceof Error && !(error instanceof GrantdError));
      assert.match(error.message, /nowhere/);
      assert.match(error.message, /datacenter1/);
      return true;
    });
  });

  it('warns of settings on which its promises rest', async () => {
    const log = createRecordingLog();
    const store = await openStore(cluster, {}, log);
    try {
      await waitFor(() => log.lines.some((line) => line.includes('commitlog_sync')));
      const warnings = log.lines.filter((line) => line.startsWith('warn'));
      assert.ok(warnings.some((line) => line.includes('paxos_variant v2')));
      assert.ok(warnings.some((line) => line.includes('"commitlogSync":"periodic"')));
    } finally {
      await store.close();
    }
  });

  it('refuses settings other than those that the cluster was made with, each by its name', async () => {
    await migrate(cluster);
    await assert.rejects(migrate(cluster, { slots: META.slots + 1, serialLevel: 'LOCAL_SERIAL' }), (error: unknown) => {
      assert.ok(error instanceof StoreRefusal);
      for (const part of ['GRANTD_SLOTS is 257, but .* 256', 'SERIAL_LEVEL is LOCAL_SERIAL, but .* SERIAL']) {
        assert.match(error.message, new RegExp(part));
      }
      assert.ok(!error.message.includes('lease'));
      return true;
    });
  });

  it('lets the role of the guide make the keyspace, and keeps what an earlier program chose when it made it', async () => {
    const keyspace = 'earlier';
    const { segmentSize, leaseMs, deadlineMs } = META;
    const change = { keyspace, serialLevel: 'LOCAL_SERIAL' } as const;
    const password = 'a-password';
    await asSuperuser(
      `CREATE ROLE maker WITH PASSWORD = '${password}' AND LOGIN = true`,
      'GRANT CREATE ON ALL KEYSPACES TO maker',
    );
    const made = await migrate(cluster, { ...change, credentials: { username: 'maker', password } });
    assert.deepEqual(made.serial, { serialLevel: 'LOCAL_SERIAL', datacenter: 'datacenter1' });
    const today = {
      ...META,
      slots: META.slots * 2,
      segmentSize: segmentSize * 2,
      leaseMs: leaseMs - 500,
      deadlineMs: deadlineMs + 1,
    };
    assert.deepEqual(await migrate(cluster, change, today), made);
  });

  it('leaves a newer schema alone where that serves this program, and refuses it where it does not', async () => {
    const keyspace = 'later';
    const made = await migrate(cluster, { keyspace });
    const { version } = made.schema;
    const later = version + 1;
    const raise = (serves: number) =>
      asSuperuser(
        `UPDATE ${keyspace}.meta SET schema_version = ${later}, schema_serves_from = ${serves} WHERE id = 'cluster' IF EXISTS`,
      );
    const store = await openStore(cluster, { keyspace });
    const wait = () =>
      waitForSchema({ clock: systemClock, log: createRecordingLog() }, store, cassandraOptions(cluster), {
        signal: new AbortController().signal,
        onWaiting: () => {},
      });
    try {
      await raise(version);
      const newer = { ...made, schema: { ...made.schema, version: later, servesFrom: version } };
      assert.deepEqual(await wait(), newer);
      const log = createRecordingLog();
      assert.deepEqual(await migrate(cluster, { keyspace }, undefined, log), newer);
      assert.ok(log.lines.some((line) => line.includes('newer than this program')));
      await raise(later);
      const refusal = (error: unknown): boolean =>
        error instanceof StoreRefusal && error.message.includes(`version ${later}`);
      await assert.rejects(wait(), refusal);
      await assert.rejects(migrate(cluster, { keyspace }), refusal);
    } finally {
      await store.close();
    }
  });

  it('says of tables that another commit has made that they are not its own', async () => {
    const keyspace = 'of_another_commit';
    const replication = "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}";
    await asSuperuser(`CREATE KEYSPACE ${keyspace} WITH replication = ${replication}`);
    await asSuperuser(`CREATE TABLE ${keyspace}.meta (id text PRIMARY KEY, schema_version int)`);
    const refusal = (error: unknown): boolean =>
      error instanceof StoreRefusal && /were made by a commit before the release of 0\.2\.0/.test(error.message);
    await assert.rejects(migrate(cluster, { keyspace }), refusal);
    const store = await openStore(cluster, { keyspace });
    try {
      await assert.rejects(store.readCluster(systemClock.monotonicMs() + 10_000), refusal);
    } finally {
      await store.close();
    }
  });

  it('takes the statements of the operating guide as they stand there', async () => {
    await migrate(cluster);
    const page = readFileSync(new URL('../../../docs/operating/cassandra.md', import.meta.url), 'utf8');
    const statements = [...page.matchAll(/^```cql\n(.*?)^```$/gms)]
      .flatMap(([, block = '']) => block.split(';'))
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '');
    assert.ok(statements.length > 8);
    await asSuperuser(...statements);
    const [, shardPassword = ''] = /ROLE IF NOT EXISTS grantd_shard WITH PASSWORD = '([^']+)'/.exec(page) ?? [];
    const [, migratePassword = ''] = /ROLE IF NOT EXISTS grantd_migrate WITH PASSWORD = '([^']+)'/.exec(page) ?? [];
    await migrate(cluster, { credentials: { username: 'grantd_migrate', password: migratePassword } });
    const log = createRecordingLog();
    const store = await openStore(cluster, { credentials: { username: 'grantd_shard', password: shardPassword } }, log);
    try {
      assert.deepEqual(await store.append(createRecord(newSlot(), 1), soon()), { kind: 'appended' });
      await waitFor(() => log.lines.some((line) => line.includes('commitlog_sync')));
    } finally {
      await store.close();
    }
  });

  it('refuses to make a keyspace with more copies than there are nodes', async () => {
    await assert.rejects(
      migrate(cluster, { keyspace: 'copies', replicationFactor: 3 }),
      (error: unknown) => error instanceof StoreRefusal && /3 copies.*1 node/.test(error.message),
    );
  });
});
