// The attributes of a grant: every form in which they are stored or shown tells the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  attributesOf,
  attributesOfId,
  GRANT_ATTRIBUTES,
  type GrantAttributes,
  grantColumnValues,
  grantRecord,
  hasExpired,
  isToldById,
  PACKED_ID_LENGTH,
  packAttributes,
  packedExpiry,
  readGrantAttributes,
  unpackAttributes,
  withExpiry,
} from '../../../src/core/grant-attributes.ts';
import { grantOf } from '../../../src/core/tuples.ts';

const ID = 'grt_01jhm9r0g0e8xsg4k6t2v8w0ya';
const attributes = fc.record<GrantAttributes>(
  {
    grantId: fc.oneof(
      fc.constant(ID),
      // None that a factory makes, but they are stored: as long as a packed one, and nearly right.
      fc.constantFrom('grt_1', 'grt_', 'g', 'key_01jhm9r0g0e8xsg4k6t2v8w0ya', ID.toUpperCase(), ID.replace('_0', '_8')),
      fc.string({ unit: fc.constantFrom('a', 'ü', '😀'), maxLength: 24 }),
    ),
    createdAtMs: fc.oneof(fc.maxSafeNat(), fc.constant(attributesOfId(ID).createdAtMs)),
    expiresAtMs: fc.oneof(fc.nat(), fc.maxSafeNat()).map((ms) => ms + (ms === 0 ? 1 : 0)),
  },
  { noNullPrototype: true, requiredKeys: ['grantId', 'createdAtMs'] },
);

test('fields and columns tell all of a grant, in any order in which they stand', () => {
  fc.assert(
    fc.property(attributes, (grant) => {
      const values = grantColumnValues(grant);
      assert.equal(values.length, GRANT_ATTRIBUTES.length);
      const row = new Map(GRANT_ATTRIBUTES.map(({ column }, index) => [column, values[index]]));
      assert.deepEqual(
        GRANT_ATTRIBUTES.map(({ index }) => index),
        [...GRANT_ATTRIBUTES.keys()],
      );
      assert.deepEqual(
        readGrantAttributes(({ field }) => grant[field]),
        grant,
      );
      assert.deepEqual(
        readGrantAttributes(({ index }) => values[index]),
        grant,
      );
      assert.deepEqual(
        readGrantAttributes(({ column }) => {
          const value = row.get(column);
          return typeof value === 'number' ? BigInt(value) : value;
        }),
        grant,
      );
    }),
  );
});

test('a packed grant is unpacked as it was, and one that its id tells takes no more than that', () => {
  fc.assert(
    fc.property(attributes, (grant) => {
      const packed = packAttributes(grant);
      assert.deepEqual(unpackAttributes(packed), grant);
      assert.equal(packedExpiry(packed), grant.expiresAtMs);
      const short = grant.grantId === ID && isToldById(grant) && grant.expiresAtMs === undefined;
      assert.equal(packed.length === PACKED_ID_LENGTH, short);
    }),
  );
  assert.ok(isToldById(attributesOfId(ID)));
  assert.match(packAttributes(attributesOfId(ID)), /^[\0-\xff]{16}$/s);
});

test('what is missing or of another form makes no grant', () => {
  const right: Readonly<Record<string, unknown>> = { grantId: ID, createdAtMs: 5, expiresAtMs: 7 };
  for (const { field } of GRANT_ATTRIBUTES) {
    for (const value of [undefined, null, {}, Number.NaN, 2 ** 60]) {
      if (field === 'expiresAtMs' && (value === undefined || value === null)) continue;
      const wrong = { ...right, [field]: value };
      assert.equal(
        readGrantAttributes((attribute) => wrong[attribute.field]),
        undefined,
      );
    }
  }
});

test('a grant without an expiry, in the log or in a column, never expires', () => {
  for (const never of [undefined, null, 0, 0n]) {
    const read = readGrantAttributes(({ field }) => ({ grantId: ID, createdAtMs: 5, expiresAtMs: never })[field]);
    assert.deepEqual(read, { grantId: ID, createdAtMs: 5 });
  }
  assert.equal(hasExpired({ grantId: ID, createdAtMs: 5 }, Number.MAX_SAFE_INTEGER), false);
});

test('a grant has expired from the very moment of its expiry on', () => {
  const grant = { grantId: ID, createdAtMs: 5, expiresAtMs: 1000 };
  assert.deepEqual(
    [999, 1000, 1001].map((nowMs) => hasExpired(grant, nowMs)),
    [false, true, true],
  );
  assert.deepEqual(withExpiry(grant, undefined), { grantId: ID, createdAtMs: 5 });
  assert.deepEqual(withExpiry({ grantId: ID, createdAtMs: 5 }, 7), { grantId: ID, createdAtMs: 5, expiresAtMs: 7 });
});

test('nothing but its attributes is taken of what has more', () => {
  const tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
  const more = { ...tuple, grantId: ID, createdAtMs: 5, stamp: 7 };
  assert.equal(JSON.stringify(attributesOf(more)), `{"grantId":"${ID}","createdAtMs":5}`);
  assert.deepEqual(grantOf(more, more), { ...tuple, grantId: ID, createdAtMs: 5 });
});

test('both APIs show a grant in the same JSON', () => {
  const tuple = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
  assert.equal(
    JSON.stringify(grantRecord({ ...tuple, grantId: ID, createdAtMs: 1_768_469_400_123 })),
    `{"grant_id":"${ID}","subject":"user:ann","relation":"viewer","object":"doc:1","created_at":"2026-01-15T09:30:00.123Z","expires_at":null}`,
  );
  const { expires_at } = grantRecord({ ...tuple, grantId: ID, createdAtMs: 5, expiresAtMs: 1_768_469_400_123 });
  assert.equal(expires_at, '2026-01-15T09:30:00.123Z');
});
