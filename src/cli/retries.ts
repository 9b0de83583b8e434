// Repeats a call while the service is unreachable or overloaded. Only for calls whose repetition is safe.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, jitteredMs, type Random } from '../core/async/clock.ts';
import { type CliFailure, ConnectionFailure, ProblemFailure } from './failures.ts';

/** A failover takes about five seconds, a rolling update a minute. */
const RETRY_MS_MAX = 120_000;
const BACKOFF = { firstMs: 200, maxMs: 5_000 };
const RANDOM: Random = { bytes: (length) => randomBytes(length) };
const RETRIED_STATUSES: readonly number[] = [408, 429, 502, 503, 504];

export interface RetryOptions {
  /** After it aborts, there is no further attempt; the one in flight completes. */
  readonly signal: AbortSignal;
  /** Called before each pause. */
  readonly onRetry: (reason: string, delayMs: number) => void;
  readonly backoffFirstMs?: number;
}

/** For `onRetry`. */
export const describeRetry = (reason: string, delayMs: number): string =>
  `${reason} Retrying in ${(delayMs / 1000).toFixed(1)} s.`;

function isWorthRepeating(error: unknown): error is CliFailure {
  if (error instanceof ProblemFailure) return RETRIED_STATUSES.includes(error.status);
  return error instanceof ConnectionFailure;
}

/** The result of the first attempt that succeeds. Rejects with the failure of the last one. */
export async function withRetries<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const giveUpMs = performance.now() + RETRY_MS_MAX;
  const backoff = { ...BACKOFF, firstMs: options.backoffFirstMs ?? BACKOFF.firstMs };
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isWorthRepeating(error) || options.signal.aborted) throw error;
      const asked = error instanceof ProblemFailure ? error.retryAfterMs : undefined;
      const delayMs = Math.max(asked ?? 0, jitteredMs(RANDOM, backoffMs(backoff, failures)));
      if (performance.now() + delayMs > giveUpMs) throw error;
      options.onRetry(error.message.split('\n', 1)[0] ?? '', delayMs);
      try {
        await pause(delayMs, undefined, { signal: options.signal });
      } catch {
        throw error;
      }
    }
  }
}
