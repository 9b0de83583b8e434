// One process of a cluster under test, by its pid: started from the command line as an operator would, killed, paused
// and started again on the same settings. The kernel ends it when the test's process ends, however that ends. Its
// output goes to a file.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { waitFor } from '../../kit/wait-for.ts';

/** Of util-linux: sets the signal that the kernel sends when the parent is gone, and becomes the program. */
const WITH_PARENT = 'setpriv';
const STOP_MS_MAX = 300_000;
const PROBE_MS_MAX = 2000;
const METRICS_MS_MAX = 60_000;
const LOG_TAIL = 4000;

export interface ServiceProcessOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Where `/readyz` is; undefined: a process that runs to its end. */
  readonly opsUrl?: string;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class ServiceProcess {
  readonly options: ServiceProcessOptions;
  #child: ChildProcess | undefined;
  #end: Promise<ProcessEnd> = Promise.resolve({ code: null, signal: null });
  #running = false;

  constructor(options: ServiceProcessOptions) {
    this.options = options;
  }

  get name(): string {
    return this.options.name;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** `also`: settings for this run. */
  start(also: Readonly<Record<string, string>> = {}): void {
    if (this.#running) throw new Error(`${this.name} runs already.`);
    const { args, environment, logFile } = this.options;
    const log = openSync(logFile, 'a');
    const child = spawn(WITH_PARENT, ['--pdeathsig', 'KILL', process.execPath, ...args], {
      env: { ...BARE_ENVIRONMENT, ...environment, ...also },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    this.#running = true;
    this.#end = new Promise((resolve, reject) => {
      child.once('error', (error) => {
        this.#running = false;
        reject(error);
      });
      child.once('exit', (code, signal) => {
        this.#running = false;
        resolve({ code, signal });
      });
    });
    this.#end.catch(() => {});
  }

  /** Whether `/readyz` answers 200 now. */
  async isReady(): Promise<boolean> {
    const { opsUrl } = this.options;
    try {
      const response = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
      await response.body?.cancel();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  async waitUntilReady(): Promise<void> {
    await waitFor(
      `${this.name} to be ready`,
      async () => !this.#running || (await this.isReady()),
      undefined,
      () => this.logTail(),
    );
    if (!this.#running) throw new Error(`${this.name} ended before it was ready:\n${this.logTail()}`);
  }

  /** The value of a metric, summed over its labels that match. */
  async readMetric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const response = await fetch(`${this.options.opsUrl}/metrics`, { signal: AbortSignal.timeout(METRICS_MS_MAX) });
    let sum = 0;
    for (const line of (await response.text()).split('\n')) {
      if (line !== name && !line.startsWith(`${name} `) && !line.startsWith(`${name}{`)) continue;
      if (Object.entries(labels).some(([label, value]) => !line.includes(`${label}="${value}"`))) continue;
      sum += Number(line.slice(line.lastIndexOf(' ') + 1));
    }
    return sum;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#running || this.#child?.pid === undefined) throw new Error(`${this.name} does not run.`);
    process.kill(this.#child.pid, signal);
  }

  ended(): Promise<ProcessEnd> {
    return this.#end;
  }

  async kill(): Promise<void> {
    if (!this.#running) return;
    this.signal('SIGKILL');
    await this.#end;
  }

  /** SIGTERM, and a clean end. */
  async stop(): Promise<ProcessEnd> {
    if (!this.#running) return this.#end;
    this.signal('SIGTERM');
    const bound = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_MS_MAX);
    const end = await this.#end;
    clearTimeout(bound);
    if (end.code !== 0)
      throw new Error(`${this.name} did not stop cleanly (${JSON.stringify(end)}):\n${this.logTail()}`);
    return end;
  }

  /** Resident memory. */
  memoryBytes(): number {
    const [, pages = '0'] = readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ');
    return Number(pages) * 4096;
  }

  logTail(): string {
    return readFileSync(this.options.logFile, 'utf8').slice(-LOG_TAIL);
  }
}
