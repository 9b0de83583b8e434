// What the appender gathers: operations that wait, and the batch that one append carries, with what each of them is to
// be answered.

import { GrantdError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Stamp } from '../../store/store.ts';
import type { TraceSpan } from '../../telemetry/spans.ts';
import type { EntryOperation } from './entries.ts';
import type { DecidedOperation } from './idempotency/operation-table.ts';
import type { Decide, OperationResult } from './write-decisions.ts';

export interface Operation {
  readonly tenantId: TenantId;
  readonly actor: string;
  readonly requestId: string;
  readonly index: number;
  /** On the monotonic clock of the shard; not decided later than this. */
  readonly expiresAtMs: number;
  /** No less than the UTF-8 bytes of its encoding. */
  readonly bytesMax: number;
  readonly decide: Decide;
}

export interface Waiting extends Operation {
  /** Of the call that it belongs to, where that is traced. */
  readonly span: TraceSpan | undefined;
  readonly resolve: (result: OperationResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface Answer {
  readonly waiting: Waiting;
  readonly result?: OperationResult;
  readonly error?: unknown;
}

export interface Batch {
  readonly base: Stamp;
  readonly elapsedMs: number;
  readonly operations: readonly EntryOperation[];
  readonly encoded: readonly string[];
  readonly answers: readonly Answer[];
  /** Appends of calls that are traced. */
  readonly spans: ReadonlySet<TraceSpan>;
}

/** What a repeat of its operations is to be answered. */
export function decidedOf({ answers }: Batch): DecidedOperation[] {
  const decided: DecidedOperation[] = [];
  for (const { waiting, result, error } of answers) {
    const { requestId, index } = waiting;
    if (result !== undefined) decided.push({ requestId, index, outcome: { result } });
    // Any other failure lets the front try again.
    else if (error instanceof GrantdError) decided.push({ requestId, index, outcome: { error } });
  }
  return decided;
}
