// Provides k6 (the machine's own if it can run TypeScript, otherwise one built with Go on first use) and runs it.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ScenarioName } from '../../loadtest/scenarios.ts';
import { PROGRAMS_DIRECTORY, TOOLS_DIRECTORY } from '../../tools/engines/tools-directory.ts';

const MODULE = 'go.k6.io/k6@v1.8.0';
/** From this version on, it runs TypeScript by default. */
const MAJOR_MIN = 1;

/** There is none, and it cannot be built here. */
export class K6Missing extends Error {}

function isUsable(program: string): boolean {
  const { status, stdout } = spawnSync(program, ['version'], { encoding: 'utf8' });
  return status === 0 && Number(/\bv(\d+)\./.exec(stdout)?.[1]) >= MAJOR_MIN;
}

/** Uses every processor, but at low priority. */
function build(program: string): void {
  mkdirSync(PROGRAMS_DIRECTORY, { recursive: true });
  const directory = mkdtempSync(join(TOOLS_DIRECTORY, 'build-k6-'));
  try {
    const { status } = spawnSync('nice', ['-n', '10', 'go', 'install', MODULE], {
      env: { ...process.env, GOBIN: directory, GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new K6Missing(`${MODULE} cannot be built with Go.`);
    // An atomic rename, so that the program is always complete, even if another process builds it at the same time.
    renameSync(join(directory, 'k6'), program);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The command that runs k6. Building it takes some minutes, once. Throws K6Missing if it is not available. */
export function provideK6(note: (text: string) => void): string {
  const built = join(PROGRAMS_DIRECTORY, 'k6');
  for (const program of ['k6', built]) if (isUsable(program)) return program;
  if (spawnSync('go', ['version']).status !== 0) throw new K6Missing('There is no k6, and no Go to build it with.');
  note(`building ${MODULE} with Go (takes minutes, once)`);
  const startMs = performance.now();
  build(built);
  note(`k6 is ready, after ${Math.round((performance.now() - startMs) / 1000)} s`);
  return built;
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
  const script = join(import.meta.dirname, '..', '..', 'loadtest', `${scenario}.ts`);
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
