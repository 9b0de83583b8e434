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
  isContingent,
  isPackedContingent,
  isTimedById,
  PACKED_ID_LENGTH,
  packAttributes,
  readGrantAttributes,
  unpackAttributes,
  withTerms,
} from '../../../src/core/grant-attributes.ts';
import { parseCondition } from '../../../src/core/grant-terms.ts';
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
    condition: fc
      .tuple(
        fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/),
        fc.dictionary(
          fc.string({ unit: 'grapheme', maxLength: 8 }),
          fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.integer(), fc.boolean()),
          { maxKeys: 3, noNullPrototype: true },
        ),
      )
      .map(([name, context]) => parseCondition({ name, context }).condition ?? ''),
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
      assert.equal(isPackedContingent(packed), isContingent(grant));
      const short = grant.grantId === ID && isTimedById(grant) && !isContingent(grant);
      assert.equal(packed.length === PACKED_ID_LENGTH, short);
    }),
  );
  assert.ok(isTimedById(attributesOfId(ID)));
  assert.match(packAttributes(attributesOfId(ID)), /^[\0-\xff]{16}$/s);
});

test('what is missing or of another form makes no grant', () => {
  const right: Readonly<Record<string, unknown>> = { grantId: ID, createdAtMs: 5, expiresAtMs: 7, condition: 'open' };
  for (const { field } of GRANT_ATTRIBUTES) {
    for (const value of [undefined, null, {}, Number.NaN, 2 ** 60]) {
      if (field !== 'grantId' && field !== 'createdAtMs' && (value === undefined || value === null)) continue;
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
    const row: Readonly<Record<string, unknown>> = { grantId: ID, createdAtMs: 5, expiresAtMs: never };
    const read = readGrantAttributes(({ field }) => row[field]);
    assert.deepEqual(read, { grantId: ID, createdAtMs: 5 });
  }
  assert.equal(hasExpired({}, Number.MAX_SAFE_INTEGER), false);
});

test('a grant has expired from the very moment of its expiry on', () => {
  const grant = { grantId: ID, createdAtMs: 5, expiresAtMs: 1000 };
  assert.deepEqual(
    [999, 1000, 1001].map((nowMs) => hasExpired(grant, nowMs)),
    [false, true, true],
  );
});

test('the terms of a request replace, remove or keep those of a grant', () => {
  const grant = { grantId: ID, createdAtMs: 5, expiresAtMs: 1000, condition: 'open' };
  assert.deepEqual(withTerms(grant, {}), grant);
  assert.deepEqual(withTerms(grant, { expiresAtMs: null }), { grantId: ID, createdAtMs: 5, condition: 'open' });
  assert.deepEqual(withTerms(grant, { condition: null }), { grantId: ID, createdAtMs: 5, expiresAtMs: 1000 });
  assert.deepEqual(withTerms(grant, { expiresAtMs: 7, condition: 'shut' }), {
    ...grant,
    expiresAtMs: 7,
    condition: 'shut',
  });
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
  const conditional = { ...tuple, grantId: ID, createdAtMs: 5, condition: 'open {"zone":"CET"}' };
  assert.deepEqual(grantRecord(conditional).condition, { name: 'open', context: { zone: 'CET' } });
});

test('a condition beyond its bound is refused, and never cut', () => {
  for (const character of ['ä', '😀']) {
    const condition = `c {"x":"${character.repeat(300)}"}`;
    assert.throws(() => packAttributes({ ...attributesOfId(ID), condition }), /within its bound/);
  }
});
