// CPU time and resident memory of another process with all its threads: from /proc, on other systems from `ps`. On
// Linux also further facts about processes and the machine.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { median } from '../statistics.ts';

const SAMPLES = 10;
const SAMPLE_INTERVAL_MS = 100;

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
  // The second field, the name, may contain spaces; the part after its closing bracket starts with field 3.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[14 - 3]) + Number(fields[15 - 3])) / readTicksPerSecond();
}

export function readResidentBytes(pid: number): number {
  if (!hasProc) return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
  const match = /^VmRSS:\s+(?<kib>\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.groups?.kib) * 1024;
}

/** The peak of resident memory since the process started. On Linux only. */
export function readPeakResidentBytes(pid: number): number {
  const match = /^VmHWM:\s+(?<kib>\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.groups?.kib) * 1024;
}

export interface ProcessorTime {
  readonly ranMs: number;
  /** How long it could have run while another process had the processor. */
  readonly waitedMs: number;
}

/** Of the process's first thread, which runs Node's event loop. On Linux only. */
export function readProcessorTime(pid: number): ProcessorTime {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ').map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

/** The median over a second, so that short-lived garbage does not count. */
export async function readSettledResidentBytes(pid: number): Promise<number> {
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    samples.push(readResidentBytes(pid));
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_INTERVAL_MS));
  }
  return median(samples);
}

function parentOf(pid: number): number {
  const match = /^PPid:\s+(?<parent>\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(match?.groups?.parent);
}

function isDescendant(pid: number): boolean {
  for (let ancestor = parentOf(pid); ancestor > 1; ancestor = parentOf(ancestor)) {
    if (ancestor === process.pid) return true;
  }
  return false;
}

const listPids = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Processes below this one whose command line contains that word: the children of a script. On Linux only. */
export function findDescendants(word: string): readonly number[] {
  return listPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word) && isDescendant(pid);
    } catch {
      // It has already ended.
      return false;
    }
  });
}

/**
 * The bytes that the process has written to files so far, in whole memory pages, whether or not they have reached the
 * disk.
 */
export function readWrittenBytes(pid: number): number {
  return Number(/^write_bytes: (?<bytes>\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.groups?.bytes);
}

/**
 * Processor time so far of each process on the machine. The kernel samples its own figures for busy and idle processors
 * at its ticks, so they are far off if processes run for some microseconds at a time. On Linux only.
 */
export function readCpuOfAll(): ReadonlyMap<number, number> {
  const seconds = new Map<number, number>();
  for (const pid of listPids()) {
    try {
      seconds.set(pid, readCpuSeconds(pid));
    } catch {
      // It has already ended.
    }
  }
  return seconds;
}

/** For processes in both readings; those that started in between count in full. */
export function cpuSecondsBetween(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);
}
