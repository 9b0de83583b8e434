// What the calls about the logs of slots take and return, as part of the port of a shard (shard.ts).

import type { AuditRecord } from './audit-log-calls.ts';

/** The entries that the log of a slot holds. */
export interface LogRange {
  readonly slot: number;
  /** Earlier ones have been trimmed. */
  readonly first: number;
  readonly last: number;
}

export interface LogEnds {
  /** Of the slots that this shard serves. */
  readonly ranges: readonly LogRange[];
  /** With which consoles sign places in all logs: base64url, the current one first. The same at every shard. */
  readonly cursorKeys: readonly string[];
}

export interface LogQuery {
  readonly slot: number;
  /** An entry that was read before, or the one before the first. */
  readonly afterSeq: number;
  /** Without the changes of earlier entries, wall clock in ms; 0: all. */
  readonly sinceMs: number;
}

/** A change of any tenant, as its audit log has it. */
export interface LoggedChange extends AuditRecord {
  readonly tenantId: string;
}

export interface LoggedPage {
  /** All changes of the entries up to `nextSeq`, in the order of the log. */
  readonly items: readonly LoggedChange[];
  readonly nextSeq: number;
  /** There were no more entries. */
  readonly atEnd: boolean;
}
