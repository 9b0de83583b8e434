// Proposals: the operations that wait for an append, by tenant, and the batch that one append carries, with the reply
// to each of them. Invariants: operations of one tenant keep their order; tenants take turns, so none waits for more
// than one operation of each other tenant; what waits is bounded for each tenant and for the slot.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { LogStore } from '../../store/store.ts';
import { runInSpan, runTraced, type TraceSpan } from '../../telemetry/spans.ts';
import type { HeldBytes } from '../memory/write-memory.ts';
import type { Entry, EntryOperation, EntryTime } from './entries.ts';
import type { OperationMemory } from './idempotency/cache.ts';
import type { DecidedOperation } from './idempotency/operation-table.ts';
import type { SlotPromises } from './quiet-promises.ts';
import type { Decide, OperationResult } from './write-decisions.ts';

/** Waiting operations of a slot, and the weight of those of one tenant. */
const OPERATIONS_MAX = 50_000;
const TENANT_WEIGHT_MAX = 10_000;

interface TenantQueue {
  readonly waiting: QueuedProposal[];
  weight: number;
}

export class WriteQueue {
  readonly #queues = new Map<TenantId, TenantQueue>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whether an operation of the tenant may wait. */
  accepts({ tenantId }: Proposal): boolean {
    if (this.#length >= OPERATIONS_MAX) return false;
    return (this.#queues.get(tenantId)?.weight ?? 0) < TENANT_WEIGHT_MAX;
  }

  add(waiting: QueuedProposal): void {
    const { tenantId } = waiting;
    const queue = this.#queues.get(tenantId);
    if (queue === undefined) this.#queues.set(tenantId, { waiting: [waiting], weight: weightOf(waiting) });
    else {
      queue.waiting.push(waiting);
      queue.weight += weightOf(waiting);
    }
    this.#length += 1;
  }

  /** Whether an operation of the tenant waits. */
  has(tenantId: TenantId): boolean {
    return (this.#queues.get(tenantId)?.waiting.length ?? 0) > 0;
  }

  /** Those of which an operation waits. */
  tenants(): IteratorObject<TenantId> {
    const waiting = this.#queues.entries().filter(([, queue]) => queue.waiting.length > 0);
    return waiting.map(([tenantId]) => tenantId);
  }

  /**
   * Takes the oldest operation of each tenant in turn that is ready, until none of those waits or `fits` rejects one.
   * The tenant of that one goes first next time.
   */
  *inTurn(
    fits: (next: QueuedProposal) => boolean,
    isReady: (tenantId: TenantId) => boolean,
  ): Generator<QueuedProposal> {
    for (let length = this.#length + 1; this.#length < length; ) {
      length = this.#length;
      for (const [tenantId, queue] of this.#queues) {
        const [next] = queue.waiting;
        if (next === undefined) {
          this.#queues.delete(tenantId);
          continue;
        }
        if (!isReady(tenantId)) continue;
        if (!fits(next)) {
          this.#putFirst(tenantId, queue);
          return;
        }
        queue.waiting.shift();
        queue.weight -= weightOf(next);
        this.#length -= 1;
        yield next;
      }
    }
  }

  #putFirst(tenantId: TenantId, queue: TenantQueue): void {
    this.#queues.delete(tenantId);
    const rest = [...this.#queues];
    this.#queues.clear();
    this.#queues.set(tenantId, queue);
    for (const [id, each] of rest) this.#queues.set(id, each);
  }

  /** Removes all operations and returns them. */
  clear(): readonly QueuedProposal[] {
    const removed = Array.from(this.#queues.values(), ({ waiting }) => waiting).flat();
    this.#queues.clear();
    this.#length = 0;
    return removed;
  }
}

// ---- proposals and batches ----

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
  /** A commit is not shown before these are over. */
  readonly promises: SlotPromises;
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

// ---- the group-commit window ----
//
// The group-commit window. Closed-loop writers send their next write as soon as they get a reply. If an append takes
// much longer than their round trip, a short wait for them turns two appends into one and lets each of them write more
// often. Without it they split into two groups, each of which waits for the appends of the other.

/** Shorter waits are not worth a timer; longer ones would delay replies too much. */
const WAIT_MS_MIN = 1;
const WAIT_MS_MAX = 25;
/** After futile waits, at most this many appends go without one before the next attempt. */
const SKIPPED_MAX = 64;

export class GroupCommitWindow {
  readonly #clock: Clock;
  #target = 0;
  #end: (() => void) | undefined;
  #skipped = 0;
  #toSkip = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when as many operations have arrived as were answered, or after the duration of the previous append.
   * `waiting` returns the number of waiting operations.
   */
  async gather(answered: number, appendMs: number, waiting: () => number): Promise<void> {
    const waitMs = Math.min(appendMs, WAIT_MS_MAX);
    if (answered === 0 || waitMs < WAIT_MS_MIN) return;
    if (this.#skipped < this.#toSkip) {
      this.#skipped += 1;
      return;
    }
    const before = waiting();
    this.#target = before + answered;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(resolve, waitMs);
      this.#end = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#end = undefined;
    const came = waiting() - before;
    this.#skipped = 0;
    this.#toSkip = 4 * came >= answered ? 0 : Math.min(2 * this.#toSkip + 1, SKIPPED_MAX);
  }

  /** `waiting` operations wait now. */
  arrived(waiting: number): void {
    if (waiting >= this.#target) this.#end?.();
  }

  /** Ends the current wait. */
  end(): void {
    this.#end?.();
  }
}
