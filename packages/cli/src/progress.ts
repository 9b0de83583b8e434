// The progress of a long command: a bar on a terminal if the end is known, otherwise an occasional line.

import type { CliContext } from './cli-context.ts';
import { escapeInLine } from './output/plain-text.ts';
import { formatCount } from './output/render.ts';

const LINE_INTERVAL_MS = 5_000;
const REDRAW_INTERVAL_MS = 100;
const BAR_WIDTH = 30;

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

function formatLeft(seconds: number): string {
  if (!Number.isFinite(seconds)) return '-';
  const [minutes, rest] = [Math.floor(seconds / 60), Math.ceil(seconds % 60)];
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}

/** Redrawn at most ten times a second, and cut at the width of the terminal: a line of two could not be drawn over. */
function createBar(stderr: CliContext['stderr'], total: number, unit: string): Progress {
  const startedMs = performance.now();
  let drawnMs = Number.NEGATIVE_INFINITY;
  let [done, count, note] = [0, 0, ''];
  const draw = (): void => {
    const nowMs = performance.now();
    if (nowMs - drawnMs < REDRAW_INTERVAL_MS) return;
    drawnMs = nowMs;
    const [share, elapsedMs] = [total === 0 ? 1 : done / total, nowMs - startedMs];
    const bar = '█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░');
    const left = formatLeft(((1 / share - 1) * elapsedMs) / 1000);
    const line = `${bar} ${Math.floor(share * 100)}% | ${formatCount(count)} ${unit} | ${formatRate(count, elapsedMs, unit)} | ${left} left${note}`;
    stderr.write(`\r\x1b[?25l${line.slice(0, (stderr.columns ?? 80) - 1)}\x1b[K`);
  };
  draw();
  return {
    update(nowDone, nowCount) {
      [done, count, note] = [Math.min(nowDone, total), nowCount, ''];
      draw();
    },
    note(text) {
      note = ` | ${escapeInLine(text)}`;
      draw();
    },
    stop: () => stderr.write('\r\x1b[K\x1b[?25h'),
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
