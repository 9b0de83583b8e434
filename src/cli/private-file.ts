// Files with secrets and with the addresses to which they go: whoever could write one could have the secrets sent
// elsewhere, and whoever could read it has them. So only a file of this user counts, and only if it is private.

import type { Stats } from 'node:fs';

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
