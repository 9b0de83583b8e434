// How rules are stored: byte for byte what is in the log and in the audit log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTenantId } from '../../../../src/core/ids.ts';
import { withRulesRevision } from '../../../../src/core/tenants.ts';
import {
  decodeEntry,
  decodeTailEntry,
  type EntryOperation,
  encodeEntry,
  encodeOperation,
} from '../../../../src/shard/log/entries.ts';
import { resultFromLog } from '../../../../src/shard/log/write-decisions.ts';
import { type Change, deriveState } from '../../../../src/shard/log-changes.ts';
import { SLOT } from '../tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
assert.ok(tenantId);
const plain = { tenantId, name: 'Acme', plan: 'free', state: 'active', createdAtMs: 1 } as const;
const tenant = withRulesRevision(plain, '0123456789abcdef0123456789abcdef');
const NONE = '{"rules":[],"groups":false,"public":[]}';
const RULES = '{"rules":[],"groups":true,"public":[]}';
const change: Change = { kind: 'rules-updated', tenant, rules: RULES, former: NONE };
const origin = { tenantId, actor: 'key_1', requestId: 'req_1', atMs: 5 };
const operation: EntryOperation = { ...origin, index: 0, changes: [change] };
const TENANT =
  '{"tenantId":"ten_01jhm9r0g0e8xsg4k6t2v8w0ya","name":"Acme","plan":"free","state":"active","createdAtMs":1,"rulesRevision":"0123456789abcdef0123456789abcdef"}';
const BODY = `{"format":1,"base":1000,"elapsedMs":5,"operations":[{"tenantId":"ten_01jhm9r0g0e8xsg4k6t2v8w0ya","actor":"key_1","requestId":"req_1","atMs":5,"index":0,"changes":[{"kind":"rules-updated","tenant":${TENANT},"rules":${JSON.stringify(RULES)},"former":${JSON.stringify(NONE)}}]}]}`;

const recordOf = (body: string) => ({ slot: SLOT, seq: 1, epoch: 1, entryId: 'ent_1', body });

test('an entry with rules is read back the same', () => {
  assert.equal(encodeEntry({ base: 1000, elapsedMs: 5 }, [encodeOperation(operation)]), BODY);
  assert.deepEqual(decodeEntry(recordOf(BODY)).operations, [operation]);
  const [tail] = decodeTailEntry(recordOf(BODY)).operations;
  assert.ok(tail);
  assert.deepEqual(resultFromLog(tail), { kind: 'rules-written' });
});

test('a change of rules is the record of its tenant, its rules, and both rule sets in the audit log', () => {
  const rows = deriveState(change, origin, { slot: SLOT, seq: 7, index: 0, stamp: 1_780_000_000_000_000 });
  assert.deepEqual(rows.slice(0, 2), [
    { kind: 'tenant', slot: SLOT, tenant, stamp: 1_780_000_000_000_000 },
    { kind: 'rules', tenantId, rules: RULES, stamp: 1_780_000_000_000_000 },
  ]);
  const last = rows[2];
  assert.ok(last?.kind === 'audit-log');
  assert.equal(last.row.change, `{"action":"rules.updated","rules":${RULES},"former":${NONE}}`);
  assert.deepEqual(JSON.parse(last.row.change).rules, { rules: [], groups: true, public: [] });
});
