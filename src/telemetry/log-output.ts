// The lines of the log on their way to standard error. Invariants: no line ever throws and none blocks the event loop,
// whether the disk is full, the reader is stuck or has left; lines come out whole and in order; those that wait are
// bounded in bytes, and what is dropped beyond that is counted and said once the output works again.

import { constants, fstatSync, openSync, writeSync } from 'node:fs';

/** Some seconds of an error that repeats; a minute or more of an ordinary log. */
export const LOG_BYTES_MAX = 1024 * 1024;
/** Until the next attempt if the reader takes nothing now. */
const FULL_MS = 20;
/** The same if the disk or the device refuses. */
const BROKEN_MS = 500;
/** Written in a millisecond or so. */
const LINES_PER_TURN = 128;
/** How long the end of the process waits for a reader. */
const EXIT_MS_MAX = 500;
const STDERR = 2;

const NEWLINE = 0x0a;

/**
 * A pipe or a terminal is opened once more without blocking, so that other processes that share it keep theirs as it
 * is. A socket cannot be opened again: Node's own stream, which is made here, puts it into that mode.
 */
function openOutput(descriptor: number): number {
  const stats = fstatSync(descriptor);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) {
    if (stats.isSocket() && descriptor === STDERR) process.stderr.on('error', () => {});
    return descriptor;
  }
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    if (descriptor === STDERR) process.stderr.on('error', () => {});
    return descriptor;
  }
}

const isFull = (failure: NodeJS.ErrnoException): boolean => failure.code === 'EAGAIN';

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

interface LogOutputEvents {
  readonly onDropped: (lines: number) => void;
  /** Lines were dropped, and the output works again. */
  readonly onRecovered: (loss: { readonly lines: number; readonly reason: string }) => void;
}

export class LogOutput {
  readonly #descriptor: number;
  readonly #events: LogOutputEvents;
  /** Opened with the first line. */
  #output: number | undefined;
  /** The first may be the rest of a line. */
  #waiting: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Since the output worked last. */
  #lost = 0;
  #failure: NodeJS.ErrnoException | undefined;
  readonly #onExit = (): void => this.end();

  /** `descriptor`: by default standard error. */
  constructor(events: LogOutputEvents, { descriptor = STDERR }: { readonly descriptor?: number } = {}) {
    this.#descriptor = descriptor;
    this.#events = events;
  }

  /** Takes a line with its line end, or several. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#waiting.length > 0) {
      this.#keep(bytes);
      return;
    }
    const rest = this.#attempt(bytes);
    if (rest !== undefined) this.#keep(rest);
  }

  /** Writes what waits, for a bounded time: the process ends. */
  end(): void {
    const untilMs = performance.now() + EXIT_MS_MAX;
    process.off('exit', this.#onExit);
    clearTimeout(this.#timer);
    while (this.#drain(Number.POSITIVE_INFINITY) === 'failed') {
      // A disk that is full stays so.
      if (this.#failure === undefined || !isFull(this.#failure) || performance.now() > untilMs) return;
      sleep(FULL_MS);
    }
  }

  #open(): number {
    if (this.#output === undefined) {
      this.#output = openOutput(this.#descriptor);
      process.on('exit', this.#onExit);
    }
    return this.#output;
  }

  /** What could not be written; undefined: all is. */
  #attempt(bytes: Buffer): Buffer | undefined {
    let from = 0;
    try {
      const output = this.#open();
      while (from < bytes.length) from += writeSync(output, bytes, from);
      return undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      return bytes.subarray(from);
    }
  }

  #keep(bytes: Buffer): void {
    if (this.#waiting.length > 0 && this.#bytes + bytes.length > LOG_BYTES_MAX) {
      const lines = bytes.filter((byte) => byte === NEWLINE).length;
      this.#lost += lines;
      this.#events.onDropped(lines);
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#schedule();
  }

  #schedule(delayMs = this.#retryMs()): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const outcome = this.#drain(LINES_PER_TURN);
      if (outcome !== 'empty') this.#schedule(outcome === 'more' ? 0 : this.#retryMs());
    }, delayMs);
    // A process that has nothing else to do ends.
    this.#timer.unref();
  }

  #retryMs(): number {
    return this.#failure !== undefined && isFull(this.#failure) ? FULL_MS : BROKEN_MS;
  }

  /** Writes up to so many lines of those that wait. */
  #drain(linesMax: number): 'empty' | 'more' | 'failed' {
    for (let written = 0; this.#waiting.length > 0; written += 1) {
      if (written === linesMax) return 'more';
      const [bytes = Buffer.alloc(0)] = this.#waiting;
      const rest = this.#attempt(bytes);
      this.#bytes -= bytes.length - (rest?.length ?? 0);
      if (rest !== undefined) {
        this.#waiting[0] = rest;
        return 'failed';
      }
      this.#waiting.shift();
    }
    const lines = this.#lost;
    this.#lost = 0;
    if (lines > 0) this.#events.onRecovered({ lines, reason: this.#failure?.message ?? '' });
    return 'empty';
  }
}
