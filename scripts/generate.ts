// `npm run generate -- bundles|docs|types`: writes generated files. Tests compare them, so a change of the source
// without this fails. Without an argument, it writes everything.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { committedOpenapiText } from '../src/http/openapi/openapi.ts';
import { BUNDLES } from './bundles.ts';
import { CLIENT_TYPES, clientOpenapiText, renderClientTypes } from './client-types.ts';
import { renderGoTypes } from './clients/go-types.ts';
import { JAVA_TYPES_FOLDER, renderJavaTypes } from './clients/java-types.ts';
import { renderSyncPythonClient } from './clients/python-sync.ts';
import { renderPythonTypes } from './clients/python-types.ts';
import { renderApiPage } from './docs/api-page.ts';
import { renderErrorsPage } from './docs/errors-page.ts';
import { renderMetricsPage } from './docs/metrics-page.ts';
import { operatorOpenapiText } from './docs/operator-openapi.ts';
import { renderQuotedFiles } from './docs/quoted-files.ts';
import { renderSettingsPage } from './docs/settings-page.ts';
import { writeChartDocs } from './docs/write-chart-docs.ts';

const ROOT = join(import.meta.dirname, '..');
const STATUS_USAGE = 2;

function write(path: string, content: string | Buffer): void {
  writeFileSync(join(ROOT, path), content);
  process.stdout.write(`${path}\n`);
}

/** The reference pages, from tables in the code, what pages quote, and the docs of the chart, from its values. */
async function generateDocs(): Promise<void> {
  write('docs/reference/settings.md', renderSettingsPage());
  write('docs/reference/metrics.md', await renderMetricsPage());
  write('docs/reference/errors.md', renderErrorsPage());
  write('docs/reference/openapi.json', committedOpenapiText());
  write('docs/reference/api.md', renderApiPage());
  write('docs/reference/operator-openapi.json', operatorOpenapiText());
  for (const path of globSync('docs/**/*.md', { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const fresh = renderQuotedFiles(path, text);
    if (fresh !== text) write(path, fresh);
  }
  writeChartDocs();
}

const MAKERS: Readonly<Record<string, () => void | Promise<void>>> = {
  bundles: async () => {
    for (const [path, make] of BUNDLES) write(path, gzipSync(await make(), { level: 9 }));
  },
  docs: generateDocs,
  types: async () => {
    write(CLIENT_TYPES, await renderClientTypes());
    write('clients/go/types.go', renderGoTypes(clientOpenapiText()));
    for (const [name, text] of renderJavaTypes(clientOpenapiText())) write(`${JAVA_TYPES_FOLDER}/${name}`, text);
    write('clients/python/src/grantd/_types.py', renderPythonTypes(clientOpenapiText()));
    const asyncClient = readFileSync(join(ROOT, 'clients/python/src/grantd/_async_client.py'), 'utf8');
    write('clients/python/src/grantd/_client.py', renderSyncPythonClient(asyncClient));
  },
};

async function generate(words: readonly string[]): Promise<void> {
  const unknown = words.find((word) => !(word in MAKERS));
  if (unknown !== undefined) {
    process.stderr.write(`"${unknown}" is not one of: ${Object.keys(MAKERS).join(', ')}.\n`);
    process.exitCode = STATUS_USAGE;
    return;
  }
  for (const [name, make] of Object.entries(MAKERS)) if (words.length === 0 || words.includes(name)) await make();
}

if (import.meta.main) await generate(process.argv.slice(2));
