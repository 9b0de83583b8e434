// The lines that show a rate limit, in both forms.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import {
  failurePolicy,
  PlanPolicies,
  RatePolicy,
  REVOCATION_POLICY,
} from '../../../../src/http/pipeline/rate-policy.ts';

const planNamed = (name: string) => {
  const plan = BUILT_IN_PLANS.get(name);
  assert.ok(plan !== undefined);
  return plan;
};

describe('the lines of a rate limit', () => {
  const policies = new PlanPolicies();

  it('show the same state in our form and in that of the IETF draft', () => {
    const lines = policies
      .of(planNamed('standard'))
      ?.linesOf({ allowed: true, limit: 200, remaining: 150, resetSeconds: 1 });
    assert.deepEqual(lines?.split('\r\n').sort(), [
      '',
      'RateLimit-Policy: "standard";q=200;w=1',
      'RateLimit: "standard";r=150;t=1',
      'X-Service-RateLimit-Limit: 200',
      'X-Service-RateLimit-Remaining: 150',
      'X-Service-RateLimit-Reset: 1',
    ]);
  });

  it('are written once for each plan, and not at all for one without a limit', () => {
    assert.equal(policies.of(planNamed('free')), policies.of(planNamed('free')));
    assert.notEqual(policies.of(planNamed('free')), policies.of(planNamed('scale')));
    assert.equal(policies.of(planNamed('unlimited')), undefined);
  });

  it('have names that no plan can have where they show no plan', () => {
    const failures = (['address', 'key'] as const).map(
      (of) => failurePolicy({ of, allowed: false, limit: 1, remaining: 0, resetSeconds: 1 }).name,
    );
    for (const name of [REVOCATION_POLICY.name, ...failures]) assert.match(name, /^[a-z]+:[a-z]+$/);
  });

  it('quote a name as structured fields do', () => {
    const lines = new RatePolicy('a "b" \\c', { requests: 1, windowSeconds: 2 }).linesOf({
      allowed: false,
      limit: 1,
      remaining: 0,
      resetSeconds: 2,
    });
    assert.ok(lines.includes('RateLimit-Policy: "a \\"b\\" \\\\c";q=1;w=2\r\n'), lines);
  });
});
