// Plans: the built-in ones and what happens to an unknown one.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_PLANS, readersOf, resolvePlan } from '../../../src/core/plans.ts';

describe('plans', () => {
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
      readers: 0,
      readersMax: 4,
    };
    assert.equal(resolvePlan(new Map([['free', free]]), 'gone'), free);
  });

  it('have no readers unless configured, and a tenant’s own number overrides that of its plan, even with none', () => {
    assert.deepEqual(
      [...BUILT_IN_PLANS.keys()].map((plan) => readersOf(BUILT_IN_PLANS, { plan })),
      [0, 0, 0, 0],
    );
    const free = { ...resolvePlan(BUILT_IN_PLANS, 'free'), readers: 2 };
    const plans = new Map([['free', free]]);
    assert.deepEqual(
      [undefined, 0, 5].map((readers) => readersOf(plans, { plan: 'free', readers })),
      [2, 0, 5],
    );
    assert.equal(readersOf(plans, { plan: 'gone' }), 2);
  });
});
