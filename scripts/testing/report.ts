// The output of a test run: a line per file, each failure as it happens and again by name at the end, what was skipped
// and why, and the time of each suite. Invariant: no failure is reported as passed.

import { inspect } from 'node:util';
import type { Durations } from './durations.ts';
import type { SuiteFile } from './suites.ts';

const SECOND_MS = 1000;
/** How many of the slowest files are listed at the end. */
const SLOWEST_MAX = 5;
/** Lines that node:test itself writes, once for all files. */
const COUNTER = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

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
  readonly file?: string | undefined;
  readonly success: boolean;
  readonly duration_ms: number;
  readonly counts: { readonly tests: number };
}

interface Sum {
  files: number;
  tests: number;
  failures: number;
  ms: number;
}

const seconds = (ms: number): string => `${(ms / SECOND_MS).toFixed(1)} s`;
const indented = (text: string): string => text.replace(/^/gm, '    ');

export class Report {
  readonly #write: (text: string) => void;
  readonly #root: string;
  readonly #files: ReadonlyMap<string, SuiteFile>;
  readonly #sums = new Map<string, Sum>();
  readonly #failures: string[] = [];
  readonly #skipped = new Map<string, number>();
  readonly #ended: { readonly path: string; readonly ms: number }[] = [];
  /** By file: the suites around the next reported test. */
  readonly #around = new Map<string, string[]>();

  constructor(root: string, files: readonly SuiteFile[], write: (text: string) => void) {
    this.#root = root;
    this.#files = new Map(files.map((file) => [file.path, file]));
    this.#write = write;
  }

  /** A file, a step or a whole run that failed. */
  failed(what: string): void {
    this.#failures.push(what);
    this.#write(`✖ ${what}\n`);
  }

  /** `output`: what the step wrote and nobody has seen. */
  step(name: string, ms: number, isGood: boolean, output = ''): void {
    this.#sum(name).ms += ms;
    this.#write(output);
    if (isGood) this.#write(`✔ ${name} ${seconds(ms)}\n`);
    else {
      this.#sum(name).failures += 1;
      this.failed(name);
    }
  }

  started({ name, nesting, entryFile = '' }: Pick<TestEvent, 'name' | 'nesting' | 'entryFile'>): void {
    const around = this.#around.get(entryFile) ?? [];
    this.#around.set(entryFile, [...around.slice(0, nesting), name]);
  }

  passed(event: TestEvent): void {
    const suite = this.#suiteOf(event.entryFile);
    if (event.skip !== undefined && event.skip !== false) {
      const why = `${this.#pathOf(event.entryFile)}: ${event.skip === true ? event.name : event.skip}`;
      this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + 1);
    } else if (
      suite !== undefined &&
      suite.runs !== 'beside' &&
      suite.runs !== 'together' &&
      event.details.type !== 'suite'
    ) {
      this.#write(`  ✔ ${this.#title(event)} ${seconds(event.details.duration_ms)}\n`);
    }
  }

  testFailed(event: TestEvent): void {
    const { error, type } = event.details;
    // A suite that fails because of its tests: they are reported themselves.
    if (type === 'suite' && error?.failureType === 'subtestsFailed') return;
    const path = this.#pathOf(event.entryFile);
    const line = event.line === undefined ? '' : `:${event.line}`;
    const place = event.file === event.entryFile ? '' : ` (${this.#pathOf(event.file)}${line})`;
    const what = `${path}${place === '' ? line : ''} ${this.#title(event)}${place}`;
    const cause = error?.cause ?? error ?? 'no reason was given';
    this.#sum(this.#suiteOf(event.entryFile)?.name ?? 'other').failures += 1;
    this.#failures.push(what);
    this.#write(`✖ ${what} ${seconds(event.details.duration_ms)}\n${indented(describe(cause))}\n`);
  }

  diagnostic(message: string): void {
    if (!COUNTER.test(message)) this.#write(`  ℹ ${message.replace(/\n/g, '\n    ')}\n`);
  }

  output(message: string): void {
    this.#write(message);
  }

  fileEnded({ file, success, duration_ms: ms, counts }: FileSummary): void {
    if (file === undefined) return;
    const path = this.#pathOf(file);
    const sum = this.#sum(this.#suiteOf(file)?.name ?? 'other');
    sum.files += 1;
    sum.tests += counts.tests;
    sum.ms += ms;
    this.#ended.push({ path, ms });
    this.#write(`${success ? '✔' : '✖'} ${path} (${counts.tests} in ${seconds(ms)})\n`);
    if (!success && !this.#failures.some((failure) => failure.startsWith(path))) this.failed(path);
  }

  /** Of each file that has ended. */
  get durations(): Durations {
    return new Map(this.#ended.map(({ path, ms }) => [path, ms]));
  }

  /** Ends the report. Returns whether everything passed. */
  end(ms: number): boolean {
    const lines = [...this.#sums].map(([name, { files, tests, failures, ms: each }]) => {
      const what = files === 0 ? '' : `${tests} tests in ${files} files`;
      return `${failures === 0 ? '✔' : '✖'} ${name.padEnd(16)} ${seconds(each).padStart(9)}  ${what}`;
    });
    const slowest = this.#ended.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_MAX);
    const parts = [
      ['', 'Time of each suite (files run in parallel, so the sum exceeds the elapsed time):', ...lines],
      slowest.length > 1
        ? ['Slowest:', ...slowest.map((each) => `  ${seconds(each.ms).padStart(9)}  ${each.path}`)]
        : [],
      [...this.#skipped].map(([why, count]) => `NOT TESTED (${count}): ${why}`),
      this.#failures.length === 0 ? [] : ['Failed:', ...this.#failures.map((each) => `  ✖ ${each}`)],
      [`${this.#failures.length === 0 ? '✔ all passed' : `✖ ${this.#failures.length} failed`} in ${seconds(ms)}`],
    ];
    this.#write(`${parts.flat().join('\n')}\n`);
    return this.#failures.length === 0;
  }

  #title({ name, nesting, entryFile = '' }: TestEvent): string {
    return [...(this.#around.get(entryFile) ?? []).slice(0, nesting), name].join(' › ');
  }

  #pathOf(file: string | undefined): string {
    if (file === undefined) return 'the run';
    return file.startsWith(`${this.#root}/`) ? file.slice(this.#root.length + 1) : file;
  }

  #suiteOf(file: string | undefined): SuiteFile['suite'] | undefined {
    return this.#files.get(this.#pathOf(file))?.suite;
  }

  #sum(name: string): Sum {
    const sum = this.#sums.get(name) ?? { files: 0, tests: 0, failures: 0, ms: 0 };
    this.#sums.set(name, sum);
    return sum;
  }
}

const describe = (cause: unknown): string => (typeof cause === 'string' ? cause : inspect(cause, { depth: 8 }));
