// The Go of the machine, for tests of code in Go. It needs no network, except for the one module that has dependencies.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { reportMissing } from './engine-script.ts';

const run = promisify(execFile);

/** Iterators over functions, and `omitzero`. */
const MINOR_MIN = 24;

export interface Go {
  /** Its standard output. Rejects with all of its output if it fails. */
  run(args: readonly string[], directory: string, variables?: Variables): Promise<string>;
}

type Variables = Readonly<Record<string, string>>;

const environment = { GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false', GOPROXY: 'off' };

async function runGo(args: readonly string[], cwd?: string, variables: Variables = {}): Promise<string> {
  try {
    const { stdout } = await run('go', [...args], { cwd, env: { ...process.env, ...environment, ...variables } });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`go ${args.join(' ')} failed.\n${stdout}${stderr}`, { cause: error });
  }
}

/** Undefined if the machine has no Go that is new enough: reports that, and fails if CI is set. */
export async function findGo(what: string, minorMin = MINOR_MIN): Promise<Go | undefined> {
  const version = await runGo(['version']).catch(() => '');
  if (Number(/\bgo1\.(\d+)/.exec(version)?.[1]) >= minorMin) return { run: runGo };
  reportMissing(what, `It needs Go 1.${minorMin} or later.`);
  return undefined;
}
