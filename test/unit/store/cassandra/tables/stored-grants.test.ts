// The row of a grant in Cassandra: column by column what is written, and what it is read as.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../../../../../src/store/cassandra/driver/executor.ts';
import { grantRowOf } from '../../../../../src/store/cassandra/tables/rows.ts';
import { StateStatements } from '../../../../../src/store/cassandra/tables/state-writes.ts';
import { createGrantWrite, newTenantId } from '../../../../kit/store/store-fixtures.ts';

const rowOf = (columns: object): Row => Object.assign(Object.create(null), columns);

test('a grant is written into the columns in which it always was', () => {
  const tenantId = newTenantId();
  const write = createGrantWrite(tenantId, { grantId: 'grt_1', tombstone: true });
  const [batch] = new StateStatements('"grantd"').batches([write]);
  const params = [
    tenantId,
    'user:ann',
    'viewer',
    'doc:1',
    'grt_1',
    1_700_000_000_123n,
    0n,
    '',
    true,
    1_700_000_000_000_000n,
  ];
  assert.deepEqual(batch?.statements, [
    {
      query:
        'INSERT INTO "grantd".grants (tenant, subject, relation, object, grant_id, created_at_ms, expires_at_ms, condition, gone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
      params,
    },
    {
      query:
        'INSERT INTO "grantd".grants_by_object (tenant, subject, relation, object, grant_id, created_at_ms, expires_at_ms, condition, gone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
      params,
    },
  ]);
});

test('a grant without an expiry overwrites that of an earlier one, and one with an expiry has a row that tells it', () => {
  const tenantId = newTenantId();
  const [batch] = new StateStatements('"grantd"').batches([
    createGrantWrite(tenantId, { expiresAtMs: 1_800_000_000_000 }),
    { ...createGrantWrite(tenantId), kind: 'expiry', expiresAtMs: 1_800_000_000_000 },
  ]);
  assert.deepEqual(
    batch?.statements.map(({ params }) => params.includes(1_800_000_000_000n)),
    [true, true, true],
  );
});

test('a row is read as the grant that it is, and one that no version could have written fails the call', () => {
  const row = { relation: 'viewer', object: 'doc:1', grant_id: 'grt_1', created_at_ms: 1_700_000_000_123n };
  const grant = { relation: 'viewer', object: 'doc:1', grantId: 'grt_1', createdAtMs: 1_700_000_000_123 };
  assert.deepEqual(grantRowOf(rowOf(row)), grant);
  assert.deepEqual(grantRowOf(rowOf({ ...row, created_at_ms: 1_700_000_000_123 })), grant);
  assert.deepEqual(grantRowOf(rowOf({ ...row, expires_at_ms: 0n })), grant);
  assert.deepEqual(grantRowOf(rowOf({ ...row, expires_at_ms: 7n })), { ...grant, expiresAtMs: 7 });
  for (const wrong of [{ grant_id: null }, { grant_id: 7 }, { created_at_ms: null }, { created_at_ms: 'x' }]) {
    assert.throws(() => grantRowOf(rowOf({ ...row, ...wrong })));
  }
});
