// Reads repeatedly and retries temporary failures, for commands that watch. It reports once that the service is away
// and once that it is back, and its pauses grow during an outage.

import { backoffMs } from '../core/async/clock.ts';
import type { CliContext } from './cli-context.ts';
import { ConnectionFailure, EXIT, ProblemFailure } from './failures.ts';
import type { OperatorClient, OperatorRequest } from './operator-client.ts';
import type { JsonRecord } from './output/json-view.ts';

const RETRY = { firstMs: 250, maxMs: 5000 };
/** Too many requests, and the responses of the service, or of a proxy before it, during an outage. */
const PASSING_STATUSES = new Set([408, 429, 500, 502, 503, 504]);

export interface PatientReader {
  /** The response, however long it takes. Undefined: interrupted. Throws failures that waiting cannot fix. */
  read(request: OperatorRequest): Promise<JsonRecord | undefined>;
  /** False: interrupted. */
  pause(delayMs: number): Promise<boolean>;
}

const passes = (error: unknown): error is ConnectionFailure | ProblemFailure =>
  error instanceof ConnectionFailure || (error instanceof ProblemFailure && PASSING_STATUSES.has(error.status));

/** A failure before the first success is not retried: most likely the call was wrong from the start. */
export function createPatientReader(context: CliContext, client: OperatorClient, signal: AbortSignal): PatientReader {
  let answered = false;
  return {
    pause: (delayMs) => context.pause(delayMs, signal),
    async read(request) {
      let failures = 0;
      let away = false;
      while (!signal.aborted) {
        try {
          const answer = await client.readJson(request, signal);
          if (away) context.note('The service responds again.');
          answered = true;
          return answer;
        } catch (error) {
          if (signal.aborted) return undefined;
          if (!answered || !passes(error)) throw error;
          if (!away) context.note(`${error.message.split('\n')[0]} Retrying until it responds.`);
          away = true;
          const askedMs = error instanceof ProblemFailure ? (error.retryAfterMs ?? 0) : 0;
          if (!(await context.pause(Math.max(backoffMs(RETRY, failures), askedMs), signal))) return undefined;
          failures += 1;
        }
      }
      return undefined;
    },
  };
}

/** Runs a command that reads on until Ctrl-C, or until nobody reads its output. `follow`: true if all has been told. */
export async function followUntilInterrupted(
  context: CliContext,
  follow: (reader: PatientReader) => Promise<boolean>,
): Promise<number> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const stopListening = context.onInterrupt(end);
  // A reader that closes the pipe is no failure.
  let readerClosed = false;
  const onClosed = (): void => {
    readerClosed = true;
    end();
  };
  context.stdout.once('error', onClosed);
  context.stdout.once('close', onClosed);
  try {
    const isOver = await follow(createPatientReader(context, await context.connect(), ended.signal));
    return isOver || readerClosed ? EXIT.ok : EXIT.interrupted;
  } finally {
    stopListening();
    context.stdout.removeListener('error', onClosed);
    context.stdout.removeListener('close', onClosed);
  }
}
