// How a shard calls the store: the deadline of a call, and what a failure means. A failed read decides nothing, so the
// front may retry until its own deadline; only then does the client get a 503.

import type { Clock } from '../core/async/clock.ts';
import { GrantdError } from '../core/errors.ts';
import type { AuditLogRow, DeadlineMs } from '../store/store.ts';
import { ShardFailure } from './shard.ts';

/** Half of a request's deadline, so that a second attempt fits. */
const STORE_CALL_MS = 5000;

export function storeDeadline(clock: Clock): DeadlineMs {
  return clock.monotonicMs() + STORE_CALL_MS;
}

/** Awaits a read; a failure of the store becomes `not-serving`. */
export async function readFromStore<Result>(read: Promise<Result>): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    const known = GrantdError.from(error);
    if (known.code === 'internal') throw known;
    throw new ShardFailure('not-serving', 'The store cannot be read right now.');
  }
}

/** Lets pending I/O run before going on, so that long work does not delay heartbeats and checks. */
export function yieldTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.setImmediate(resolve);
  });
}

/**
 * Characters of changes in one read of the audit log: thousands of ordinary ones. A change of rules has up to 129 Ki of
 * them.
 */
export const AUDIT_LENGTH_PER_READ = 1024 * 1024;

/** Whether a read of the audit log with that bound and this limit has left rows behind these. */
export function endsEarly(rows: readonly AuditLogRow[], limit: number): boolean {
  return rows.length === limit || lengthOf(rows) >= AUDIT_LENGTH_PER_READ;
}

/** Characters of the changes. */
export const lengthOf = (rows: readonly Pick<AuditLogRow, 'change'>[]): number =>
  rows.reduce((length, { change }) => length + change.length, 0);
