// The work of the appender: proposals, which wait in its queue, and the batch that one append carries, with the reply
// to each of them; its spans; and its ports.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { LogStore } from '../../store/store.ts';
import { runInSpan, runTraced, type TraceSpan } from '../../telemetry/spans.ts';
import type { HeldBytes } from '../memory/write-memory.ts';
import type { Entry, EntryOperation, EntryTime } from './entries.ts';
import type { OperationMemory } from './idempotency/cache.ts';
import type { DecidedOperation } from './idempotency/operation-table.ts';
import type { Decide, OperationResult } from './write-decisions.ts';

/** A write that is proposed for the log of its slot. It becomes an operation of an entry, if it changes anything. */
export interface Proposal {
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

/** The number of single writes that a proposal counts as where work is bounded. */
export const weightOf = ({ changesMax = 1 }: Proposal): number => changesMax;

export interface QueuedProposal extends Proposal {
  /** The span of its call, if the call is traced. */
  readonly span: TraceSpan | undefined;
  readonly resolve: (result: OperationResult) => void;
  readonly reject: (error: unknown) => void;
}

export interface Answer {
  readonly waiting: QueuedProposal;
  readonly result?: OperationResult;
  readonly error?: unknown;
}

export interface Batch extends EntryTime {
  readonly operations: readonly EntryOperation[];
  readonly encoded: readonly string[];
  readonly answers: readonly Answer[];
  /** Append spans of the traced calls. */
  readonly spans: ReadonlySet<TraceSpan>;
  /** Callers wait for the log to reach the present; the batch is appended even if it changes nothing. */
  readonly advance: PromiseWithResolvers<void> | undefined;
}

/** The number of expired grants that the operations collect. */
export const expiredIn = (operations: readonly EntryOperation[]): number =>
  operations.reduce((sum, { changes }) => sum + changes.filter(({ kind }) => kind === 'grant-expired').length, 0);

/** The outcomes that repeats of these operations get. */
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

// ---- spans ----
//
// The append span covers one call, from the queue to the reply. The group commit span covers the appends of many calls;
// it is part of the first call's trace and links to all of them.

/** Covers all operations of one call, until they are durable. */
export function appendTraced<Result>(operations: number, append: () => Promise<Result>): Promise<Result> {
  return runTraced('append', 'internal', { 'grantd.operations': operations }, append);
}

/** `spans`: the traced appends in the batch. */
export function commitTraced<Result>(
  batch: { readonly slot: number; readonly operations: readonly unknown[]; readonly spans: ReadonlySet<TraceSpan> },
  commit: () => Promise<Result>,
): Promise<Result> {
  const [first] = batch.spans;
  if (first === undefined) return commit();
  const attributes = { 'grantd.slot': batch.slot, 'grantd.operations': batch.operations.length };
  return runInSpan(first, () =>
    runTraced('group commit', 'internal', attributes, (span) => {
      for (const append of batch.spans) {
        if (span === undefined) break;
        append.link(span);
        span.link(append);
      }
      return commit();
    }),
  );
}

// ---- the ports of the appender ----

export interface CommittedEntry extends Entry {
  readonly seq: number;
}

export interface AppenderPorts {
  readonly log: LogStore;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly operations: OperationMemory;
  /** Bytes held by the queues of all slots. */
  readonly queue: HeldBytes;
  /** Takes a committed entry into memory, synchronously. */
  readonly commit: (entry: CommittedEntry) => void;
  /** Resolves when writes may be decided: operation ids are restored, and the memory for writes has capacity. */
  readonly waitForCapacity: () => Promise<void>;
  /** Whether the owner's lease allows it to answer now. */
  readonly leaseValid: () => boolean;
  /** Called when the tenure has ended: the log contains an entry of another owner, or this program has a defect. */
  readonly lost: (reason: string) => void;
  readonly observe: (append: {
    readonly outcome: 'committed' | 'lost' | 'unknown';
    readonly seconds: number;
    readonly operations: number;
    /** Expired grants that the entry collects. */
    readonly expired: number;
  }) => void;
}
