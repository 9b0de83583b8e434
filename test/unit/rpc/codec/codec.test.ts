// The codec by hand against the library: what either writes, both read as the same; and no bytes, whoever sends them,
// are read otherwise than the library reads them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MethodDefinition } from '@grpc/grpc-js';
import fc from 'fast-check';
import type { FrontMessage, ShardMessage } from '../../../../src/rpc/messages.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
  PROTO,
} from '../../../../src/rpc/protocol.ts';
import { anyCharacter } from '../../support/any-character.ts';

const { Exchange: library } = PROTO['grantd.v1.Shard'] as unknown as {
  readonly Exchange: MethodDefinition<object, object>;
};

const uint32 = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 0xffff_ffff }));
const timeMs = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }));
/** Mostly ASCII, as identifiers are; long ones have a length of two bytes. */
const text = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ minLength: 40, maxLength: 50 }) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, minLength: 100, maxLength: 321 }) },
);
const relation = fc.integer({ min: 0, max: 9 }) as fc.Arbitrary<1>;
const many = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(arbitrary, { maxLength: 12 });

const plainChecks = fc.record({
  ids: many(uint32),
  handles: many(uint32),
  subjects: many(text),
  relations: many(relation),
  objects: many(text),
});
const checks = fc.oneof(
  { weight: 4, arbitrary: plainChecks },
  {
    weight: 1,
    arbitrary: fc
      .tuple(plainChecks, many(fc.record({ index: uint32, traceparent: text })))
      .map(([plain, traced]) => ({ ...plain, traced })),
  },
);
const position = fc.record(
  { tenantId: text, epoch: uint32, seq: timeMs, nextBase: timeMs, nowMs: timeMs, toldReaders: uint32, quietMs: uint32 },
  { requiredKeys: [] },
);
const bulk = fc.record({ subjects: many(text), relations: many(relation), objects: many(text) });
const call = fc.oneof(
  fc.record({ id: uint32, handle: uint32, checkBulk: bulk }),
  fc.record({ id: uint32, handle: uint32, checkBulk: bulk, traceparent: text }),
  fc.record({ id: uint32, handle: uint32, readPosition: fc.record({ tenantId: text, slot: uint32 }) }),
  fc.record({ id: uint32, handle: uint32, confirm: fc.constant({}) }),
  fc.record({
    id: uint32,
    handle: uint32,
    attempt: fc.record({ requestId: text, expiresAtMs: fc.double({ noNaN: true }) }),
    createNamespace: fc.record({ name: text }),
  }),
);
const frontMessage: fc.Arbitrary<FrontMessage> = fc.record(
  {
    hello: fc.record({ version: text, name: text, slots: uint32 }),
    checks,
    calls: many(call),
    ping: fc.record({ id: uint32 }),
    positions: many(position),
    report: fc.record({ load: fc.record({ elapsedMs: uint32, latencies: many(uint32) }) }),
  },
  { requiredKeys: [] },
);

const failure = fc.record({ id: uint32, failure: fc.record({ message: text }) });
const reply = fc.oneof(
  fc.record({ id: uint32, bulkResults: fc.record({ authorized: many(fc.boolean()), checkedAtMs: timeMs }) }),
  fc.record({ id: uint32, position }),
  fc.record({ id: uint32, done: fc.constant({}) }),
  fc.record({ id: uint32, objects: fc.record({ objects: many(text), nextCursor: text }) }),
  failure,
);
const shardMessage: fc.Arbitrary<ShardMessage> = fc.record(
  {
    welcome: fc.record({ version: text, slots: uint32 }),
    routes: fc.record({ slots: many(uint32), epochs: many(uint32), isChange: fc.boolean(), removed: many(uint32) }),
    settings: many(fc.record({ tenantId: text, plan: text, readers: uint32 })),
    checkResults: fc.record({
      authorized: many(uint32),
      denied: many(uint32),
      failed: fc.oneof({ weight: 3, arbitrary: fc.constant<never[]>([]) }, { weight: 1, arbitrary: many(failure) }),
      checkedAtMs: timeMs,
      timed: many(uint32),
      timedAtMs: many(timeMs),
    }),
    replies: many(reply),
    pong: fc.record({ id: uint32, shardMs: fc.double({ noNaN: true }) }),
  },
  { requiredKeys: [] },
);

/** Calls and replies have ids: their order within a message says nothing. */
function reordered(decoded: unknown): unknown {
  const message = structuredClone(decoded) as { calls?: unknown[]; replies?: unknown[] };
  for (const unordered of [message.calls, message.replies]) {
    unordered?.sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  }
  return message;
}

interface Direction {
  readonly name: string;
  readonly message: fc.Arbitrary<FrontMessage & ShardMessage>;
  readonly encode: (message: FrontMessage & ShardMessage) => Buffer;
  readonly decode: (bytes: Buffer) => unknown;
  readonly libraryEncode: (message: FrontMessage & ShardMessage) => Buffer;
  readonly libraryDecode: (bytes: Buffer) => unknown;
}

const DIRECTIONS: readonly Direction[] = [
  {
    name: 'of a front',
    message: frontMessage as never,
    encode: encodeFrontMessage,
    decode: decodeFrontMessage,
    libraryEncode: library.requestSerialize,
    libraryDecode: library.requestDeserialize,
  },
  {
    name: 'of a shard',
    message: shardMessage as never,
    encode: encodeShardMessage,
    decode: decodeShardMessage,
    libraryEncode: library.responseSerialize,
    libraryDecode: library.responseDeserialize,
  },
];

const damage = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }), kind: fc.nat({ max: 3 }) });

/** Cut, joined with the second, lengthened by a byte, or with one changed. */
function damaged(first: Buffer, second: Buffer, damages: readonly { at: number; byte: number; kind: number }[]) {
  let bytes = first;
  for (const { at, byte, kind } of damages) {
    const place = bytes.length === 0 ? 0 : at % bytes.length;
    if (kind === 0) bytes = bytes.subarray(0, place);
    else if (kind === 1) bytes = Buffer.concat([bytes, second]);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place)]);
    else if (bytes.length > 0) bytes[place] = byte;
  }
  return bytes;
}

const REFUSED = 'refused';

function outcomeOf(decode: (bytes: Buffer) => unknown, bytes: Buffer): unknown {
  try {
    return reordered(decode(bytes));
  } catch {
    return REFUSED;
  }
}

for (const { name, message, encode, decode, libraryEncode, libraryDecode } of DIRECTIONS) {
  describe(`messages ${name}`, () => {
    it('mean the same to the library, whichever of the two wrote them', () => {
      fc.assert(
        fc.property(message, (given) => {
          const expected = reordered(libraryDecode(libraryEncode(given)));
          assert.deepEqual(reordered(libraryDecode(encode(given))), expected);
          assert.deepEqual(reordered(decode(encode(given))), expected);
          assert.deepEqual(reordered(decode(libraryEncode(given))), expected);
        }),
        { numRuns: 300 },
      );
    });

    it('are no longer than those of the library', () => {
      fc.assert(fc.property(message, (given) => encode(given).length <= libraryEncode(given).length));
    });

    it('are refused, or read as the library reads them, where they are cut, joined or have bytes changed', () => {
      fc.assert(
        fc.property(message, message, fc.array(damage, { maxLength: 3 }), (first, second, damages) => {
          const bytes = damaged(encode(first), encode(second), damages);
          const read = outcomeOf(decode, bytes);
          // The library reads on where a part claims to be longer than what holds it.
          if (read !== REFUSED) assert.deepEqual(read, outcomeOf(libraryDecode, bytes));
        }),
        { numRuns: 500 },
      );
    });
  });
}

it('a field whose content claims more than holds it is refused, whatever is read by hand behind it', () => {
  const pong = library.responseSerialize({ pong: { id: 128, shardMs: 0 } });
  const lengthOfPong = pong.indexOf(pong.length - 2);
  const overrun = Buffer.concat([pong.subarray(0, lengthOfPong), Buffer.of(1), pong.subarray(lengthOfPong + 1)]);
  const byHand = encodeShardMessage({ checkResults: { authorized: [1, 2, 3], checkedAtMs: 5 } });
  const next = library.responseSerialize({ pong: { id: 7, shardMs: 0 } });
  for (const bytes of [[overrun], [overrun, byHand], [overrun, byHand, next], [overrun, next]]) {
    assert.throws(() => decodeShardMessage(Buffer.concat(bytes)));
  }
});

it('a message of the largest size goes through, and one after it', () => {
  const subjects = Array.from({ length: 10_000 }, (_, index) => `user:${'ü'.repeat(100)}${index}`);
  const largest = { checks: { ids: subjects.map((_, index) => index), subjects } };
  const decoded = decodeFrontMessage(encodeFrontMessage(largest));
  assert.deepEqual(decoded.checks?.subjects, subjects);
  assert.deepEqual(decodeFrontMessage(encodeFrontMessage({ checks: { ids: [7] } })).checks?.ids, [7]);
});
