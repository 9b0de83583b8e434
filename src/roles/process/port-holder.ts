// Finds the process that listens on a TCP port of this machine, in /proc on Linux, for the error message of a start
// that found the port taken. It reveals only the name of the program and its process id: the rest of a command line may
// contain secrets.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

/** State 0A of /proc/net/tcp. */
const LISTENING = '0A';
/** A failing start does not search a whole server: beyond this many open files it reports no name. */
const LINKS_MAX = 20_000;

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(1);
  } catch {
    return [];
  }
}

/** The inodes of the sockets that listen on `port`, over IPv4 and IPv6. */
function listeningInodes(proc: string, port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const line of ['tcp', 'tcp6'].flatMap((name) => linesOf(join(proc, 'net', name)))) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    if (state === LISTENING && local.endsWith(suffix)) inodes.add(inode);
  }
  return inodes;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // It has ended, or belongs to another user.
    return [];
  }
}

function programOf(proc: string, pid: string): string {
  const words = readFileSync(join(proc, pid, 'cmdline'), 'utf8').split('\0');
  const isGrantd = words.slice(0, 8).some((word) => /(^|\/)(src\/main\.ts|bin\/grantd)$/.test(word));
  return isGrantd ? 'grantd' : basename(words[0] ?? '').slice(0, 64) || 'a process';
}

/** `grantd (pid 4711)`, or undefined if it cannot be determined. */
export function findPortHolder(port: number, proc = '/proc'): string | undefined {
  try {
    const sockets = new Set([...listeningInodes(proc, port)].map((inode) => `socket:[${inode}]`));
    if (sockets.size === 0) return undefined;
    let links = 0;
    for (const pid of namesIn(proc).filter((name) => /^\d+$/.test(name))) {
      for (const descriptor of namesIn(join(proc, pid, 'fd'))) {
        links += 1;
        if (links > LINKS_MAX) return undefined;
        if (sockets.has(linkOf(join(proc, pid, 'fd', descriptor)))) return `${programOf(proc, pid)} (pid ${pid})`;
      }
    }
  } catch {
    // The name is only a help.
  }
  return undefined;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
