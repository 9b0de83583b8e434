// The header Idempotency-Key, and the ids that follow from it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  derivedKeyId,
  derivedTenantId,
  IDEMPOTENCY_KEY_LENGTH_MAX,
  parseIdempotencyKey,
} from '../../../src/core/idempotency-keys.ts';
import { tenantIdFromDigest } from '../../../src/core/ids.ts';

const TENANT = tenantIdFromDigest(new Uint8Array(32));
const OTHER = tenantIdFromDigest(new Uint8Array(32).fill(1));

describe('the header Idempotency-Key', () => {
  it('is a string of a structured field, or bare text', () => {
    for (const [value, key] of [
      ['"8e03978e-40d5"', '8e03978e-40d5'],
      ['8e03978e-40d5', '8e03978e-40d5'],
      ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
      ['a"b', 'a"b'],
      ['x'.repeat(IDEMPOTENCY_KEY_LENGTH_MAX), 'x'.repeat(IDEMPOTENCY_KEY_LENGTH_MAX)],
    ] as const) {
      assert.equal(parseIdempotencyKey(value), key);
    }
    assert.equal(parseIdempotencyKey(undefined), undefined);
  });

  it('is refused if it is empty, long, repeated, or no such string', () => {
    const tooLong = 'x'.repeat(IDEMPOTENCY_KEY_LENGTH_MAX + 1);
    for (const value of ['', '""', '"a', '"a"b', '"a";b=1', '"a", "b"', 'a, b', 'a b', '"\\a"', 'é', 'a\n', tooLong]) {
      assert.throws(() => parseIdempotencyKey(value), { code: 'invalid-request' }, value);
    }
    assert.throws(() => parseIdempotencyKey(['a', 'b']), { code: 'invalid-request' });
  });

  it('gives back every key that was quoted', () => {
    const key = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: IDEMPOTENCY_KEY_LENGTH_MAX })
      .filter((text) => /^[ -~]+$/.test(text));
    const escaped = key.map((text) => [text, text.replaceAll(/["\\]/g, '\\$&')] as const);
    fc.assert(fc.property(escaped, ([text, value]) => parseIdempotencyKey(`"${value}"`) === text));
  });
});

describe('a derived id', () => {
  it('is the same for the same key and scope, and differs with the tenant, the creator, the key and the kind', () => {
    const ids = [
      derivedKeyId(TENANT, '', 'a'),
      derivedKeyId(TENANT, '', 'b'),
      derivedKeyId(OTHER, '', 'a'),
      derivedKeyId(TENANT, 'operator:ann', 'a'),
      derivedKeyId(TENANT, 'operator:an', 'na'),
    ];
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(derivedKeyId(TENANT, '', 'a'), ids[0]);
    const tenants = [derivedTenantId('ann', 'a'), derivedTenantId('bob', 'a'), derivedTenantId('an', 'na')];
    assert.equal(new Set(tenants).size, tenants.length);
    assert.equal(derivedTenantId('ann', 'a'), tenants[0]);
  });
});
