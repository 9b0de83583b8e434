// The row of a grant in SQLite: column by column what is written, and what it is read as.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createGrantWrite, newTenantId, soon } from '../../../kit/store/store-fixtures.ts';

const log = createLog({ level: 'silent', pretty: false });
const COLUMNS = 'tenant, subject, relation, object, grant_id, created_at_ms, gone, stamp';

test('a grant is stored in the columns in which it always was, and read back the same', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const tenantId = newTenantId();
  const rows = [
    [tenantId, 'user:ann', 'editor', 'doc:2', 'grt_2', 1_700_000_000_456, 1, 1001],
    [tenantId, 'user:ann', 'viewer', 'doc:1', 'grt_1', 1_700_000_000_123, 0, 1000],
  ] as const;
  const store = await openSqliteStore({ directory, slots: 8, clock: systemClock, log });
  await store.writeState(
    [
      createGrantWrite(tenantId, { grantId: 'grt_0', createdAtMs: 5, stamp: 999 }),
      createGrantWrite(tenantId, { grantId: 'grt_1', stamp: 1000 }),
      createGrantWrite(tenantId, { grantId: 'grt_0', createdAtMs: 5, stamp: 998 }),
      createGrantWrite(tenantId, {
        relation: 'editor',
        object: 'doc:2',
        grantId: 'grt_2',
        createdAtMs: 1_700_000_000_456,
        tombstone: true,
        stamp: 1001,
      }),
    ],
    soon(),
  );
  await store.close();
  const database = new DatabaseSync(join(directory, 'grantd.db'));
  const select = database.prepare(`SELECT ${COLUMNS} FROM grants ORDER BY relation`);
  select.setReturnArrays(true);
  assert.deepEqual(select.all(), rows);
  // A row without an expiry, by another hand, which the store would refuse otherwise.
  const insert = database.prepare(`INSERT INTO grants (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  insert.run(tenantId, 'user:ann', 'viewer', 'doc:3', 'grt_3', 7, 0, 1002);
  database.close();
  const reopened = await openSqliteStore({ directory, slots: 8, clock: systemClock, log, acceptLoss: true });
  try {
    const read = { relation: 'viewer', object: 'doc:3', grantId: 'grt_3', createdAtMs: 7 };
    assert.deepEqual(await reopened.readGrant(tenantId, 'user:ann', 'viewer', 'doc:3', soon()), read);
    const { grants, next } = await reopened.listGrants({ tenantId, subject: 'user:ann', limit: 3 }, soon());
    const first = { relation: 'viewer', object: 'doc:1', grantId: 'grt_1', createdAtMs: 1_700_000_000_123 };
    assert.deepEqual(grants, [first, read]);
    assert.deepEqual(next, { relation: 'viewer', object: 'doc:3' });
  } finally {
    await reopened.close();
    rmSync(directory, { recursive: true });
  }
});
