// Runs many seeds in worker processes side by side, each worker a chunk of seeds at a time, so that none waits for
// another.

import type { Focus } from './profile.ts';
import { type MeasuredResult, SeedWorkers } from './seed-workers.ts';

/** Little is done again after an interruption. */
export const CHUNK_SEEDS = 20;

export interface SeedRange {
  readonly from: number;
  readonly count: number;
  readonly focus?: Focus;
  readonly mutation?: string | undefined;
  readonly workers?: number;
  /** Ends all workers at the first run that fails. */
  readonly stopAtFailure?: boolean;
  /** Ends all workers; what they have not finished is left out. */
  readonly signal?: AbortSignal;
  /** First seeds of chunks that are not to be run: they have been. */
  readonly done?: ReadonlySet<number>;
}

export interface SeedChunk {
  readonly from: number;
  readonly count: number;
}

function* chunksOf({ from, count, done }: SeedRange): Generator<SeedChunk> {
  for (let first = from; first < from + count; first += CHUNK_SEEDS) {
    if (done?.has(first) !== true) yield { from: first, count: Math.min(CHUNK_SEEDS, from + count - first) };
  }
}

/** Every result, in no particular order. Rejects where a worker itself fails. */
export async function runSeeds(
  range: SeedRange,
  onResult: (result: MeasuredResult) => void = () => {},
  onChunk: (chunk: SeedChunk, results: readonly MeasuredResult[]) => void = () => {},
): Promise<MeasuredResult[]> {
  const { focus = 'broad', mutation, workers: count = 2, stopAtFailure = false, signal } = range;
  const results: MeasuredResult[] = [];
  const workers = new SeedWorkers(count, mutation === undefined ? 'plain' : 'switches');
  const end = (): void => workers.end();
  signal?.addEventListener('abort', end, { once: true });
  const chunks = chunksOf(range);
  const take = (result: MeasuredResult): void => {
    results.push(result);
    onResult(result);
    if (stopAtFailure && result.failures.length > 0) end();
  };
  const runChunks = async (): Promise<void> => {
    for (const chunk of chunks) {
      if (signal?.aborted === true) return;
      const found = await workers.run({ ...chunk, focus, mutation }, take);
      if (found === undefined) return;
      onChunk(chunk, found);
    }
  };
  try {
    await Promise.all(Array.from({ length: count }, runChunks));
  } finally {
    end();
    signal?.removeEventListener('abort', end);
  }
  return results;
}
