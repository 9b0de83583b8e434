// schemathesis reads the service's own description and sends what it may and may not be sent: no server error, no
// answer off schema, no undocumented status, header or media type, nothing taken that the description rules out.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { installPythonTool, type PythonTool, SCHEMATHESIS } from '../../../tools/engines/python-tool.ts';
import { useHttpService } from '../../kit/http-service.ts';

/** What the command of the package does; the command itself is not on a path everywhere. */
const ENTRY = 'from schemathesis.cli import schemathesis; schemathesis()';
/** Ends a run that hangs. */
const RUN_MS_MAX = 1_800_000;
/** Reproducible; another number looks elsewhere. */
const SEED = '1';
/**
 * Left out: `positive_data_acceptance`, since not every well-formed request can succeed (a cursor that was never given,
 * a grant that is not there, a moment that has passed).
 */
const EXCLUDED_CHECKS = 'positive_data_acceptance';

async function run(tool: PythonTool, args: readonly string[]): Promise<{ status: number | null; output: string }> {
  // A directory of its own: the tool keeps notes where it is run.
  const directory = mkdtempSync(join(tmpdir(), 'grantd-schemathesis-'));
  const child = spawn(tool.command, ['-c', ENTRY, 'run', ...args], {
    cwd: directory,
    env: { ...process.env, ...tool.environment, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS_MAX,
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  rmSync(directory, { recursive: true, force: true });
  return { status, output: Buffer.concat(chunks).toString() };
}

export interface Search {
  readonly what: string;
  /** Random requests for each operation, at most. */
  readonly examples: number;
  /** Of operations. */
  readonly selection: readonly string[];
  readonly phases: string;
  /** The API of operators instead of the public one. */
  readonly operator?: boolean;
}

/** Skipped if schemathesis cannot be installed, which is a failure if CI is set. */
export async function describeSearches(searches: readonly Search[]): Promise<void> {
  const tool = await installPythonTool(SCHEMATHESIS).catch((error: unknown) => {
    reportMissing('the interface with schemathesis', String(error));
  });
  describe('schemathesis', { skip: tool === undefined }, async () => {
    const service = await useHttpService({ GRANTD_TRUSTED_PROXIES: 'loopback' });

    for (const [index, { what, examples, selection, phases, operator = false }] of searches.entries()) {
      it(`finds nothing wrong with ${what}`, async (context) => {
        // Of a tenant that changes many keys, and a client whose keys are often wrong, everything is refused for a
        // while. So each search has its own tenant and address.
        const token = operator ? service.operatorToken : (await service.createTenant()).key;
        const { status, output } = await run(tool ?? { command: '', environment: {} }, [
          operator ? `${service.consoleUrl}/operator/v1/openapi.json` : `${service.baseUrl}/openapi.json`,
          ...['--header', `Authorization: Bearer ${token}`],
          ...['--header', `X-Forwarded-For: 192.0.2.${index + 1}`],
          ...['--phases', phases],
          ...['--exclude-checks', EXCLUDED_CHECKS],
          ...['--max-examples', String(examples), '--seed', SEED],
          ...['--request-timeout', '15', '--no-color'],
          ...selection,
        ]);
        assert.equal(status, 0, output);
        assert.match(output, /[1-9][0-9]* generated, [1-9][0-9]* passed/);
        context.diagnostic(/.*generated.*/.exec(output)?.[0].trim() ?? '');
      });
    }
  });
}
