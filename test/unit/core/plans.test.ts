// Plans: the built-in ones and what happens to an unknown one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_PLANS, DEFAULT_PLAN_NAME, REVOCATION_RESERVE, resolvePlan } from '../../../src/core/plans.ts';

describe('plans', () => {
  it('are built in with these limits', () => {
    assert.deepEqual(
      [...BUILT_IN_PLANS.values()].map((plan) => [
        plan.name,
        plan.requests,
        plan.windowSeconds,
        plan.grantsMax,
        plan.streamsMax,
      ]),
      [
        ['free', 600, 60, 1_000_000, 10],
        ['standard', 200, 1, 10_000_000, 100],
        ['scale', 10_000, 1, 100_000_000, 2000],
        ['unlimited', undefined, 1, undefined, 5000],
      ],
    );
    for (const [name, plan] of BUILT_IN_PLANS) {
      assert.equal(plan.name, name);
      assert.equal(plan.namespacesMax, 1000);
      assert.equal(plan.keysMax, 1000);
      assert.ok(Object.isFrozen(plan));
    }
    assert.equal(DEFAULT_PLAN_NAME, 'free');
    assert.deepEqual({ ...REVOCATION_RESERVE }, { requests: 60, windowSeconds: 60 });
  });

  it('act as `free` where they are unknown, even where `free` is not configured', () => {
    for (const name of ['gone', '', '__proto__']) assert.equal(resolvePlan(BUILT_IN_PLANS, name).name, 'free');
    assert.equal(resolvePlan(new Map(), 'gone').requests, 600);
  });

  it('act as the configured `free`', () => {
    const free = {
      name: 'free',
      requests: 1,
      windowSeconds: 1,
      namespacesMax: 1,
      keysMax: 1,
      grantsMax: undefined,
      streamsMax: 1,
    };
    assert.equal(resolvePlan(new Map([['free', free]]), 'gone'), free);
  });
});
