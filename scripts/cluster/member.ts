// One process of the cluster on this machine: started with a pid that may be killed, started again, and ended. The
// kernel ends it if this process ends, however that ends. Its output goes to a file.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
/** Part of util-linux: sets the signal that the kernel sends when the parent has ended, and becomes the program. */
const WITH_PARENT = 'setpriv';
const STOP_MS_MAX = 10_000;
const PROBE_MS_MAX = 2000;
const LOG_TAIL = 2000;

export interface MemberOptions {
  /** Such as `shard-1`: the role before the dash. */
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly directory: string;
  /** Where `/readyz` is; undefined: it runs to its end. */
  readonly opsUrl?: string;
  /** Called when it ends without a call of `stop`. */
  readonly onEnd: (member: Member, how: string) => void;
}

export class Member {
  readonly #options: MemberOptions;
  readonly #logFile: string;
  #child: ChildProcess | undefined;
  #ended: Promise<number | null> = Promise.resolve(null);
  #isRunning = false;
  #isStopping = false;

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#logFile = join(options.directory, `${options.name}.log`);
  }

  get name(): string {
    return this.#options.name;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  start(): void {
    const { name, settings, onEnd } = this.#options;
    const [role = ''] = name.split('-');
    const log = openSync(this.#logFile, 'a', 0o600);
    const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env;
    const child = spawn(WITH_PARENT, ['--pdeathsig', 'KILL', '--', process.execPath, MAIN, role], {
      env: { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...settings },
      stdio: ['ignore', log, log],
      // In a session of its own: an interrupt at the terminal goes to the command alone, which ends all in order.
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    this.#isRunning = true;
    this.#ended = new Promise((resolve) => {
      child.once('error', () => {
        this.#isRunning = false;
        resolve(null);
      });
      child.once('exit', (code, signal) => {
        this.#isRunning = false;
        if (!this.#isStopping) onEnd(this, signal ?? `status ${code}`);
        resolve(code);
      });
    });
  }

  /** Its exit status; null after a signal, or if it never started. */
  waitForEnd(): Promise<number | null> {
    return this.#ended;
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.#options.opsUrl}/readyz`, { signal: AbortSignal.timeout(PROBE_MS_MAX) });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isStopping = true;
    if (!this.#isRunning) return;
    this.#child?.kill(signal);
    const bound = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_MS_MAX);
    await this.#ended;
    clearTimeout(bound);
  }

  logTail(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL);
  }
}
