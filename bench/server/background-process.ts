// A program that runs next to the benchmark: its output goes to a file, and the kernel ends it when this process ends,
// however that ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { delay } from './grantd-process.ts';

/** From util-linux: sets the signal that the kernel sends when the parent has ended, and becomes the program. */
const WITH_PARENT = 'setpriv';
const STOP_MS_MAX = 20_000;
const PROBE_MS_MAX = 2000;
const POLL_MS = 100;
const LOG_TAIL = 3000;

export interface BackgroundOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Another user of the machine, for programs that refuse to run as root. */
  readonly user?: string;
  /** The signal for a quick but orderly stop. */
  readonly stopSignal?: NodeJS.Signals;
}

export class BackgroundProcess {
  readonly #options: BackgroundOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #hasEnded = false;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    const { command, environment, logFile, user } = options;
    const log = openSync(logFile, 'a');
    const as = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
    this.#child = spawn(WITH_PARENT, [...as, '--pdeathsig', 'KILL', '--', ...command], {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#hasEnded = true;
        resolve();
      };
      this.#child.once('error', end);
      this.#child.once('exit', end);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects with the end of its output if it ends first, or the time is over. */
  async waitUntil(isReady: () => boolean | Promise<boolean>, boundSeconds: number): Promise<void> {
    const endMs = performance.now() + boundSeconds * 1000;
    while (!(await isReady())) {
      if (this.#hasEnded) throw new Error(`${this.#options.name} ended:\n${this.#logTail()}`);
      if (performance.now() > endMs) throw new Error(`${this.#options.name} is not ready:\n${this.#logTail()}`);
      await delay(POLL_MS);
    }
  }

  /** For a program that finishes by itself. */
  async waitForEnd(): Promise<void> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`${this.#options.name} failed:\n${this.#logTail()}`);
  }

  async stop(signal = this.#options.stopSignal ?? 'SIGTERM'): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.kill(signal);
    const bound = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(bound);
  }

  #logTail(): string {
    return readFileSync(this.#options.logFile, 'utf8').slice(-LOG_TAIL);
  }
}

/** Whether the address returns 200 now. */
export async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
