// Shows the running jobs on the last line of a terminal, below the output. Without a terminal there is no such line.

import { clearLine, cursorTo } from 'node:readline';
import type { WriteStream } from 'node:tty';

const INTERVAL_MS = 1000;
const SECOND_MS = 1000;

export class StatusLine {
  readonly #stream: WriteStream;
  /** By name: when it started. */
  readonly #running = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: WriteStream) {
    this.#stream = stream;
    if (stream.isTTY) this.#timer = setInterval(() => this.write(''), INTERVAL_MS);
  }

  /** Whole lines. */
  write(text: string): void {
    if (!this.#stream.isTTY) {
      this.#stream.write(text);
      return;
    }
    cursorTo(this.#stream, 0);
    clearLine(this.#stream, 0);
    const running = [...this.#running].map(
      ([name, startMs]) => `${name} ${Math.round((performance.now() - startMs) / SECOND_MS)} s`,
    );
    const line = this.#timer === undefined || running.length === 0 ? '' : `… ${running.join(', ')}`;
    this.#stream.write(`${text}${line.slice(0, this.#stream.columns - 1)}`);
  }

  async during<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    this.#running.set(name, performance.now());
    try {
      return await run();
    } finally {
      this.#running.delete(name);
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.write('');
  }
}
