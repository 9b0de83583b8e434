// Runs test files, each in a process of its own, and passes their results to a report.

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { type Durations, longestFirst } from './durations.ts';
import type { Report } from './report.ts';
import { ROOT, type SuiteFile } from './suites.ts';

/** More than there are processors: most tests sometimes wait for a process or a socket. */
const BESIDE = availableParallelism() + 1;

/** Files that may run at the same time, and how many of them do. */
interface Group {
  readonly files: readonly SuiteFile[];
  readonly concurrency: number;
}

/** First one group with all files that can run at the same time; then each suite that needs the machine to itself. */
export function groupsOf(files: readonly SuiteFile[], durations: Durations = new Map()): Group[] {
  const beside = files.filter(({ suite }) => suite.runs === 'beside');
  const alone = Map.groupBy(
    files.filter(({ suite }) => suite.runs !== 'beside'),
    ({ suite }) => suite,
  );
  const groups = [
    { files: longestFirst(beside, durations), concurrency: BESIDE },
    ...[...alone.values()].map((each) => ({ files: each, concurrency: 1 })),
  ];
  return groups.filter((group) => group.files.length > 0);
}

/** Resolves when all have ended; the report has the results. */
export async function runFiles(
  files: readonly SuiteFile[],
  durations: Durations,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  for (const group of groupsOf(files, durations)) {
    if (!signal.aborted) await runGroup(group, report, signal);
  }
}

async function runGroup({ files, concurrency }: Group, report: Report, signal: AbortSignal): Promise<void> {
  const stream = run({
    files: files.map(({ path }) => join(ROOT, path)),
    cwd: ROOT,
    concurrency,
    timeout: Math.max(...files.map(({ suite }) => suite.timeoutMs)),
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
