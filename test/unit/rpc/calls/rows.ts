// Every call of the table with random cases, which follow from what it declares, and a call as a shard's server reads
// it from the wire.

import type { MethodDefinition } from '@grpc/grpc-js';
import fc from 'fast-check';
import { createApiKey } from '../../../../src/core/api-keys.ts';
import { IdFactory } from '../../../../src/core/ids.ts';
import { RELATIONS, type TupleColumns } from '../../../../src/core/tuples.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import {
  type CallBody,
  type DefinedCall,
  needsHandle,
  type ReplyBody,
  type ServedPeer,
} from '../../../../src/rpc/calls/define-call.ts';
import type { AnyField } from '../../../../src/rpc/calls/schema.ts';
import { CALLS, callOf } from '../../../../src/rpc/calls/table.ts';
import type { Attempt, Call, ReceivedCall, ReceivedReply } from '../../../../src/rpc/messages.ts';
import { decodeFrontMessage, decodeShardMessage, encodeFrontMessage, PROTO } from '../../../../src/rpc/protocol.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import type { AnswerOf, BulkWrite, CallName, NamedChecks, RequestOf } from '../../../../src/shard/shard.ts';

/** One row of the table, whichever it is. */
export interface Row {
  readonly name: CallName;
  readonly call: Omit<DefinedCall<CallName>, 'toWire' | 'answerOf'> & {
    toWire(request: unknown): CallBody;
    answerOf(reply: ReceivedReply, request: unknown): unknown;
  };
}

export const ROWS: readonly Row[] = Object.entries(CALLS).map(([name, call]) => ({
  name: name as CallName,
  call: call as Row['call'],
}));

// ---- values ----

const ids = new IdFactory(systemClock, systemRandom);
const tenantId = fc.constantFrom(...Array.from({ length: 5 }, () => ids.create('ten')));
const keyId = fc.constantFrom(...Array.from({ length: 5 }, () => ids.create('key')));
const RULES = [
  { namespace: 'doc', name: 'viewer', anyOf: [{ name: 'can_read', from: 'parent' as const }] },
  { namespace: 'doc', name: 'can_read', anyOf: [{ name: 'owner', from: undefined }] },
];

/** Values of the forms that the calls name. */
const FORMS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  'a tenant id': tenantId,
  'a key id': keyId,
  'an API key': fc
    .tuple(tenantId, keyId)
    .map(([tenant, key]) => createApiKey({ tenantId: tenant, keyId: key }, systemRandom)),
  'a hash': fc.constantFrom('0'.repeat(64), 'af09'.repeat(16)),
  'an identifier': fc.constantFrom('user:ann', 'doc:1', 'team:a.b-c', 'x:ü', `n:${'𝕏'.repeat(256)}`),
  'a subject': fc.constantFrom('user:ann', 'doc:1', '*', `n:${'𝕏'.repeat(256)}`),
  'a relation': fc.constantFrom(...RELATIONS, 'reviewer', 'x'.repeat(64)),
  'a name': fc.constantFrom('viewer', 'can_read', 'x'),
  'a condition': fc.constantFrom('open', 'open {"zone":"CET"}'),
  'a context': fc.constantFrom('{}', '{"hour":9}'),
  'a namespace': fc.constantFrom('a', 'team.x'),
  rules: fc
    .record({ rules: fc.constantFrom([], RULES), groups: fc.boolean(), public: fc.constantFrom([], ['user']) })
    .map((lists) => RulesText.of({ ...NO_RULES, ...lists })),
};

const RANGES = {
  uint32: [0, 2 ** 32 - 1],
  sint32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
  double: [-1e9, 1e9],
} as const;

const isNothing = (value: unknown): boolean =>
  value === '' || value === 0 || value === false || (Array.isArray(value) && value.length === 0);

function valuesOf(field: AnyField): fc.Arbitrary<unknown> {
  const { shape } = field;
  switch (shape.kind) {
    case 'text': {
      const short = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text.length <= shape.max);
      return Number.isFinite(shape.max) ? fc.oneof(short, fc.constant('x'.repeat(shape.max))) : short;
    }
    case 'form':
      return FORMS[shape.name] ?? fc.constant(`There are no values of ${shape.name}.`);
    case 'number': {
      const [min, max] = RANGES[shape.type];
      const range = { min: Math.max(min, shape.min), max: Math.min(max, shape.max) };
      return shape.type === 'double'
        ? fc.double({ ...range, noNaN: true }).map((value) => value + 0)
        : fc.integer(range);
    }
    case 'flag':
      return fc.boolean();
    case 'word':
      return fc.constantFrom(...shape.words);
    case 'outcome':
      return fc.constantFrom(...Object.keys(shape.numbers));
    case 'list':
      return fc.array(valuesOf(shape.item), { minLength: shape.min, maxLength: Math.min(6, shape.max) });
    case 'message': {
      const isEmpty = Object.keys(shape.fields).length === 0;
      return fc
        .record(Object.fromEntries(Object.entries(shape.fields).map(([name, each]) => [name, valuesOf(each)])))
        .map((value) => Object.entries(value))
        .map((members) =>
          members.filter(([name, member]) => member !== undefined || shape.fields[name]?.optional !== true),
        )
        .map((members) => (isEmpty ? undefined : Object.fromEntries(members)));
    }
    case 'default':
      return fc.option(
        valuesOf(shape.field).filter((value) => !isNothing(value)),
        { nil: undefined, freq: 2 },
      );
    case 'converted':
      return valuesOf(shape.field)
        .map((value) => {
          try {
            return [shape.from(value as never)];
          } catch {
            return [];
          }
        })
        .filter(({ length }) => length > 0)
        .map(([value]) => value);
    default:
      throw new Error('A field of its own has values of its own.');
  }
}

const plainRecord = <Value>(model: { [Name in keyof Value]: fc.Arbitrary<Value[Name]> }): fc.Arbitrary<Value> =>
  fc.record(model, { noNullPrototype: true });
const identifier = fc.constantFrom('user:ann', 'doc:1', 'x:ü');
const columns: fc.Arbitrary<TupleColumns> = fc
  .array(fc.tuple(identifier, fc.integer({ min: 1, max: RELATIONS.length }), identifier), { maxLength: 6 })
  .map((checks) => ({
    subjects: checks.map(([subject]) => subject),
    relations: checks.map(([, relation]) => relation),
    objects: checks.map(([, , object]) => object),
  }));
const exactly = <Item>(item: fc.Arbitrary<Item>, count: number) =>
  fc.array(item, { minLength: count, maxLength: count });
const namedChecks: fc.Arbitrary<NamedChecks> = fc
  .array(plainRecord({ subject: identifier, relation: fc.constantFrom('viewer', 'can_read'), object: identifier }), {
    maxLength: 6,
  })
  .chain((checks) =>
    fc
      .record({
        checks: fc.constant(checks),
        explain: fc.boolean(),
        list: fc.constantFrom('', 'checks'),
        denyUndefined: fc.boolean(),
        context: fc.constantFrom(undefined, '{"hour":9}'),
        contextGrants: fc.constantFrom(undefined, [
          { subject: 'user:ann', relation: 'viewer', object: 'doc:1' },
        ] as const),
        contexts: fc.option(exactly(fc.constantFrom('{}', '{"hour":10}'), checks.length), { nil: undefined }),
      })
      .map((request) => {
        const given = Object.entries(request).filter(([, value]) => value !== undefined && !isNothing(value));
        const { explain, list, denyUndefined } = request;
        return { checks, explain, list, denyUndefined, ...Object.fromEntries(given) };
      }),
  );

/** Those of calls whose requests are written and read by functions of their own. */
const OWN_REQUESTS: { readonly [Name in CallName]?: fc.Arbitrary<RequestOf<Name>> } = {
  checkBulk: columns,
  checkNamed: namedChecks,
};

export const requestsOf = ({ name, call }: Row): fc.Arbitrary<unknown> => OWN_REQUESTS[name] ?? valuesOf(call.request);

/** As many as there must be, each of them one of these. */
const repeated = <Item>(items: readonly Item[], count: number, other: Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => items[index % items.length] ?? other);

/** An answer that fits the request as the call demands it. */
const FITTING: { readonly [Name in CallName]?: (answer: AnswerOf<Name>, request: RequestOf<Name>) => AnswerOf<Name> } =
  {
    checkBulk: (answer, { subjects }) => ({
      ...answer,
      authorized: repeated(answer.authorized, subjects.length, true),
    }),
    checkNamed: ({ authorized, because, proofs, reasons, undefinedAt, hints, ...answer }, { checks, explain }) => ({
      ...answer,
      authorized: repeated(authorized, checks.length, false),
      because: explain ? repeated(because, checks.length, []) : [],
      proofs: proofs.slice(0, checks.length),
      reasons: reasons.slice(0, checks.length),
      undefinedAt: [...checks.keys()].filter((index) => index < undefinedAt.length),
      hints: hints.slice(0, Math.min(checks.length, undefinedAt.length)),
    }),
    writeGrants: (results, writes) => repeated(results, writes.length, { kind: 'revoked' }),
    writeBulk(answer, { grants, revocations, preconditions }: BulkWrite) {
      if (answer.kind === 'refused' || (answer.kind === 'precondition-not-met' && preconditions.length > 0)) {
        return answer.kind === 'refused'
          ? answer
          : { ...answer, precondition: answer.precondition % preconditions.length };
      }
      const written = answer.kind === 'written' ? answer : { grants: [], revoked: [] };
      return {
        kind: 'written',
        grants: repeated(written.grants, grants.length, { created: true, grantId: 'grt_1', createdAtMs: 1 }),
        revoked: repeated(written.revoked, revocations.length, false),
      };
    },
  };

export const answersTo = ({ name, call }: Row, request: unknown): fc.Arbitrary<unknown> => {
  const fit = FITTING[name] as ((answer: unknown, request: unknown) => unknown) | undefined;
  return valuesOf(call.answer).map((answer) => (fit === undefined ? answer : fit(answer, request)));
};

/** One value of a request or an answer, the same in every run. */
export const oneOf = <Value>(values: fc.Arbitrary<Value>): Value =>
  fc.sample(values, { numRuns: 1, seed: 1 })[0] as Value;

// ---- what no peer sends ----

/** The wire of a value, once for each constraint of the field, with that one broken. */
export function* violationsOf(field: AnyField, wire: unknown): Generator<readonly [constraint: string, wire: unknown]> {
  const { shape } = field;
  switch (shape.kind) {
    case 'text':
      if (Number.isFinite(shape.max)) yield ['a text that is too long', 'x'.repeat(shape.max + 1)];
      break;
    case 'form':
      yield [`no ${shape.name}`, 'none \u0000'];
      break;
    case 'number': {
      const [min, max] = RANGES[shape.type];
      const least = shape.type === 'int64' ? -1 : min;
      if (shape.min > least) yield ['too small a number', shape.min - 1];
      if (Number.isFinite(shape.max) && (shape.max < max || shape.type === 'int64'))
        yield ['too large a number', shape.max + 1];
      break;
    }
    case 'word':
      yield ['no such word', 'none of them'];
      break;
    case 'outcome':
      yield ['no such outcome', 77];
      break;
    case 'list': {
      const item = shape.item.write(oneOf(valuesOf(shape.item)) as never);
      if (shape.min > 0) yield ['too few items', []];
      if (Number.isFinite(shape.max)) yield ['too many items', Array.from({ length: shape.max + 1 }, () => item)];
      for (const [constraint, each] of violationsOf(shape.item, item)) yield [`an item with ${constraint}`, [each]];
      break;
    }
    case 'message': {
      const given = (wire ?? field.write(oneOf(valuesOf(field)) as never)) as Record<string, unknown>;
      for (const [name, member] of Object.entries(shape.fields)) {
        const { wireName = name } = member;
        if (member.shape.kind === 'message' && Object.keys(member.shape.fields).length > 0)
          yield [`no ${name}`, { ...given, [wireName]: null }];
        for (const [constraint, each] of violationsOf(member, given[wireName]))
          yield [`${name}: ${constraint}`, { ...given, [wireName]: each }];
      }
      break;
    }
    case 'default':
      for (const [constraint, each] of violationsOf(shape.field, wire ?? undefined))
        if (!isNothing(each)) yield [constraint, each];
      break;
    case 'converted':
      yield* violationsOf(shape.field, wire);
      break;
    default:
  }
}

const CHECKS = { subjects: ['user:ann'], relations: [6], objects: ['doc:1'] };
const NAMED = { ...CHECKS, relations: undefined, names: ['viewer'] };
const hundredAndOne = (checks: object): object =>
  Object.fromEntries(Object.entries(checks).map(([name, column = []]) => [name, Array(101).fill(column[0])]));
/** No identifier has so many units. */
const ENDLESS = 'x'.repeat(700);

/** Those of calls whose requests are read by functions of their own. */
const OWN_VIOLATIONS: { readonly [Name in CallName]?: readonly (readonly [constraint: string, wire: object])[] } = {
  checkBulk: [
    ['too many checks', hundredAndOne(CHECKS)],
    ['columns that differ', { ...CHECKS, objects: [] }],
    ['no such relation', { ...CHECKS, relations: [10] }],
    ['too long a subject', { ...CHECKS, subjects: [ENDLESS] }],
    ['too long an object', { ...CHECKS, objects: [ENDLESS] }],
  ],
  checkNamed: [
    ['too many checks', hundredAndOne(NAMED)],
    ['columns that differ', { ...NAMED, names: [] }],
    ['no such name', { ...NAMED, names: ['no name'] }],
    ['too long a subject', { ...NAMED, subjects: [ENDLESS] }],
    ['too long an object', { ...NAMED, objects: [ENDLESS] }],
    ['no context', { ...NAMED, callContext: { context: 'none' } }],
    ['no context of its own', { ...NAMED, contexts: ['none'], contextOf: [0] }],
    ['a context that no check has', { ...NAMED, contexts: ['{}'], contextOf: [] }],
    ['contexts for more checks than there are', { ...NAMED, contexts: ['{}'], contextOf: [0, 0] }],
    ['a context of another number', { ...NAMED, contexts: ['{}'], contextOf: [1] }],
  ],
};

/** What no request of this call has on the wire. */
export const brokenRequests = ({ name, call }: Row): Iterable<readonly [constraint: string, wire: unknown]> =>
  OWN_VIOLATIONS[name] ?? violationsOf(call.request, undefined);

// ---- the way over the wire ----

export const HANDLE = 7;
export const ATTEMPT: Attempt = { requestId: 'req_1', expiresAtMs: 1e12 };

/** The call as a front sends it. */
export const sentCall = ({ call }: Row, request: unknown): Call => ({
  ...call.toWire(request),
  id: 1,
  handle: needsHandle(call.access) ? HANDLE : 0,
  attempt: call.write === 'no' ? null : ATTEMPT,
});

/** A call as it arrives. */
export function arrived(body: CallBody, handle = HANDLE, attempt: Attempt | null = ATTEMPT): ReceivedCall {
  const [call] = decodeFrontMessage(encodeFrontMessage({ calls: [{ ...body, id: 1, handle, attempt }] })).calls;
  if (call === undefined) throw new Error('A call arrives.');
  return call;
}

const { Exchange: library } = PROTO['grantd.v1.Shard'] as unknown as { Exchange: MethodDefinition<object, object> };

/** A reply as it arrives. `encode`: the library's also writes what no shard sends. */
export function replied(body: ReplyBody, encode = library.responseSerialize): ReceivedReply {
  const [reply] = decodeShardMessage(encode({ replies: [{ ...body, id: 1 }] })).replies;
  if (reply === undefined) throw new Error('A reply arrives.');
  return reply;
}

/** A shard that notes what is asked of it, and gives one answer to everything. */
export function notingPeer(answer?: unknown) {
  const calls: unknown[][] = [];
  const connection = {
    demandRight: () => {},
    unknownNamespaces: () => [],
    call: (...made: unknown[]) => {
      calls.push(made);
      return Promise.resolve(answer);
    },
  };
  const parts = { tenant: connection, operator: connection, shard: connection };
  return { peer: parts as unknown as ServedPeer, calls };
}

/** What a shard is asked by a call, and the reply with this answer. */
export async function asked(call: ReceivedCall, answer?: unknown) {
  const { peer, calls } = notingPeer(answer);
  const body = await callOf(call).serve(peer, call);
  return { made: calls, request: calls[0]?.[2], body };
}
