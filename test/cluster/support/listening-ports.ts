// The TCP ports at which a process listens, as the kernel has it
// (https://man7.org/linux/man-pages/man5/proc_pid_net.5.html).

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Whatever the address. Descriptors that close meanwhile do not count. */
function socketsOf(pid: number): Set<string> {
  const inodes = new Set<string>();
  for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1];
      if (inode !== undefined) inodes.add(inode);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return inodes;
}

export function listeningPorts(pid: number): number[] {
  const sockets = socketsOf(pid);
  const ports = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
        return state === LISTENING && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
      }),
  );
  // Several sockets may share one.
  return [...new Set(ports)].sort((left, right) => left - right);
}
