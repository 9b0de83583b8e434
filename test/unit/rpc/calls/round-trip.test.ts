// Every call of the table goes through the wire and comes out as the same request, at the method of its name, and its
// answer as the same answer; what is foreign or damaged is refused, or read as what it is.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { type CallBody, needsHandle, type ReplyBody } from '../../../../src/rpc/calls/define-call.ts';
import { CALLS, callOf } from '../../../../src/rpc/calls/table.ts';
import { WireViolation } from '../../../../src/rpc/wire-violation.ts';
import { RULES_SOURCE_BYTES_MAX } from '../../../../src/rules/rule-set.ts';
import { type BulkWrite, FOLLOWED_BYTES_MAX } from '../../../../src/shard/shard.ts';
import {
  ATTEMPT,
  answersTo,
  arrived,
  asked,
  brokenRequests,
  HANDLE,
  notingPeer,
  oneOf,
  ROWS,
  type Row,
  replied,
  requestsOf,
  violationsOf,
} from './rows.ts';

const pair = (row: Row) => requestsOf(row).chain((request) => fc.tuple(fc.constant(request), answersTo(row, request)));

/** Replies, each with another field. */
const REPLIES = new Map(
  ROWS.map((row) => {
    const { answer, reply } = row.call;
    const body = { [reply]: answer.write(oneOf(pair(row))[1] as never) };
    return [reply, replied(body as ReplyBody)];
  }),
);

for (const row of ROWS) {
  const { name, call } = row;

  describe(name, () => {
    it('arrives under its name as it was sent, and so does its answer', async () => {
      await fc.assert(
        fc.asyncProperty(pair(row), async ([request, answer]) => {
          const { made, body } = await asked(arrived(call.toWire(request)), answer);
          const handle = needsHandle(call.access) ? HANDLE : undefined;
          const attempt = call.write === 'no' ? undefined : ATTEMPT;
          assert.deepEqual(made, [[name, { handle, attempt }, request]]);
          assert.deepEqual(call.answerOf(replied(body), request), answer);
        }),
        { numRuns: 50 },
      );
    });

    it('is a violation without its request, its handle or its attempt, and then asks nothing of the shard', () => {
      const body = call.toWire(oneOf(requestsOf(row)));
      const { peer, calls } = notingPeer();
      const broken = [{ ...arrived(body), [name]: null }];
      if (needsHandle(call.access)) broken.push(arrived(body, 0));
      if (call.write !== 'no') {
        const attempts = [null, { ...ATTEMPT, requestId: '' }, { ...ATTEMPT, expiresAtMs: Number.NaN }];
        broken.push(...attempts.map((attempt) => arrived(body, HANDLE, attempt)));
      }
      for (const each of broken) assert.throws(() => callOf(each).serve(peer, each), WireViolation);
      assert.deepEqual(calls, []);
    });

    it('is a violation where a field of it is not what it declares, and then asks nothing of the shard', () => {
      const { peer, calls } = notingPeer();
      for (const [constraint, wire] of brokenRequests(row)) {
        const sent = arrived({ [name]: wire } as CallBody);
        assert.throws(() => callOf(sent).serve(peer, sent), WireViolation, constraint);
      }
      assert.deepEqual(calls, []);
    });

    it('has no answer that is not what it declares, nor one to another call', () => {
      const [request, answer] = oneOf(pair(row));
      for (const [constraint, wire] of violationsOf(call.answer, call.answer.write(answer as never))) {
        const reply = replied({ [call.reply]: wire } as ReplyBody);
        assert.throws(() => call.answerOf(reply, request), { code: 'internal' }, constraint);
      }
      for (const [field, reply] of REPLIES) {
        if (field !== call.reply) assert.throws(() => call.answerOf(reply, request), { code: 'internal' }, field);
      }
      assert.throws(() => call.answerOf(replied({}), request), { code: 'internal' });
    });
  });
}

const TENANT = { tenantId: 'ten_01m7zap26vec39w1gswcyac0nr', state: 'active' };
const TUPLE: Tuple = { subject: 'a:b', relation: 'viewer', object: 'c:d' };
const BULK: BulkWrite = { grants: [TUPLE], revocations: [], preconditions: [{ ...TUPLE, exists: true }] };
const RECORD = { outcome: 1, grantId: 'grt_1', createdAtMs: 1 } as const;
const NAMED_REASONS = { namedResults: { authorized: [true], reasons: ['{}', '{}'] } };
const NAMED_RESULTS = { namedResults: { authorized: [true], proofs: ['{}', '{}'] } };
const FOREIGN_ANSWERS: readonly (readonly [string, keyof typeof CALLS, ReplyBody, unknown?])[] = [
  ['a handle of the number 0', 'authenticate', { handle: { ...TENANT } as object }],
  ['a handle on no tenant', 'authenticateOperator', { handle: { handle: 1, ...{ tenantId: 'ten_1' } } }],
  ['fewer results than checks', 'checkBulk', { bulkResults: { authorized: [true] } }, { subjects: ['a:b', 'a:c'] }],
  ['more results than writes', 'writeGrants', { grantResults: { results: [{ outcome: 1 }, { outcome: 1 }] } }, [{}]],
  ['a write without an outcome', 'writeGrants', { grantResults: { results: [{}] } }, [{}]],
  ['an unknown outcome', 'writeGrants', { grantResults: { results: [{ outcome: 6 as 5 }] } }, [{}]],
  ['more reasons than checks', 'checkNamed', NAMED_REASONS, { checks: [TUPLE], explain: false }],
  ['more proofs than checks', 'checkNamed', NAMED_RESULTS, { checks: [TUPLE], explain: false }],
  ['rules without a text', 'readRules', { rules: {} }],
  ['rules of a longer text than any', 'readRules', { rules: { rules: 'x'.repeat(RULES_SOURCE_BYTES_MAX + 1) } }],
  ['a foreign refusal', 'writeGrants', { grantResults: { results: [{ outcome: 5, errorCode: 'internal' }] } }, [{}]],
  ['fewer results than grants', 'writeBulk', { bulkWritten: {} }, BULK],
  ['more results than revocations', 'writeBulk', { bulkWritten: { grants: [RECORD], revoked: [true] } }, BULK],
  ['a grant of a bulk write that was revoked', 'writeBulk', { bulkWritten: { grants: [{ outcome: 3 }] } }, BULK],
  ['a grant of a bulk write without an outcome', 'writeBulk', { bulkWritten: { grants: [{}] } }, BULK],
  ['a precondition that the write has not', 'writeBulk', { bulkWritten: { unmetCondition: 2 } }, BULK],
  ['a foreign refusal of a bulk write', 'writeBulk', { bulkWritten: { errorCode: 'internal' } }, BULK],
  ['more revocations than one call makes', 'revokeGrants', { revoked: { revoked: 1001, complete: true } }],
  ['no namespace', 'createNamespace', { namespaceResult: { created: true } }],
  ['a key without an id', 'createKey', { key: { name: 'x' } }],
  ['a key without an id in a list', 'listKeys', { keys: { keys: [{ name: 'x' }] } }],
  ['a tenant in no state', 'readTenant', { tenant: { ...TENANT, state: '' } }],
  ['a tenant in a foreign state', 'updateTenant', { tenant: { ...TENANT, state: 'gone' } }],
  ['a tenant without an id', 'createTenant', { tenant: { state: 'active' } }],
  ['a tenant without an id in a list', 'listTenants', { tenants: { tenants: [{ state: 'active' }] } }],
  ['a search that ended at no tenant', 'findTenants', { tenants: { scannedTo: 'x' } }],
  ['an ill-formed relation', 'exportGrants', { grants: { grants: [{ relation: 'a b' }], feedCursor: 'x' } }],
  ['no relation', 'listGrants', { grants: { grants: [{}], feedCursor: 'x' } }],
  ['a page without its cursor of the feed', 'listGrants', { grants: {} }],
  ['a slot in a foreign state', 'listSlots', { slots: { slots: [{ state: 'closed' }] } }],
  ['a member in a foreign state', 'listMembers', { members: { members: [{ state: 'asleep' }] } }],
  ['an end of the log before its beginning', 'followTenant', { tenantCommits: { epoch: 1, seq: -1 } }],
  ['a time of a slot that is no whole number', 'followTenant', { tenantCommits: { epoch: 1, nextBase: 2 ** 60 } }],
];

for (const [what, name, body, request] of FOREIGN_ANSWERS) {
  test(`an answer is refused as internal: ${what}`, () => {
    assert.throws(() => CALLS[name].answerOf(replied(body), request as never), { code: 'internal' });
  });
}

test('a call of a field that is not known is a violation', () => {
  const call = arrived({ confirm: {} });
  delete call.request;
  assert.throws(() => callOf(call), WireViolation);
});

const numbered = (count: number): Tuple[] =>
  Array.from({ length: count }, (_, index) => ({ ...TUPLE, object: `c:${index}` }));
const WIRE_TUPLE = { subject: 'a:b', relation: 'viewer', object: 'c:d' } as const;
const wired = (count: number) => numbered(count).map((each) => ({ ...each, relation: 'viewer' }));
const VIOLATIONS: readonly (readonly [string, CallBody])[] = [
  ['a bulk write without changes', { writeBulk: { conditions: [{ ...WIRE_TUPLE, exists: true }] } }],
  ['a bulk write of 101 changes', { writeBulk: { grants: wired(60), revocations: wired(101).slice(60) } }],
  [
    'a bulk write with 101 conditions',
    { writeBulk: { grants: [WIRE_TUPLE], conditions: wired(101).map((each) => ({ ...each, exists: true })) } },
  ],
  [
    'a revocation that types exclude',
    { writeGrants: { writes: [{ ...WIRE_TUPLE, revoke: true, keepsOutside: true }] } },
  ],
  ['a tuple granted twice', { writeBulk: { grants: [WIRE_TUPLE, WIRE_TUPLE] } }],
  ['a tuple granted and revoked', { writeBulk: { grants: [WIRE_TUPLE], revocations: [WIRE_TUPLE] } }],
  ['a bulk write without a relation', { writeBulk: { grants: [{ ...WIRE_TUPLE, relation: '' }] } }],
  ['a filter of a subject and an object', { revokeGrants: { subject: 'a:b', object: 'c:d' } }],
  ['a filter of neither', { revokeGrants: { relation: 'viewer' } }],
  ['a filter of a foreign relation', { revokeGrants: { subject: 'a:b', relation: 'a b' } }],
  ['a reader ahead of any log', { followTenant: { tenantId: 'ten_1', epoch: 1, seq: 2 ** 60 } }],
  ['a reader behind any log', { followTenant: { tenantId: 'ten_1', epoch: 1, seq: -1 } }],
];

for (const [what, body] of VIOLATIONS) {
  test(`a request is a violation, and asks nothing of the shard: ${what}`, () => {
    const { peer, calls } = notingPeer();
    const sent = arrived(body, HANDLE, ATTEMPT);
    assert.throws(() => callOf(sent).serve(peer, sent), WireViolation);
    assert.deepEqual(calls, []);
  });
}

test('a bound of time before all times means the first one, not none', () => {
  for (const sinceMs of [-1, 0, -1e15]) {
    const page = { limit: 1, cursor: undefined };
    const { readChanges } = CALLS.readChanges.toWire({ ...page, sinceMs, waitMs: 0 });
    const { listAuditLog } = CALLS.listAuditLog.toWire({ ...page, tenantId: 'x', sinceMs, untilMs: sinceMs });
    assert.partialDeepStrictEqual([readChanges, listAuditLog], [{ sinceMs: 1 }, { sinceMs: 1, untilMs: 1 }]);
  }
});

test('an owner sends no more commits than a message can hold', async () => {
  const answer = { epoch: 1, seq: 2, nextBase: 3, appliedSeq: 1 };
  const request = { tenantId: 'ten_1', epoch: 1, seq: 1, advance: false };
  const serve = async (commits: string) =>
    (await asked(arrived(CALLS.followTenant.toWire(request)), { ...answer, commits })).body;
  // The widest characters: what counts is bytes.
  const most = 'ü'.repeat(FOLLOWED_BYTES_MAX / 2);
  assert.equal(CALLS.followTenant.answerOf(replied(await serve(most)), request).commits, most);
  await assert.rejects(serve(`${most}.`), /at most 3 MiB/);
});
