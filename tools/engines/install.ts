// Programs that tests need beside npm's packages, each installed once on a machine. The runner of tests installs them
// beside the suites that do not need it; a test file that runs by itself installs its own at its head.
//
//   node tools/engines/install.ts <name>…
//
// ends with status 3 if this machine cannot have it. Progress is plain lines on standard error; what compilers and
// installers write goes to files, whose paths are printed if they fail.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideK6 } from '../../scripts/loadtest/k6.ts';
import { provideCassandra } from './cassandra.ts';
import { provideChromium } from './chromium.ts';
import { provideProgram } from './debian-program.ts';
import { provide } from './engine-script.ts';
import { provideJava, provideJdbcDriver, provideMaven } from './java.ts';
import { BUN, DENO, installNpmProgram, NODE_20, NODE_22, NODE_24 } from './npm-program.ts';
import { provideOpenSearch } from './opensearch.ts';
import { installPythonTool, PYTHON_CLIENT, SCHEMATHESIS } from './python-tool.ts';
import { LOGS_DIRECTORY } from './tools-directory.ts';

const STATUS_MISSING = 3;
const STATUS_USAGE = 2;
const ROOT = join(import.meta.dirname, '..', '..');
const KUBERNETES = join(import.meta.dirname, 'kubernetes');

export interface Install {
  readonly name: string;
  readonly what: string;
  /** Suites and test files. */
  readonly neededBy: readonly string[];
  /** Takes less than half a second if it is installed. */
  readonly command: readonly [program: string, ...args: string[]];
}

interface Row extends Install {
  /** Resolves to false, or rejects with the reason, if this machine cannot have it. */
  readonly run: () => Promise<unknown>;
}

const row = (name: string, what: string, neededBy: readonly string[], run: Row['run']): Row => ({
  name,
  what,
  neededBy,
  command: [process.execPath, import.meta.filename, name],
  run,
});

const script = (path: string, ...args: readonly string[]): Promise<boolean> => provide(path, args);

/** Those that take longest first. */
const ROWS: readonly Row[] = [
  row('k6', 'k6, built with Go', ['test/loadtest/scenarios.test.ts', 'test/loadtest/soak.test.ts'], async () =>
    provideK6(),
  ),
  row('helm', 'Helm, Kustomize and crane, built with Go', ['chart', 'kubernetes'], () =>
    script(join(KUBERNETES, 'tools.sh'), 'install', 'helm', 'kustomize', 'crane'),
  ),
  row(
    'cassandra',
    'Java and Maven from Debian, Cassandra from Maven',
    ['contract', 'contract/slow', 'cluster/smoke', 'cluster/faults', 'cluster/slow', 'kubernetes'],
    provideCassandra,
  ),
  row('chromium', 'Chromium from Debian', ['browser', 'browser/slow'], provideChromium),
  row('schemathesis', 'schemathesis from PyPI', ['test/conformance/schemathesis.test.ts', 'conformance/slow'], () =>
    installPythonTool(SCHEMATHESIS),
  ),
  row(
    'python-client',
    'mypy, pytest and others from PyPI',
    ['test/clients/python.test.ts', 'test/clients/model-types.test.ts', 'test/clients/slow/installs.test.ts'],
    () => installPythonTool(PYTHON_CLIENT),
  ),
  row(
    'java',
    'Java from Debian',
    ['test/conformance/code-samples.test.ts', 'test/clients/java.test.ts', 'test/clients/model-types.test.ts'],
    provideJava,
  ),
  row('jdbc', 'the JDBC driver of Postgres from Debian', ['test/clients/java.test.ts'], provideJdbcDriver),
  row(
    'java-client',
    'Java and Maven from Debian, the rest from Maven',
    ['test/clients/slow/java-build.test.ts'],
    provideMaven,
  ),
  row(
    'runtimes',
    'Node 20, 22 and 24, Deno and Bun from npm',
    [
      'test/cli/package.test.ts',
      'test/clients/typescript-packages.test.ts',
      'test/clients/slow/typescript-runtimes.test.ts',
      'test/browser/docs-app.test.ts',
      'test/cluster/smoke/docs-commands.test.ts',
    ],
    () => Promise.all([NODE_20, NODE_22, NODE_24, DENO, BUN].map(installNpmProgram)),
  ),
  row('redis', 'Redis from Debian', ['alone', 'contract', 'cluster/smoke', 'kubernetes'], () =>
    provideProgram('redis-server'),
  ),
  row(
    'postgres',
    'Postgres from Debian',
    [
      'test/contract/mirror/postgres.test.ts',
      ...['go', 'java', 'lists', 'python', 'typescript-filter'].map((each) => `test/clients/${each}.test.ts`),
    ],
    () => provideProgram('pg_ctlcluster', ['postgresql']),
  ),
  row(
    'opensearch',
    'Java and Maven from Debian, OpenSearch from Maven',
    ['test/contract/mirror/opensearch.test.ts', 'contract/slow'],
    provideOpenSearch,
  ),
  row(
    'shells',
    'zsh and fish from Debian',
    ['test/cli/completion.test.ts'],
    async () => (await provideProgram('zsh')) && provideProgram('fish'),
  ),
  row('peers', 'OpenFGA, SpiceDB and cel-go, built with Go', ['differential/slow'], () =>
    script(join(ROOT, 'bench', 'compare', 'tools.sh'), 'install', 'openfga', 'spicedb', 'load', 'cel-go'),
  ),
  row(
    'kubernetes',
    'Kubernetes, built with Go, and the base of an image',
    ['kubernetes'],
    async () => (await script(join(KUBERNETES, 'tools.sh'), 'install')) && script(join(KUBERNETES, 'image.sh'), 'base'),
  ),
];

export const INSTALLS: readonly Install[] = ROWS;

async function install({ name, run }: Row): Promise<boolean> {
  try {
    return (await run()) !== false;
  } catch (error) {
    mkdirSync(LOGS_DIRECTORY, { recursive: true });
    const log = join(LOGS_DIRECTORY, `${name}.log`);
    writeFileSync(log, `${error instanceof Error ? error.message : String(error)}\n`);
    console.error(`${name}: cannot be installed; see ${log}`);
    return false;
  }
}

if (import.meta.main) {
  for (const name of process.argv.slice(2)) {
    const found = ROWS.find((each) => each.name === name);
    if (found === undefined) {
      console.error(`There is no ${name}, but ${ROWS.map((each) => each.name).join(', ')}.`);
      process.exitCode = STATUS_USAGE;
    } else if (!(await install(found))) process.exitCode = STATUS_MISSING;
  }
}
