// The results of one process that runs many test files: each event is passed on as of the file that it belongs to.
// Invariant: a file counts as passed only if its end was reported; the others failed with their process.

import { join } from 'node:path';
import type { TestEvent as NodeEvent } from 'node:test/reporters';
import type { Report, TestEvent } from './report.ts';
import { LEAVES_NOTHING } from './shared-process.ts';
import { ROOT } from './suites.ts';

export class SharedProcess {
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
