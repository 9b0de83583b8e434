// What the chart brings for monitoring speaks of metrics that exist, with labels that they have.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { CHART, missingHelm, render } from '../support/chart/helm.ts';

const missing = await missingHelm('the alerts of the chart');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Labels that monitors of pods give to every series. */
const COMMON_LABELS = ['namespace', 'pod', 'le'];
const WORDS = new Set(['sum', 'rate', 'increase', 'absent', 'by', 'and', 'or', 'on', 'histogram_quantile']);

/** Names of series and labels in an expression of Prometheus that nothing serves. */
function findUnknown(expression: string): string[] {
  const known = new Map<string, readonly string[]>();
  for (const metric of createMetrics().registry.getMetricsAsArray()) {
    const labels = 'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [];
    for (const suffix of ['', '_bucket', '_sum', '_count']) known.set(`${metric.name}${suffix}`, labels);
  }
  // The lag of the event loop is served under names that are listed as one.
  known.set('nodejs_eventloop_lag_p99_seconds', []);
  const found: string[] = [];
  for (const [, name = '', selector = ''] of expression.matchAll(/\b([a-z]+_[a-z0-9_]+)(?:\{([^}]*)\})?/g)) {
    if (WORDS.has(name)) continue;
    const labels = known.get(name);
    if (labels === undefined) found.push(name);
    for (const [, label = ''] of selector.matchAll(/(\w+)(?:=~|!=|=)"/g)) {
      if (![...COMMON_LABELS, ...(labels ?? [])].includes(label)) found.push(`${name}{${label}}`);
    }
  }
  return found;
}

describe('the alerts of the chart', { skip: missing }, () => {
  const rulesOf = async (ci: string): Promise<readonly Rule[]> => {
    const set = { 'monitoring.prometheusRule': { enabled: true, runbookUrl: 'https://example.com/runbooks' } };
    const object = (await render({ ci, set })).find(({ kind }) => kind === 'PrometheusRule');
    assert.ok(object !== undefined);
    // Its shape is held by the schema.
    return (object.spec as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
  };

  for (const ci of ['minimal', 'standalone']) {
    it(`of ${ci} ask for metrics and labels that exist`, async () => {
      const rules = await rulesOf(ci);
      assert.ok(rules.length > 10);
      assert.deepEqual(
        rules.flatMap(({ alert, expr }) => findUnknown(expr).map((each) => `${alert}: ${each}`)),
        [],
      );
    });
  }

  it('say what is wrong, what to look at, and where the runbook is', async () => {
    const rules = await rulesOf('minimal');
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Grantd[A-Z]\w+$/);
      assert.match(labels.severity ?? '', /^(critical|warning|info)$/);
      assert.ok((annotations.summary ?? '') !== '' && (annotations.description ?? '') !== '', alert);
      assert.equal(annotations.runbook_url, `https://example.com/runbooks#${alert.toLowerCase()}`);
    }
  });

  it('would not pass with a metric or a label that is misspelt', () => {
    assert.deepEqual(findUnknown('rate(grantd_check_total[5m]) > 0'), ['grantd_check_total']);
    assert.deepEqual(findUnknown('grantd_shard_slots{stat="serving"}'), ['grantd_shard_slots{stat}']);
  });
});

describe('the dashboard of the chart', () => {
  const dashboard: {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { expr: string }[] }[];
  } = JSON.parse(readFileSync(join(CHART, 'files', 'dashboard.json'), 'utf8'));

  it('shows metrics that exist', () => {
    assert.ok(dashboard.panels.length > 10);
    const found = dashboard.panels.flatMap(({ title, targets }) =>
      targets.flatMap(({ expr }) =>
        findUnknown(expr.replaceAll('$__rate_interval', '5m')).map((each) => `${title}: ${each}`),
      ),
    );
    assert.deepEqual(found, []);
  });
});
