// Every call of the table goes through the wire and comes out as the same request, at the method of its name, and its
// answer as the same answer; what is foreign or damaged is refused, or read as what it is.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { Tuple } from '../../../../src/core/tuples.ts';
import { type CallBody, needsHandle, type ReplyBody, type ServedPeer } from '../../../../src/rpc/calls/define-call.ts';
import { CALLS, callOf } from '../../../../src/rpc/calls/table.ts';
import { WireViolation } from '../../../../src/rpc/wire-violation.ts';
import { type BulkWrite, FOLLOWED_BYTES_MAX } from '../../../../src/shard/shard.ts';
import { ATTEMPT, arrived, ROWS, type Row, replied } from './samples.ts';

const HANDLE = 7;

/** A shard that notes what is asked of it, and gives one answer to everything. */
function notingPeer(served: unknown) {
  const asked: unknown[][] = [];
  const connection = {
    demandRight: () => {},
    unknownNamespaces: () => [],
    call: (...made: unknown[]) => {
      asked.push(made);
      return Promise.resolve(served);
    },
  };
  const parts = { tenant: connection, operator: connection, reader: connection };
  return { peer: parts as unknown as ServedPeer, asked };
}

/** What comes of a request and its answer on their way. */
async function travel(row: Row, request: unknown, answer: unknown) {
  const { peer, asked } = notingPeer(answer);
  const call = arrived(row.call.toWire(request));
  const body = await callOf(call).serve(peer, call);
  return { asked, reply: replied(body), body };
}

const pair = ({ sample }: Row) =>
  sample.request.chain((request) => fc.tuple(fc.constant(request), sample.answer(request)));

for (const row of ROWS) {
  const { name, call, sample } = row;

  describe(name, () => {
    it('arrives under its name as it was sent, and so does its answer', async () => {
      await fc.assert(
        fc.asyncProperty(pair(row), async ([request, answer]) => {
          const { asked, reply } = await travel(row, request, answer);
          const handle = needsHandle(call.access) ? HANDLE : undefined;
          const attempt = call.write === 'no' ? undefined : ATTEMPT;
          assert.deepEqual(asked, [[name, { handle, attempt }, request]]);
          assert.deepEqual(call.answerOf(reply, request), answer);
        }),
        { numRuns: 50 },
      );
    });

    it('is a violation without its request, its handle or its attempt, and then asks nothing of the shard', () => {
      const [request] = fc.sample(sample.request, 1);
      const body = call.toWire(request);
      const { peer, asked } = notingPeer(undefined);
      const broken = [{ ...arrived(body), [call.name]: null }];
      if (needsHandle(call.access)) broken.push(arrived(body, 0));
      if (call.write !== 'no') {
        const attempts = [null, { ...ATTEMPT, requestId: '' }, { ...ATTEMPT, expiresAtMs: Number.NaN }];
        broken.push(...attempts.map((attempt) => arrived(body, HANDLE, attempt)));
      }
      for (const each of broken) assert.throws(() => callOf(each).serve(peer, each), WireViolation);
      assert.deepEqual(asked, []);
    });

    it('is refused, or served as what it says, whatever is in a field of its request', async () => {
      await fc.assert(
        fc.asyncProperty(sample.request, fc.nat(), fc.nat(), async (request, at, by) => {
          const sent = arrived(damaged(call.toWire(request), at, by));
          const { peer, asked } = notingPeer(undefined);
          try {
            await callOf(sent).serve(peer, sent);
          } catch (error) {
            // The answer is none that can be written, which is not what is looked at here.
            if (asked.length === 0)
              assert.ok(error instanceof WireViolation || error instanceof GrantdError, `${error}`);
          }
          const [taken] = asked;
          if (taken === undefined) return;
          assert.deepEqual(arrived(call.toWire(taken[2])), sent);
        }),
        { numRuns: 100 },
      );
    });

    it('takes no answer to another call for its own', async () => {
      const [request] = fc.sample(sample.request, 1);
      for (const other of ROWS) {
        const [asked, answer] = fc.sample(pair(other), 1)[0] ?? assert.fail();
        const { reply, body } = await travel(other, asked, answer);
        if (Object.keys(body)[0] === Object.keys((await travel(row, ...sampled(row))).body)[0]) continue;
        assert.throws(() => call.answerOf(reply, request), { code: 'internal' }, other.name);
      }
      assert.throws(() => call.answerOf(replied({}), request), { code: 'internal' });
    });
  });
}

function sampled(row: Row): [unknown, unknown] {
  return fc.sample(pair(row), 1)[0] ?? assert.fail();
}

const FOREIGN_TEXTS = ['', 'x'.repeat(1000), 'none of them', '\u0000', 'active'];
const FOREIGN_NUMBERS = [0, 1, 8, 77, 1001, 2 ** 31, 2 ** 32 - 1];

/** The same with one leaf, or one length of a list, changed. */
function damaged<Value>(value: Value, at: number, by: number): Value {
  if (typeof value === 'string') return FOREIGN_TEXTS[by % FOREIGN_TEXTS.length] as Value;
  if (typeof value === 'number') return FOREIGN_NUMBERS[by % FOREIGN_NUMBERS.length] as Value;
  if (typeof value === 'boolean') return !value as Value;
  if (Array.isArray(value)) {
    if (value.length === 0 || by % 3 === 0) return [...value, ...value.slice(-1)] as Value;
    if (by % 3 === 1) return value.slice(1) as Value;
    const place = at % value.length;
    return value.with(place, damaged(value[place], at >>> 3, by)) as Value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value) as (keyof Value)[];
  const key = keys[at % keys.length];
  return key === undefined ? value : { ...value, [key]: damaged(value[key], Math.floor(at / keys.length), by) };
}

const TENANT = { tenantId: 'ten_01m7zap26vec39w1gswcyac0nr', state: 'active' };
const TUPLE: Tuple = { subject: 'a:b', relation: 'viewer', object: 'c:d' };
const BULK: BulkWrite = { grants: [TUPLE], revocations: [], conditions: [{ ...TUPLE, exists: true }] };
const RECORD = { outcome: 1, grantId: 'grt_1', createdAtMs: 1 } as const;
const NAMED_RESULTS = { namedResults: { authorized: [true], proofs: ['{}', '{}'] } };
const FOREIGN_ANSWERS: readonly (readonly [string, keyof typeof CALLS, ReplyBody, unknown?])[] = [
  ['a handle of the number 0', 'authenticate', { handle: { tenantId: TENANT.tenantId } }],
  ['a handle on no tenant', 'authenticateOperator', { handle: { handle: 1, tenantId: 'ten_1' } }],
  ['fewer results than checks', 'checkBulk', { bulkResults: { authorized: [true] } }, { subjects: ['a:b', 'a:c'] }],
  ['more results than writes', 'writeGrants', { grantResults: { results: [{ outcome: 1 }, { outcome: 1 }] } }, [{}]],
  ['a write without an outcome', 'writeGrants', { grantResults: { results: [{}] } }, [{}]],
  ['an outcome that is none', 'writeGrants', { grantResults: { results: [{ outcome: 6 as 5 }] } }, [{}]],
  ['more proofs than checks', 'checkNamed', NAMED_RESULTS, { checks: [TUPLE], explain: false }],
  ['rules that are no JSON', 'readRules', { rules: { rules: '{' } }],
  ['rules that are no rule set', 'readRules', { rules: { rules: '{"rules":1}' } }],
  ['a foreign refusal', 'writeGrants', { grantResults: { results: [{ outcome: 5, errorCode: 'internal' }] } }, [{}]],
  ['fewer results than grants', 'writeBulk', { bulkWritten: {} }, BULK],
  ['more results than revocations', 'writeBulk', { bulkWritten: { grants: [RECORD], revoked: [true] } }, BULK],
  ['a grant of a bulk write that was revoked', 'writeBulk', { bulkWritten: { grants: [{ outcome: 3 }] } }, BULK],
  ['a grant of a bulk write without an outcome', 'writeBulk', { bulkWritten: { grants: [{}] } }, BULK],
  ['a condition that the write has not', 'writeBulk', { bulkWritten: { unmetCondition: 2 } }, BULK],
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
  ['a relation that is none', 'exportGrants', { grants: { grants: [{ relation: 'a b' }], feedCursor: 'x' } }],
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
    const { peer, asked } = notingPeer(undefined);
    const sent = arrived(body, HANDLE, ATTEMPT);
    assert.throws(() => callOf(sent).serve(peer, sent), WireViolation);
    assert.deepEqual(asked, []);
  });
}

test('a bound of time before all times means the first one, not none', () => {
  for (const sinceMs of [-1, 0, -1e15]) {
    const page = { limit: 1, cursor: undefined };
    const { readChanges } = CALLS.readChanges.toWire({ ...page, sinceMs, waitMs: 0 });
    const { listAuditLog } = CALLS.listAuditLog.toWire({
      ...page,
      tenantId: TENANT.tenantId,
      sinceMs,
      untilMs: sinceMs,
    });
    assert.deepEqual([readChanges?.sinceMs, listAuditLog?.sinceMs, listAuditLog?.untilMs], [1, 1, 1]);
  }
});

test('an owner sends no more commits than a message can hold', async () => {
  const answer = { epoch: 1, seq: 2, nextBase: 3, appliedSeq: 1 };
  const request = { tenantId: 'ten_1', epoch: 1, seq: 1, advance: false };
  const serve = async (commits: string) => {
    const call = arrived(CALLS.followTenant.toWire(request));
    return callOf(call).serve(notingPeer({ ...answer, commits }).peer, call);
  };
  // Of the widest characters: what counts is bytes.
  const most = 'ü'.repeat(FOLLOWED_BYTES_MAX / 2);
  assert.equal(CALLS.followTenant.answerOf(replied(await serve(most)), request).commits, most);
  await assert.rejects(serve(`${most}.`), /at most 3 MiB/);
});
