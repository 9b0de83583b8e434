// Sends one batch of an import, and repeats it while the service is unreachable or overloaded. Repeating is always
// safe: existing grants stay, and are reported as existing.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs, jitteredMs } from '../../core/async/backoff.ts';
import type { Random } from '../../core/async/clock.ts';
import { CliFailure, ConnectionFailure, ProblemFailure } from '../failures.ts';
import { type OperatorClient, path } from '../operator-client.ts';
import { asRecord, optionalTextOf, parseJson, textOf } from '../output/json-view.ts';

/** A failover takes about five seconds, a rolling update a minute. */
const RETRY_MS_MAX = 120_000;
const BACKOFF = { firstMs: 200, maxMs: 5_000 };
const RANDOM: Random = { bytes: (length) => randomBytes(length) };
const RETRIED_STATUSES: readonly number[] = [408, 429, 502, 503, 504];

export interface BatchResult {
  /** The position in the batch, from 0. */
  readonly index: number;
  readonly result: 'created' | 'exists' | 'refused';
  /** Only for a refused line. */
  readonly code: string;
  readonly detail: string;
}

interface DeliveryOptions {
  readonly tenant: string;
  /** After it aborts, there is no further attempt; the one in flight completes. */
  readonly signal: AbortSignal;
  /** Called before each pause. */
  readonly onRetry: (reason: string, delayMs: number) => void;
  readonly backoffFirstMs?: number;
}

function isWorthRepeating(error: unknown): error is CliFailure {
  if (error instanceof ProblemFailure) return RETRIED_STATUSES.includes(error.status);
  return error instanceof ConnectionFailure;
}

function parseResults(text: string, length: number): readonly BatchResult[] {
  const results = text.split('\n').flatMap((line): BatchResult[] => {
    if (line === '') return [];
    const record = asRecord(parseJson(line));
    const { line: number, result } = record;
    if (typeof number !== 'number' || (result !== 'created' && result !== 'exists' && result !== 'refused')) return [];
    const code = optionalTextOf(record, 'type')?.replace(/^.*\//, '') ?? '';
    return [{ index: number - 1, result, code, detail: result === 'refused' ? textOf(record, 'detail') : '' }];
  });
  const positions = new Set(results.map(({ index }) => index));
  const whole = results.length === length && positions.size === length;
  if (!whole || results.some(({ index }) => !(index >= 0 && index < length))) {
    throw new CliFailure('The response to a batch does not have one result per line.');
  }
  return results;
}

/** The results for `length` lines of JSON, in the order of the response. Rejects if they cannot be obtained. */
export async function deliverBatch(
  client: OperatorClient,
  batch: { readonly body: string; readonly length: number },
  options: DeliveryOptions,
): Promise<readonly BatchResult[]> {
  const giveUpMs = performance.now() + RETRY_MS_MAX;
  const request = { method: 'POST', path: path`/tenants/${options.tenant}/import`, ndjson: batch.body } as const;
  const backoff = { ...BACKOFF, firstMs: options.backoffFirstMs ?? BACKOFF.firstMs };
  for (let failures = 0; ; failures += 1) {
    try {
      return parseResults(await client.readText(request), batch.length);
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
