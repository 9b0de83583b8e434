// The Go client: its own tests, the contract on a real service behind the fault proxy, the program of its examples, and
// a README whose code is that of the examples.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { findGo } from '../../tools/engines/go.ts';
import { missingPostgres } from '../../tools/engines/postgres.ts';
import type { HttpService } from '../kit/http-service.ts';
import { ROOT } from '../kit/source-tree.ts';
import { checkApplication } from './support/application.ts';
import { readCases } from './support/cases.ts';
import { runContract, startContractService } from './support/contract.ts';
import { runFaults } from './support/fault-run.ts';
import { runFilters } from './support/filter-run.ts';
import { assertReadmeShowsExamples } from './support/readme-examples.ts';
import { startTestingService } from './support/testing-service.ts';
import { runTexts } from './support/text-run.ts';

const run = promisify(execFile);
const CLIENT = join(ROOT, 'clients', 'go');
const go = await findGo('the Go client');

describe('the Go client', { skip: go === undefined }, async () => {
  // For the tests of its example.
  const testing = await startTestingService();
  let directory: string;
  let service: HttpService;
  const program = (name: string): string => join(directory, name);
  // What debuggers read takes a third of the time.
  const build = (packages: readonly string[], module: string) =>
    go?.run(['build', '-ldflags=-w', '-o', `${directory}/`, ...packages], module);

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'grantd-go-'));
    service = await startContractService();
    await build(['./internal/contract', './examples/...'], CLIENT);
  });

  after(async () => {
    await service?.stop();
    rmSync(directory, { recursive: true });
  });

  it('has no findings of vet, passes its tests, and needs nothing but the standard library', async () => {
    await go?.run(['vet', './...'], CLIENT);
    await go?.run(['test', './...'], CLIENT, { GRANTD_TESTING_URL: testing.url });
    assert.doesNotMatch(readFileSync(join(CLIENT, 'go.mod'), 'utf8'), /require/);
  });

  /** Of a module of its own: undefined, once everything that it requires is there. */
  function missingModules(what: string, module: string): Promise<string | undefined> | undefined {
    // The first run downloads; an empty text is the default of Go.
    return go?.run(['mod', 'download'], module, { GOPROXY: process.env.GOPROXY ?? '' }).then(
      () => undefined,
      (error: unknown) => reportMissing(what, String(error)),
    );
  }

  it('makes spans of OpenTelemetry, in a module of its own', async (t: TestContext) => {
    const module = join(CLIENT, 'grantdotel');
    const missing = await missingModules('the tracing of the Go client', module);
    if (missing !== undefined) return t.skip(missing);
    await go?.run(['vet', './...'], module);
    await go?.run(['test', './...'], module);
  });

  it('filters queries on a real Postgres exactly, or not at all', async (t: TestContext) => {
    const module = join(CLIENT, 'internal', 'onpostgres');
    const what = 'filters of the Go client';
    const missing = (await missingPostgres(what)) ?? (await missingModules(what, module));
    if (missing !== undefined) return t.skip(missing);
    await go?.run(['vet', '.'], module);
    await build(['.'], module);
    const address = (url: string): string => `${url}?sslmode=disable`;
    await runFilters({ service, command: [program('onpostgres')], address });
  });

  it('keeps the contract on a real service', () =>
    runContract({ service, command: [program('contract')], cases: readCases({ typed: true }) }));

  it('meets the table of faults', () => runFaults({ command: [program('contract')] }));

  it('sends random texts as they are, or not at all', () =>
    runTexts({ command: [program('contract')] }, 'bytes', { nested: false }));

  it('has a README whose code is that of the examples, which its tests run', () =>
    assertReadmeShowsExamples(CLIENT, 'go', ['example_test.go', 'examples/start/main.go']));

  it('has a README that begins with a program, which runs as it stands', async () => {
    const { key } = await service.createTenant();
    const env = { ...process.env, GRANTD_URL: service.baseUrl, GRANTD_KEY: key };
    const { stdout } = await run(program('start'), [], { env });
    assert.equal(stdout, 'true <nil>\ndocument:plan <nil>\n');
    const [, first = ''] = /^```go\n(.*?)^```$/ms.exec(readFileSync(join(CLIENT, 'README.md'), 'utf8')) ?? [];
    assert.ok(readFileSync(join(CLIENT, 'examples', 'start', 'main.go'), 'utf8').endsWith(`\n${first}`));
  });

  it('guards handlers of net/http in an application', () => checkApplication(service, [program('documents')]));
});
