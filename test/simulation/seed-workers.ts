// Worker processes that run chunks of seeds, each one chunk at a time. They live until they are ended, since the first
// seeds of a process take several times as long as the others: the code is compiled while it runs.

import { type ChildProcess, fork } from 'node:child_process';
import { finished } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Reached } from './probes.ts';
import type { Focus } from './profile.ts';
import type { RunResult } from './simulation-run.ts';

const WORKER = fileURLToPath(new URL('./seed-worker.ts', import.meta.url));
/**
 * A run is short-lived objects and errors that are handled: room for the former, and no stacks for the latter, save a
 * sixth of the time. The replay of a seed has its stacks.
 */
const WORKER_OPTIONS = ['--max-semi-space-size=64', '--stack-trace-limit=0'];
/** Of what a worker wrote before it failed. */
const COMPLAINT_MAX = 10_000;

/** Of a worker: the code as it is, with probes, or with mutations that are switched on and off. */
export type WorkerCode = 'plain' | 'switches';

export interface Chunk {
  readonly from: number;
  readonly count: number;
  readonly focus: Focus;
  /** The one that is on, in a worker with switches. */
  readonly mutation?: string | undefined;
  /** Ends the chunk with the first failure, and the run in which it is. */
  readonly stopAtFailure?: boolean;
}

export interface MeasuredResult extends RunResult {
  /** In a worker with the code as it is. */
  readonly reached: Reached;
}

/** Each result, and after the last one of a chunk `undefined`. */
export type WorkerMessage = { readonly result: MeasuredResult } | { readonly result: undefined };

export class SeedWorkers {
  readonly #code: WorkerCode;
  readonly #idle: Worker[] = [];
  readonly #waiting: ((worker: Worker) => void)[] = [];
  readonly #workers: Worker[] = [];
  readonly #countMax: number;

  constructor(countMax: number, code: WorkerCode = 'plain') {
    this.#countMax = countMax;
    this.#code = code;
  }

  /** Waits for a worker. Resolves to all results, or to undefined where `end` comes first. */
  async run(
    chunk: Chunk,
    onResult: (result: MeasuredResult) => void = () => {},
  ): Promise<MeasuredResult[] | undefined> {
    const worker = await this.#take();
    try {
      return await worker.run(chunk, onResult);
    } finally {
      // One that has failed, too: it fails whoever waits.
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(worker);
      else next(worker);
    }
  }

  end(): void {
    for (const worker of this.#workers) worker.end();
  }

  #take(): Worker | Promise<Worker> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#workers.length >= this.#countMax) return new Promise((resolve) => this.#waiting.push(resolve));
    const worker = new Worker(this.#code);
    this.#workers.push(worker);
    return worker;
  }
}

/**
 * Every result, in no particular order. A seed at a time, so that all workers end at about the same time. Once the
 * workers are ended, what they have not finished is left out.
 */
export async function runSeeds(
  workers: SeedWorkers,
  { from, count, ...chunk }: Chunk,
  onResult: (result: MeasuredResult) => void = () => {},
): Promise<MeasuredResult[]> {
  const seeds = Array.from({ length: count }, (_, index) => from + index);
  const results = await Promise.all(seeds.map((seed) => workers.run({ ...chunk, from: seed, count: 1 }, onResult)));
  return results.flatMap((each) => each ?? []);
}

class Worker {
  readonly #child: ChildProcess;
  #ended = false;
  #failure: Error | undefined;
  #complaint = '';
  #onResult: (result: MeasuredResult) => void = () => {};
  /** Of the chunk that it runs. */
  #settle: (() => void) | undefined;

  constructor(code: WorkerCode) {
    const child = fork(WORKER, [code], {
      execArgv: WORKER_OPTIONS,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stderr?.on('data', (bytes: Buffer) => {
      this.#complaint = (this.#complaint + bytes.toString()).slice(-COMPLAINT_MAX);
    });
    child.on('message', ({ result }: WorkerMessage) => {
      if (this.#ended) return;
      if (result === undefined) this.#settle?.();
      else this.#onResult(result);
    });
    child.on('error', (error) => this.#fail(error));
    // Not `close`, which never comes where the parent has disconnected.
    child.on('exit', (code) => {
      const fail = (): void => this.#fail(new Error(`A worker ended with ${code}: ${this.#complaint}`));
      if (child.stderr === null) fail();
      else finished(child.stderr, fail);
    });
  }

  async run(chunk: Chunk, onResult: (result: MeasuredResult) => void): Promise<MeasuredResult[] | undefined> {
    const results: MeasuredResult[] = [];
    this.#onResult = (result) => {
      results.push(result);
      onResult(result);
    };
    if (!this.#ended && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#settle = resolve;
        this.#child.send(chunk);
      });
    }
    if (this.#ended) return undefined;
    if (this.#failure !== undefined) throw this.#failure;
    return results;
  }

  end(): void {
    this.#ended = true;
    this.#child.kill('SIGKILL');
    this.#settle?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#settle?.();
  }
}
