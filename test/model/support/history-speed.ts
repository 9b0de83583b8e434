// The checker of histories has to be quick enough for the histories of whole clusters.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkHistory } from '../../kit/history/check-history.ts';
import type { Operation } from '../../kit/history/history.ts';
import { type Plan, play } from './history-samples.ts';

const OPERATIONS_PER_TENANT = 5000;
/** Of the slowest processor that anybody tests on. */
const SECONDS_PER_TENANT_MAX = 3;

/** Histories of so many tenants at once. */
export function judgeLongHistories(tenants: number): void {
  const count = tenants * OPERATIONS_PER_TENANT;
  it(`the checker judges ${count} operations on thousands of tuples within seconds`, (context) => {
    let state = 7;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const checks = Array.from({ length: 10 }, () => 'check' as const);
    const calls: Plan['call'][] = ['grant', 'grant', 'revoke', 'revoke', ...checks, 'bulk', 'bulk', 'list'];
    const operations = Array.from({ length: tenants }, (_tenant, tenant) => {
      const script = Array.from(
        { length: OPERATIONS_PER_TENANT },
        (_unused, index): Plan => ({
          call: calls[random(calls.length)] ?? 'check',
          objects: Array.from({ length: 1 + random(6) }, () => random(200)),
          start: index * 3 + random(3),
          delay: random(20),
          rest: random(20),
          fate: random(50) === 0 ? (random(2) === 0 ? 'open' : 'lost') : 'answered',
        }),
      );
      return play(script).map((operation) => ({ ...operation, tenant: `ten_${tenant}` }) as Operation);
    });
    const all = operations.flatMap((each, tenant) =>
      each.map((operation): Operation => {
        if (operation.kind !== 'grant' || operation.outcome === undefined || !('grantId' in operation.outcome))
          return operation;
        return { ...operation, outcome: { ...operation.outcome, grantId: `${operation.outcome.grantId}-${tenant}` } };
      }),
    );
    // Processor time: the machine may be busy.
    const start = process.threadCpuUsage();
    const verdict = checkHistory(all);
    const { user, system } = process.threadCpuUsage(start);
    const seconds = (user + system) / 1e6;
    context.diagnostic(`${verdict.text} in ${seconds.toFixed(1)} s`);
    assert.ok(verdict.ok, verdict.text);
    assert.equal(verdict.undecided, 0);
    assert.ok(seconds < SECONDS_PER_TENANT_MAX * tenants);
  });
}
