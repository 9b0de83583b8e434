// Writes the reference pages that are made from tables in the code. A test compares them, so a change of a table
// without this script fails.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderMetricsPage } from './metrics-page.ts';
import { renderSettingsPage } from './settings-page.ts';
import { writeChartDocs } from './write-chart-docs.ts';

const reference = join(import.meta.dirname, '..', 'docs', 'reference');
for (const [name, page] of [
  ['settings.md', renderSettingsPage()],
  ['metrics.md', await renderMetricsPage()],
] as const) {
  writeFileSync(join(reference, name), page);
  process.stdout.write(`docs/reference/${name}\n`);
}
writeChartDocs();
