// The summary at the end of an import: how many grants were created, changed or left, which lines were refused, and
// why. The first refused lines are kept for the terminal; all of them go to a file if one was named.

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { CliFailure, reasonOf } from '../failures.ts';
import { formatCount } from '../output/render.ts';
import { formatRate } from '../progress.ts';
import type { ImportOutcome, RefusedLine } from './import-run.ts';

/** The number of refused lines that are printed. */
const SHOWN_MAX = 20;

const OUTSIDE_TYPES =
  'The types of the rules exclude grants of the file, so checks do not see them: a grant that blocks somebody is missing too. If the file is an export, they counted there: to restore it whole, run the same import with --outside-types keep.';

interface ShownLine {
  readonly line: number;
  readonly code: string;
  readonly detail: string;
}

async function openFile(path: string): Promise<WriteStream> {
  const file = createWriteStream(path);
  try {
    await once(file, 'open');
  } catch (cause) {
    throw new CliFailure(
      `Cannot write ${path}: ${cause instanceof Error ? cause.message : String(cause)}.`,
      undefined,
      {
        cause,
      },
    );
  }
  return file;
}

/** One line: number, code, detail and the line itself, separated by tabs. */
function refusedRow({ line, code, detail }: RefusedLine): Buffer {
  return Buffer.concat([Buffer.from(`${line.number}\t${code}\t${detail}\t`), line.bytes, Buffer.from('\n')]);
}

export class ImportReport {
  readonly #shown: ShownLine[] = [];
  readonly #file: WriteStream | undefined;
  #failure: Error | undefined;
  #isOutsideTypes = false;

  private constructor(file: WriteStream | undefined) {
    this.#file = file;
    file?.on('error', (error) => {
      this.#failure = error;
    });
  }

  /** `refusedPath`: the file for all refused lines. It is emptied first. */
  static async open(refusedPath: string | undefined): Promise<ImportReport> {
    return new ImportReport(refusedPath === undefined ? undefined : await openFile(refusedPath));
  }

  /** Keeps those with the smallest line numbers, in whatever order batches complete. */
  async add(refused: RefusedLine): Promise<void> {
    this.#shown.push({ line: refused.line.number, code: refused.code, detail: refused.detail });
    this.#shown.sort((left, right) => left.line - right.line);
    this.#shown.length = Math.min(this.#shown.length, SHOWN_MAX);
    this.#isOutsideTypes ||= refused.code === 'type-not-allowed';
    if (this.#file === undefined) return;
    try {
      if (!this.#file.write(refusedRow(refused))) await once(this.#file, 'drain');
    } catch (error) {
      this.#demandFile(error);
    }
    this.#demandFile(this.#failure);
  }

  async close(): Promise<void> {
    if (this.#file === undefined) return;
    this.#file.end();
    await finished(this.#file).catch((error) => this.#demandFile(error));
  }

  #demandFile(failure: unknown): void {
    if (this.#file === undefined || failure === undefined) return;
    throw new CliFailure(`Cannot write ${this.#file.path}: ${reasonOf(failure)}.`, undefined, { cause: failure });
  }

  /** For people, on standard error: what was refused. Empty if nothing was. */
  renderRefused(outcome: ImportOutcome): string {
    if (this.#shown.length === 0) return '';
    const rows = this.#shown.map(({ line, code, detail }) => `  line ${line}: ${code}: ${detail}`);
    const more = outcome.tally.refused - this.#shown.length;
    if (more > 0) rows.push(`  … and ${formatCount(more)} more`);
    if (this.#isOutsideTypes) rows.push(OUTSIDE_TYPES);
    return `Refused lines:\n${rows.join('\n')}`;
  }

  /** `isDry`: nothing was written. */
  renderSummary(outcome: ImportOutcome, elapsedMs: number, isDry = false): string {
    const { lines, created, changed, unchanged, expired, refused } = outcome.tally;
    if (isDry) {
      return `Dry run of ${formatCount(lines)} lines: ${formatCount(created)} would be imported, ${formatCount(refused)} refused; nothing was written`;
    }
    const counts = Object.entries({ created, changed, unchanged, ...(expired > 0 && { expired }), refused })
      .map(([result, count]) => `${formatCount(count)} ${result}`)
      .join(', ');
    const seconds = (elapsedMs / 1000).toFixed(1);
    return `${formatCount(lines)} lines in ${seconds} s (${formatRate(lines, elapsedMs)}): ${counts}`;
  }

  toJson(outcome: ImportOutcome, elapsedMs: number, isDry = false): object {
    const { lines, created, changed, unchanged, expired, refused } = outcome.tally;
    if (isDry) {
      const counts = { complete: outcome.whole, dry_run: true, lines, fit: created, refused };
      return { ...counts, first_refused: this.#shown };
    }
    return {
      complete: outcome.whole,
      lines,
      created,
      changed,
      unchanged,
      expired,
      refused,
      seconds: Math.round(elapsedMs) / 1000,
      first_refused: this.#shown,
    };
  }
}
