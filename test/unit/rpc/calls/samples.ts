// Requests and answers of every call, and a call as a shard's server reads it from the wire. A call without a row here
// does not compile.

import fc from 'fast-check';
import { createApiKey, keyLinks } from '../../../../src/core/api-keys.ts';
import type { CallContext } from '../../../../src/core/call-context.ts';
import { FEED_ACTIONS } from '../../../../src/core/change-feed.ts';
import { IdFactory } from '../../../../src/core/ids.ts';
import { READERS_MAX } from '../../../../src/core/plans.ts';
import { ALL_SCOPES } from '../../../../src/core/scopes.ts';
import { UNFOLLOWED_REASONS } from '../../../../src/core/service-warnings.ts';
import { type Grant, RELATIONS, relationNumber, type Tuple } from '../../../../src/core/tuples.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import type { CallBody, DefinedCall, ReplyBody } from '../../../../src/rpc/calls/define-call.ts';
import { CALLS } from '../../../../src/rpc/calls/table.ts';
import type { Call__Output } from '../../../../src/rpc/gen/grantd/v1/Call.ts';
import type { Reply__Output } from '../../../../src/rpc/gen/grantd/v1/Reply.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
} from '../../../../src/rpc/protocol.ts';
import { NO_RULES, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { KEEP_OUTSIDE } from '../../../../src/rules/rules-writes.ts';
import type {
  AnswerOf,
  Attempt,
  BulkWrite,
  CallName,
  GrantFilter,
  GrantRequest,
  GrantResult,
  GrantsPage,
  IssuedHandle,
  ListedKey,
  RequestOf,
  ResultPage,
  RulesRequest,
  TenantStatus,
} from '../../../../src/shard/shard.ts';

interface Sample<Request, Answer> {
  readonly request: fc.Arbitrary<Request>;
  readonly answer: (request: Request) => fc.Arbitrary<Answer>;
}

const record = <Model extends object>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }): fc.Arbitrary<Model> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<Model>;
const many = <Item>(arbitrary: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> => fc.array(arbitrary, { maxLength: 6 });
const orUndefined = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const someText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const timeMs = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const place = fc.nat({ max: Number.MAX_SAFE_INTEGER });
/** A wire accepts it as the expiry of a new grant. */
const EXPIRY_MS = Date.UTC(2030, 0, 31);
const rate = fc.double({ min: 0, max: 1e9, noNaN: true });
const someRate = fc.double({ min: 0.001, max: 1e9, noNaN: true });
const limit = fc.integer({ min: 1, max: 400 });
const relation = fc.constantFrom(...RELATIONS);
const identifier = fc.constantFrom('user:ann', 'doc:1', 'team:a.b-c', 'x:ü');
const scopes = fc.integer({ min: 1, max: ALL_SCOPES });

const ids = new IdFactory(systemClock, systemRandom);
const tenantId = fc.constantFrom(...Array.from({ length: 5 }, () => ids.create('ten')));
const keyId = fc.constantFrom(...Array.from({ length: 5 }, () => ids.create('key')));
const apiKey = fc
  .tuple(tenantId, keyId)
  .map(([tenant, key]) => createApiKey({ tenantId: tenant, keyId: key }, systemRandom));

const pageQuery = { limit, cursor: orUndefined(someText) };
const pageOf = <Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<ResultPage<Item>> =>
  record({ items: many(item), nextCursor: orUndefined(someText) });

/** A listing that may do without some grants. */
const perhapsWithout = <Query extends object>(query: fc.Arbitrary<Query>): fc.Arbitrary<Query & CallContext> =>
  fc
    .tuple(query, fc.constantFrom({ subject: 'user:ada' }, { relation: 'viewer' as const, object: 'doc:1' }, undefined))
    .map(([each, without]) => (without === undefined ? each : { ...each, without }));

const readerCount = fc.integer({ min: 0, max: READERS_MAX });
const readers = fc.oneof(readerCount, fc.constant('auto' as const));
const handleGrant: fc.Arbitrary<IssuedHandle> = record({
  handle: fc.integer({ min: 1, max: 0xffff_ffff }),
  tenantId,
  keyId: text,
  scopes,
  expiresAtMs: orUndefined(timeMs),
  nowMs: timeMs,
  plan: text,
  suspended: fc.boolean(),
  readers: readerCount,
});
const grant: fc.Arbitrary<Grant> = record<Grant>({
  subject: identifier,
  relation,
  object: identifier,
  grantId: text,
  createdAtMs: timeMs,
}).chain((each) =>
  fc.constantFrom(each, { ...each, expiresAtMs: EXPIRY_MS }, { ...each, condition: 'open {"zone":"CET"}' }),
);
const grantsPage: fc.Arbitrary<GrantsPage> = fc
  .tuple(pageOf(grant), someText)
  .map(([page, feedCursor]) => ({ ...page, feedCursor }));
const key: fc.Arbitrary<ListedKey> = fc
  .tuple(
    record({
      keyId,
      name: text,
      scopes,
      createdAtMs: timeMs,
      expiresAtMs: orUndefined(timeMs),
      lastUsedAtMs: orUndefined(timeMs),
    }),
    orUndefined(keyId),
    orUndefined(keyId),
  )
  .map(([facts, rotatedFrom, rotatedTo]) => ({ ...facts, ...keyLinks({ rotatedFrom, rotatedTo }) }));
const keyHash = fc.constantFrom('0'.repeat(64), 'af09'.repeat(16));
const ruleSet: fc.Arbitrary<RuleSet> = record({
  rules: fc.constantFrom(
    [],
    [
      { namespace: 'doc', name: 'viewer', anyOf: [{ name: 'can_read', from: 'parent' as const }] },
      { namespace: 'doc', name: 'can_read', anyOf: [{ name: 'owner', from: undefined }] },
    ],
  ),
  groups: fc.boolean(),
  public: fc.constantFrom([], ['user']),
}).map((lists) => ({ ...NO_RULES, ...lists }));
const rulesRequest: fc.Arbitrary<RulesRequest> = record({
  ruleSet,
  ifMatch: orUndefined(many(text)),
  outsideTypes: fc.constantFrom(undefined, KEEP_OUTSIDE),
});
const namespace = record({ name: text, createdAtMs: timeMs });
const tenant: fc.Arbitrary<TenantStatus> = fc
  .tuple(
    record({
      tenantId,
      name: text,
      plan: text,
      state: fc.constantFrom('active', 'suspended', 'deleting', 'deleted'),
      createdAtMs: timeMs,
    }),
    orUndefined(record({ namespaces: uint32, keys: uint32 })),
    orUndefined(record({ grants: timeMs, bytes: timeMs })),
    orUndefined(record({ partsRemoved: uint32, lastPartAtMs: orUndefined(timeMs) })),
    orUndefined(
      record({ atMs: uint32.map((minute) => minute * 60_000), requests: uint32, refused: uint32, checks: uint32 }),
    ),
    orUndefined(readers),
  )
  .map(([plain, counts, grants, deletion, lastMinute, own]) => ({
    ...plain,
    ...(own === undefined ? {} : { readers: own }),
    ...(counts && { counts }),
    ...(grants && { grants }),
    ...(deletion && { deletion }),
    ...(lastMinute && { lastMinute }),
  }));
const plainWrite: fc.Arbitrary<GrantRequest> = record({
  subject: identifier,
  relation,
  object: identifier,
  revoke: fc.boolean(),
});
/** Of a grant; a revocation has none. */
const withTerms = (write: GrantRequest): GrantRequest => ({
  ...write,
  revoke: false,
  expiresAtMs: write.revoke ? null : EXPIRY_MS,
  condition: write.revoke ? 'open {"zone":"CET"}' : null,
  ...(write.revoke ? { keepsExisting: true } : { keepsOutside: true }),
});
const grantResult: fc.Arbitrary<GrantResult> = fc.oneof(
  record({ kind: fc.constant('created'), grantId: text, createdAtMs: timeMs }),
  record({ kind: fc.constant('exists'), grantId: text, createdAtMs: timeMs }),
  record({
    kind: fc.constantFrom('created', 'changed', 'exists'),
    grantId: text,
    createdAtMs: timeMs,
    expiresAtMs: fc.constant(EXPIRY_MS),
    notFollowed: fc.constantFrom(...UNFOLLOWED_REASONS),
  }),
  record({ kind: fc.constant('revoked') }),
  record({ kind: fc.constant('not-found') }),
  record({
    kind: fc.constant('refused'),
    code: fc.constantFrom('namespace-limit-reached', 'grant-limit-reached', 'invalid-request'),
    message: text,
  }),
);
/** Kept, given, removed. */
const EXPIRIES = [{}, { expiresAtMs: EXPIRY_MS }, { expiresAtMs: null }, { keepsExisting: true }];
const plainTuple: fc.Arbitrary<Tuple> = record({ subject: identifier, relation, object: identifier });
/** Of a check or a listing: also one that rules may define. */
const name = fc.oneof(relation, fc.constantFrom('can_read', 'x'));
const tupleText = ({ subject, relation: name, object }: Tuple): string => `${subject} ${name} ${object}`;
const bulkWrite: fc.Arbitrary<BulkWrite> = fc
  .tuple(
    fc.uniqueArray(plainTuple, { minLength: 1, maxLength: 8, selector: tupleText }),
    fc.nat(8),
    many(record({ subject: identifier, relation, object: identifier, exists: fc.boolean() })),
  )
  .map(([tuples, split, conditions]) => ({
    grants: tuples.slice(0, split).map((tuple, index) => ({ ...tuple, ...EXPIRIES[index % EXPIRIES.length] })),
    revocations: tuples.slice(split),
    conditions,
  }));
const grantFilter: fc.Arbitrary<GrantFilter> = record({
  of: fc.oneof(record({ subject: identifier }), record({ object: identifier })),
  relation: orUndefined(relation),
});
const revocation = record({ revoked: fc.integer({ min: 0, max: 1000 }), complete: fc.boolean() });
const state = fc.constantFrom('opening', 'serving', 'releasing');
const exactly = <Item>(item: fc.Arbitrary<Item>, count: number) =>
  fc.array(item, { minLength: count, maxLength: count });
const nothing = fc.constant(undefined);

export const SAMPLES: { readonly [Name in CallName]: Sample<RequestOf<Name>, AnswerOf<Name>> } = {
  authenticate: { request: record({ tenantId: text, keyId: text, key: apiKey }), answer: () => handleGrant },
  authenticateAtReader: { request: record({ tenantId: text, keyId: text, key: apiKey }), answer: () => handleGrant },
  authenticateOperator: { request: record({ tenantId: text, operator: text }), answer: () => handleGrant },
  confirm: { request: nothing, answer: () => nothing },
  checkBulk: {
    request: many(grant).map((grants) => ({
      subjects: grants.map(({ subject }) => subject),
      relations: grants.map((each) => relationNumber(each.relation) ?? 1),
      objects: grants.map(({ object }) => object),
    })),
    answer: ({ subjects }) => record({ authorized: exactly(fc.boolean(), subjects.length), checkedAtMs: timeMs }),
  },
  checkNamed: {
    request: many(record({ subject: identifier, relation: name, object: identifier })).chain((checks) =>
      record({
        checks: fc.constant(checks),
        explain: fc.boolean(),
        list: fc.constantFrom('', 'checks'),
        denyUndefined: fc.boolean(),
      }).chain((request) =>
        fc.oneof(
          fc.constant(request),
          exactly(fc.constantFrom('{}', '{"hour":9}', '{"hour":10}'), checks.length).map((contexts) =>
            contexts.length === 0 ? request : { ...request, contexts },
          ),
        ),
      ),
    ),
    answer: ({ checks, explain }) =>
      record({
        authorized: exactly(fc.boolean(), checks.length),
        checkedAtMs: timeMs,
        because: exactly(many(grant), explain ? checks.length : 0),
        proofs: fc.array(fc.constantFrom('', '{"holds":true}'), { maxLength: checks.length }),
        undefinedAt: fc.subarray([...checks.keys()]),
      }),
  },
  writeGrants: {
    request: fc.array(fc.oneof(plainWrite, plainWrite.map(withTerms)), { minLength: 1, maxLength: 6 }),
    answer: (writes) => exactly(grantResult, writes.length),
  },
  writeBulk: {
    request: bulkWrite,
    answer: ({ grants, revocations, conditions }) =>
      fc.oneof(
        record({
          kind: fc.constant('written'),
          grants: exactly(
            fc.oneof(
              record({ created: fc.boolean(), grantId: text, createdAtMs: timeMs }),
              record({
                created: fc.boolean(),
                grantId: text,
                createdAtMs: timeMs,
                expiresAtMs: fc.constant(EXPIRY_MS),
              }),
            ),
            grants.length,
          ),
          revoked: exactly(fc.boolean(), revocations.length),
        }),
        ...conditions.map((_, condition) => fc.constant({ kind: 'condition-not-met', condition } as const)),
        record({
          kind: fc.constant('refused'),
          code: fc.constantFrom('namespace-limit-reached', 'grant-limit-reached', 'invalid-request'),
          message: text,
        }),
      ),
  },
  revokeGrants: { request: grantFilter, answer: () => revocation },
  previewRevocation: { request: grantFilter, answer: () => revocation },
  listHolders: {
    request: perhapsWithout(
      record({
        ...pageQuery,
        object: text,
        relation: name,
        namespace: orUndefined(someText),
        direct: fc.boolean(),
        includeSelf: fc.boolean(),
      }),
    ),
    answer: () =>
      fc
        .tuple(pageOf(text), fc.array(someText, { maxLength: 3 }))
        .map(([page, excluded]) => (excluded.length === 0 ? page : { ...page, excluded })),
  },
  listNames: {
    request: record({ ...pageQuery, subject: identifier, object: identifier }),
    answer: () => pageOf(text),
  },
  listGrants: {
    request: record({
      ...pageQuery,
      of: fc.oneof(record({ subject: someText }), record({ object: someText })),
      relation: orUndefined(relation),
    }),
    answer: () => grantsPage,
  },
  listObjects: {
    request: perhapsWithout(
      record({
        ...pageQuery,
        subject: text,
        relation: name,
        namespace: orUndefined(someText),
        direct: fc.boolean(),
      }),
    ),
    answer: () => pageOf(text),
  },
  listNamespaces: { request: nothing, answer: () => many(namespace) },
  createNamespace: {
    request: fc.constantFrom('a', 'team.x'),
    answer: () => record({ created: fc.boolean(), namespace }),
  },
  createKey: {
    request: record({
      keyId,
      name: text,
      scopes,
      expiresAtMs: orUndefined(timeMs),
      hash: keyHash,
    }),
    answer: () => key,
  },
  listKeys: { request: record(pageQuery), answer: () => pageOf(key) },
  revokeKey: { request: text, answer: () => nothing },
  readRules: { request: nothing, answer: () => ruleSet },
  writeRules: { request: rulesRequest, answer: () => nothing },
  previewRules: {
    request: rulesRequest,
    answer: () =>
      record({
        revision: text,
        groupSubjects: uint32,
        publicGrants: uint32,
        notFollowed: uint32,
        outsideTypes: uint32,
        ungranted: many(record({ namespace: text, relation })),
        scannedGrants: uint32,
        complete: fc.boolean(),
      }),
  },
  listRulesVersions: {
    request: nothing,
    answer: () =>
      many(
        record({
          version: uint32,
          revision: text,
          atMs: timeMs,
          actor: text,
          requestId: text,
          added: uint32,
          removed: uint32,
        }),
      ),
  },
  readRulesVersion: { request: uint32, answer: () => text },
  readChanges: {
    request: record({
      cursor: orUndefined(someText),
      sinceMs: orUndefined(timeMs),
      fromNow: fc.boolean(),
      limit,
      waitMs: fc.integer({ min: 0, max: 5000 }),
      namespace: orUndefined(someText),
      relation: orUndefined(someText),
      actions: orUndefined(fc.subarray([...FEED_ACTIONS])),
    }),
    answer: () =>
      record({
        items: many(
          record({
            index: uint32,
            seq: timeMs,
            atMs: timeMs,
            actor: text,
            requestId: text,
            change: text,
            cursor: text,
          }),
        ),
        nextCursor: text,
        next: record({ seq: timeMs, index: fc.integer({ min: -1, max: 1000 }) }),
        atMs: timeMs,
        atEnd: fc.boolean(),
      }),
  },
  createTenant: {
    request: record({ tenantId, name: text, plan: text, operator: text }),
    answer: () => tenant,
  },
  updateTenant: {
    request: record({
      tenantId: text,
      name: orUndefined(someText),
      plan: orUndefined(someText),
      state: orUndefined(fc.constantFrom('active', 'suspended', 'deleting')),
      readers: fc.oneof(fc.constantFrom(undefined, null), readers),
      operator: text,
    }),
    answer: () => tenant,
  },
  readTenant: { request: record({ tenantId: text }), answer: () => tenant },
  readUsage: {
    request: record({ tenantId: text, sinceMs: fc.maxSafeInteger() }),
    answer: () =>
      record({
        bucketMs: fc.constantFrom(60_000, 3_600_000),
        buckets: many(
          fc
            .record(
              { requests: fc.maxSafeNat(), refused: fc.maxSafeNat(), checks: fc.maxSafeNat(), plan: someText },
              { requiredKeys: ['requests', 'refused', 'checks'] },
            )
            .chain((counts) => uint32.map((minute) => ({ atMs: minute * 60_000, ...counts }))),
        ),
      }),
  },
  listTenants: { request: record({ after: orUndefined(someText), limit }), answer: () => many(tenant) },
  findTenants: {
    request: record({ name: someText, after: orUndefined(someText), limit }),
    answer: () => record({ tenants: many(tenant), scannedTo: orUndefined(tenantId) }),
  },
  listSubjects: { request: record(pageQuery), answer: () => pageOf(text) },
  listAuditLog: {
    request: record({
      ...pageQuery,
      tenantId: text,
      newestFirst: fc.boolean(),
      sinceMs: orUndefined(timeMs),
      untilMs: orUndefined(timeMs),
      action: text,
      actor: text,
      subject: text,
      object: text,
      requestId: text,
    }),
    answer: () =>
      record({
        items: many(record({ index: uint32, seq: timeMs, atMs: timeMs, actor: text, requestId: text, change: text })),
        nextCursor: orUndefined(someText),
        resumeCursor: orUndefined(someText),
        scannedToMs: orUndefined(timeMs),
      }),
  },
  listLogEnds: {
    request: fc.constant(undefined),
    answer: () =>
      record({ ranges: many(record({ slot: uint32, first: timeMs, last: timeMs })), cursorKeys: many(text) }),
  },
  readLog: {
    request: record({ slot: uint32, afterSeq: timeMs, sinceMs: timeMs }),
    answer: () =>
      record({
        items: many(
          record({
            tenantId: text,
            index: uint32,
            seq: timeMs,
            atMs: timeMs,
            actor: text,
            requestId: text,
            change: text,
          }),
        ),
        nextSeq: timeMs,
        atEnd: fc.boolean(),
      }),
  },
  rotateKey: {
    request: record({ keyId, newKeyId: keyId, hash: keyHash, graceMs: fc.integer({ min: 0, max: 2_592_000_000 }) }),
    answer: () => record({ key, former: key, revoked: fc.boolean() }),
  },
  identifyKey: {
    request: record({ keyId, hash: keyHash }),
    answer: () => orUndefined(record({ key, matches: fc.boolean() })),
  },
  exportGrants: { request: record(pageQuery), answer: () => grantsPage },
  readLoad: {
    request: nothing,
    answer: () =>
      record({
        shardName: text,
        checksPerSecond: rate,
        failuresPerSecond: rate,
        p99Ms: orUndefined(someRate),
      }).chain((load) =>
        orUndefined(record({ tenantId: text, share: rate })).map((busiest) =>
          busiest === undefined ? load : { ...load, busiest },
        ),
      ),
  },
  repairTime: {
    request: record({ slot: uint32, dryRun: fc.boolean() }),
    answer: () =>
      record({
        slot: uint32,
        state: fc.constantFrom('right', 'ahead', 'ending', 'repaired'),
        aheadMs: timeMs,
        wallMs: timeMs,
        keys: uint32,
      }),
  },
  listSlots: {
    request: nothing,
    answer: () =>
      record({
        shardName: text,
        incarnation: text,
        leaseLeftMs: orUndefined(rate),
        owned: many(
          record({
            slot: uint32,
            epoch: uint32,
            state,
            logEnd: timeMs,
            checkpoint: timeMs,
            tenants: uint32,
          }),
        ),
        owners: many(record({ slot: uint32, epoch: uint32, incarnation: orUndefined(someText) })),
        readers: many(
          record({
            tenantId: text,
            slot: uint32,
            epoch: uint32,
            position: place,
            calls: place,
            readIndexes: place,
            handedOver: place,
            begun: place,
          }),
        ),
      }),
  },
  listMembers: {
    request: nothing,
    answer: () =>
      many(
        record({
          incarnation: text,
          shardName: text,
          address: text,
          state: fc.constantFrom('alive', 'draining', 'dead'),
          heartbeat: timeMs,
          startedAtMs: timeMs,
        }),
      ),
  },
  readPosition: {
    request: record({ slot: uint32, tenantId: text }),
    answer: ({ tenantId }) =>
      record({
        tenantId: fc.constant(tenantId),
        epoch: uint32,
        seq: place,
        nextBase: place,
        nowMs: place,
        readers: orUndefined(readerCount),
      }),
  },
  followTenant: {
    request: fc
      .tuple(
        record({ tenantId: text, epoch: uint32, seq: place, advance: fc.boolean() }),
        many(record({ keyId: text, usedAtMs: timeMs })),
      )
      .map(([question, uses]) => (uses.length === 0 ? question : { ...question, uses })),
    answer: () =>
      record({
        epoch: uint32,
        seq: place,
        nextBase: place,
        nowMs: place,
        appliedSeq: place,
        commits: text,
        more: fc.boolean(),
      }),
  },
};

/** One row of both tables, whichever it is. */
export interface Row {
  readonly name: CallName;
  readonly call: Omit<DefinedCall<CallName>, 'toWire' | 'answerOf'> & {
    toWire(request: unknown): CallBody;
    answerOf(reply: Reply__Output, request: unknown): unknown;
  };
  readonly sample: Sample<unknown, unknown>;
}

export const ROWS: readonly Row[] = Object.entries(CALLS).map(([name, call]) => ({
  name: name as CallName,
  call: call as Row['call'],
  sample: SAMPLES[name as CallName] as Row['sample'],
}));

export const ATTEMPT: Attempt = { requestId: 'req_1', expiresAtMs: 1e12 };

/** A call as it arrives. */
export function arrived(body: CallBody, handle = 7, attempt: Attempt | null = ATTEMPT): Call__Output {
  const [call] = decodeFrontMessage(encodeFrontMessage({ calls: [{ ...body, id: 1, handle, attempt }] })).calls;
  if (call === undefined) throw new Error('A call arrives.');
  return call;
}

/** A reply as it arrives. */
export function replied(body: ReplyBody): Reply__Output {
  const [reply] = decodeShardMessage(encodeShardMessage({ replies: [{ ...body, id: 1 }] })).replies;
  if (reply === undefined) throw new Error('A reply arrives.');
  return reply;
}
