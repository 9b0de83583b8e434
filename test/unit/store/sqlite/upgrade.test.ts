// A database of an older version keeps what it has when a newer one opens it, and what that needs to know of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { migrate } from '../../../../src/store/sqlite/migrate.ts';
import { MIGRATIONS } from '../../../../src/store/sqlite/migrations.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createKeyRecord, newTenantId, soon } from '../../../kit/store/store-fixtures.ts';

test('of a database that was filled before grants were counted, the checkpoint says that no count is right', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const tenantId = newTenantId();
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  migrate(database, MIGRATIONS.slice(0, 2), 1);
  database.exec('INSERT INTO checkpoints (slot, seq, stamp) VALUES (3, 7, 1000)');
  database.exec(`INSERT INTO grants VALUES ('${tenantId}', 'user:ann', 'viewer', 'doc:1', 'grt_1', 5, 0, 999)`);
  database.close();
  const log = createLog({ level: 'silent', pretty: false });
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  try {
    assert.deepEqual(await store.readCheckpoint(3, soon()), { seq: 7, stamp: 1000 });
    assert.equal((await store.readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', soon()))?.grantId, 'grt_1');
    assert.deepEqual(await store.listGrantCounts({ slot: 3, limit: 10 }, soon()), []);
    await store.writeCheckpoint(3, { seq: 8, stamp: 1001, countedFrom: 8 }, soon());
    assert.deepEqual(await store.readCheckpoint(3, soon()), { seq: 8, stamp: 1001, countedFrom: 8 });
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test('of a database that was filled before its checkpoints told the idempotency window, it is not known, until one tells it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  migrate(database, MIGRATIONS.slice(0, 4), 1);
  database.exec('INSERT INTO checkpoints (slot, seq, stamp, counted_from) VALUES (3, 7, 1000, 2)');
  database.close();
  const log = createLog({ level: 'silent', pretty: false });
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  try {
    const checkpoint = { seq: 7, stamp: 1000 };
    assert.deepEqual(await store.readCheckpoint(3, soon()), checkpoint);
    await store.writeCheckpoint(3, { ...checkpoint, windowFrom: 8 }, soon());
    assert.deepEqual(await store.readCheckpoint(3, soon()), { ...checkpoint, windowFrom: 8 });
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test('of a database that was filled before grants could expire, none does, and no expiry is awaited', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const tenantId = newTenantId();
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  migrate(database, MIGRATIONS.slice(0, 8), 1);
  database.exec(`INSERT INTO grants VALUES ('${tenantId}', 'user:ann', 'viewer', 'doc:1', 'grt_1', 5, 0, 999)`);
  database.exec(
    `INSERT INTO grants_by_object VALUES ('${tenantId}', 'doc:1', 'viewer', 'user:ann', 'grt_1', 5, 0, 999)`,
  );
  database.exec(`INSERT INTO grant_counts VALUES (3, '${tenantId}', 7, 1, 19, NULL, 0, 999)`);
  database.close();
  const log = createLog({ level: 'silent', pretty: false });
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  try {
    const grant = { relation: 'viewer', grantId: 'grt_1', createdAtMs: 5 } as const;
    const read = await store.readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', soon());
    assert.deepEqual(read, { ...grant, object: 'doc:1' });
    const { grants } = await store.listObjectGrants({ tenantId, object: 'doc:1', limit: 2 }, soon());
    assert.deepEqual(grants, [{ ...grant, subject: 'user:ann' }]);
    const [count] = await store.listGrantCounts({ slot: 3, limit: 10 }, soon());
    assert.deepEqual(count, { tenantId, seq: 7, grants: 1, bytes: 19, position: undefined, steps: 0 });
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test('of a database that was made while meta held what only a shared store fixes, the cluster stays what it was', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  migrate(database, MIGRATIONS.slice(0, 6), 1);
  database.exec(`INSERT INTO meta (one, schema_version, slots, segment_size, serial_level, lease_ms, deadline_ms, log_format,
    cursor_secrets) VALUES (1, 1, 8, 16, 'LOCAL_SERIAL', 2500, 10000, 1, '["secret"]')`);
  database.close();
  const log = createLog({ level: 'silent', pretty: false });
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  try {
    const meta = {
      slots: 8,
      segmentSize: 16,
      leaseMs: 2500,
      deadlineMs: 10_000,
      logFormat: 1,
      cursorSecrets: ['secret'],
    };
    assert.deepEqual(await store.readMeta(soon()), meta);
    assert.deepEqual(await store.initializeMeta({ ...meta, leaseMs: 1 }, soon()), meta);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test('of a database that was filled before keys could be rotated, none was, and each can be', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const tenantId = newTenantId();
  const key = createKeyRecord();
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  migrate(database, MIGRATIONS.slice(0, 10), 1);
  database.exec(
    `INSERT INTO keys VALUES ('${tenantId}', '${key.keyId}', 'ci', 3, ${key.createdAtMs}, NULL, '${key.hash}', 0, 999)`,
  );
  database.close();
  const log = createLog({ level: 'silent', pretty: false });
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  try {
    assert.deepEqual(await store.readKey(tenantId, key.keyId, soon()), key);
    const former = { ...key, expiresAtMs: 1_900_000_000_000, rotatedTo: createKeyRecord().keyId };
    await store.writeState([{ kind: 'key', tenantId, key: former, tombstone: false, stamp: 1000 }], soon());
    assert.deepEqual(await store.readKey(tenantId, key.keyId, soon()), former);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});
