// The rows that a change makes in the state tables.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNextRules } from '../../../src/core/tenants.ts';
import { type Change, countStateRows, deriveState, monthOf } from '../../../src/shard/log-changes.ts';
import { ids, SLOT, tuple } from './tools.ts';

const origin = { tenantId: ids.create('ten'), actor: 'key_1', requestId: 'req_1', atMs: 1 };
const grant = { ...tuple('user:a', 'doc:1'), grantId: 'grt_1', createdAtMs: 1 };

test("a change stands in the audit log under the month of its entry's base, though its stamp is of the next", () => {
  const base = Date.UTC(2026, 11, 1) * 1000 - 1000;
  const position = { slot: SLOT, seq: 7, index: 1500, stamp: base + 1500 };
  assert.equal(monthOf(position.stamp / 1000), '2026-12');
  const rows = deriveState({ kind: 'grant-revoked', grant }, origin, position);
  assert.deepEqual(
    rows.flatMap((row) => (row.kind === 'audit-log' ? [row.month] : [])),
    ['2026-11'],
  );
});

test('a subject is listed from its first grant on, before the grant itself', () => {
  const position = { slot: SLOT, seq: 7, index: 0, stamp: 1_700_000_000_000_000 };
  const kinds = (newSubject: boolean) =>
    deriveState({ kind: 'grant-created', grant, newSubject }, origin, position).map(({ kind }) => kind);
  assert.deepEqual(kinds(true), ['subject', 'grant', 'audit-log']);
  assert.deepEqual(kinds(false), ['grant', 'audit-log']);
});

test('the audit log never contains the hash of a key', () => {
  const key = {
    keyId: ids.create('key'),
    name: 'ci',
    scopes: 5,
    createdAtMs: 1,
    expiresAtMs: undefined,
    hash: 'secret',
  };
  const position = { slot: SLOT, seq: 7, index: 0, stamp: 1_700_000_000_000_000 };
  for (const kind of ['key-created', 'key-revoked'] as const) {
    const [row, auditLog] = deriveState({ kind, key }, origin, position);
    assert.ok(row?.kind === 'key' && row.tombstone === (kind === 'key-revoked'));
    assert.ok(auditLog?.kind === 'audit-log' && !auditLog.row.change.includes('secret'));
  }
});

test('the rows of a change are counted without deriving them', () => {
  const key = { keyId: ids.create('key'), name: 'ci', scopes: 5, createdAtMs: 1, expiresAtMs: undefined, hash: 'h' };
  const tenant = { tenantId: origin.tenantId, name: 'T', plan: 'free', state: 'active', createdAtMs: 1 } as const;
  const expiring = { ...grant, expiresAtMs: 2 };
  const changes: readonly Change[] = [
    ...[grant, expiring].flatMap((each): Change[] => [
      { kind: 'grant-created', grant: each, newSubject: true },
      { kind: 'grant-created', grant: each, newSubject: false },
      { kind: 'grant-updated', grant: each },
      { kind: 'grant-revoked', grant: each },
      { kind: 'grant-expired', grant: each },
    ]),
    { kind: 'namespace-created', name: 'doc', createdAtMs: 1 },
    { kind: 'key-created', key },
    { kind: 'key-revoked', key },
    { kind: 'key-rotated', key, former: key, revoked: false },
    { kind: 'tenant-created', tenant },
    { kind: 'tenant-updated', tenant },
    {
      kind: 'rules-updated',
      tenant: withNextRules(tenant, undefined),
      rules: '{}',
      former: '{}',
      added: 0,
      removed: 0,
    },
  ];
  const position = { slot: SLOT, seq: 7, index: 0, stamp: 1_700_000_000_000_000 };
  for (const change of changes) {
    assert.equal(countStateRows(change), deriveState(change, origin, position).length, JSON.stringify(change));
  }
});
