// The problems of a tenant that its owner remembers: counted by key and kind, the newest first, and no more than fit.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { MemoryBudget } from '../../../../src/shard/memory/memory-budget.ts';
import { TenantProblems } from '../../../../src/shard/memory/tenant-problems.ts';

const createBudget = () => new MemoryBudget(1_000_000, new FairTurns(systemClock));
const report = (keyId: string, code: string, requestId = 'req_1') => ({
  ...{ slot: 0, tenantId: 'ten_x', keyId, code, count: 2, requestId, detail: 'why' },
});

test('problems are counted by key and kind, with the last one of each', () => {
  const problems = new TenantProblems(createBudget());
  problems.add(report('key_a', 'overloaded'), 1);
  problems.add(report('key_b', 'overloaded'), 2);
  problems.add(report('key_a', 'overloaded', 'req_2'), 3);
  const shown = problems
    .read()
    .map(({ keyId, count, sinceMs, atMs, requestId }) => [keyId, count, sinceMs, atMs, requestId]);
  assert.deepEqual(shown, [
    ['key_a', 4, 1, 3, 'req_2'],
    ['key_b', 2, 2, 2, 'req_1'],
  ]);
});

test('the oldest kinds go beyond the bound, and all of them with the memory or the tenure', () => {
  const budget = createBudget();
  const problems = new TenantProblems(budget);
  for (let kind = 0; kind < 1000; kind += 1) problems.add(report('key_a', `kind-${kind}`), kind);
  assert.deepEqual([problems.read().length, problems.read()[0]?.code], [20, 'kind-999']);
  assert.ok(budget.bytes > 0 && budget.bytes < 32 * 1024, String(budget.bytes));
  problems.evict();
  assert.deepEqual(problems.read(), []);
  problems.drop();
  problems.add(report('key_a', 'overloaded'), 1);
  assert.deepEqual([problems.read(), budget.bytes], [[], 0]);
});
