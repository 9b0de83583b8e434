// Identifiers: the text form against an independent reading of it as a number, and the bits of UUIDv7.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Clock, Random } from '../../../src/core/async/clock.ts';
import {
  decodeUuid,
  encodeUuid,
  IdFactory,
  isDerivedId,
  keyIdBefore,
  keyIdFromDigest,
  parseKeyId,
  parseTenantId,
  readUuidWords,
  tenantIdFromDigest,
  timeOfId,
  UUID_WORDS,
  uuidOf,
  uuidTextOf,
} from '../../../src/core/ids.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const uuid = fc.uint8Array({ minLength: 16, maxLength: 16 });

function textOf(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let index = 0; index < 26; index += 1) {
    text = `${ALPHABET[Number(value % 32n)]}${text}`;
    value /= 32n;
  }
  return text;
}

function clockAt(wallMs: number): Clock {
  return {
    monotonicMs: () => 0,
    wallMs: () => wallMs,
    idleMs: () => 0,
    setTimer: () => assert.fail('no timer is needed'),
    setImmediate: () => assert.fail('no timer is needed'),
  };
}
const counting = (): Random => {
  let next = 0;
  return {
    bytes: (length) =>
      Uint8Array.from({ length }, () => {
        next += 1;
        return next % 251;
      }),
  };
};

describe('the words of a UUID', () => {
  it('are its bytes, and give its text again', () => {
    fc.assert(
      fc.property(uuid, fc.nat(3), (bytes, at) => {
        const words = new Uint32Array(at + UUID_WORDS);
        assert.equal(readUuidWords(`req_${encodeUuid(bytes)}`, 4, words, at), true);
        const view = new DataView(bytes.buffer, bytes.byteOffset);
        for (let word = 0; word < UUID_WORDS; word += 1) assert.equal(words[at + word], view.getUint32(4 * word));
        assert.equal(uuidTextOf(words, at), encodeUuid(bytes));
      }),
    );
  });

  it('are read of what has a UUID, and of nothing else', () => {
    const text = fc.string({ unit: fc.constantFrom(...ALPHABET, 'i', 'A', 'é', '\u{1F600}', '_'), maxLength: 30 });
    fc.assert(
      fc.property(
        fc.oneof(text, fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 26, maxLength: 26 })),
        (each) => {
          assert.equal(readUuidWords(each, 0, new Uint32Array(UUID_WORDS), 0), decodeUuid(each) !== undefined);
        },
      ),
    );
  });
});

describe('the text of a UUID', () => {
  it('is the number in base 32', () => {
    fc.assert(fc.property(uuid, (bytes) => assert.equal(encodeUuid(bytes), textOf(bytes))));
    assert.equal(encodeUuid(Uint8Array.from({ length: 16 }, (_, index) => index)), '00041061050r3gg28a1c60t3gf');
    assert.equal(encodeUuid(new Uint8Array(16)), '0'.repeat(26));
    assert.equal(encodeUuid(new Uint8Array(16).fill(255)), `7${'z'.repeat(25)}`);
  });

  it('gives back the bytes', () => {
    fc.assert(fc.property(uuid, (bytes) => assert.deepEqual(decodeUuid(encodeUuid(bytes)), bytes)));
  });

  it('orders as the bytes do', () => {
    fc.assert(
      fc.property(uuid, uuid, (left, right) => {
        const [leftText, rightText] = [encodeUuid(left), encodeUuid(right)];
        const order = leftText < rightText ? -1 : leftText > rightText ? 1 : 0;
        assert.equal(order, Buffer.compare(left, right));
      }),
    );
  });

  it('is refused where it is no output of the encoder', () => {
    const zeros = '0'.repeat(25);
    for (const text of [
      '',
      zeros,
      `${zeros}00`,
      `8${zeros}`,
      `z${zeros}`,
      `${zeros}i`,
      `${zeros}l`,
      `${zeros}o`,
      `${zeros}u`,
      `${zeros}A`,
      `${zeros} `,
      `${zeros}é`,
    ]) {
      assert.equal(decodeUuid(text), undefined, text);
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...ALPHABET, 'A', 'i', '-', '_'), minLength: 25, maxLength: 27 }),
        (text) => {
          const bytes = decodeUuid(text);
          if (bytes !== undefined) assert.equal(encodeUuid(bytes), text);
          else assert.ok(text.length !== 26 || !/^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('typed ids', () => {
  const body = '01jd0000000000000000000000';

  it('are taken with their own prefix only', () => {
    assert.equal(parseTenantId(`ten_${body}`), `ten_${body}`);
    assert.equal(parseKeyId(`key_${body}`), `key_${body}`);
    for (const text of [`key_${body}`, `TEN_${body}`, `ten${body}`, `ten_${body} `, body, '', 'ten_']) {
      assert.equal(parseTenantId(text), undefined, text);
    }
    assert.equal(parseKeyId(`ten_${body}`), undefined);
  });

  it('give out the bytes behind them', () => {
    fc.assert(fc.property(uuid, (bytes) => assert.deepEqual(uuidOf(`ten_${encodeUuid(bytes)}`), bytes)));
    assert.throws(() => uuidOf('ten_nothing'), /Assertion failed/);
  });
});

describe('IdFactory', () => {
  it('makes UUIDv7: 48 bits of time, version 7, variant 10', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (wallMs) => {
        const bytes = Buffer.from(uuidOf(new IdFactory(clockAt(wallMs), counting()).create('grt')));
        assert.equal(bytes.readUIntBE(0, 6), wallMs);
        assert.equal(bytes.readUInt8(6) >> 4, 7);
        assert.equal(bytes.readUInt8(8) >> 6, 2);
      }),
    );
  });

  it('puts all other random bits into the id', () => {
    const ones: Random = { bytes: (length) => new Uint8Array(length).fill(255) };
    const bytes = Buffer.from(uuidOf(new IdFactory(clockAt(0), ones).create('req')));
    assert.equal(bytes.toString('hex'), '0000000000007fffbfffffffffffffff');
  });

  it('gives each prefix and never the same id within a millisecond, across its pool of random bytes', () => {
    const ids = new IdFactory(clockAt(1_700_000_000_000), {
      bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    });
    const made = new Set<string>();
    for (let index = 0; index < 2000; index += 1) made.add(ids.create('ent'));
    assert.equal(made.size, 2000);
    for (const prefix of ['ten', 'grt', 'key', 'req', 'inc', 'ent'] as const) {
      assert.match(ids.create(prefix), new RegExp(`^${prefix}_0[0-9a-hjkmnp-tv-z]{25}$`));
    }
  });

  it('makes ids that sort by time', () => {
    const earlier = new IdFactory(clockAt(1_700_000_000_000), counting()).create('grt');
    const later = new IdFactory(clockAt(1_700_000_000_001), counting()).create('grt');
    assert.ok(earlier < later);
  });
});

describe('the time of an id', () => {
  it('is the moment at which it was made', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (wallMs) => {
        assert.equal(timeOfId(new IdFactory(clockAt(wallMs), counting()).create('grt')), wallMs);
      }),
    );
  });

  it('is not known of another text', () => {
    for (const text of ['', 'grt_', 'grt_1', `grt_${'u'.repeat(26)}`, 'x'.repeat(30)]) {
      assert.equal(timeOfId(text), undefined, text);
    }
  });
});

describe('an id that is derived from a digest', () => {
  const digest = fc.uint8Array({ minLength: 32, maxLength: 32 });

  it('is well-formed, says that it is derived, and differs with the digest', () => {
    fc.assert(
      fc.property(digest, digest, (one, other) => {
        const [keyId, tenantId] = [keyIdFromDigest(one), tenantIdFromDigest(one)];
        assert.equal(parseKeyId(keyId), keyId);
        assert.equal(parseTenantId(tenantId), tenantId);
        assert.ok(isDerivedId(keyId) && isDerivedId(tenantId));
        const bytes = uuidOf(keyId);
        assert.deepEqual([(bytes[6] ?? 0) >> 4, (bytes[8] ?? 0) >> 6], [8, 2], 'a UUIDv8');
        const same = Buffer.from(one.subarray(0, 6)).equals(other.subarray(0, 6));
        assert.ok(same || keyIdFromDigest(other) !== keyId);
      }),
    );
  });

  it('is told apart from those of a factory, at any time', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (ms, rest) => {
          const random: Random = {
            bytes: (length) => Uint8Array.from({ length }, (_, index) => rest[index % 10] ?? 0),
          };
          const ids = new IdFactory({ wallMs: () => ms } as Clock, random);
          return !isDerivedId(ids.create('key')) && !isDerivedId(ids.create('ten'));
        },
      ),
    );
  });

  it('comes right after the one before it', () => {
    fc.assert(
      fc.property(digest, (bytes) => {
        const keyId = keyIdFromDigest(bytes);
        const [value, before] = [keyId, keyIdBefore(keyId)].map((id) =>
          BigInt(`0x${Buffer.from(uuidOf(id)).toString('hex')}`),
        );
        return before === (value ?? 0n) - 1n && keyIdBefore(keyId) < keyId;
      }),
    );
  });
});
