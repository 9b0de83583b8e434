// Outcomes by operation id, in little memory: each is found again as it was, and what is counted is what is taken.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../../../src/core/errors.ts';
import { parseKeyId, parseTenantId, timeOfId } from '../../../../../src/core/ids.ts';
import {
  type DecidedOperation,
  type OperationOutcome,
  OperationTable,
} from '../../../../../src/shard/log/idempotency/operation-table.ts';
import { liveBytes } from '../../live-bytes.ts';
import { ids } from '../../tools.ts';

const EXPIRY_MS = 4_099_248_001_234;

function grantOf(expiresAtMs?: number) {
  const grantId = ids.create('grt');
  return { grantId, createdAtMs: timeOfId(grantId) ?? 0, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

const created = (kind: 'created' | 'changed' | 'exists' = 'created', expiresAtMs?: number): OperationOutcome => ({
  result: { kind: 'grant', grant: { kind, ...grantOf(expiresAtMs) } },
});

/** A bulk write of `count` grants and as many revocations. */
function bulkWritten(count: number, expiresAtMs?: number): OperationOutcome {
  const grants = Array.from({ length: count }, (_, index) => ({
    created: index % 2 === 0,
    ...grantOf(index % 3 === 0 ? expiresAtMs : undefined),
  }));
  const revoked = grants.map(({ created: isNew }) => !isNew);
  return { result: { kind: 'bulk', bulk: { kind: 'written', grants, revoked } } };
}

const outcome: fc.Arbitrary<OperationOutcome> = fc
  .record({ kind: fc.nat(20), text: fc.string(), number: fc.integer() })
  .map(({ kind, text, number }): OperationOutcome => {
    const tenantId = parseTenantId(ids.create('ten'));
    const keyId = parseKeyId(ids.create('key'));
    assert.ok(tenantId !== undefined && keyId !== undefined);
    switch (kind) {
      case 0:
        return { result: { kind: 'grant', grant: { kind: 'revoked' } } };
      case 1:
        return { result: { kind: 'grant', grant: { kind: 'not-found' } } };
      case 2:
        return { result: { kind: 'grant', grant: { kind: 'refused', code: 'grant-limit-reached', message: text } } };
      case 3:
        return { result: { kind: 'namespace', created: true, namespace: { name: text, createdAtMs: number } } };
      case 4:
        return { result: { kind: 'key-revoked' } };
      case 5: {
        const key = { keyId, name: text, scopes: 1, createdAtMs: number, expiresAtMs: undefined, hash: text };
        return { result: { kind: 'key', key } };
      }
      case 6: {
        const tenant = { tenantId, name: text, plan: 'free', state: 'active' as const, createdAtMs: number };
        return { result: { kind: 'tenant', tenant } };
      }
      case 7:
        return { error: new GrantdError('key-not-found', text) };
      case 8:
        return { error: new GrantdError('key-not-found', text, { details: { number } }) };
      case 9:
        // Of a log that another program has written.
        return { result: { kind: 'grant', grant: { kind: 'created', grantId: text, createdAtMs: number } } };
      case 10:
        return created(number > 0 ? 'changed' : 'exists');
      case 11:
        return { result: { kind: 'revocation', revoked: Math.abs(number) % 3, complete: number > 0 } };
      case 12:
        return {
          result: { kind: 'bulk', bulk: { kind: 'precondition-not-met', precondition: Math.abs(number) % 100 } },
        };
      case 13:
        return { result: { kind: 'bulk', bulk: { kind: 'refused', code: 'grant-limit-reached', message: text } } };
      case 14:
        return bulkWritten(Math.abs(number) % 5);
      case 15: {
        // Of a log that another program has written.
        const grants = [{ created: true, grantId: text, createdAtMs: number }];
        return { result: { kind: 'bulk', bulk: { kind: 'written', grants, revoked: [] } } };
      }
      case 16:
        return created('created', EXPIRY_MS + number);
      case 17:
        return created(number > 0 ? 'changed' : 'exists', EXPIRY_MS + number);
      case 18:
        return bulkWritten(Math.abs(number) % 5, EXPIRY_MS + number);
      case 19:
        // Of a log that another program has written.
        return number > 0 ? created('created', -number) : bulkWritten(2, 0);
      default:
        return created();
    }
  });

test('every outcome is found unchanged, in batches of any requests, and nothing else is found', () => {
  const operation = fc.record({ request: fc.nat(3), index: fc.oneof(fc.nat(40), fc.nat(2 ** 31)), outcome });
  const call = fc.record({
    request: fc.nat(3),
    first: fc.nat(100),
    outcomes: fc.array(outcome, { minLength: 1, maxLength: 60 }),
  });
  fc.assert(
    fc.property(
      fc.array(
        fc.array(
          fc.oneof(
            operation.map((each) => [each]),
            call.map(({ request, first, outcomes }) =>
              outcomes.map((each, position) => ({ request, index: first + position, outcome: each })),
            ),
          ),
          { maxLength: 6 },
        ),
        { maxLength: 6 },
      ),
      fc.boolean(),
      (batches, ours) => {
        const requestIds = Array.from({ length: 4 }, (_, at) => (ours || at === 0 ? ids.create('req') : `other-${at}`));
        const table = new OperationTable();
        const expected = new Map<string, OperationOutcome>();
        let bytes = 0;
        for (const batch of batches) {
          const decided: DecidedOperation[] = [];
          for (const { request, index, outcome: each } of batch.flat()) {
            const requestId = requestIds[request] ?? '';
            if (expected.has(`${requestId} ${index}`)) continue;
            expected.set(`${requestId} ${index}`, each);
            decided.push({ requestId, index, outcome: each });
          }
          table.add(decided);
          assert.ok(table.bytes >= bytes);
          bytes = table.bytes;
        }
        for (const [name, each] of expected) {
          const [requestId = '', index] = name.split(' ');
          const found = table.find(requestId, Number(index));
          assert.deepEqual(found, each);
          if (found !== undefined && 'error' in found && 'error' in each) {
            assert.equal(found.error.message, each.error.message);
            assert.deepEqual(found.error.details, each.error.details);
          }
        }
        for (const requestId of [...requestIds, ids.create('req')]) {
          for (let index = 0; index < 200; index += 1) {
            if (!expected.has(`${requestId} ${index}`)) assert.equal(table.find(requestId, index), undefined);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

for (const { name, requests, lines, bytesMax, expiresAtMs } of [
  { name: 'the lines of an import', requests: 200, lines: 512, bytesMax: 20, expiresAtMs: undefined },
  { name: 'single writes', requests: 50_000, lines: 1, bytesMax: 80, expiresAtMs: undefined },
  {
    name: 'the lines of an import of grants that expire',
    requests: 200,
    lines: 512,
    bytesMax: 28,
    expiresAtMs: EXPIRY_MS,
  },
  { name: 'single writes of grants that expire', requests: 50_000, lines: 1, bytesMax: 98, expiresAtMs: EXPIRY_MS },
]) {
  test(`${name} take at most ${bytesMax} bytes each, as they are counted and as they are`, () => {
    const before = liveBytes();
    const table = new OperationTable();
    for (let request = 0; request < requests; request += 1) {
      const requestId = ids.create('req');
      table.add(
        Array.from({ length: lines }, (_, index) => ({ requestId, index, outcome: created('created', expiresAtMs) })),
      );
    }
    const taken = liveBytes() - before;
    const count = requests * lines;
    assert.ok(table.bytes <= bytesMax * count, `${table.bytes / count} bytes are counted for each`);
    // The test runner keeps things of its own meanwhile.
    assert.ok(taken <= 1.25 * table.bytes + 1_000_000, `${taken / count} bytes are taken by each`);
    assert.equal(table.find(ids.create('req'), 0), undefined);
  });
}
