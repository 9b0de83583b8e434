// The steps before the tests, each a program of its own: the linter, the type checker, and the tools of some suites
// that npm does not provide.

import { spawn } from 'node:child_process';
import { ROOT } from './suites.ts';

export interface Step {
  readonly name: string;
  readonly what: string;
  /** Run one after another, until one fails. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** The suites that need it; undefined: it is itself a check. */
  readonly neededBy?: readonly string[];
}

/**
 * The status of an installer whose program is not available here: the tests that need it report that, and fail if CI is
 * set.
 */
const STATUS_MISSING = 3;
const BINARIES = `${ROOT}/node_modules/.bin`;

export const STEPS: readonly Step[] = [
  { name: 'lint', what: 'the linter and the formatter (biome)', commands: [[`${BINARIES}/biome`, 'ci', '.']] },
  { name: 'types', what: 'the types (tsc)', commands: [[`${BINARIES}/tsc`]] },
  {
    name: 'tools',
    what: 'Helm, kubectl and k6 for the charts and the load scenarios, built once, in a few minutes',
    commands: [
      [
        'bash',
        '-c',
        'tools/engines/kubernetes/tools.sh install helm $(command -v kubectl > /dev/null || echo kubectl)',
      ],
      [process.execPath, 'scripts/loadtest.ts', 'install'],
    ],
    neededBy: ['chart', 'loadtest'],
  },
];

function statusOf([program, ...args]: readonly [string, ...string[]]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Resolves to whether it succeeded. */
export async function runStep({ commands, neededBy }: Step): Promise<boolean> {
  for (const command of commands) {
    const status = await statusOf(command);
    if (status === STATUS_MISSING && neededBy !== undefined) return true;
    if (status !== 0) return false;
  }
  return true;
}
