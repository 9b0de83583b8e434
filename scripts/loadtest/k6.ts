// Provides k6 (the machine's own if it can run TypeScript, otherwise one built with Go on first use) and runs it.

import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { ScenarioName } from '../../loadtest/scenarios.ts';
import { PROGRAMS_DIRECTORY } from '../../tools/engines/tools-directory.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TOOLS_SCRIPT = join(ROOT, 'tools', 'engines', 'kubernetes', 'tools.sh');
/** From this version on, it runs TypeScript by default. */
const MAJOR_MIN = 1;

/** k6 is not installed, and cannot be built here. */
export class K6Missing extends Error {}

function isUsable(program: string): boolean {
  const { status, stdout } = spawnSync(program, ['version'], { encoding: 'utf8' });
  return status === 0 && Number(/\bv(\d+)\./.exec(stdout)?.[1]) >= MAJOR_MIN;
}

/** The command that runs k6. Building it takes some minutes, once. Throws K6Missing if it is not available. */
export function provideK6(): string {
  if (isUsable('k6')) return 'k6';
  const { status } = spawnSync('bash', [TOOLS_SCRIPT, 'install', 'k6'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new K6Missing('k6 is not installed, and cannot be built here.');
  return join(PROGRAMS_DIRECTORY, 'k6');
}

interface K6Run {
  readonly scenario: ScenarioName;
  /** Settings of the scenario, by name. */
  readonly settings: Readonly<Record<string, string>>;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: boolean;
  /** Passed to `k6 run` unchanged. */
  readonly further: readonly string[];
}

/** Resolves with the status of k6: 0 if every threshold passed. */
export function runK6(program: string, { scenario, settings, environment, terminal, further }: K6Run): Promise<number> {
  const script = join(ROOT, 'loadtest', `${scenario}.ts`);
  // No port of its own, no usage report, and without a terminal no progress bar.
  const options = ['--address', '', '--no-usage-report', ...(terminal ? [] : ['--quiet'])];
  // k6 does not need the service's own variables, some of which are secret.
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('GRANTD_'));
  const child = spawn(program, ['run', ...options, ...further, script], {
    env: { ...Object.fromEntries(others), ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // k6 also gets an interrupt from the terminal, and then ends the run with a summary.
  const stayThrough = (): void => {};
  const passOn = (): void => {
    child.kill('SIGTERM');
  };
  process.on('SIGINT', stayThrough).on('SIGTERM', passOn);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (status) => {
      process.off('SIGINT', stayThrough).off('SIGTERM', passOn);
      resolve(status ?? 1);
    });
  });
}
