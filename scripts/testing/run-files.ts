// Runs test files and passes their results to a report. The files of a suite that runs together share a few processes,
// any other file has a process of its own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import type { TestEvent } from 'node:test/reporters';
import { type Durations, longestFirst } from './durations.ts';
import type { Report } from './report.ts';
import { SharedProcess } from './shared-results.ts';
import { MEASURES_ITS_PROCESS, ROOT, type SuiteFile } from './suites.ts';

const PROCESSORS = availableParallelism();
/**
 * All at once, so that none is left to run alone: almost half of their time they wait for timers, processes and
 * sockets. Each compiles the program for itself.
 */
const TOGETHER = 2 * PROCESSORS;
/** These wait about half of their time. */
const BESIDE = 2 * PROCESSORS;
/** Not worth another process. */
const FILES_MIN = 10;
const PRELOADED = ['--import', import.meta.resolve('./untracked-promises.ts')];
/** MiB. Many tests in one process make much garbage that dies young. */
const LARGE_YOUNG_GENERATION = ['--max-semi-space-size=64'];
const LOW_PRIORITY = ['--import', import.meta.resolve('./low-priority.ts')];
/** Processes that are shared have many files to run. */
const SHARED_TIMEOUTS = 3;
/** As long as most files take. */
const DURATION_UNKNOWN_MS = 300;

/** Processes that may run at the same time, and how many of them do. */
export interface Group {
  /** The files of each process. */
  readonly processes: readonly (readonly SuiteFile[])[];
  readonly runs: SuiteFile['suite']['runs'];
  readonly concurrency: number;
}

const isShared = ({ suite, path }: SuiteFile): boolean =>
  suite.runs === 'together' && !MEASURES_ITS_PROCESS.includes(path);

/** Distributes files over processes that take about equally long; each process has them in their order. */
function distribute(files: readonly SuiteFile[], durations: Durations): SuiteFile[][] {
  const count = Math.min(TOGETHER, Math.ceil(files.length / FILES_MIN));
  const shares = Array.from({ length: count }, () => ({ files: [] as SuiteFile[], ms: 0 }));
  for (const file of longestFirst(files, durations)) {
    const share = shares.reduce((least, each) => (each.ms < least.ms ? each : least));
    share.files.push(file);
    share.ms += durations.get(file.path) ?? DURATION_UNKNOWN_MS;
  }
  return shares.map((share) => files.filter((file) => share.files.includes(file)));
}

/** First what runs behind the others, and those in their order; each suite that runs alone is a group of its own. */
export function groupsOf(files: readonly SuiteFile[], durations: Durations = new Map()): Group[] {
  const own = files.filter((file) => !isShared(file));
  const isBeside = ({ suite }: SuiteFile): boolean => suite.runs === 'beside' || suite.runs === 'together';
  const oneByOne = Map.groupBy(
    own.filter((file) => !isBeside(file)),
    ({ suite }) => suite,
  );
  const each = (some: readonly SuiteFile[]): SuiteFile[][] => some.map((file) => [file]);
  const groups: Group[] = [
    { runs: 'together', processes: distribute(files.filter(isShared), durations), concurrency: TOGETHER },
    { runs: 'beside', processes: each(longestFirst(own.filter(isBeside), durations)), concurrency: BESIDE },
    ...[...oneByOne].map(([{ runs }, some]) => ({ runs, processes: each(some), concurrency: 1 })),
  ];
  const some = groups.filter(({ processes }) => processes.length > 0);
  return [...some.filter(({ runs }) => runs === 'behind'), ...some.filter(({ runs }) => runs !== 'behind')];
}

/** Resolves when all have ended; the report has the results. */
export async function runFiles(
  files: readonly SuiteFile[],
  durations: Durations,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  const behind: Promise<void>[] = [];
  for (const group of groupsOf(files, durations)) {
    if (signal.aborted) break;
    if (group.runs === 'behind') behind.push(runOwn(group, report, signal));
    else await (group.runs === 'together' ? runShared(group, report, signal) : runOwn(group, report, signal));
  }
  await Promise.all(behind);
}

/** Undefined for what is about the whole run. */
const entryOf = ({ data }: TestEvent): string | undefined => {
  if (data === undefined) return undefined;
  return 'entryFile' in data ? data.entryFile : 'file' in data ? data.file : undefined;
};

const timeoutOf = (files: readonly SuiteFile[]): number => Math.max(...files.map(({ suite }) => suite.timeoutMs));

async function runOwn({ processes, concurrency, runs }: Group, report: Report, signal: AbortSignal): Promise<void> {
  const files = processes.flat();
  const stream = run({
    files: files.map(({ path }) => join(ROOT, path)),
    cwd: ROOT,
    execArgv: runs === 'behind' ? [...PRELOADED, ...LOW_PRIORITY] : PRELOADED,
    concurrency,
    timeout: timeoutOf(files),
    signal,
  });
  for await (const { type, data } of stream) {
    if (type === 'test:start') report.started(data);
    else if (type === 'test:pass') report.passed(data);
    else if (type === 'test:fail') report.testFailed(data);
    else if (type === 'test:diagnostic') report.diagnostic(data.message);
    else if (type === 'test:stdout' || type === 'test:stderr') report.output(data.message);
    else if (type === 'test:summary') report.fileEnded(data);
  }
}

/** Each process starts with a file that was written for it and names its test files. */
async function runShared({ processes, concurrency }: Group, report: Report, signal: AbortSignal): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-tests-'));
  try {
    const program = import.meta.resolve('./shared-process.ts');
    const running = new Map(
      processes.map((files, index) => {
        const entry = join(directory, `process-${index + 1}.mjs`);
        const paths = files.map(({ path }) => path);
        const call = `await runTogether(${JSON.stringify(paths)}, ${timeoutOf(files)});`;
        writeFileSync(entry, `import { runTogether } from '${program}';\n${call}\n`);
        return [entry, new SharedProcess(paths, report)];
      }),
    );
    const stream = run({
      files: [...running.keys()],
      cwd: ROOT,
      execArgv: [...PRELOADED, ...LARGE_YOUNG_GENERATION],
      concurrency,
      timeout: SHARED_TIMEOUTS * timeoutOf(processes.flat()),
      signal,
    });
    for await (const event of stream) running.get(entryOf(event) ?? '')?.take(event);
    for (const each of running.values()) each.end();
  } finally {
    rmSync(directory, { recursive: true });
  }
}
