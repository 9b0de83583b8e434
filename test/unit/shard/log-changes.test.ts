// Every kind of change: its bytes in the log, its rows in the state tables and the audit log, and the result that a
// repeat gets. `stored-changes.ndjson` has them as existing clusters hold them: its lines stay, new ones may follow.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseTenantId } from '../../../src/core/ids.ts';
import {
  decodeEntry,
  decodeTailEntry,
  encodeEntry,
  encodeOperation,
  LogUnreadableError,
} from '../../../src/shard/log/entries.ts';
import { resultFromLog } from '../../../src/shard/log/write-decisions.ts';
import { countStateRows, deriveState, monthOf } from '../../../src/shard/log-changes.ts';
import { SLOT, tuple } from './tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
assert.ok(tenantId);
const origin = { tenantId, actor: 'key_1', requestId: 'req_1', atMs: 1_768_469_400_124 };
const position = { slot: 3, seq: 7, index: 0, stamp: 1_768_469_400_000_000 };

const recordOf = (stored: unknown) => {
  const operation = JSON.stringify({ ...origin, index: 0, changes: [stored] });
  return { ...position, epoch: 1, entryId: 'ent_1', body: encodeEntry({ base: 1000, elapsedMs: 5 }, [operation]) };
};

const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const CASES = readFileSync(new URL('stored-changes.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n');

for (const [number, line] of CASES.entries()) {
  const { stored, rows, result } = JSON.parse(line);
  test(`stored change ${number + 1}, ${stored.kind}, is read back the same and means the same`, () => {
    const record = recordOf(stored);
    const [operation] = decodeEntry(record).operations;
    const [tail] = decodeTailEntry(record).operations;
    const change = operation?.changes[0];
    assert.ok(operation && tail && change);
    assert.ok(encodeOperation(operation).includes(JSON.stringify(stored)));
    const derived = deriveState(change, origin, position);
    assert.deepEqual(toJson(derived), rows);
    assert.equal(countStateRows(change), derived.length);
    assert.deepEqual([operation, tail].map(resultFromLog).map(toJson), [result, result]);
    assert.ok(!JSON.stringify(derived.filter(({ kind }) => kind === 'audit-log')).includes('secret'));
    for (const field of Object.keys(stored).filter((name) => name !== 'former' || stored.kind !== 'grant-updated')) {
      const wrong = recordOf({ ...stored, [field]: undefined });
      for (const decode of [decodeEntry, decodeTailEntry]) {
        if (decode === decodeTailEntry && field === 'newSubject') continue;
        assert.throws(() => decode(wrong), LogUnreadableError, field);
      }
    }
  });
}

test("a change stands in the audit log under the month of its entry's base, though its stamp is of the next", () => {
  const grant = { ...tuple('user:a', 'doc:1'), grantId: 'grt_1', createdAtMs: 1 };
  const base = Date.UTC(2026, 11, 1) * 1000 - 1000;
  const late = { slot: SLOT, seq: 7, index: 1500, stamp: base + 1500 };
  assert.equal(monthOf(late.stamp / 1000), '2026-12');
  const rows = deriveState({ kind: 'grant-revoked', grant }, origin, late);
  assert.deepEqual(
    rows.flatMap((row) => (row.kind === 'audit-log' ? [row.month] : [])),
    ['2026-11'],
  );
});
