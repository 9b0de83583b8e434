// Renders the reference page of the metrics from the registry itself, so that the page names exactly those that are
// served.

import { createMetrics } from '../../src/telemetry/metrics.ts';
import { renderTable } from './markdown-table.ts';

const OWN_PREFIX = 'grantd_';

/** docs/reference/metrics.md. */
export async function renderMetricsPage(): Promise<string> {
  const { registry } = createMetrics();
  const metrics = await registry.getMetricsAsJSON();
  const labels = new Map(registry.getMetricsAsArray().map((metric) => [metric.name, labelNames(metric)]));
  const rows = metrics
    .filter((metric) => metric.name.startsWith(OWN_PREFIX))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((metric) => {
      const names = (labels.get(metric.name) ?? []).map((name) => `\`${name}\``).join(', ');
      return [`\`${metric.name}\``, String(metric.type), names, metric.help];
    });
  return [
    '# Metrics',
    '',
    '<!-- Made by `npm run generate -- docs` from src/telemetry/metrics.ts. Change it there. -->',
    '',
    'The ops port serves these metrics as Prometheus text at `/metrics`, together with the usual `process_…` and `nodejs_…`',
    'metrics. Labels have small, fixed sets of values, and never contain a tenant, a key or a path.',
    '',
    ...renderTable(['metric', 'type', 'labels', 'meaning'], rows),
    '',
  ].join('\n');
}

/** prom-client keeps the label names of a metric in a field that its types omit. */
function labelNames(metric: object): readonly string[] {
  const names: unknown = 'labelNames' in metric ? metric.labelNames : undefined;
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [];
}
