// Runs many seeds in worker processes side by side, each worker a chunk of seeds at a time, so that none waits for
// another.

import { fork } from 'node:child_process';
import { finished } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Focus } from './profile.ts';
import type { RunResult } from './simulation-run.ts';

const WORKER = fileURLToPath(new URL('./seed-worker.ts', import.meta.url));
/**
 * A run is short-lived objects and errors that are handled: room for the former, and no stacks for the latter, save a
 * sixth of the time. The replay of a seed has its stacks.
 */
const WORKER_OPTIONS = ['--max-semi-space-size=64', '--stack-trace-limit=0'];
/** Small enough that all workers end at about the same time, and that little is done again after an interruption. */
export const CHUNK_SEEDS = 20;

export interface SeedRange {
  readonly from: number;
  readonly count: number;
  readonly focus?: Focus;
  readonly mutation?: string | undefined;
  readonly workers?: number;
  /** Of a chunk; where there are few seeds, fewer than by default, so that every worker has its share of them. */
  readonly chunkSeeds?: number;
  /** Ends all workers at the first run that fails. */
  readonly stopAtFailure?: boolean;
  /** Ends all workers; what they have not finished is left out. */
  readonly signal?: AbortSignal;
  /** First seeds of chunks that are not to be run: they have been. */
  readonly done?: ReadonlySet<number>;
}

/** What a worker is told to run; undefined: it may go. */
export interface Chunk {
  readonly from: number;
  readonly count: number;
}

/** What a worker is made with. */
export interface WorkerTask {
  readonly focus: Focus;
  readonly mutation?: string | undefined;
}

/** Each result, and after its last one `undefined`: the chunk is done. */
export type WorkerMessage = { readonly result: RunResult } | { readonly result: undefined };

function* chunksOf({ from, count, done, chunkSeeds = CHUNK_SEEDS }: SeedRange): Generator<Chunk> {
  for (let first = from; first < from + count; first += chunkSeeds) {
    if (done?.has(first) !== true) yield { from: first, count: Math.min(chunkSeeds, from + count - first) };
  }
}

/** Every result, in no particular order. Rejects where a worker itself fails. */
export async function runSeeds(
  range: SeedRange,
  onResult: (result: RunResult) => void = () => {},
  onChunk: (chunk: Chunk, results: readonly RunResult[]) => void = () => {},
): Promise<RunResult[]> {
  const { focus = 'broad', mutation, workers = 2, stopAtFailure = false, signal } = range;
  const results: RunResult[] = [];
  const stop = new AbortController();
  const signals = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
  const chunks = chunksOf(range);
  const runs = Array.from(
    { length: Math.min(workers, Math.ceil(range.count / (range.chunkSeeds ?? CHUNK_SEEDS))) },
    () =>
      runWorker({ focus, mutation }, signals, {
        next: () => chunks.next().value ?? undefined,
        onResult: (result) => {
          results.push(result);
          onResult(result);
          if (stopAtFailure && result.failures.length > 0) stop.abort();
        },
        onChunk,
      }),
  );
  await Promise.all(runs);
  return results;
}

interface WorkerPorts {
  readonly next: () => Chunk | undefined;
  readonly onResult: (result: RunResult) => void;
  readonly onChunk: (chunk: Chunk, results: readonly RunResult[]) => void;
}

function runWorker(task: WorkerTask, signal: AbortSignal, { next, onResult, onChunk }: WorkerPorts): Promise<void> {
  return new Promise((resolve, reject) => {
    let chunk = next();
    if (chunk === undefined || signal.aborted) {
      resolve();
      return;
    }
    const child = fork(WORKER, [JSON.stringify(task)], {
      execArgv: WORKER_OPTIONS,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const end = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    let complaint = '';
    child.stderr?.on('data', (bytes: Buffer) => {
      complaint = (complaint + bytes.toString()).slice(-10_000);
    });
    let results: RunResult[] = [];
    child.on('message', ({ result }: WorkerMessage) => {
      if (signal.aborted) return;
      if (result !== undefined) {
        results.push(result);
        onResult(result);
        return;
      }
      if (chunk !== undefined) onChunk(chunk, results);
      results = [];
      chunk = next();
      if (chunk === undefined) child.disconnect();
      else child.send(chunk);
    });
    child.on('error', reject);
    // Not `close`, which never comes where the parent has disconnected.
    child.on('exit', (code) => {
      signal.removeEventListener('abort', end);
      if (code === 0 || signal.aborted) resolve();
      else if (child.stderr === null) reject(new Error(`A worker ended with ${code}.`));
      else finished(child.stderr, () => reject(new Error(`A worker ended with ${code}: ${complaint}`)));
    });
    child.send(chunk);
  });
}
