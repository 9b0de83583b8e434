// The appender of one tenure: group commit. While one append is in flight further writes gather, round-robin over
// tenants; the next append carries them all. One append is in flight at a time, and its outcome is decided before the
// next begins: a timeout is resolved by reading the seq back, and "nothing there" repeats the very same record, since
// it never means "will never be". An operation is answered only after the batch it was decided in stands in the log.
//
//          submit                 append: appended            applied to memory, in order
//   queue ────────▶ batch ───────────────────────────▶ commit ──────────────────────────▶ answers
//                     ▲   unknown ▶ read back ▶ repeat    │
//                     │   occupied, lower epoch ▶ next seq│
//                     └──  occupied, higher epoch ▶ lost: the tenure ends, nobody is told a result

import { assert } from '../../core/assert.ts';
import { backoffMs } from '../../core/async/backoff.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { AppendOutcome, LogRecord, LogStore, Stamp } from '../../store/store.ts';
import { currentSpan, type TraceSpan } from '../../telemetry/spans.ts';
import type { Change } from '../log-changes.ts';
import type { HeldBytes } from '../memory/write-memory.ts';
import { ShardFailure } from '../shard.ts';
import { storeDeadline, yieldTurn } from '../store-calls.ts';
import { type Answer, type Batch, decidedOf, type Operation, type Waiting } from './append-batch.ts';
import { commitTraced } from './append-spans.ts';
import {
  ENTRY_BYTES_MAX,
  type Entry,
  type EntryOperation,
  encodeEntry,
  encodeOperation,
  followingBase,
} from './entries.ts';
import { Cohort } from './group-commit-window.ts';
import type { OperationMemory } from './idempotency/cache.ts';
import { InFlightOperations } from './idempotency/in-flight-operations.ts';
import { type LogEnd, LogTime } from './log-time.ts';
import { Draft, type OperationResult } from './write-decisions.ts';

/**
 * What one batch takes: some 150 KiB of log, or half of the largest entry. Taking it into memory is one step of the
 * event loop, and takes up to ten milliseconds where all of it are the longest grants of one large subject.
 */
const BATCH_OPERATIONS_MAX = 512;
const BATCH_BYTES_MAX = ENTRY_BYTES_MAX / 2;
/** Callers told in one step that their operations are not done. */
const REFUSALS_PER_STEP = 500;
/** Operations that wait, of one tenant and of the slot. Beyond: `overloaded`. */
const QUEUE_OPERATIONS_MAX = 50_000;
const TENANT_OPERATIONS_MAX = 10_000;
/** What one takes that waits or is being appended, besides the texts of its call, which the call has reserved. */
const OPERATION_BYTES = 1000;
/** Left free in an entry for its head. */
const ENTRY_HEAD_BYTES = 1024;
const RETRY = { firstMs: 20, maxMs: 1000 };
/** How soon a commit is answered once a lapsed lease is valid again. */
const LEASE_POLL_MS = 20;

const nothingDone = (): ShardFailure => new ShardFailure('not-serving', 'The tenure has ended, or its lease.');

export interface CommittedEntry extends Entry {
  readonly seq: number;
}

export interface AppenderPorts {
  readonly log: LogStore;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly operations: OperationMemory;
  /** Of the queue of all slots. */
  readonly queue: HeldBytes;
  /** Takes a committed entry into memory, synchronously. */
  readonly commit: (entry: CommittedEntry) => void;
  /** Resolves when writes may be decided: operation ids are restored, and what writes hold is within its bounds. */
  readonly waitForCapacity: () => Promise<void>;
  /** Whether the owner's lease lets it answer now. */
  readonly leaseValid: () => boolean;
  /** The tenure is over: another owner's entry stands in the log, or this program has a defect. */
  readonly lost: (reason: string) => void;
  readonly observe: (append: {
    readonly outcome: 'committed' | 'lost' | 'unknown';
    readonly seconds: number;
    readonly operations: number;
  }) => void;
}

export class Appender {
  readonly time: LogTime;
  readonly #ports: AppenderPorts;
  readonly #slot: number;
  readonly #epoch: number;
  #lastSeq: number;
  #nextBase: Stamp;
  readonly #queues = new Map<TenantId, Waiting[]>();
  #queueLength = 0;
  readonly #inFlight = new InFlightOperations();
  #running = false;
  #settlingSinceMs: number | undefined;
  readonly #cohort: Cohort;
  #closed: ShardFailure | undefined;
  #idle: (() => void)[] = [];

  constructor(ports: AppenderPorts, end: LogEnd) {
    this.#ports = ports;
    this.#cohort = new Cohort(ports.clock);
    this.#slot = end.slot;
    this.#epoch = end.epoch;
    this.#lastSeq = end.lastSeq;
    this.#nextBase = end.nextBase;
    this.time = new LogTime(ports.clock, end);
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Greater than every stamp in the log. */
  get nextBase(): Stamp {
    return this.#nextBase;
  }

  get queueLength(): number {
    return this.#queueLength;
  }

  /** Since when the batch that is in flight has been; undefined: none is. */
  get settlingSinceMs(): number | undefined {
    return this.#settlingSinceMs;
  }

  /** Resolves with the result once it is durable. The same operation again gets the first one's result. */
  submit(operation: Operation): Promise<OperationResult> {
    const { requestId, index } = operation;
    const inFlight = this.#inFlight.get(requestId, index);
    if (inFlight !== undefined) return inFlight;
    const { operations, queue: held } = this.#ports;
    const known = operations.restore(requestId, index);
    if (known !== undefined) return 'result' in known ? Promise.resolve(known.result) : Promise.reject(known.error);
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    assert(operation.bytesMax <= BATCH_BYTES_MAX - ENTRY_HEAD_BYTES, 'an operation fits into an entry');
    const queue = this.#queues.get(operation.tenantId) ?? [];
    const isFull = this.#queueLength >= QUEUE_OPERATIONS_MAX || !held.hasCapacity;
    if (isFull || queue.length >= TENANT_OPERATIONS_MAX) {
      return Promise.reject(
        new GrantdError('overloaded', 'More writes wait than this tenant may queue. Nothing was changed.'),
      );
    }
    this.#queues.set(operation.tenantId, queue);
    const result = new Promise<OperationResult>((resolve, reject) => {
      queue.push({ ...operation, span: currentSpan(), resolve, reject });
    });
    this.#queueLength += 1;
    held.add(OPERATION_BYTES);
    this.#inFlight.set(requestId, index, result);
    this.#cohort.arrived(this.#queueLength);
    if (!this.#running) {
      this.#running = true;
      // What arrives in this turn gathers into one batch.
      this.#ports.clock.setImmediate(() => void this.#run());
    }
    return result;
  }

  /** Resolves when nothing waits and nothing is in flight. */
  async drained(): Promise<void> {
    if (!this.#running) return;
    this.#cohort.end();
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  /** Ends the tenure here: nothing is appended any more, what waits is refused. What is in flight stays undecided. */
  close(failure: ShardFailure): void {
    if (this.#closed !== undefined) return;
    this.#closed = failure;
    this.#cohort.end();
    const refused = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#queueLength = 0;
    void this.#refuse(refused, failure);
  }

  async #refuse(refused: readonly Waiting[], failure: ShardFailure): Promise<void> {
    for (const [index, waiting] of refused.entries()) {
      this.#ended(waiting);
      waiting.reject(failure);
      if ((index + 1) % REFUSALS_PER_STEP === 0) await yieldTurn(this.#ports.clock);
    }
  }

  /** About to be answered. */
  #ended({ requestId, index }: Waiting): void {
    this.#inFlight.delete(requestId, index);
    this.#ports.queue.add(-OPERATION_BYTES);
  }

  async #run(): Promise<void> {
    const { clock } = this.#ports;
    while (this.#queueLength > 0 && this.#closed === undefined) {
      await this.#ports.waitForCapacity();
      // What has arrived by now joins this append; the next one is a whole fsync away.
      await yieldTurn(clock);
      if (this.#closed !== undefined) break;
      const batch = this.#takeBatch();
      const startedMs = clock.monotonicMs();
      this.#settlingSinceMs = startedMs;
      const failure = await this.#settle(batch);
      this.#settlingSinceMs = undefined;
      for (const { waiting, result, error } of batch.answers) {
        this.#ended(waiting);
        if (failure !== undefined) waiting.reject(failure);
        else if (result === undefined) waiting.reject(error);
        else waiting.resolve(result);
      }
      const tookMs = clock.monotonicMs() - startedMs;
      if (this.#idle.length === 0) await this.#cohort.gather(batch.answers.length, tookMs, () => this.#queueLength);
    }
    this.#running = false;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  /**
   * Resolves to why the batch cannot be answered, or undefined. Nothing is answered without a valid lease: neither a
   * commit nor that there was nothing to change.
   */
  async #settle(batch: Batch): Promise<ShardFailure | undefined> {
    // A batch without a change is decided by what is committed: there is nothing to make durable.
    if (batch.operations.length === 0) {
      if (!this.#ports.leaseValid()) return nothingDone();
      this.#ports.operations.remember(decidedOf(batch));
      return undefined;
    }
    let stands: boolean | undefined;
    try {
      stands = await commitTraced({ slot: this.#slot, ...batch }, () => this.#append(batch));
    } catch (error) {
      // A defect of this program. Memory may not be what the log says any more: whoever recovers the slot reads it.
      this.#lose(`the append failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (stands === false) return nothingDone();
    if (stands === true && (await this.#leased())) return undefined;
    return new ShardFailure('undecided', 'The tenure ended while the write was in flight.');
  }

  #lose(reason: string): void {
    this.#ports.lost(reason);
    this.close(new ShardFailure('not-serving', 'The tenure has ended.'));
  }

  /** The oldest operation of each tenant in turn, until the entry is full or nothing waits. */
  #takeBatch(): Batch {
    const draft = new Draft();
    const operations: EntryOperation[] = [];
    const encoded: string[] = [];
    const answers: Answer[] = [];
    const spans = new Set<TraceSpan>();
    const nowMs = this.#ports.clock.monotonicMs();
    const atMs = this.#ports.clock.wallMs();
    let bytesFree = BATCH_BYTES_MAX - ENTRY_HEAD_BYTES;
    let full = false;
    while (!full && this.#queueLength > 0) {
      for (const [tenantId, queue] of this.#queues) {
        const next = queue[0];
        if (next === undefined) {
          this.#queues.delete(tenantId);
          continue;
        }
        if (answers.length >= BATCH_OPERATIONS_MAX || next.bytesMax > bytesFree) {
          // The tenant that found it full is the first of the next batch.
          full = true;
          this.#queues.delete(tenantId);
          const rest = [...this.#queues];
          this.#queues.clear();
          this.#queues.set(tenantId, queue);
          for (const [id, waiting] of rest) this.#queues.set(id, waiting);
          break;
        }
        queue.shift();
        this.#queueLength -= 1;
        if (next.span !== undefined) spans.add(next.span);
        const decided = this.#decide(next, draft, nowMs);
        answers.push(decided.answer);
        if (decided.changes.length === 0) continue;
        const { actor, requestId, index } = next;
        const operation = { tenantId, actor, requestId, index, atMs, changes: decided.changes };
        const text = encodeOperation(operation);
        bytesFree -= Buffer.byteLength(text) + 1;
        operations.push(operation);
        encoded.push(text);
      }
    }
    return { ...this.time.next(this.#nextBase), operations, encoded, answers, spans };
  }

  #decide(
    waiting: Waiting,
    draft: Draft,
    nowMs: number,
  ): { readonly answer: Answer; readonly changes: readonly Change[] } {
    // It may have been restored from the log while it waited.
    const restored = this.#ports.operations.restore(waiting.requestId, waiting.index);
    if (restored !== undefined) return { answer: { waiting, ...restored }, changes: [] };
    if (waiting.expiresAtMs <= nowMs) {
      const error = new ShardFailure('expired', 'The write reached its turn after its expiry.');
      return { answer: { waiting, error }, changes: [] };
    }
    try {
      const { result, changes } = waiting.decide(draft);
      draft.add(waiting.tenantId, changes);
      return { answer: { waiting, result }, changes };
    } catch (error) {
      return { answer: { waiting, error }, changes: [] };
    }
  }

  /**
   * Resolves to whether the batch stands in the log and in memory. False: another owner's entry stands in its place;
   * undefined: the tenure ended before that was known.
   */
  async #append(batch: Batch): Promise<boolean | undefined> {
    const { clock, log, ids } = this.#ports;
    const startedMs = clock.monotonicMs();
    const body = encodeEntry(batch, batch.encoded);
    const entryId = ids.create('ent');
    let failures = 0;
    while (this.#closed === undefined) {
      const record: LogRecord = { slot: this.#slot, seq: this.#lastSeq + 1, epoch: this.#epoch, entryId, body };
      let outcome: AppendOutcome | undefined;
      try {
        outcome = await log.append(record, storeDeadline(clock));
      } catch {
        this.#observe('unknown', startedMs, batch);
        outcome = await this.#readBack(record);
      }
      if (this.#closed !== undefined) return undefined;
      if (outcome === undefined) {
        await delay(clock, backoffMs(RETRY, failures));
        failures += 1;
        continue;
      }
      const standing = outcome.kind === 'appended' ? record : outcome.record;
      if (standing.entryId === entryId) {
        // Appended by an owner that stood still for long, it may stand where the next owner's log has been trimmed, so
        // that nobody will ever read it. Under a lease that is valid now, however long the append was on its way,
        // nobody else has owned the slot until now, and the entry stands in the log.
        if (!this.#ports.leaseValid() && !(await this.#leased())) return undefined;
        this.#commit(batch, record.seq);
        this.#observe('committed', startedMs, batch);
        return true;
      }
      if (standing.epoch >= this.#epoch) {
        this.#observe('lost', startedMs, batch);
        this.#lose(`epoch ${standing.epoch} stands in the log at seq ${standing.seq}`);
        return false;
      }
      // A late write of an earlier epoch, void for every reader since it follows this epoch's first entry.
      this.#lastSeq = standing.seq;
    }
    return undefined;
  }

  /** Resolves to true under a valid lease; false: the tenure has ended. */
  async #leased(): Promise<boolean> {
    while (this.#closed === undefined) {
      if (this.#ports.leaseValid()) return true;
      await delay(this.#ports.clock, LEASE_POLL_MS);
    }
    return false;
  }

  async #readBack(record: LogRecord): Promise<AppendOutcome | undefined> {
    try {
      const standing = await this.#ports.log.readRecord(record.slot, record.seq, storeDeadline(this.#ports.clock));
      return standing === undefined ? undefined : { kind: 'occupied', record: standing };
    } catch {
      return undefined;
    }
  }

  #commit(batch: Batch, seq: number): void {
    assert(seq === this.#lastSeq + 1, 'entries are committed in the order of the log');
    this.#lastSeq = seq;
    const { base, elapsedMs, operations } = batch;
    const entry = { seq, base, elapsedMs, operations };
    this.#nextBase = followingBase(entry);
    this.#ports.commit(entry);
    this.#ports.operations.remember(decidedOf(batch));
  }

  #observe(outcome: 'committed' | 'lost' | 'unknown', startedMs: number, batch: Batch): void {
    const seconds = (this.#ports.clock.monotonicMs() - startedMs) / 1000;
    this.#ports.observe({ outcome, seconds, operations: batch.operations.length });
  }
}
