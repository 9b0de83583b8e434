// What the chart brings for monitoring speaks of metrics that a running service serves, with the labels, the values and
// the types that they have.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { call } from '../kit/http-client.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { type Family, parseExposition } from './support/exposition.ts';
import { findWrong } from './support/expressions.ts';
import { CHART, missingHelm, render } from './support/helm.ts';

const missing = await missingHelm('the alerts of the chart');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly description?: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

/**
 * By the name of a metric. What the library serves by itself is not declared here: its labels are those that are seen.
 */
const declaredLabels = new Map(
  createMetrics()
    .registry.getMetricsAsArray()
    .map((metric) => [
      metric.name,
      'labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [],
    ]),
);

function labelsOf(family: Family): readonly string[] {
  const declared = [...family.series].map((name) => declaredLabels.get(name.replace(/_(bucket|sum|count)$/, '')));
  return [...(declared.find((labels) => labels !== undefined) ?? []), ...family.labels.keys()];
}

let service: HttpService;
let served: ReadonlyMap<string, Family>;

before(async () => {
  service = await startHttpService();
  const { key } = service;
  const tuple = { subject: 'user:1', relation: 'viewer', object: 'doc:1' };
  for (const path of ['/v1/grants', '/v1/check', '/v1/check', '/v1/nowhere']) {
    await service.send({ method: 'POST', path, key, body: tuple });
  }
  await service.send({ method: 'POST', path: '/v1/check', key: 'junk', body: tuple });
  served = parseExposition((await call(service.opsUrl, { method: 'GET', path: '/metrics' })).text);
});

after(() => service?.stop());

const wrong = (expression: string): string[] => findWrong(expression, served, labelsOf);

describe('the alerts of the chart', { skip: missing }, () => {
  const rulesOf = async (ci: string, runbookUrl = 'https://example.com/runbooks'): Promise<readonly Rule[]> => {
    const set = { 'monitoring.prometheusRule': { enabled: true, runbookUrl } };
    const object = (await render({ ci, set })).find(({ kind }) => kind === 'PrometheusRule');
    assert.ok(object !== undefined);
    // Its shape is held by the schema.
    return (object.spec as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);
  };

  for (const ci of ['minimal', 'standalone']) {
    it(`of ${ci} ask for what is served`, async () => {
      const rules = await rulesOf(ci);
      assert.ok(rules.length > 10);
      assert.deepEqual(
        rules.flatMap(({ alert, expr }) => wrong(expr).map((each) => `${alert}: ${each}`)),
        [],
      );
    });
  }

  it('count the first increase: their counters are served from the start, with the labels that are asked for', async () => {
    const rules = await rulesOf('standalone');
    const increases = rules.flatMap(({ expr }) => [...expr.matchAll(/increase\((\w+)\{([^}]*)\}/g)]);
    assert.ok(increases.length > 4);
    for (const [, name = '', matchers = ''] of increases) {
      const family = served.get(name);
      assert.ok(family !== undefined, name);
      for (const label of labelsOf(family)) {
        const values: ReadonlySet<string> = family.labels.get(label) ?? new Set();
        const [, wanted] = new RegExp(`\\b${label}="([^"]*)"`).exec(matchers) ?? [];
        assert.ok(wanted === undefined ? values.size > 0 : values.has(wanted), `${name} begins without its ${label}`);
      }
    }
  });

  it('say what is wrong, what to look at, and where the runbook is', async () => {
    const runbooks = readFileSync(join(CHART, '..', '..', 'docs', 'operating', 'monitoring.md'), 'utf8');
    const rules = await rulesOf('minimal');
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Grantd[A-Z]\w+$/);
      assert.match(labels.severity ?? '', /^(critical|warning|info)$/);
      assert.ok((annotations.summary ?? '') !== '' && (annotations.description ?? '') !== '', alert);
      assert.equal(annotations.runbook_url, `https://example.com/runbooks#${alert.toLowerCase()}`);
      const severity = new RegExp(`^## ${alert}\n\n${labels.severity}\\. `, 'im');
      assert.ok(severity.test(runbooks), `${alert} has no section with its severity`);
    }
  });

  it('lead to the page of the version of the chart, unless told otherwise', async () => {
    const chart = readFileSync(join(CHART, 'Chart.yaml'), 'utf8');
    const [, home = ''] = /^home: (.+)$/m.exec(chart) ?? [];
    const [, version = ''] = /^version: (.+)$/m.exec(chart) ?? [];
    for (const { alert, annotations } of await rulesOf('minimal', '')) {
      const page = `${home}/blob/v${version}/docs/operating/monitoring.md`;
      assert.equal(annotations.runbook_url, `${page}#${alert.toLowerCase()}`);
    }
  });

  it('of standalone leave out the lease, which one process alone does not need', async () => {
    const lease = /lease_seconds\{[^}]*\} == 0/;
    assert.ok((await rulesOf('minimal')).some(({ expr }) => lease.test(expr)));
    assert.ok(!(await rulesOf('standalone')).some(({ expr }) => lease.test(expr)));
  });
});

describe('the dashboard of the chart', () => {
  const dashboard: Dashboard = JSON.parse(readFileSync(join(CHART, 'files', 'dashboard.json'), 'utf8'));
  const { panels, templating } = dashboard;

  it('shows what is served', () => {
    assert.ok(panels.length > 20);
    const found = panels.flatMap(({ title, targets }) =>
      targets.flatMap(({ expr }) => wrong(expr).map((each) => `${title}: ${each}`)),
    );
    assert.deepEqual(found, []);
  });

  it('names its lines by labels that their expressions keep', () => {
    for (const { title, targets } of panels) {
      for (const { expr, legendFormat } of targets) {
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
          const kept = /\bsum\b/.test(expr) ? new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr) : label === 'pod';
          assert.ok(kept, `${title}: ${label}`);
        }
      }
    }
  });

  it('offers namespaces and pods of a metric that every process serves', () => {
    for (const { name, query } of templating.list.filter(({ name }) => name !== 'datasource')) {
      const text = JSON.stringify(query);
      const [, metric = ''] = /label_values\((\w+)/.exec(text) ?? [];
      assert.ok(served.has(metric), `${name}: ${text}`);
    }
  });

  it('has every metric of the service, but for what another one says as well', () => {
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    const absent = [...new Set([...served.values()])]
      .map(({ series }) => [...series])
      .filter(([name = '']) => name.startsWith('grantd_'))
      .filter((series) => !series.some((name) => new RegExp(`\\b${name}\\b`).test(shown)))
      .map(([name = '']) => name.replace(/_bucket$/, ''));
    assert.deepEqual(absent.sort(), [
      // An alert watches it; as a line it only rises.
      'grantd_discovery_synced_timestamp_seconds',
      // How well checks gather, which is for whoever develops the program.
      'grantd_stream_batch_checks',
    ]);
  });
});

describe('what holds expressions against metrics', () => {
  for (const [what, expression, ...found] of [
    ['what is right', 'sum by (status) (rate(grantd_http_request_seconds_count{status=~"5..",pod="a"}[5m])) > 0'],
    ['a name that is misspelt', 'rate(grantd_check_total[5m])', 'grantd_check_total is not served'],
    ['a label that is misspelt', 'grantd_shard_slots{stat="serving"}', 'grantd_shard_slots has no label stat'],
    ['a value that there is not', 'grantd_shard_slots{state="servin"}', 'grantd_shard_slots has no state="servin"'],
    [
      'a label to keep that there is not',
      'sum by (slot) (grantd_shard_slots)',
      'grantd_shard_slots has no label slot to keep',
    ],
    ['a counter as it is', 'grantd_checks_total > 5', 'grantd_checks_total only grows, and is taken as it is'],
    ['the rate of a gauge', 'rate(grantd_shard_slots[5m])', 'grantd_shard_slots is no counter, but is in rate()'],
    [
      'a rate without a range',
      'rate(grantd_checks_total)',
      'grantd_checks_total has a range where none belongs, or lacks one',
    ],
    [
      'a quantile of what has no buckets',
      'histogram_quantile(0.9, sum by (le) (rate(grantd_append_seconds_sum[5m])))',
      'grantd_append_seconds_sum has no label le to keep',
      'grantd_append_seconds_sum and histogram_quantile() do not go together',
    ],
    [
      'a quantile without its bounds',
      'histogram_quantile(0.9, sum by (pod) (rate(grantd_append_seconds_bucket[5m])))',
      'grantd_append_seconds_bucket loses le before histogram_quantile()',
    ],
    ['a function that it does not know', 'deriv(grantd_shard_slots)', 'deriv() is not known here'],
  ] as const) {
    it(`finds ${what}`, () => {
      assert.deepEqual(wrong(expression), found);
    });
  }
});
