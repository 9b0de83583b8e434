// How rotations are stored: byte for byte what is in the log and in the audit log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseKeyId, parseTenantId } from '../../../../src/core/ids.ts';
import {
  decodeEntry,
  decodeTailEntry,
  type EntryOperation,
  encodeEntry,
  encodeOperation,
  LogUnreadableError,
} from '../../../../src/shard/log/entries.ts';
import { resultFromLog } from '../../../../src/shard/log/write-decisions.ts';
import { type Change, countStateRows, deriveState } from '../../../../src/shard/log-changes.ts';
import { SLOT } from '../tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
const formerId = parseKeyId('key_01jhm9r0g0e8xsg4k6t2v8w0yb');
const keyId = parseKeyId('key_01jhm9r0g0e8xsg4k6t2v8w0yc');
assert.ok(tenantId && formerId && keyId);
const common = { name: 'ci', scopes: 5, createdAtMs: 1 };
const former = { keyId: formerId, ...common, expiresAtMs: 90, hash: 'h1', rotatedTo: keyId };
const key = { keyId, ...common, createdAtMs: 50, expiresAtMs: undefined, hash: 'h2', rotatedFrom: formerId };
const change: Change = { kind: 'key-rotated', key, former, revoked: false };
const origin = { tenantId, actor: 'operator:ann', requestId: 'req_1', atMs: 5 };
const operation: EntryOperation = { ...origin, index: 0, changes: [change] };
const FORMER =
  '{"keyId":"key_01jhm9r0g0e8xsg4k6t2v8w0yb","name":"ci","scopes":5,"createdAtMs":1,"expiresAtMs":90,"hash":"h1","rotatedTo":"key_01jhm9r0g0e8xsg4k6t2v8w0yc"}';
const KEY =
  '{"keyId":"key_01jhm9r0g0e8xsg4k6t2v8w0yc","name":"ci","scopes":5,"createdAtMs":50,"hash":"h2","rotatedFrom":"key_01jhm9r0g0e8xsg4k6t2v8w0yb"}';
const BODY = `{"format":1,"base":1000,"elapsedMs":5,"operations":[{"tenantId":"ten_01jhm9r0g0e8xsg4k6t2v8w0ya","actor":"operator:ann","requestId":"req_1","atMs":5,"index":0,"changes":[{"kind":"key-rotated","key":${KEY},"former":${FORMER},"revoked":false}]}]}`;

const recordOf = (body: string) => ({ slot: SLOT, seq: 1, epoch: 1, entryId: 'ent_1', body });

test('an entry with a rotation is read back the same, also by whoever repeats it', () => {
  assert.equal(encodeEntry({ base: 1000, elapsedMs: 5 }, [encodeOperation(operation)]), BODY);
  assert.deepEqual(decodeEntry(recordOf(BODY)).operations, [operation]);
  const [tail] = decodeTailEntry(recordOf(BODY)).operations;
  assert.ok(tail);
  assert.deepEqual(resultFromLog(tail), { kind: 'key-rotated', key, former, revoked: false });
});

test('a rotation lacks no part', () => {
  for (const part of [`"former":${FORMER},`, `"key":${KEY},`, ',"revoked":false']) {
    assert.throws(() => decodeEntry(recordOf(BODY.replace(part, ''))), LogUnreadableError, part);
  }
});

test('a rotation is the rows of both keys, and one entry in the audit log, which names both and no hash', () => {
  const stamp = 1_780_000_000_000_000;
  const position = { slot: SLOT, seq: 7, index: 0, stamp };
  for (const revoked of [false, true]) {
    const rows = deriveState({ ...change, revoked }, origin, position);
    assert.equal(rows.length, countStateRows(change));
    assert.deepEqual(rows.slice(0, 2), [
      { kind: 'key', tenantId, key: former, tombstone: revoked, stamp },
      { kind: 'key', tenantId, key, tombstone: false, stamp },
    ]);
    const last = rows[2];
    assert.ok(last?.kind === 'audit-log');
    assert.equal(
      last.row.change,
      `{"action":"key.rotated","key_id":"${keyId}","name":"ci","scopes":["check:read","admin"],"former_key_id":"${formerId}","former_ends_at":"1970-01-01T00:00:00.090Z"}`,
    );
  }
});
