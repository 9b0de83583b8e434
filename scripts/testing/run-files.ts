// Runs one batch of test files in a process, and passes its results to the report. Invariant: a file counts as passed
// only if its end was reported; the others fail with their process.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import type { TestEvent as NodeEvent } from 'node:test/reporters';
import type { Batch } from './batches.ts';
import type { FileSummary, Report, TestEvent } from './report.ts';
import { LEAVES_NOTHING } from './shared-process.ts';
import { ROOT, type SuiteFile, timeoutOf } from './suites.ts';

const PRELOADED = [import.meta.resolve('./untracked-promises.ts'), import.meta.resolve('./usage.ts')].flatMap((url) => [
  '--import',
  url,
]);
/** MiB. Many tests in one process make much garbage that dies young. */
const LARGE_YOUNG_GENERATION = ['--max-semi-space-size=64'];

/** Where processes record their first file and their processor time. */
export class Workplace {
  readonly directory = mkdtempSync(join(tmpdir(), 'grantd-tests-'));
  readonly usageFile = join(this.directory, 'usage.jsonl');

  constructor() {
    writeFileSync(this.usageFile, '');
    process.env.TEST_USAGE = `${process.pid}:${this.usageFile}`;
  }

  /** Processor time of a process that has ended, by the file it started with; 0: it was killed. */
  cpuMsOf(entry: string): number {
    const lines = readFileSync(this.usageFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line)).findLast((each) => each.entry === entry)?.cpuMs ?? 0;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface RunOptions {
  readonly report: Report;
  readonly workplace: Workplace;
  readonly signal: AbortSignal;
}

/** `only`: the tests to run, by the names of their suites and their own, joined by spaces. Default: all. */
export async function runOwn(
  { path, suite }: SuiteFile,
  { report, workplace, signal }: RunOptions,
  only?: readonly string[],
): Promise<void> {
  const entry = join(ROOT, path);
  const stream = run({
    files: [entry],
    cwd: ROOT,
    execArgv: PRELOADED,
    timeout: timeoutOf(suite),
    signal,
    ...(only === undefined ? {} : { testNamePatterns: only.map((name) => new RegExp(`^${RegExp.escape(name)}$`)) }),
  });
  let summary: Pick<FileSummary, 'success' | 'duration_ms' | 'counts'> | undefined;
  for await (const { type, data } of stream) {
    if (type === 'test:start') report.started(data);
    else if (type === 'test:pass') report.passed(data);
    else if (type === 'test:fail') report.testFailed(data);
    else if (type === 'test:diagnostic') report.diagnostic(path, data.message);
    else if (type === 'test:stdout' || type === 'test:stderr') report.output(path, data.message);
    else if (type === 'test:summary') summary = data;
  }
  if (summary === undefined) return;
  report.used(path, workplace.cpuMsOf(entry));
  report.fileEnded({ ...summary, path });
}

/** The results of one process that runs many files: each event belongs to the file that runs. */
class SharedProcess {
  readonly #report: Report;
  readonly #left: Set<string>;
  readonly #durations: { readonly path: string; readonly ms: number }[] = [];
  #current = '';
  #tests = 0;
  #ms = 0;
  #success = false;
  /** Whether a failure of the process itself has a file to blame. */
  #blamed = false;

  constructor(paths: readonly string[], report: Report) {
    this.#left = new Set(paths);
    this.#report = report;
  }

  take({ type, data }: NodeEvent): void {
    if (type === 'test:start') this.#started(data);
    else if (type === 'test:pass' || type === 'test:fail') this.#ended(type === 'test:pass', data);
    else if (type === 'test:diagnostic') this.#report.diagnostic(this.#current, data.message);
    else if (type === 'test:stdout' || type === 'test:stderr') this.#report.output(this.#current, data.message);
    else if (type === 'test:summary' && !data.success && !this.#blamed)
      this.#report.failed(`a process of many files, the last one ${this.#current}`);
  }

  /** The process has ended. Its processor time is attributed to its files by how long each took. */
  end(cpuMs: number): void {
    const totalMs = this.#durations.reduce((sum, { ms }) => sum + ms, 0);
    for (const { path, ms } of this.#durations) this.#report.used(path, (cpuMs * ms) / totalMs);
    for (const path of this.#left) {
      const last = this.#current === '' || path === this.#current ? '' : `; it last reported ${this.#current}`;
      this.#report.failed(`${path} did not end before its process${last}`);
    }
  }

  #started({ nesting, name }: { readonly nesting: number; readonly name: string }): void {
    if (nesting > 0) this.#report.started({ nesting: nesting - 1, name, entryFile: this.#file });
    else if (this.#left.has(name)) {
      this.#current = name;
      this.#success = false;
      this.#tests = 0;
    }
  }

  #ended(passed: boolean, event: TestEvent): void {
    const { nesting, name, details } = event;
    if (!passed) this.#blamed = true;
    if (nesting === 0 && name === this.#current) {
      this.#success = passed;
      this.#ms = details.duration_ms;
    }
    if (nesting > 0) {
      if (details.type !== 'suite') this.#tests += 1;
      const own = { ...event, nesting: nesting - 1, entryFile: this.#file };
      if (passed) this.#report.passed(own);
      else this.#report.testFailed(own);
    } else if (!passed) {
      const what = name === this.#current ? 'the file as a whole' : name;
      this.#report.testFailed({ ...event, name: what, file: this.#file, line: undefined, entryFile: this.#file });
    }
    if (nesting === 0 && name === LEAVES_NOTHING) this.#fileEnded(passed && this.#success);
  }

  #fileEnded(success: boolean): void {
    this.#left.delete(this.#current);
    this.#durations.push({ path: this.#current, ms: this.#ms });
    this.#report.fileEnded({ path: this.#current, success, duration_ms: this.#ms, counts: { tests: this.#tests } });
  }

  get #file(): string {
    return join(ROOT, this.#current);
  }
}

/** The process starts with a file that is written for it and names its test files. */
async function runShared(files: readonly SuiteFile[], { report, workplace, signal }: RunOptions): Promise<void> {
  const paths = files.map(({ path }) => path);
  const timeout = Math.max(...files.map(({ suite }) => timeoutOf(suite)));
  const entry = join(workplace.directory, `${paths[0]?.replaceAll('/', '-')}.mjs`);
  const call = `await runTogether(${JSON.stringify(paths)}, ${timeout});`;
  writeFileSync(entry, `import { runTogether } from '${import.meta.resolve('./shared-process.ts')}';\n${call}\n`);
  const running = new SharedProcess(paths, report);
  const execArgv = [...PRELOADED, ...LARGE_YOUNG_GENERATION];
  const stream = run({ files: [entry], cwd: ROOT, execArgv, timeout: 2 * timeout, signal });
  for await (const event of stream) running.take(event);
  running.end(workplace.cpuMsOf(entry));
}

export const runBatch = ({ files, isShared }: Batch, options: RunOptions): Promise<void> => {
  const [first] = files;
  return isShared || first === undefined ? runShared(files, options) : runOwn(first, options);
};
