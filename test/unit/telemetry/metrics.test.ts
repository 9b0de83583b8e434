// The metrics: names by the rule, and labels that stay small sets.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '../../../src/telemetry/metrics.ts';

/** The sets behind these are fixed by the code: operations, HTTP statuses, outcomes. */
const BOUNDED_LABELS = new Set([
  'source',
  'call',
  'operation',
  'status',
  'outcome',
  'part',
  'bucket',
  'type',
  'reason',
  'state',
  'result',
  'kind',
  'server',
  'budget',
  'event',
  'work',
  'from',
]);

describe('the metrics', () => {
  it('are named grantd_<noun>_<unit or total>, with a help text of sentences', async () => {
    const metrics = (await createMetrics().registry.getMetricsAsJSON()).filter(({ name }) =>
      name.startsWith('grantd_'),
    );
    assert.ok(metrics.length > 10);
    for (const { name, type, help } of metrics) {
      assert.match(name, /^grantd(_[a-z]+)+$/);
      assert.equal(name.endsWith('_total'), String(type) === 'counter', name);
      assert.match(help, /^[A-Z].*\.$/);
    }
  });

  it('have labels of bounded sets only', () => {
    for (const metric of Object.values(createMetrics())) {
      const labels: unknown = 'labelNames' in metric ? metric.labelNames : [];
      assert.ok(Array.isArray(labels));
      for (const label of labels) assert.ok(BOUNDED_LABELS.has(label), String(label));
    }
  });

  it('belong to a registry of their own', () => {
    assert.notEqual(createMetrics().registry, createMetrics().registry);
  });
});
