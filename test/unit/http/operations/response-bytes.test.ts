// What a response reserves before it is built: never less than it takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bulkWriteRecord, parseBulkWrite } from '../../../../src/core/bulk-writes.ts';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import { bulkWriteBytesMax } from '../../../../src/http/operations/response-bytes.ts';

const WALL_MS = Date.UTC(2026, 10, 1);
const identifier = fc
  .string({ unit: fc.constantFrom('a', '"', '\\', '/', 'é', '€', '\uFEFE', '😀'), minLength: 1, maxLength: 128 })
  .map((text) => `n:${text}`);

test('a bulk write reserves at least what its response takes', () => {
  const tuple = fc.record({ subject: identifier, relation: fc.constantFrom(...RELATIONS), object: identifier });
  const tuples = fc.uniqueArray(tuple, { minLength: 1, maxLength: 5, selector: (each) => JSON.stringify(each) });
  fc.assert(
    fc.property(tuples, (grants) => {
      const write = parseBulkWrite({ grants }, WALL_MS);
      const createdAtMs = 4_000_000_000_000;
      const written = { created: false, grantId: `grt_${'0'.repeat(26)}`, createdAtMs, expiresAtMs: createdAtMs };
      const record = bulkWriteRecord(write, { grants: grants.map(() => written), revoked: [] });
      assert.ok(Buffer.byteLength(JSON.stringify(record)) <= bulkWriteBytesMax({ grants }) + 100);
    }),
  );
});

test('a body that is not validated yet reserves no more than 100 grants take', () => {
  for (const body of [undefined, null, [], {}, { grants: 'x' }, { grants: [null, 1, []] }]) {
    assert.equal(bulkWriteBytesMax(body), 0);
  }
  const long = { subject: 'x'.repeat(1000), object: 1 };
  assert.equal(bulkWriteBytesMax({ grants: [long] }), 3917);
  assert.equal(bulkWriteBytesMax({ grants: Array.from({ length: 5000 }, () => long) }), 391_700);
});
