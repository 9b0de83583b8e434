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
  isToldById,
  packAttributes,
  readGrantAttributes,
  unpackAttributes,
} from '../../../src/core/grant-attributes.ts';
import { grantOf } from '../../../src/core/tuples.ts';

const ID = 'grt_01jhm9r0g0e8xsg4k6t2v8w0ya';
const attributes = fc.record<GrantAttributes>(
  {
    grantId: fc.constantFrom(ID, 'grt_1', 'grt_'),
    createdAtMs: fc.oneof(fc.maxSafeNat(), fc.constant(attributesOfId(ID).createdAtMs)),
  },
  { noNullPrototype: true },
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
      if (isToldById(grant)) assert.equal(packed, grant.grantId);
    }),
  );
  assert.ok(isToldById(attributesOfId(ID)));
  assert.equal(packAttributes({ grantId: ID, createdAtMs: 5 }), `${ID} 5`);
});

test('what is missing or of another form makes no grant', () => {
  const right: Readonly<Record<string, unknown>> = { grantId: ID, createdAtMs: 5 };
  for (const { field } of GRANT_ATTRIBUTES) {
    for (const value of [undefined, null, {}, Number.NaN, 2 ** 60]) {
      const wrong = { ...right, [field]: value };
      assert.equal(
        readGrantAttributes((attribute) => wrong[attribute.field]),
        undefined,
      );
    }
  }
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
    `{"grant_id":"${ID}","subject":"user:ann","relation":"viewer","object":"doc:1","created_at":"2026-01-15T09:30:00.123Z"}`,
  );
});
