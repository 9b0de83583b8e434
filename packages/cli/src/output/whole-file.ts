// A file that a command writes. Invariant: it has its former content or the new one, whole, also on a full disk: the
// new one is written beside it and renamed.

import { randomUUID } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
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

// ---- private files ----
//
// Files with secrets and with the addresses to which they go: a user who can write one can have the secrets sent
// elsewhere, and one who can read it has them. So only a private file of this user counts.

/** Elsewhere, files have neither owners nor modes that Node could tell. */
export const HAS_MODES = process.platform !== 'win32';
const OTHERS = 0o077;
const ROOT = 0;

/**
 * What keeps an open file from being trusted, behind its path as a sentence; undefined: nothing. Of the open file:
 * between a look at the path and its opening, it could become another one.
 */
export function privacyFault(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  ownUid = process.getuid?.(),
): string | undefined {
  if (!HAS_MODES) return undefined;
  if (uid !== ownUid && uid !== ROOT) {
    return `belongs to another user (${uid}), who could send secrets and questions elsewhere. Do not use it; if you trust its owner, name the service by the settings instead.`;
  }
  if ((mode & OTHERS) === 0) return undefined;
  return `can be read or written by other users. If nobody else had access to it, run "chmod 600 '${path}'"; otherwise also replace the secrets in it.`;
}
