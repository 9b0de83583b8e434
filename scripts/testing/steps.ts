// The steps beside the tests, each a program of its own: the linter, the type checker, and the tools of some suites
// that npm does not provide.

import { spawn } from 'node:child_process';
import { ROOT } from './suites.ts';

export interface Step {
  readonly name: string;
  readonly what: string;
  /** Run one after another, until one fails. */
  readonly commands: readonly (readonly [program: string, ...args: string[]])[];
  /** The suites and test files that wait for it; undefined: it is itself a check. */
  readonly neededBy?: readonly string[];
}

/**
 * The status of an installer whose program is not available here: the tests that need it report that, and fail if CI is
 * set.
 */
const STATUS_MISSING = 3;
const BINARIES = `${ROOT}/node_modules/.bin`;

/** What tsc knows of each file from its last run: a second run checks what has changed, and what depends on that. */
const TYPES_KNOWN = 'node_modules/.cache/types.tsbuildinfo';

export const STEPS: readonly Step[] = [
  { name: 'lint', what: 'the linter and the formatter (biome)', commands: [[`${BINARIES}/biome`, 'ci', '.']] },
  {
    name: 'types',
    what: 'the types (tsc)',
    commands: [[`${BINARIES}/tsc`, '--incremental', '--tsBuildInfoFile', TYPES_KNOWN]],
  },
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

export interface StepResult {
  readonly isGood: boolean;
  readonly output: string;
}

function runCommand([program, ...args]: readonly [string, ...string[]]): Promise<{ status: number; output: string }> {
  return new Promise((resolve, reject) => {
    const output: Buffer[] = [];
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ status: code ?? 1, output: Buffer.concat(output).toString() }));
  });
}

export async function runStep({ commands, neededBy }: Step): Promise<StepResult> {
  let written = '';
  for (const command of commands) {
    const { status, output } = await runCommand(command);
    written += output;
    if (status === STATUS_MISSING && neededBy !== undefined) break;
    if (status !== 0) return { isGood: false, output: written };
  }
  return { isGood: true, output: written };
}
