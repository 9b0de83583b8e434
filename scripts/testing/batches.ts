// Divides test files into batches, each for one process: its files, and how many processors it keeps busy, by the last
// run on this machine. Its record only affects order and grouping, so it may be lost at any time.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { MEASURES_ITS_PROCESS, type SuiteFile } from './suites.ts';

export interface Duration {
  readonly ms: number;
  /** Processor time, with that of the processes it started. */
  readonly cpuMs: number;
}

/** By path. */
export type Durations = ReadonlyMap<string, Duration>;

export function readDurations(path: string): Durations {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8'))));
  } catch {
    // There is none yet, or writing it was interrupted.
    return new Map();
  }
}

/** Files that did not run keep their earlier durations. */
export function writeDurations(path: string, measured: Durations): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(Object.fromEntries([...readDurations(path), ...measured])));
}

export interface Batch {
  /** One, unless they share a process. */
  readonly files: readonly SuiteFile[];
  readonly isShared: boolean;
  /** Whether it needs the machine to itself. */
  readonly isExclusive: boolean;
  /** Processors that it keeps busy. */
  readonly weight: number;
}

/** Nothing that runs costs less, so that a record made on a busy machine does not fill it further. */
const WEIGHT_MIN = 0.5;
/** A further process has to compile the program for itself. */
const FILES_PER_PROCESS_MIN = 10;
/** They wait for timers, processes and sockets half of their time. */
const SHARED_PER_PROCESSOR = 2;
/** What most files take. */
const DURATION_UNKNOWN_MS = 300;

const isShared = ({ suite, path }: SuiteFile): boolean =>
  suite.runs === 'together' && !MEASURES_ITS_PROCESS.includes(path);

const isExclusive = ({ suite }: SuiteFile): boolean => suite.runs === 'alone' || suite.runs === 'on-request';

/**
 * By their last durations; where any is unknown, by the suite. Files that share a process always by the suite: each
 * waits now and then, so that more of them fit.
 */
function weigh(files: readonly SuiteFile[], durations: Durations, processors: number): number {
  if (files.every(isShared)) return Math.max(...files.map(({ suite }) => suite.weight));
  const known = files.map(({ path }) => durations.get(path));
  const sum = (of: 'ms' | 'cpuMs'): number => known.reduce((all, each) => all + (each?.[of] ?? Number.NaN), 0);
  const measured = sum('cpuMs') / sum('ms');
  const weight = Number.isFinite(measured) ? measured : Math.max(...files.map(({ suite }) => suite.weight));
  return Math.min(processors, Math.max(WEIGHT_MIN, weight));
}

/** Distributes files over processes that take about equally long; each process has them in their order. */
function distribute(files: readonly SuiteFile[], durations: Durations, processors: number): SuiteFile[][] {
  const count = Math.min(SHARED_PER_PROCESSOR * processors, Math.ceil(files.length / FILES_PER_PROCESS_MIN));
  const shares = Array.from({ length: count }, () => ({ files: [] as SuiteFile[], ms: 0 }));
  const msOf = ({ path }: SuiteFile): number => durations.get(path)?.ms ?? DURATION_UNKNOWN_MS;
  for (const file of files.toSorted((a, b) => msOf(b) - msOf(a))) {
    const share = shares.reduce((least, each) => (each.ms < least.ms ? each : least));
    share.files.push(file);
    share.ms += msOf(file);
  }
  return shares.map((share) => files.filter((file) => share.files.includes(file)));
}

/**
 * Without known durations first, in the order of the suites, and then the longest first: none is left alone at the end.
 */
export function batchesOf(files: readonly SuiteFile[], durations: Durations, processors: number): Batch[] {
  const shared = distribute(files.filter(isShared), durations, processors);
  const own = files.filter((file) => !isShared(file)).map((file) => [file]);
  const msOf = ({ files: some }: Batch): number =>
    some.reduce((sum, { path }) => sum + (durations.get(path)?.ms ?? Number.POSITIVE_INFINITY), 0);
  const batches = [...shared, ...own].map(
    (some): Batch => ({
      files: some,
      isShared: some.every(isShared),
      isExclusive: some.some(isExclusive),
      weight: weigh(some, durations, processors),
    }),
  );
  return [
    ...batches
      .filter((batch) => !batch.isExclusive)
      .toSorted((a, b) => Number(msOf(b) > msOf(a)) - Number(msOf(b) < msOf(a))),
    ...batches.filter((batch) => batch.isExclusive),
  ];
}
