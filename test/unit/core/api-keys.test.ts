// API keys: the text against an independent encoder, and that no damaged, shortened or made-up key gets past the
// checksum.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { API_KEY_LENGTH, apiKeyFault, createApiKey, hashApiKey, parseApiKey } from '../../../src/core/api-keys.ts';
import { encodeUuid, parseKeyId, parseTenantId } from '../../../src/core/ids.ts';
import { anyCharacter } from '../support/any-character.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const material = fc.tuple(bytesOf(16), bytesOf(16), bytesOf(24));

function partsOf(tenant: Uint8Array, key: Uint8Array) {
  const tenantId = parseTenantId(`ten_${encodeUuid(tenant)}`);
  const keyId = parseKeyId(`key_${encodeUuid(key)}`);
  assert.ok(tenantId !== undefined && keyId !== undefined);
  return { tenantId, keyId };
}

const make = (tenant: Uint8Array, key: Uint8Array, secret: Uint8Array): string =>
  createApiKey(partsOf(tenant, key), {
    bytes: (length) => {
      assert.equal(length, secret.length);
      return secret;
    },
  });

/** One digit at a time, in big numbers only. */
function encodeIndependently(payload: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(payload).toString('hex')}`);
  let text = '';
  for (let index = 0; index < 81; index += 1) {
    text = `${DIGITS[Number(value % 62n)]}${text}`;
    value /= 62n;
  }
  return `gk1_${text}`;
}

function sealed(...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([body, checksum]);
}

describe('the text of an API key', () => {
  it('is that of an independent encoder', () => {
    fc.assert(
      fc.property(material, ([tenant, key, secret]) => {
        assert.equal(make(tenant, key, secret), encodeIndependently(sealed(tenant, key, secret)));
      }),
      { numRuns: 1000 },
    );
  });

  it('has these fixed vectors', () => {
    const count = (from: number, length: number) => Uint8Array.from({ length }, (_, index) => from + index);
    const text = make(count(0, 16), count(16, 16), count(32, 24));
    assert.equal(text, 'gk1_000kT2QOMfskgayxlOJcqPAdW0AS0bFtJEeER8uRWqQD0eX0wMostORyQqAKwGX6VKWQL8mReqYo0tzfh');
    assert.equal(API_KEY_LENGTH, text.length);
    assert.equal(hashApiKey(text), '55d5711318ec495e77ee2b3ef00114fa3679fa0bdf886a8777682ca04498320d');
    const zero = make(new Uint8Array(16), new Uint8Array(16), new Uint8Array(24));
    assert.equal(zero, `gk1_${'3sScZN'.padStart(81, '0')}`);
    const full = (length: number) => new Uint8Array(length).fill(255);
    assert.equal(
      make(full(16), full(16), full(24)),
      'gk1_Cg3Zx2iXsbQuniOJTy7WthMB8niIE4TrodqE47wx4SdKe60LsA5j5BcSzy7RWe7jfIsB8poJizEBSiJJL',
    );
  });

  it('gives back tenant and key', () => {
    fc.assert(
      fc.property(material, ([tenant, key, secret]) => {
        assert.deepEqual(parseApiKey(make(tenant, key, secret)), partsOf(tenant, key));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('parseApiKey', () => {
  it('has a reason for people where it finds no key', () => {
    const key = make(new Uint8Array(16), new Uint8Array(16), new Uint8Array(24));
    assert.match(apiKeyFault('an-operator-token'), /starts with gk1_\.$/);
    assert.match(apiKeyFault(key.slice(0, -2)), /it has 83 characters, and an API key has 85\.$/);
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    assert.equal(parseApiKey(wrong), undefined);
    assert.match(apiKeyFault(wrong), /its checksum is wrong/);
    for (const text of [wrong, 'an-operator-token']) assert.ok(!apiKeyFault(text).includes(text));
  });

  it('refuses a key with any one character replaced', () => {
    const text = make(new Uint8Array(16).fill(7), new Uint8Array(16).fill(9), new Uint8Array(24).fill(3));
    for (let position = 0; position < text.length; position += 1) {
      for (const character of [...DIGITS, '_', '-', 'é', '\u0000']) {
        if (text[position] === character) continue;
        assert.equal(parseApiKey(text.slice(0, position) + character + text.slice(position + 1)), undefined);
      }
    }
  });

  it('refuses every truncation and every extension', () => {
    const text = make(new Uint8Array(16), new Uint8Array(16), new Uint8Array(24).fill(1));
    for (let length = 0; length < text.length; length += 1) {
      assert.equal(parseApiKey(text.slice(0, length)), undefined);
      assert.equal(parseApiKey(text.slice(length + 1)), undefined);
    }
    for (const extended of [`${text}0`, `0${text}`, `${text} `, ` ${text}`, `${text}\n`]) {
      assert.equal(parseApiKey(extended), undefined);
    }
  });

  it('refuses a number that does not fit 60 bytes', () => {
    assert.equal(parseApiKey(`gk1_${'z'.repeat(81)}`), undefined);
  });

  it('refuses any junk of the right length', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 81, maxLength: 81 }), (body) => {
        assert.equal(parseApiKey(`gk1_${body}`), undefined);
      }),
    );
  });

  it('refuses another prefix over a right body', () => {
    const text = make(new Uint8Array(16), new Uint8Array(16), new Uint8Array(24));
    for (const prefix of ['gk2_', 'GK1_', 'gk1-']) assert.equal(parseApiKey(prefix + text.slice(4)), undefined);
  });
});

describe('hashApiKey', () => {
  it('is SHA-256 over the UTF-8 text, in lower-case hexadecimal', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        assert.equal(hashApiKey(text), createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex'));
      }),
    );
  });
});
