// The log of a client: an entry for each attempt of a call. Invariant: an entry holds no header, body or query, so no
// API key and no subject.

import type { GrantdError } from './error.ts';

/** `console`, and the logger of most libraries. */
export interface Logger {
  debug(entry: string): void;
}

export interface Attempt {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly startMs: number;
}

interface AttemptEnd {
  readonly status: number;
  readonly requestId: string | undefined;
}

function entryOf({ operation, method, path, attempt, startMs }: Attempt, ending: AttemptEnd | GrantdError): string {
  const { status, requestId } = ending;
  const outcome = [...(status === 0 ? [] : [status]), ...('type' in ending ? [ending.type] : [])].join(' ');
  const id = requestId === undefined ? '' : `, ${requestId}`;
  const tookMs = Math.round(performance.now() - startMs);
  return `grantd: ${operation} ${method} ${path}, attempt ${attempt}: ${outcome} after ${tookMs} ms${id}`;
}

export function logAttempt(logger: Logger | undefined, attempt: Attempt, ending: AttemptEnd | GrantdError): void {
  if (logger === undefined) return;
  try {
    logger.debug(entryOf(attempt, ending));
  } catch {
    // A log that fails must not fail a call.
  }
}
