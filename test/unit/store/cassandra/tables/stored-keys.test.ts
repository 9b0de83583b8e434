// The row of an API key in Cassandra: column by column what is written, and what it is read as.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row } from '../../../../../src/store/cassandra/driver/executor.ts';
import { StateStatements } from '../../../../../src/store/cassandra/tables/state-writes.ts';
import { keyRecordOf } from '../../../../../src/store/stored-rows.ts';
import { createKeyRecord, newKeyId, newTenantId } from '../../../../kit/store/store-fixtures.ts';

const rowOf = (columns: object): Row => Object.assign(Object.create(null), columns);

test('a key is written with an empty link where it has none, so that nothing becomes a tombstone', () => {
  const tenantId = newTenantId();
  const key = createKeyRecord({ rotatedTo: newKeyId(), expiresAtMs: 1_900_000_000_000 });
  const [batch] = new StateStatements('"grantd"').batches([
    { kind: 'key', tenantId, key, tombstone: false, stamp: 1_700_000_000_000_000 },
  ]);
  assert.deepEqual(batch?.statements, [
    {
      query:
        'INSERT INTO "grantd".keys (tenant, key_id, name, scopes, created_at_ms, expires_at_ms, hash, gone, rotated_from, rotated_to) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
      params: [
        tenantId,
        key.keyId,
        'ci',
        3,
        1_700_000_000_000n,
        1_900_000_000_000n,
        key.hash,
        false,
        '',
        key.rotatedTo,
        1_700_000_000_000_000n,
      ],
    },
  ]);
});

test('a row with empty links is a key that was never rotated', () => {
  const key = createKeyRecord();
  const row = {
    key_id: key.keyId,
    name: key.name,
    scopes: key.scopes,
    created_at_ms: BigInt(key.createdAtMs),
    expires_at_ms: 0n,
    hash: key.hash,
  };
  assert.deepEqual(keyRecordOf(rowOf({ ...row, rotated_from: '', rotated_to: '' })), key);
  const links = { rotatedFrom: newKeyId(), rotatedTo: newKeyId() };
  const linked = rowOf({ ...row, rotated_from: links.rotatedFrom, rotated_to: links.rotatedTo });
  assert.deepEqual(keyRecordOf(linked), { ...key, ...links });
});
