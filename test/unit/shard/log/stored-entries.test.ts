// The stored form of entries, byte for byte in the log and in the audit log; each is read back the same.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
import type { Change } from '../../../../src/shard/log-changes.ts';
import { createMemoryStore, OpenSlot, SEGMENT_SIZE, SLOT, soon, tuple } from '../tools.ts';

const tenantId = parseTenantId('ten_01jhm9r0g0e8xsg4k6t2v8w0ya');
assert.ok(tenantId);

const recordOf = (body: string) => ({ slot: SLOT, seq: 1, epoch: 1, entryId: 'ent_1', body });

describe('a stored grant', () => {
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

  it('an entry of the log holds a grant in its fixed form, and is read back the same', () => {
    assert.equal(encodeEntry({ base: 1000, elapsedMs: 5 }, [encodeOperation({ ...origin, index: 0, changes })]), BODY);
    const entry = decodeEntry(recordOf(BODY));
    assert.deepEqual(entry, { base: 1000, elapsedMs: 5, operations: [{ ...origin, index: 0, changes }] });
    // The order of fields is that of the bytes, too.
    const grants = entry.operations[0]?.changes.map((change) =>
      'grant' in change ? JSON.stringify(change.grant) : '',
    );
    assert.deepEqual(grants, [GRANT, GRANT]);
    assert.deepEqual(decodeTailEntry(recordOf(BODY)).operations, [
      { requestId: 'req_1', index: 0, changes: [changes[1]] },
    ]);
  });

  it('the log contains exactly these bytes for a write', async () => {
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

  it('a grant without one of its attributes, or with one of another form, is refused with its entry', () => {
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
});

describe('stored results of a bulk write and of a filtered revocation', () => {
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

  const bodyOf = (operations: readonly EntryOperation[]): string =>
    encodeEntry({ base: 1000, elapsedMs: 5 }, operations.map(encodeOperation));

  const BODY = bodyOf([BULK, REVOCATION, SINGLE]);

  it('only an operation with many changes has stored results', () => {
    assert.match(BODY, /^\{"format":1,"base":1000,"elapsedMs":5,"operations":\[/);
    assert.ok(BODY.includes(`],${BULK_RESULTS}}`));
    assert.ok(BODY.includes(`],${REVOCATION_RESULTS}}`));
    assert.ok(!bodyOf([SINGLE]).includes('results'));
  });

  it('an entry with results is read back the same, and a repeat gets them from the entry or from the tail', () => {
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
    it(`results ${what} make the log unreadable, for every reader`, () => {
      assert.ok(BODY.includes(right), 'the test has something to replace');
      const record = recordOf(BODY.replace(right, wrong));
      const refused = (error: unknown) =>
        error instanceof LogUnreadableError && /has results that do not/.test(error.message);
      assert.throws(() => decodeEntry(record), refused);
      assert.throws(() => decodeTailEntry(record), refused);
    });
  }

  it('a grant that a bulk write created has its attributes, or the log is not readable', () => {
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

  it('an update is stored with the former terms; one of version 0.2, without them, is read as it is', () => {
    const grant = { ...REVOKED, expiresAtMs: END_MS };
    const operationWith = (former: object): EntryOperation => ({
      ...origin,
      requestId: 'req_6',
      changes: [{ kind: 'grant-updated', grant, ...former }],
    });
    for (const former of [{}, { former: {} }, { former: { expiresAtMs: 7, condition: 'open {"zone":"CET"}' } }]) {
      const operation = operationWith(former);
      assert.deepEqual(decodeEntry(recordOf(bodyOf([operation]))).operations, [operation]);
    }
    for (const former of [{ expiresAtMs: 'soon' }, { condition: 7 }, { condition: '!' }, null]) {
      assert.throws(() => decodeEntry(recordOf(bodyOf([operationWith({ former })]))), LogUnreadableError);
    }
  });

  it('results are stored with the expiry of each grant, and what has expired is not counted as revoked', () => {
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
});
