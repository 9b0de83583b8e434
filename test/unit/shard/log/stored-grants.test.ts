// How a grant is stored: byte for byte in the log and in the audit log, and read back the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTenantId } from '../../../../src/core/ids.ts';
import {
  decodeEntry,
  decodeTailEntry,
  encodeEntry,
  encodeOperation,
  LogUnreadableError,
} from '../../../../src/shard/log/entries.ts';
import { type Change, deriveState } from '../../../../src/shard/log-changes.ts';
import { createMemoryStore, OpenSlot, SEGMENT_SIZE, SLOT, soon, tuple } from '../tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
assert.ok(tenantId);

const grant = {
  ...tuple('user:ann', 'doc:1'),
  grantId: 'grt_01jhm9r0g0e8xsg4k6t2v8w0ya',
  createdAtMs: 1_768_469_400_123,
};
const origin = { tenantId, actor: 'key_1', requestId: 'req_1', atMs: 1_768_469_400_124 };

const GRANT =
  '{"subject":"user:ann","relation":"viewer","object":"doc:1","grantId":"grt_01jhm9r0g0e8xsg4k6t2v8w0ya","createdAtMs":1768469400123}';
const OPERATION = `{"tenantId":"ten_01jhm9r0g0e8xsg4k6t2v8w0ya","actor":"key_1","requestId":"req_1","atMs":1768469400124,"index":0,"changes":[{"kind":"grant-created","grant":${GRANT},"newSubject":true},{"kind":"grant-revoked","grant":${GRANT}}]}`;
const BODY = `{"format":1,"base":1000,"elapsedMs":5,"operations":[${OPERATION}]}`;

const changes: readonly Change[] = [
  { kind: 'grant-created', grant, newSubject: true },
  { kind: 'grant-revoked', grant },
];

const recordOf = (body: string) => ({ slot: SLOT, seq: 1, epoch: 1, entryId: 'ent_1', body });

test('an entry of the log holds a grant as it always did, and is read back the same', () => {
  assert.equal(encodeEntry({ base: 1000, elapsedMs: 5 }, [encodeOperation({ ...origin, index: 0, changes })]), BODY);
  const entry = decodeEntry(recordOf(BODY));
  assert.deepEqual(entry, { base: 1000, elapsedMs: 5, operations: [{ ...origin, index: 0, changes }] });
  // The order of fields is that of the bytes, too.
  const grants = entry.operations[0]?.changes.map((change) => ('grant' in change ? JSON.stringify(change.grant) : ''));
  assert.deepEqual(grants, [GRANT, GRANT]);
  assert.deepEqual(decodeTailEntry(recordOf(BODY)).operations, [
    { requestId: 'req_1', index: 0, changes: [changes[1]] },
  ]);
});

test('what a call writes stands in the log in those very bytes', async () => {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory);
  const tenant = await slot.createTenant();
  const handle = await slot.handle(tenant);
  await slot.grant(handle, tuple('user:ann', 'doc:1'));
  await slot.revoke(handle, tuple('user:ann', 'doc:1'));
  const bodies = (await memory.readRecords(SLOT, 1, SEGMENT_SIZE, soon())).map(({ body }) => body).join('\n');
  const [created = '', revoked = ''] = [...bodies.matchAll(/"grant":(\{[^}]*\})/g)].map(([, text]) => text);
  assert.match(
    created,
    /^\{"subject":"user:ann","relation":"viewer","object":"doc:1","grantId":"grt_[0-9a-z]{26}","createdAtMs":\d{13}\}$/,
  );
  assert.equal(revoked, created);
  slot.kill();
});

test('a grant without one of its attributes, or with one of another form, is refused with its entry', () => {
  const wrong = [
    ['"grantId":"grt_01jhm9r0g0e8xsg4k6t2v8w0ya"', '"grantId":7'],
    ['"grantId":"grt_01jhm9r0g0e8xsg4k6t2v8w0ya",', ''],
    ['"createdAtMs":1768469400123', '"createdAtMs":1.5'],
    ['"createdAtMs":1768469400123', '"createdAtMs":"1768469400123"'],
    [',"createdAtMs":1768469400123', ''],
  ] as const;
  for (const [right, replacement] of wrong) {
    const record = recordOf(BODY.replaceAll(right, replacement));
    assert.throws(() => decodeEntry(record), LogUnreadableError, replacement);
    assert.throws(() => decodeTailEntry(record), LogUnreadableError, replacement);
  }
});

test('the rows of a grant carry what they always did', () => {
  const position = { slot: SLOT, seq: 7, index: 0, stamp: 1_768_469_400_000_000 };
  for (const change of changes) {
    const rows = deriveState(change, origin, position);
    const action = change.kind === 'grant-created' ? 'grant.created' : 'grant.revoked';
    assert.deepEqual(rows.slice(-2), [
      { kind: 'grant', tenantId, ...grant, tombstone: change.kind === 'grant-revoked', stamp: position.stamp },
      {
        kind: 'audit-log',
        tenantId,
        month: '2026-01',
        row: {
          seq: 7,
          index: 0,
          atMs: origin.atMs,
          actor: 'key_1',
          requestId: 'req_1',
          change: `{"action":"${action}","subject":"user:ann","relation":"viewer","object":"doc:1","grant_id":"grt_01jhm9r0g0e8xsg4k6t2v8w0ya"}`,
        },
        stamp: position.stamp,
      },
    ]);
  }
});
