// The Python clients, with and without an event loop: types, their own tests, the contract on a real service behind the
// fault proxy, and the application of the examples.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { missingPostgres } from '../../tools/engines/postgres.ts';
import { installPythonTool, PYTHON_CLIENT, type PythonTool } from '../../tools/engines/python-tool.ts';
import { TOOLS_DIRECTORY } from '../../tools/engines/tools-directory.ts';
import type { HttpService } from '../kit/http-service.ts';
import { ROOT } from '../kit/source-tree.ts';
import { checkApplication } from './support/application.ts';
import { runContract, startContractService } from './support/contract.ts';
import { runFaults } from './support/fault-run.ts';
import { runFilters } from './support/filter-run.ts';
import { runMembers } from './support/member-run.ts';
import { startTestingService } from './support/testing-service.ts';
import { runTexts } from './support/text-run.ts';

const CLIENT = join(ROOT, 'clients', 'python');
/** Kept, since a second run with it takes a tenth of the time. */
const MYPY_CACHE = join(TOOLS_DIRECTORY, 'python-client-mypy');
const run = promisify(execFile);

async function findTool(): Promise<PythonTool | undefined> {
  try {
    return await installPythonTool(PYTHON_CLIENT);
  } catch (error) {
    reportMissing('the Python client', error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

const found = await findTool();

describe('the Python client', { skip: found === undefined }, async () => {
  // For the tests of its examples.
  const testing = await startTestingService();
  const tool = found ?? { command: '', environment: {} };
  const directory = mkdtempSync(join(tmpdir(), 'grantd-python-'));
  // Each client loads the authorities that it may trust, and a case has several clients: one authority is enough here.
  const authorities = join(directory, 'authorities.pem');
  writeFileSync(authorities, rootCertificates[0] ?? '');
  const environment = {
    ...tool.environment,
    SSL_CERT_FILE: authorities,
    PYTHONPATH: [join(CLIENT, 'src'), tool.environment.PYTHONPATH ?? ''].join(':'),
    PYTHONDONTWRITEBYTECODE: '1',
    GRANTD_TESTING_URL: testing.url,
  };
  let service: HttpService;
  before(async () => {
    service = await startContractService();
  });
  after(async () => {
    await service?.stop();
    rmSync(directory, { recursive: true });
  });

  const python = async (...args: readonly string[]): Promise<void> => {
    try {
      await run(tool.command, [...args], { cwd: CLIENT, env: { ...process.env, ...environment } });
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`python ${args.join(' ')} failed.\n${stdout}${stderr}`, { cause: error });
    }
  };

  it('has complete types, and one style', async () => {
    await python('-m', 'mypy', '--cache-dir', MYPY_CACHE);
    await python('-m', 'ruff', 'check', '--no-cache');
    await python('-m', 'ruff', 'format', '--check', '--no-cache');
  });

  it('has a README whose programs have complete types, too', async () => {
    const blocks = [...readFileSync(join(CLIENT, 'README.md'), 'utf8').matchAll(/^```python\n(.*?)^```/gms)];
    const functions = blocks.map(([, block = ''], index) => {
      const isAsync = /\b(?:await|async)\b/.test(block);
      const body = block.trimEnd().replaceAll(/^(?=.)/gm, '    ');
      const client = isAsync ? 'AsyncGrantd' : 'Grantd';
      return `${isAsync ? 'async ' : ''}def block_${index}(client: ${client}, url: str, key: str) -> None:\n${body}\n`;
    });
    assert.ok(functions.length > 5);
    const file = join(directory, 'readme.py');
    writeFileSync(file, `from grantd import AsyncGrantd, Grantd\n\n${functions.join('\n')}`);
    await python('-m', 'mypy', '--strict', '--cache-dir', MYPY_CACHE, file);
  });

  it('passes its tests, which run the code of its README', () =>
    python('-m', 'pytest', '-q', '-p', 'no:cacheprovider'));

  for (const file of ['examples/test_documents.py', 'examples/test_documents_django.py']) {
    it(`has an example with tests: ${file}`, () => python('-m', 'pytest', '-q', '-p', 'no:cacheprovider', file));
  }

  for (const [name, options] of [
    ['with an event loop', []],
    ['without one', ['--sync']],
  ] as const) {
    it(`keeps the contract ${name}`, () =>
      runContract({
        service,
        command: [tool.command, join(CLIENT, 'contract_runner.py'), ...options],
        environment,
      }));
    it(`meets the table of faults ${name}`, () =>
      runFaults({ command: [tool.command, join(CLIENT, 'contract_runner.py'), ...options], environment }));
  }

  // Both clients make and read requests by the same code.
  it('sends random texts as they are, or not at all', () =>
    runTexts({ command: [tool.command, join(CLIENT, 'contract_runner.py')], environment }, 'bytes'));
  it('refuses each misspelt member of each call, or the service does', () =>
    runMembers({ service, command: [tool.command, join(CLIENT, 'contract_runner.py')], environment }));

  it('filters queries on a real Postgres exactly, or not at all', async (t: TestContext) => {
    const missing = await missingPostgres('filters of the Python client');
    if (missing !== undefined) return t.skip(missing);
    await runFilters({ service, command: [tool.command, join(CLIENT, 'filter_runner.py')], environment });
  });

  for (const [framework, example] of [
    ['FastAPI', 'documents.py'],
    ['Flask', 'documents_flask.py'],
    ['Django', 'documents_django.py'],
  ] as const) {
    it(`guards routes of ${framework} in an application`, () =>
      checkApplication(service, [tool.command, join(CLIENT, 'examples', example)], environment));
  }
});
