// Another wall clock for one process: libfaketime, which reads its offset from a file at each look at the clock. The
// monotonic clock stays real. The library comes from the Debian package: as installed, or unpacked into the tools'
// folder.

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { TOOLS_DIRECTORY } from '../../../tools/engines/tools-directory.ts';

const LIBRARY = 'usr/lib/*/faketime/libfaketimeMT.so.1';
const PACKAGE = 'libfaketime';
const APT = 'apt-get';
const UNPACK = 'dpkg';

/** Undefined where it cannot be had: said loudly, and a failure where CI is set. */
export function findFakeTimeLibrary(): string | undefined {
  const tools = join(TOOLS_DIRECTORY, PACKAGE);
  const find = (): string | undefined =>
    [...globSync(LIBRARY, { cwd: '/' }).map((path) => `/${path}`), ...globSync(join(tools, LIBRARY))][0];
  const known = find();
  if (known !== undefined) return known;
  const download = (): void => {
    execFileSync(APT, ['download', PACKAGE], { cwd: tools, stdio: 'ignore' });
  };
  try {
    mkdirSync(tools, { recursive: true });
    try {
      download();
    } catch {
      // A machine that has never asked for its packages does not know them.
      execFileSync(APT, ['update', '-qq'], { stdio: 'ignore' });
      download();
    }
    for (const file of globSync(`${PACKAGE}_*.deb`, { cwd: tools }))
      execFileSync(UNPACK, ['-x', join(tools, file), tools], { stdio: 'ignore' });
  } catch {
    // What follows says so.
  }
  const library = find();
  if (library === undefined) {
    const reason = `The package ${PACKAGE} can neither be found nor downloaded (apt-get download ${PACKAGE}).`;
    reportMissing('a jump of the wall clock', reason);
  }
  return library;
}

export class FakeTime {
  readonly #file: string;
  readonly #library: string;

  constructor(library: string, directory: string) {
    if (!existsSync(library)) throw new Error(`There is no ${library}.`);
    this.#library = library;
    this.#file = join(directory, 'wall-clock-offset');
    this.set(0);
  }

  /** What the process has to be started with. */
  get environment(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  set(offsetSeconds: number): void {
    writeFileSync(this.#file, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
  }
}
