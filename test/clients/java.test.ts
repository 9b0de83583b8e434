// The Java client: the contract on a real service behind the fault proxy, compiled without Maven, and a README whose
// code is that of the examples. Its build has a suite of its own.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { JDBC_DRIVER, provideJava, provideJdbcDriver, QUICK_JAVA, QUICK_JAVAC } from '../../tools/engines/java.ts';
import { missingPostgres } from '../../tools/engines/postgres.ts';
import type { HttpService } from '../kit/http-service.ts';
import { ROOT } from '../kit/source-tree.ts';
import { type Case, readCases } from './support/cases.ts';
import { runContract, startContractService } from './support/contract.ts';
import { runFaults } from './support/fault-run.ts';
import { runFilters } from './support/filter-run.ts';
import { assertReadmeShowsExamples } from './support/readme-examples.ts';
import { runTexts } from './support/text-run.ts';

const run = promisify(execFile);
const CLIENT = join(ROOT, 'clients', 'java');
const SOURCES = ['client/src/main/java', 'testing/src/main/java', 'testing/src/test/java'];
const [RUNNER, FILTER_RUNNER] = ['io.github.grantd.ContractRunner', 'io.github.grantd.FilterRunner'];

const hasJava = await provideJava();
if (!hasJava) reportMissing('the Java client', 'It needs Java 17.');

/**
 * The HTTP client of the JDK sends a GET once more by itself if its connection ends before a byte of the response, as
 * README.md says: one attempt of the client meets such a fault twice.
 */
const asTheJdkSends = (one: Case): Case => ({
  ...one,
  ...(one.log === undefined || one.faults === undefined
    ? {}
    : {
        faults: one.faults.map((fault) =>
          fault.method === 'GET' && fault.do === 'cut-before' && fault.times !== undefined
            ? { ...fault, times: fault.times * 2 }
            : fault,
        ),
      }),
});

describe('the Java client', { skip: !hasJava }, () => {
  const classes = mkdtempSync(join(tmpdir(), 'grantd-java-'));
  let service: HttpService;
  before(async () => {
    const sources = SOURCES.map((folder) => join(CLIENT, folder));
    const runners = [RUNNER, FILTER_RUNNER].map((name) =>
      join(CLIENT, 'testing/src/test/java', `${name.replaceAll('.', '/')}.java`),
    );
    const options = ['--release', '17', '-proc:none', '-d', classes, '-sourcepath', sources.join(delimiter)];
    [service] = await Promise.all([startContractService(), run('javac', [...QUICK_JAVAC, ...options, ...runners])]);
  });
  after(async () => {
    await service?.stop();
    rmSync(classes, { recursive: true });
  });

  const java = [...QUICK_JAVA, '-cp'];
  const command: [string, ...string[]] = ['java', ...java, classes, RUNNER];

  it('keeps the contract on a real service', () =>
    runContract({ service, command, cases: readCases({ typed: true }).map(asTheJdkSends) }));

  it('filters queries on a real Postgres exactly, or not at all', async (t: TestContext) => {
    const what = 'filters of the Java client';
    const driver = (await provideJdbcDriver())
      ? undefined
      : reportMissing(what, 'It needs the JDBC driver of Postgres.');
    const missing = driver ?? (await missingPostgres(what));
    if (missing !== undefined) return t.skip(missing);
    const classpath = [classes, JDBC_DRIVER].join(delimiter);
    const address = (url: string): string => `jdbc:postgresql://${new URL(url).host}/postgres?user=grantd`;
    await runFilters({ service, command: ['java', ...java, classpath, FILTER_RUNNER], address });
  });

  it('meets the table of faults', () => runFaults({ command }));

  it('sends random texts as they are, or not at all', () => runTexts({ command }, 'utf16'));

  it('has a README that begins with a program, which runs as it stands', async () => {
    const [, program = ''] = /^```java\n(.*?)^```$/ms.exec(readFileSync(join(CLIENT, 'README.md'), 'utf8')) ?? [];
    const file = join(classes, 'Start.java');
    writeFileSync(file, program);
    const { key } = await service.createTenant();
    const env = { ...process.env, GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    const { stdout } = await run('java', [...java, classes, file], { env });
    assert.equal(stdout, 'true\ndocument:plan\n');
  });

  it('has a README whose code is that of the examples, which its build runs', () =>
    assertReadmeShowsExamples(CLIENT, 'java', globSync('examples/src/*/java/**/*.java', { cwd: CLIENT })));
});
