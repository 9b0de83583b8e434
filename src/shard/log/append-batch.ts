// What the appender gathers: waiting operations, and the batch that one append carries, with the reply to each
// operation.

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
  /** On the shard's monotonic clock; not decided after this. */
  readonly expiresAtMs: number;
  /** At least the UTF-8 bytes of its encoding. */
  readonly bytesMax: number;
  /** At least the number of grants that it changes; absent: 1. */
  readonly changesMax?: number;
  readonly decide: Decide;
}

/** How many single writes an operation stands for where work is bounded. */
export const weightOf = ({ changesMax = 1 }: Operation): number => changesMax;

export interface Waiting extends Operation {
  /** The span of its call, if the call is traced. */
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
  /** Append spans of the traced calls. */
  readonly spans: ReadonlySet<TraceSpan>;
}

/** What repeats of these operations get as their reply. */
export function decidedOf({ answers }: Batch): DecidedOperation[] {
  const decided: DecidedOperation[] = [];
  for (const { waiting, result, error } of answers) {
    const { requestId, index } = waiting;
    if (result !== undefined) decided.push({ requestId, index, outcome: { result } });
    // The front may retry after any other failure.
    else if (error instanceof GrantdError) decided.push({ requestId, index, outcome: { error } });
  }
  return decided;
}
