// Repeats calls while the service is unreachable or overloaded: `withRetries` for a limited time, a `PatientReader`
// until it is interrupted, for commands that watch. Only for calls whose repetition is safe.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, jitteredMs, type Random } from '../../../src/core/async/clock.ts';
import type { CliContext } from './cli-context.ts';
import { type CliFailure, ConnectionFailure, EXIT, ProblemFailure } from './failures.ts';
import type { JsonRecord } from './output/json-view.ts';
import type { ServiceClient, ServiceRequest } from './service-client.ts';

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

const PATIENT_BACKOFF = { firstMs: 250, maxMs: 5000 };
/** Too many requests, and the responses of the service, or of a proxy before it, during an outage. */
const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

export interface PatientReader {
  /** The response, however long it takes. Undefined: interrupted. Throws failures that waiting cannot fix. */
  read(request: ServiceRequest): Promise<JsonRecord | undefined>;
  /** The same for any call. `signal` interrupts this one. */
  attempt<Result>(call: (signal: AbortSignal) => Promise<Result>, signal?: AbortSignal): Promise<Result | undefined>;
  /** False: interrupted. */
  pause(delayMs: number): Promise<boolean>;
}

const passes = (error: unknown): error is ConnectionFailure | ProblemFailure =>
  error instanceof ConnectionFailure || (error instanceof ProblemFailure && PASSING_STATUSES.has(error.status));

/**
 * Reports once that the service is away and once that it is back. A failure before the first success is not retried:
 * most likely the call was wrong from the start.
 */
export function createPatientReader(context: CliContext, client: ServiceClient, signal: AbortSignal): PatientReader {
  let answered = false;
  async function attempt<Result>(
    call: (signal: AbortSignal) => Promise<Result>,
    only: AbortSignal = signal,
  ): Promise<Result | undefined> {
    const ended = AbortSignal.any([signal, only]);
    let failures = 0;
    let away = false;
    while (!ended.aborted) {
      try {
        const answer = await call(ended);
        if (away) context.note('The service responds again.');
        answered = true;
        return answer;
      } catch (error) {
        if (ended.aborted) return undefined;
        if (!answered || !passes(error)) throw error;
        if (!away) context.note(`${error.message.split('\n')[0]} Retrying until it responds.`);
        away = true;
        const askedMs = error instanceof ProblemFailure ? (error.retryAfterMs ?? 0) : 0;
        if (!(await context.pause(Math.max(backoffMs(PATIENT_BACKOFF, failures), askedMs), ended))) return undefined;
        failures += 1;
      }
    }
    return undefined;
  }
  return {
    pause: (delayMs) => context.pause(delayMs, signal),
    attempt,
    read: (request) => attempt((ended) => client.readJson(request, ended)),
  };
}

/** Runs a command until Ctrl-C, or until the reader of its output closes it. `follow` resolves to true at the end. */
export const followUntilInterrupted = (
  context: CliContext,
  client: ServiceClient,
  follow: (reader: PatientReader) => Promise<boolean>,
): Promise<number> =>
  context.untilInterrupted((interrupted) =>
    context.untilClosed(async (closed) => {
      const signal = AbortSignal.any([interrupted, closed]);
      const isOver = await follow(createPatientReader(context, client, signal));
      return isOver || closed.aborted ? EXIT.ok : EXIT.interrupted;
    }),
  );
