// How the results of a bulk write and of a revocation by a filter are stored: byte for byte, and read
// back the same. Results that do not belong to their changes make the log unreadable.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTenantId } from '../../../../src/core/ids.ts';
import {
  decodeEntry,
  decodeTailEntry,
  type EntryOperation,
  encodeEntry,
  encodeOperation,
  LogUnreadableError,
} from '../../../../src/shard/log/entries.ts';
import { resultFromLog } from '../../../../src/shard/log/write-decisions.ts';
import { SLOT, tuple } from '../tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
assert.ok(tenantId);

const attributes = (grantId: string) => ({ grantId, createdAtMs: 1_768_469_400_123 });
const CREATED = { ...tuple('user:ann', 'doc:1'), ...attributes('grt_01jhm9r0g0e8xsg4k6t2v8w0ya') };
const REVOKED = { ...tuple('user:bob', 'doc:2'), ...attributes('grt_01jhm9r0g0e8xsg4k6t2v8w0yb') };
const EXISTS = attributes('grt_01jhm9r0g0e8xsg4k6t2v8w0yc');
const origin = { tenantId, actor: 'key_1', atMs: 1_768_469_400_124, index: 0 };

const BULK: EntryOperation = {
  ...origin,
  requestId: 'req_1',
  changes: [
    { kind: 'namespace-created', name: 'doc', createdAtMs: 5 },
    { kind: 'grant-created', grant: CREATED, newSubject: true },
    { kind: 'grant-revoked', grant: REVOKED },
  ],
  results: { kind: 'bulk', grants: [EXISTS, 'created'], revoked: [true, false] },
};
const REVOCATION: EntryOperation = {
  ...origin,
  requestId: 'req_2',
  changes: [{ kind: 'grant-revoked', grant: REVOKED }],
  results: { kind: 'revocation', revoked: 1, complete: false },
};
const SINGLE: EntryOperation = { ...origin, requestId: 'req_3', changes: REVOCATION.changes };

const BULK_RESULTS =
  '"results":{"kind":"bulk","grants":[{"grantId":"grt_01jhm9r0g0e8xsg4k6t2v8w0yc","createdAtMs":1768469400123},"created"],"revoked":[true,false]}';
const REVOCATION_RESULTS = '"results":{"kind":"revocation","revoked":1,"complete":false}';

const recordOf = (body: string) => ({ slot: SLOT, seq: 1, epoch: 1, entryId: 'ent_1', body });

const bodyOf = (operations: readonly EntryOperation[]): string =>
  encodeEntry({ base: 1000, elapsedMs: 5 }, operations.map(encodeOperation));

const BODY = bodyOf([BULK, REVOCATION, SINGLE]);

test('only an operation with many changes has stored results', () => {
  assert.match(BODY, /^\{"format":1,"base":1000,"elapsedMs":5,"operations":\[/);
  assert.ok(BODY.includes(`],${BULK_RESULTS}}`));
  assert.ok(BODY.includes(`],${REVOCATION_RESULTS}}`));
  assert.ok(!bodyOf([SINGLE]).includes('results'));
});

test('an entry with results is read back the same, and a repeat gets them from the entry or from the tail', () => {
  const { operations } = decodeEntry(recordOf(BODY));
  assert.deepEqual(operations, [BULK, REVOCATION, SINGLE]);
  const expected = [
    {
      kind: 'bulk',
      bulk: {
        kind: 'written',
        grants: [
          { created: false, ...EXISTS },
          { created: true, grantId: CREATED.grantId, createdAtMs: CREATED.createdAtMs },
        ],
        revoked: [true, false],
      },
    },
    { kind: 'revocation', revoked: 1, complete: false },
    { kind: 'grant', grant: { kind: 'revoked' } },
  ];
  assert.deepEqual(operations.map(resultFromLog), expected);
  assert.deepEqual(decodeTailEntry(recordOf(BODY)).operations.map(resultFromLog), expected);
});

const BAD: readonly (readonly [what: string, right: string, wrong: string])[] = [
  ['of an unknown kind', '"kind":"bulk","grants"', '"kind":"bulk2","grants"'],
  ['that are null', BULK_RESULTS, '"results":null'],
  ['that are a list', BULK_RESULTS, '"results":[]'],
  ['with a grant that nothing created', ',"created"]', ',"created","created"]'],
  ['without a grant that was created', ',"created"]', ']'],
  ['with a grant without its id', '{"grantId":"grt_01jhm9r0g0e8xsg4k6t2v8w0yc",', '{'],
  ['with a grant that is a number', ',"created"]', ',"created",7]'],
  ['with a revocation that did not happen', '"revoked":[true,false]', '"revoked":[true,true]'],
  ['without a revocation that happened', '"revoked":[true,false]', '"revoked":[false]'],
  ['with a revocation that is no boolean', '"revoked":[true,false]', '"revoked":[true,0]'],
  ['without revocations', ',"revoked":[true,false]', ''],
  ['with another number of revocations', '"revoked":1,', '"revoked":2,'],
  ['that do not say whether they are complete', ',"complete":false', ''],
  [
    'of a revocation by a filter, with a change of another kind',
    REVOCATION_RESULTS,
    '"results":{"kind":"revocation","revoked":0,"complete":true}',
  ],
];

for (const [what, right, wrong] of BAD) {
  test(`results ${what} make the log unreadable, whoever reads it`, () => {
    assert.ok(BODY.includes(right), 'the test has something to replace');
    const record = recordOf(BODY.replace(right, wrong));
    const refused = (error: unknown) =>
      error instanceof LogUnreadableError && /has results that do not/.test(error.message);
    assert.throws(() => decodeEntry(record), refused);
    assert.throws(() => decodeTailEntry(record), refused);
  });
}

test('a grant that a bulk write created has its attributes, or the log is not readable', () => {
  const { grantId } = CREATED;
  assert.ok(BODY.includes(`"grantId":"${grantId}",`));
  for (const wrong of ['', '"grantId":7,', '"grantId":null,']) {
    const record = recordOf(BODY.replace(`"grantId":"${grantId}",`, wrong));
    assert.throws(() => decodeEntry(record), LogUnreadableError);
    assert.throws(() => decodeTailEntry(record), LogUnreadableError);
  }
});

const END_MS = 1_800_000_000_000;
const ENDING: EntryOperation = {
  ...origin,
  requestId: 'req_4',
  changes: [
    { kind: 'grant-created', grant: { ...CREATED, expiresAtMs: END_MS }, newSubject: true },
    { kind: 'grant-updated', grant: { ...REVOKED, expiresAtMs: END_MS } },
  ],
  results: { kind: 'bulk', grants: ['created', { ...EXISTS, expiresAtMs: END_MS }], revoked: [] },
};
const CLEARED: EntryOperation = {
  ...origin,
  requestId: 'req_5',
  changes: [
    { kind: 'grant-expired', grant: { ...CREATED, expiresAtMs: END_MS } },
    { kind: 'grant-revoked', grant: REVOKED },
  ],
  results: { kind: 'revocation', revoked: 1, complete: true },
};

test('results are stored with the expiry of each grant, and what has expired is not counted as revoked', () => {
  const record = recordOf(bodyOf([ENDING, CLEARED]));
  assert.deepEqual(decodeEntry(record).operations, [ENDING, CLEARED]);
  const { grantId, createdAtMs } = CREATED;
  const expected = [
    {
      kind: 'bulk',
      bulk: {
        kind: 'written',
        grants: [
          { created: true, grantId, createdAtMs, expiresAtMs: END_MS },
          { created: false, ...EXISTS, expiresAtMs: END_MS },
        ],
        revoked: [],
      },
    },
    { kind: 'revocation', revoked: 1, complete: true },
  ];
  for (const decode of [decodeEntry, decodeTailEntry]) {
    assert.deepEqual(decode(record).operations.map(resultFromLog), expected);
    const wrong = recordOf(record.body.replace('"revoked":1', '"revoked":2'));
    assert.throws(() => decode(wrong), LogUnreadableError);
  }
});
