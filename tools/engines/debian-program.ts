// Provides programs from Debian packages for tests: installs them on first use, as root.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { provide, reportMissing } from './engine-script.ts';

const APT = join(import.meta.dirname, 'apt.sh');

/** The path of the program; undefined if it is not installed. */
export const findProgram = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));

/** Resolves to whether the program is there now. */
export const provideProgram = async (program: string, packages: readonly string[] = [program]): Promise<boolean> =>
  findProgram(program) !== undefined || ((await provide(APT, packages)) && findProgram(program) !== undefined);

/** Resolves to whether the file is there now. */
export const provideFile = async (path: string, packages: readonly string[]): Promise<boolean> =>
  existsSync(path) || ((await provide(APT, packages)) && existsSync(path));

/**
 * Undefined if the program is there now; otherwise the reason, which is also printed prominently and is a failure if CI
 * is set. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingProgram(
  what: string,
  program: string,
  packages?: readonly string[],
): Promise<string | undefined> {
  if (await provideProgram(program, packages)) return undefined;
  return reportMissing(what, `${program} is missing on this machine and cannot be installed.`);
}
