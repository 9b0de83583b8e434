// The service as its own process, as `grantd dev` starts it: on the embedded store, at the default log level, on free
// loopback ports. It ends every process that it started.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../tools/engines/free-port.ts';
import { readMetric } from './metrics-text.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
/** As `npm start` sets it. */
export const COMPILE_CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'grantd');
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const READY_POLL_MS = 10;
const LAG_POLL_MS = 200;
const LAG_MS_MAX = 120_000;
/**
 * Twice the deadline of a request: a restart reads back the writes of this last time, for their repeats. A later start
 * measures the size of the data and not how recent an import was.
 */
export const LOG_TAIL_MS = 21_000;
/** A limit that every request counts against and none reaches. */
export const PLAN_NAME = 'bench';
export const PLANS = JSON.stringify({ [PLAN_NAME]: { requests: 10_000_000, window_seconds: 1 } });

export const delay = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

export interface Addresses {
  readonly base_url: string;
  readonly ops_url: string;
  readonly console_url: string;
  readonly operator_token: string;
}

export interface GrantdOptions {
  readonly directory: string;
  readonly searchPath: string;
  readonly settings?: Readonly<Record<string, string>>;
  /** Options of `grantd dev`. */
  readonly options?: readonly string[];
  /** A command with arguments that runs the service. */
  readonly under?: readonly string[];
}

export class GrantdProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #log = '';
  readonly directory: string;
  readonly opsUrl: string;
  readonly #startedAtMs = performance.now();
  /** From the start of the process until `/readyz` returns 200. */
  readySeconds = 0;

  static async start(options: GrantdOptions): Promise<GrantdProcess> {
    const service = new GrantdProcess(options, `127.0.0.1:${await freePort()}`);
    await service.#waitUntilReady();
    return service;
  }

  private constructor(
    { directory, searchPath, settings, options = [], under = [] }: GrantdOptions,
    opsAddress: string,
  ) {
    this.directory = directory;
    this.opsUrl = `http://${opsAddress}`;
    const [command = process.execPath, ...args] = [...under, process.execPath, MAIN, 'dev', ...options];
    this.#child = spawn(command, args, {
      env: {
        PATH: searchPath,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        GRANTD_DATA_DIR: directory,
        GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
        GRANTD_OPS_ADDRESS: opsAddress,
        GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
        GRANTD_PLANS: PLANS,
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-4000);
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#hasEnded = true;
        resolve();
      });
    });
  }

  /** Of the service itself, not of the command that runs it. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The end of its log. */
  get logTail(): string {
    return this.#log;
  }

  async #waitUntilReady(): Promise<void> {
    for (;;) {
      if (this.#hasEnded) throw new Error(`grantd ended at its start:\n${this.#log}`);
      const response = await fetch(`${this.opsUrl}/readyz`).catch(() => undefined);
      await response?.body?.cancel();
      if (response?.status === 200) break;
      if (performance.now() - this.#startedAtMs > START_MS_MAX) throw new Error(`grantd is not ready:\n${this.#log}`);
      await delay(READY_POLL_MS);
    }
    this.readySeconds = (performance.now() - this.#startedAtMs) / 1000;
  }

  get addresses(): Addresses {
    return JSON.parse(readFileSync(join(this.directory, 'dev.json'), 'utf8'));
  }

  async readMetrics(): Promise<(name: string) => number> {
    const response = await fetch(`${this.opsUrl}/metrics`);
    const text = await response.text();
    return (name) => readMetric(text, name);
  }

  /** Resolves once every acknowledged write is also in the state tables. */
  async waitForCheckpoint(): Promise<void> {
    const endMs = performance.now() + LAG_MS_MAX;
    while ((await this.readMetrics())('grantd_checkpoint_lag_entries') > 0) {
      if (performance.now() > endMs) throw new Error('The state tables do not catch up with the log.');
      await delay(LAG_POLL_MS);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    const bound = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(bound);
  }
}

export function removeDirectory(directory: string): void {
  if (existsSync(directory)) rmSync(directory, { recursive: true });
}
