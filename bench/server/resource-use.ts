// CPU time and resident memory of another process with all its threads: from /proc, elsewhere from `ps`.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const hasProc = existsSync('/proc/self/stat');
let ticksPerSecond: number | undefined;

function readTicksPerSecond(): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticksPerSecond;
}

/** User and system time so far, in seconds; on Linux in steps of a clock tick, commonly 10 ms. */
export function readCpuSeconds(pid: number): number {
  if (!hasProc) {
    const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text.split(/[:-]/).reduce((seconds, part) => seconds * 60 + Number(part), 0);
  }
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The second field, the name, may hold blanks; what follows its closing bracket is field 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) / readTicksPerSecond();
}

export function readResidentBytes(pid: number): number {
  if (!hasProc) return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  const match = /^VmRSS:\s+(?<kib>\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.groups?.kib) * 1024;
}
