// The progress of an import: a bar on a terminal if the length is known, otherwise an occasional line.

import { type Options, SingleBar } from 'cli-progress';
import type { CliContext } from '../cli-context.ts';
import { formatCount } from '../output/render.ts';
import type { ImportTally } from './import-run.ts';

const LINE_INTERVAL_MS = 5_000;

interface ImportProgress {
  update(tally: Readonly<ImportTally>): void;
  /** A message for the person, once per reason and interval. */
  note(text: string): void;
  stop(): void;
}

export function formatRate(count: number, elapsedMs: number): string {
  return `${formatCount(count / Math.max(elapsedMs / 1000, 0.001))} lines/s`;
}

function createBar(stderr: CliContext['stderr'], bytesTotal: number): ImportProgress {
  const startedMs = performance.now();
  const options: Options = {
    stream: stderr,
    format: '{bar} {percentage}% | {lines} lines | {rate} | {eta_formatted} left{note}',
    barsize: 30,
    hideCursor: true,
    gracefulExit: false,
    clearOnComplete: true,
  };
  const bar = new SingleBar(options);
  let note = '';
  bar.start(bytesTotal, 0, { lines: 0, rate: '-', note });
  return {
    update(tally) {
      note = '';
      const rate = formatRate(tally.lines, performance.now() - startedMs);
      bar.update(Math.min(tally.bytesRead, bytesTotal), { lines: formatCount(tally.lines), rate, note });
    },
    note(text) {
      note = ` | ${text}`;
      bar.update({ note });
    },
    stop: () => bar.stop(),
  };
}

function createLines(context: CliContext): ImportProgress {
  const startedMs = performance.now();
  let shownMs = startedMs;
  let notedMs = Number.NEGATIVE_INFINITY;
  return {
    update(tally) {
      const nowMs = performance.now();
      if (nowMs - shownMs < LINE_INTERVAL_MS) return;
      shownMs = nowMs;
      const rate = formatRate(tally.lines, nowMs - startedMs);
      context.note(`${formatCount(tally.lines)} lines, ${rate}, ${formatCount(tally.refused)} refused`);
    },
    note(text) {
      const nowMs = performance.now();
      if (nowMs - notedMs < LINE_INTERVAL_MS) return;
      notedMs = nowMs;
      context.note(text);
    },
    stop() {},
  };
}

/** `bytesTotal` is undefined if the length is unknown. */
export function createImportProgress(context: CliContext, bytesTotal: number | undefined): ImportProgress {
  return context.stderr.isTTY && bytesTotal !== undefined
    ? createBar(context.stderr, bytesTotal)
    : createLines(context);
}
