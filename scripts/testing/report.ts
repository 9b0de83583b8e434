// The output of a test run: a line per file, each failure as it happens and again by name at the end, the skipped tests
// with their reasons, and the time of each suite. The output of a test file goes to a log of its own. Invariant: no
// failure is reported as passed.

import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Duration, Durations } from './batches.ts';
import type { SuiteFile } from './suites.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** How many of the slowest files are listed at the end. */
const SLOWEST_MAX = 5;
/** Lines of the reason of a failure; the rest is in the log. */
const LINES_MAX = 25;
/** Lines that node:test itself writes, once for each process. */
const COUNTER = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;
/** The message of a test that could not judge because the machine was busy. It is run once more at the end. */
const INCONCLUSIVE = 'inconclusive: ';
/** Processors that other programs may keep busy on an idle machine. */
const OTHERS_BUSY_MAX = 0.5;

export interface TestEvent {
  readonly name: string;
  readonly nesting: number;
  /** Where the test is written: the test file or a file of support. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** The test file. */
  readonly entryFile?: string | undefined;
  readonly skip?: string | boolean | undefined;
  readonly details: {
    readonly duration_ms: number;
    readonly type?: string | undefined;
    readonly error?: Error & { readonly failureType?: string };
  };
}

export interface FileSummary {
  readonly path: string;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly counts: { readonly tests: number };
}

interface Sum {
  files: number;
  tests: number;
  failures: number;
  ms: number;
  cpuMs: number;
}

const seconds = (ms: number): string => `${(ms / SECOND_MS).toFixed(1)} s`;
function minutes(ms: number): string {
  const whole = Math.round(ms / SECOND_MS);
  return ms < MINUTE_MS ? seconds(ms) : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
const indented = (text: string): string => text.replace(/^(?=.)/gm, '    ');
const firstLine = ({ message }: Error): string => message.split('\n', 1)[0] ?? '';
const describe = (cause: unknown): string => (typeof cause === 'string' ? cause : inspect(cause, { depth: 8 }));

export interface ReportOptions {
  /** The folder of the project: paths are shown from here. */
  readonly root: string;
  readonly files: readonly SuiteFile[];
  /** Emptied at the start of each run. */
  readonly logDirectory: string;
  readonly write: (text: string) => void;
}

export class Report {
  readonly #options: ReportOptions;
  readonly #files: ReadonlyMap<string, SuiteFile>;
  readonly #sums = new Map<string, Sum>();
  /** `why`: the first line of the reason; empty: the name says it all. */
  readonly #failures: { readonly what: string; readonly why: string }[] = [];
  readonly #skipped = new Map<string, number>();
  readonly #durations = new Map<string, Duration>();
  /** By file: the suites around the next reported test. */
  readonly #around = new Map<string, string[]>();
  readonly #inconclusive = new Map<string, string[]>();
  /** Tests that could not judge the second time either, because other programs kept the machine busy. */
  readonly #undecided = new Set<string>();
  #isRepeating = false;
  #othersBusy = 0;
  #passed = 0;

  constructor(options: ReportOptions) {
    this.#options = options;
    this.#files = new Map(options.files.map((file) => [file.path, file]));
    rmSync(options.logDirectory, { recursive: true, force: true });
    mkdirSync(options.logDirectory, { recursive: true });
  }

  /** A file, a step or a whole run that failed. */
  failed(what: string): void {
    this.#failures.push({ what, why: '' });
    this.#options.write(`✖ ${what}\n`);
  }

  /** A line of a long-running step. */
  readonly progress = (line: string): void => this.#options.write(`  ${line}\n`);

  /** `output`: lines that are shown if it failed. */
  step(name: string, { ms, isGood, output }: { ms: number; isGood: boolean; output: readonly string[] }): void {
    this.#sum(name).ms += ms;
    if (isGood) this.#options.write(`✔ ${name} ${seconds(ms)}\n`);
    else {
      for (const line of output) this.#options.write(`${line}\n`);
      this.#sum(name).failures += 1;
      this.failed(name);
    }
  }

  started({ name, nesting, entryFile = '' }: Pick<TestEvent, 'name' | 'nesting' | 'entryFile'>): void {
    const around = this.#around.get(entryFile) ?? [];
    this.#around.set(entryFile, [...around.slice(0, nesting), name]);
  }

  passed(event: TestEvent): void {
    const path = this.#pathOf(event.entryFile);
    if (event.skip !== undefined && event.skip !== false) {
      this.#skip(`${path}: ${event.skip === true ? event.name : event.skip}`);
    } else if (event.details.type !== 'suite') {
      this.#passed += 1;
      this.#log(path, `✔ ${this.#titles(event).join(' › ')} ${seconds(event.details.duration_ms)}\n`);
    }
  }

  testFailed(given: TestEvent): void {
    // A file that cannot be loaded, or whose process fails, is itself a test.
    const isFile = given.entryFile === undefined && given.name === given.file;
    const event = isFile ? { ...given, name: 'the file as a whole', entryFile: given.file, line: undefined } : given;
    const { error, type, duration_ms: ms } = event.details;
    // A suite that fails because of its tests: they are reported themselves.
    if (type === 'suite' && error?.failureType === 'subtestsFailed') return;
    const path = this.#pathOf(event.entryFile);
    const line = event.line === undefined ? '' : `:${event.line}`;
    const place = event.file === event.entryFile ? '' : ` (${this.#pathOf(event.file)}${line})`;
    const titles = this.#titles(event);
    const what = `${path}${place === '' ? line : ''} ${titles.join(' › ')}${place}`;
    const cause = error?.cause ?? error ?? 'no reason was given';
    const text = describe(cause);
    this.#log(path, `✖ ${what} ${seconds(ms)}\n${indented(text)}\n`);
    const why = cause instanceof Error && cause.message.startsWith(INCONCLUSIVE) ? firstLine(cause) : undefined;
    if (why !== undefined && !this.#isRepeating) {
      this.#inconclusive.set(path, [...(this.#inconclusive.get(path) ?? []), titles.join(' ')]);
      this.#options.write(`? ${what} ${seconds(ms)}\n    ${why}; it runs again at the end\n`);
      return;
    }
    if (why !== undefined && this.#othersBusy > OTHERS_BUSY_MAX) {
      this.#undecided.add(path);
      const busy = `not judged: other programs kept ${this.#othersBusy.toFixed(1)} processors busy`;
      this.#options.write(`? ${what} ${seconds(ms)}\n    ${why}; ${busy}\n`);
      this.#skip(`${path}: ${busy}`);
      return;
    }
    this.#sum(this.#suiteOf(path)).failures += 1;
    this.#failures.push({ what, why: cause instanceof Error ? firstLine(cause) : '' });
    const lines = text.split('\n');
    const shown = lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX), '…'] : lines;
    this.#options.write(`✖ ${what} ${seconds(ms)}\n${indented(shown.join('\n'))}\n    log: ${this.#logFile(path)}\n`);
  }

  diagnostic(path: string, message: string): void {
    if (!COUNTER.test(message)) this.#log(path, `ℹ ${message}\n`);
  }

  /** The output of a test. */
  output(path: string, message: string): void {
    this.#log(path, message);
  }

  fileEnded({ path, success, duration_ms: ms, counts }: FileSummary): void {
    const sum = this.#sum(this.#suiteOf(path));
    if (!this.#isRepeating) {
      sum.files += 1;
      sum.tests += counts.tests;
      this.#durations.set(path, { cpuMs: 0, ...this.#durations.get(path), ms });
    }
    sum.ms += ms;
    const isUndecided = this.#isRepeating ? this.#undecided.has(path) : this.#inconclusive.has(path);
    const hasFailed = this.#failures.some(({ what }) => what.startsWith(path));
    const mark = success ? '✔' : isUndecided && !hasFailed ? '?' : '✖';
    this.#options.write(`${mark} ${path} (${counts.tests} in ${seconds(ms)})\n`);
    if (!success && !hasFailed && !isUndecided) this.failed(`${path} (log: ${this.#logFile(path)})`);
  }

  /** Processor time that a file took. */
  used(path: string, cpuMs: number): void {
    this.#sum(this.#suiteOf(path)).cpuMs += cpuMs;
    if (!this.#isRepeating) this.#durations.set(path, { ms: cpuMs, ...this.#durations.get(path), cpuMs });
  }

  /** Processor time that several files took together. */
  engineUsed(name: string, cpuMs: number): void {
    this.#sum(name).cpuMs += cpuMs;
  }

  /** The duration of each file that has ended. */
  get durations(): Durations {
    return this.#durations;
  }

  get hasInconclusive(): boolean {
    return this.#inconclusive.size > 0;
  }

  /**
   * The tests that could not judge, by file, each with the names of its suites and its own joined by spaces. From now
   * on such a test fails, unless it is not our own work that keeps the machine busy. `othersBusy`: processors.
   */
  takeInconclusive(othersBusy: number): ReadonlyMap<string, readonly string[]> {
    this.#isRepeating = true;
    this.#othersBusy = othersBusy;
    return this.#inconclusive;
  }

  /** Ends the report. Returns whether everything passed. */
  end({ ms, cpuMs }: Duration): boolean {
    const { write } = this.#options;
    const isGood = this.#failures.length === 0;
    const lines = [...this.#sums].map(([name, sum]) => {
      const what = sum.files === 0 ? '' : `${sum.tests} tests in ${sum.files} files`;
      const took = `${seconds(sum.ms).padStart(9)} ${seconds(sum.cpuMs).padStart(9)}`;
      return `${sum.failures === 0 ? '✔' : '✖'} ${name.padEnd(16)} ${took}  ${what}`;
    });
    const slowest = [...this.#durations].toSorted(([, a], [, b]) => b.ms - a.ms).slice(0, SLOWEST_MAX);
    const skipped = [...this.#skipped].map(([why, count]) => `NOT TESTED (${count}): ${why}`);
    const parts = [
      ['', 'Time and processor time of each suite (files run side by side, so the sums exceed the whole):', ...lines],
      slowest.length > 1
        ? ['Slowest:', ...slowest.map(([path, each]) => `  ${seconds(each.ms).padStart(9)}  ${path}`)]
        : [],
      skipped,
      isGood
        ? []
        : ['Failed:', ...this.#failures.map(({ what, why }) => `  ✖ ${what}${why === '' ? '' : `\n      ${why}`}`)],
      [
        `${isGood ? '✔ all passed' : `✖ ${this.#failures.length} failed`} in ${minutes(ms)}, with ${minutes(cpuMs)} of processor time`,
      ],
      [
        `${this.#passed} passed, ${this.#failures.length} failed, ${[...this.#skipped.values()].reduce((a, b) => a + b, 0)} skipped`,
      ],
    ];
    write(`${parts.flat().join('\n')}\n`);
    return isGood;
  }

  #skip(why: string): void {
    this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + 1);
  }

  #titles({ name, nesting, entryFile = '' }: TestEvent): string[] {
    return [...(this.#around.get(entryFile) ?? []).slice(0, nesting), name];
  }

  #pathOf(file: string | undefined): string {
    if (file === undefined) return 'the run';
    const { root } = this.#options;
    return file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
  }

  #suiteOf(path: string): string {
    return this.#files.get(path)?.suite.name ?? 'other';
  }

  #logFile(path: string): string {
    return join(this.#options.logDirectory, `${path.replaceAll('/', '-')}.log`);
  }

  #log(path: string, text: string): void {
    appendFileSync(this.#logFile(path), text);
  }

  #sum(name: string): Sum {
    const sum = this.#sums.get(name) ?? { files: 0, tests: 0, failures: 0, ms: 0, cpuMs: 0 };
    this.#sums.set(name, sum);
    return sum;
  }
}
