// A file that a command writes. Invariant: it has its former content or the new one, whole, also on a full disk: the
// new one is written beside it and renamed.

import { randomUUID } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { realpath, stat, writeFile } from 'node:fs/promises';
import { CliFailure, reasonOf } from '../failures.ts';

/** Pipes and devices have no content to keep. */
async function targetOf(file: string): Promise<{ readonly path: string; readonly mode?: number } | undefined> {
  try {
    // Through a link, so that the file may stand in another folder.
    const path = await realpath(file);
    const stats = await stat(path);
    return stats.isFile() ? { path, mode: stats.mode } : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { path: file };
    throw error;
  }
}

/** `mode`: of the file, whatever the umask is; undefined: as the umask says. Throws what the system says. */
export function replaceFile(path: string, text: string, mode?: number): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    // A file that is there already would keep its owner and mode.
    const descriptor = openSync(draft, 'wx', mode);
    try {
      writeFileSync(descriptor, text);
      if (mode !== undefined) fchmodSync(descriptor, mode);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

export async function writeWholeFile(file: string, text: string): Promise<void> {
  try {
    const target = await targetOf(file);
    if (target === undefined) await writeFile(file, text);
    else replaceFile(target.path, text, target.mode);
  } catch (cause) {
    throw new CliFailure(`Cannot write ${file}: ${reasonOf(cause)}.`, undefined, { cause });
  }
}
