// Provides programs from Debian packages for tests: installs them on first use, as root.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { reportMissing } from './engine-script.ts';

const run = promisify(execFile);

const shell = (script: string): Promise<string | undefined> =>
  run('bash', ['-c', script]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );

/** The path of the program; undefined if it is not installed. */
export const findProgram = (program: string): Promise<string | undefined> => shell(`command -v ${program}`);

/**
 * Undefined if the program is there now; otherwise the reason, which is also printed prominently and is a failure if CI
 * is set. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingProgram(
  what: string,
  program: string,
  packages: readonly string[] = [program],
): Promise<string | undefined> {
  if ((await findProgram(program)) !== undefined) return undefined;
  if (process.getuid?.() === 0) {
    console.error(`installing ${packages.join(' and ')} with apt-get`);
    // Several test files may need a package at the same time.
    const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300';
    await shell(`${apt} update -qq && ${apt} install -qq -y --no-install-recommends ${packages.join(' ')}`);
    if ((await findProgram(program)) !== undefined) return undefined;
  }
  return reportMissing(what, `${program} is missing on this machine and cannot be installed.`);
}
