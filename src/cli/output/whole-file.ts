// A file that a command writes. Invariant: it has its former content or the new one, whole, also on a full disk: the
// new one is written beside it and renamed.

import { randomUUID } from 'node:crypto';
import { open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
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

async function replace({ path, mode }: { readonly path: string; readonly mode?: number }, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const handle = await open(draft, 'wx');
    try {
      await handle.writeFile(text);
      if (mode !== undefined) await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export async function writeWholeFile(file: string, text: string): Promise<void> {
  try {
    const target = await targetOf(file);
    if (target === undefined) await writeFile(file, text);
    else await replace(target, text);
  } catch (cause) {
    throw new CliFailure(`Cannot write ${file}: ${reasonOf(cause)}.`, undefined, { cause });
  }
}
