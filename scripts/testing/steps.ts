// The programs of a run beside its tests: the linter, the type checker, and the installers of what tests need and npm
// does not have.

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { INSTALLS } from '../../tools/engines/install.ts';
import { ROOT, type SuiteFile } from './suites.ts';

export interface Step {
  readonly name: string;
  readonly what: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** The suites and test files that wait for it; undefined: it is itself a check. */
  readonly neededBy?: readonly string[];
}

/** Status of an installer that cannot install here: the tests that need the program report that, or fail under CI. */
const STATUS_MISSING = 3;
const BINARIES = `${ROOT}/node_modules/.bin`;

/** The build info of tsc: a second run checks only changed files and their dependents. */
const TYPES_KNOWN = 'node_modules/.cache/types.tsbuildinfo';

/** The checks, which can be named. */
export const STEPS: readonly Step[] = [
  {
    name: 'lint',
    what: 'the linter and the formatter (biome)',
    command: [`${BINARIES}/biome`, 'ci', '--colors=off', '.'],
  },
  {
    name: 'types',
    what: 'the types (tsc)',
    // Several checkers each check again what their files share, and take twice the processor time of one.
    command: [`${BINARIES}/tsc`, '--checkers', '1', '--incremental', '--tsBuildInfoFile', TYPES_KNOWN],
  },
];

const isNeeded = ({ neededBy = [] }: Step, { path, suite }: SuiteFile): boolean =>
  neededBy.includes(path) || neededBy.includes(suite.name);

/** The installers that these files need. */
export const installsFor = (files: readonly SuiteFile[]): Step[] =>
  INSTALLS.filter((install) => files.some((file) => isNeeded(install, file))).map((install) => ({
    ...install,
    name: `install ${install.name}`,
  }));

/** The names of the steps that have to end before these files start. */
export const neededFor = (steps: readonly Step[], files: readonly SuiteFile[]): string[] =>
  steps.filter((step) => files.some((file) => isNeeded(step, file))).map(({ name }) => name);

/** Processors that an install keeps busy, so that it leaves some to the tests. */
export const installWeight = (processors: number): number => Math.ceil(processors / 2);

/** Resolves to whether it succeeded. `say` gets each line that it prints. */
export function runStep(
  { command: [program, ...args], neededBy }: Step,
  say: (line: string) => void,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, GOMAXPROCS: String(installWeight(availableParallelism())) };
    const child = spawn(program, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', say);
    child.once('error', reject);
    child.once('close', (status) => resolve(status === 0 || (status === STATUS_MISSING && neededBy !== undefined)));
  });
}
