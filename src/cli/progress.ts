// The progress of a long command: a bar on a terminal if the end is known, otherwise an occasional line.

import { type Options, SingleBar } from 'cli-progress';
import type { CliContext } from './cli-context.ts';
import { escapeInLine } from './output/plain-text.ts';
import { formatCount } from './output/render.ts';

const LINE_INTERVAL_MS = 5_000;

export interface Progress {
  /** `done`: of the total. `more`: appended to a line. */
  update(done: number, count: number, more?: string): void;
  /** A message for the person, once per reason and interval. */
  note(text: string): void;
  stop(): void;
}

export function formatRate(count: number, elapsedMs: number, unit = 'lines'): string {
  return `${formatCount(count / Math.max(elapsedMs / 1000, 0.001))} ${unit}/s`;
}

function createBar(stderr: CliContext['stderr'], total: number, unit: string): Progress {
  const startedMs = performance.now();
  const options: Options = {
    stream: stderr,
    format: `{bar} {percentage}% | {count} ${unit} | {rate} | {eta_formatted} left{note}`,
    barsize: 30,
    hideCursor: true,
    gracefulExit: false,
    clearOnComplete: true,
  };
  const bar = new SingleBar(options);
  let note = '';
  bar.start(total, 0, { count: 0, rate: '-', note });
  return {
    update(done, count) {
      note = '';
      const rate = formatRate(count, performance.now() - startedMs, unit);
      bar.update(Math.min(done, total), { count: formatCount(count), rate, note });
    },
    note(text) {
      note = ` | ${escapeInLine(text)}`;
      bar.update({ note });
    },
    stop: () => bar.stop(),
  };
}

function createLines(context: CliContext, unit: string): Progress {
  const startedMs = performance.now();
  let shownMs = startedMs;
  let notedMs = Number.NEGATIVE_INFINITY;
  return {
    update(_done, count, more) {
      const nowMs = performance.now();
      if (nowMs - shownMs < LINE_INTERVAL_MS) return;
      shownMs = nowMs;
      const rate = formatRate(count, nowMs - startedMs, unit);
      context.note(`${formatCount(count)} ${unit}, ${rate}${more === undefined ? '' : `, ${more}`}`);
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

/** `total` is undefined if the end is unknown; `unit`: what is counted, in the plural. */
export function createProgress(context: CliContext, total: number | undefined, unit: string): Progress {
  return context.stderr.isTTY && total !== undefined
    ? createBar(context.stderr, total, unit)
    : createLines(context, unit);
}
