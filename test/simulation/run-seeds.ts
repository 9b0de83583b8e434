// Runs many seeds in worker processes side by side.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Focus } from './profile.ts';
import type { WorkerTask } from './seed-worker.ts';
import type { RunResult } from './simulation-run.ts';

const WORKER = fileURLToPath(new URL('./seed-worker.ts', import.meta.url));

export interface SeedRange {
  readonly from: number;
  readonly count: number;
  readonly focus?: Focus;
  readonly mutation?: string | undefined;
  readonly workers?: number;
  /** Ends all workers at the first run that fails. */
  readonly stopAtFailure?: boolean;
}

/** Every result, in no particular order. Rejects where a worker itself fails. */
export async function runSeeds(
  range: SeedRange,
  onResult: (result: RunResult) => void = () => {},
): Promise<RunResult[]> {
  const { from, count, focus = 'broad', mutation, workers = 2, stopAtFailure = false } = range;
  const results: RunResult[] = [];
  const stop = new AbortController();
  const runs = Array.from({ length: Math.min(workers, count) }, (_, worker) => {
    const seeds = Array.from({ length: count }, (_unused, index) => from + index).filter(
      (seed) => (seed - from) % workers === worker,
    );
    return runWorker({ seeds, focus, mutation }, stop.signal, (result) => {
      if (stop.signal.aborted) return;
      results.push(result);
      onResult(result);
      if (stopAtFailure && result.failures.length > 0) stop.abort();
    });
  });
  await Promise.all(runs);
  return results;
}

function runWorker(task: WorkerTask, signal: AbortSignal, onResult: (result: RunResult) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] });
    signal.addEventListener('abort', () => child.kill('SIGKILL'));
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-10_000);
    });
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => onResult(JSON.parse(line) as RunResult));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 || signal.aborted) resolve();
      else reject(new Error(`A worker ended with ${code}: ${complaint}`));
    });
  });
}
