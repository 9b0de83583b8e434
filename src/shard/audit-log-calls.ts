// What the call about the audit log takes and returns, as part of the port of a shard (shard.ts).

import type { AuditFilter } from '../core/audit-filter.ts';
import type { PageQuery, ResultPage } from './grant-calls.ts';

export interface AuditLogQuery extends PageQuery, AuditFilter {
  readonly newestFirst?: boolean | undefined;
  /** Only changes at or after this time; wall clock, ms since the Unix epoch. */
  readonly sinceMs?: number | undefined;
  /** Only changes before this time. */
  readonly untilMs?: number | undefined;
}

/** One change of a tenant: what, when and by whom. */
export interface AuditRecord {
  /** (seq, index) orders the changes of a tenant. */
  readonly seq: number;
  readonly index: number;
  /** Wall clock, ms since the Unix epoch. */
  readonly atMs: number;
  /** A key id, or `operator:<name>`. */
  readonly actor: string;
  /** `req_…` */
  readonly requestId: string;
  /** What changed, as JSON: `{"action": "grant.created", …}`. At most 8 KiB; rules with their former ones, 129 KiB. */
  readonly change: string;
}

export interface AuditLogPage extends ResultPage<AuditRecord> {
  /**
   * An oldest-first cursor for the changes still to come, after everything up to now. Set on the last page of a listing
   * that is oldest first, and on the first page of one that is newest first. Undefined on other pages, in a listing
   * with an upper time bound, and for a deleted tenant.
   */
  readonly resumeCursor: string | undefined;
  /**
   * Set on a page that ended early because its read limit was reached: the time of the last change that was read. Wall
   * clock, ms since the Unix epoch.
   */
  readonly scannedToMs?: number | undefined;
}
