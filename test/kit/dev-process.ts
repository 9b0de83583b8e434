// One `grantd dev` as a process of its own, as a person would start it: from the command line, on free ports, in a data
// directory of its own. What it started it also ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { waitFor } from './wait-for.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const MAIN = join(ROOT, 'src', 'main.ts');
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;

/** The settings that keep a test off everything that is not its own. */
export function testEnvironment(directory: string): Record<string, string> {
  return {
    ...BARE_ENVIRONMENT,
    GRANTD_DATA_DIR: directory,
    GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
    GRANTD_OPS_ADDRESS: '127.0.0.1:0',
    GRANTD_CONSOLE_ADDRESS: '127.0.0.1:0',
  };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class DevProcess {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  #ended: Ended | undefined;
  readonly ended: Promise<Ended>;

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    command: readonly [string, ...string[]] = [process.execPath, MAIN],
    stdin: 'ignore' | 'pipe' = 'ignore',
  ) {
    const [program, ...before] = command;
    this.child = spawn(program, [...before, ...args], {
      cwd: ROOT,
      env: environment,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => {
        this.#ended = { code, signal, stdout: this.stdout, stderr: this.stderr };
        resolve(this.#ended);
      });
    });
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Resolves once the banner is out whole. */
  async ready(): Promise<void> {
    const isReady = (): boolean => /is ready\n[\s\S]*\n\n$/.test(this.stdout);
    await waitFor('the banner', () => isReady() || this.hasEnded, START_MS_MAX);
    if (!isReady()) throw new Error(`grantd ended before it was ready:\n${this.stderr}`);
  }

  /** Ends with a signal, once: by default a clean stop. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal);
    const bound = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS_MAX);
    const ended = await this.ended;
    clearTimeout(bound);
    return ended;
  }
}

export interface DevFacts {
  readonly base_url: string;
  readonly ops_url: string;
  readonly console_url: string;
  readonly operator_token: string;
  readonly tenant_id: string;
  readonly key: string;
}

export function readDevFacts(directory: string): DevFacts {
  return JSON.parse(readFileSync(join(directory, 'dev.json'), 'utf8'));
}

export interface DevOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface UsedDev {
  /** It goes with the service, whose data directory is in it. */
  readonly directory: string;
  readonly data: string;
  /** Once it serves. */
  process: DevProcess;
}

/**
 * `grantd dev` for the tests around, which may stop it and put another one in its place. At the root of a file, another
 * `before` does not wait for it.
 */
export function useDev(name = 'data', options: DevOptions = {}): UsedDev {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-'));
  const data = join(directory, name);
  let running: DevProcess | undefined;
  before(async () => {
    running = await startDev(data, options);
  });
  after(async () => {
    await running?.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    directory,
    data,
    get process() {
      if (running === undefined) throw new Error('It does not serve yet.');
      return running;
    },
    set process(next) {
      running = next;
    },
  };
}

/** Starts `grantd dev` and resolves when it serves. */
export async function startDev(directory: string, options: DevOptions = {}): Promise<DevProcess> {
  const process_ = new DevProcess(['dev', ...(options.args ?? [])], {
    ...testEnvironment(directory),
    ...options.environment,
  });
  try {
    await process_.ready();
  } catch (error) {
    process_.child.kill('SIGKILL');
    throw error;
  }
  return process_;
}
