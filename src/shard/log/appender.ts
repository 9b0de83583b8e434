// The appender of one tenure: group commit. While one append is in flight, further writes gather, round-robin over
// tenants; the next append carries them all. Only one append is in flight, and its outcome is settled before the next
// begins. After a timeout the appender reads the seq back. If nothing is there, it repeats the very same record, since
// the first attempt may still arrive. An operation gets its reply only once the batch in which it was decided is in the
// log, and no promise stands any more that nobody is shown a commit of its tenant (quiet-promises.ts).
//
//          submit                 append: appended            applied to memory, in order
//   queue ────────▶ batch ───────────────────────────▶ commit ──────────────────────────▶ replies
//                     ▲   unknown ▶ read back ▶ repeat    │
//                     │   occupied, lower epoch ▶ next seq│
//                     └──  occupied, higher epoch ▶ lost: the tenure ends, no caller gets a result
//
// Where the previous owner has settled its log, the tenure serves reads before it has an entry of its own. The first
// append then is an empty entry, which fences the log; no operation is decided before. An entry of that previous owner
// in its place would be one that reads have missed: it ends the tenure, and fails every simulation.
//
// An operation of a tenant with a promise joins a batch once that will probably be over by the end of the append: the
// other tenants of the slot do not wait for it.

import { assert } from '../../core/assert.ts';
import { backoffMs, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { AppendOutcome, LogRecord, Stamp } from '../../store/store.ts';
import { currentSpan, type TraceSpan } from '../../telemetry/spans.ts';
import { type SettledLog, ShardFailure } from '../shard.ts';
import { storeDeadline, yieldTurn } from '../store-calls.ts';
import { Draft } from './draft.ts';
import { type EntryOperation, type EntryTime, encodeEntry, encodeOperation, followingBase } from './entries.ts';
import { InFlightOperations } from './idempotency/cache.ts';
import { AppendTimes } from './quiet-promises.ts';
import { type LogEnd, LogTime, timeOfStamp } from './slot-time.ts';
import type { OperationResult } from './write-decisions.ts';
import {
  type Answer,
  type AppenderPorts,
  type Batch,
  commitTraced,
  decidedOf,
  expiredIn,
  GroupCommitWindow,
  type Proposal,
  type QueuedProposal,
  WriteQueue,
  weightOf,
} from './write-queue.ts';

/**
 * Bounds of a batch: about 150 KiB of log, or a write of the largest rules, which is more than half of the largest
 * entry. Applying it to memory is one step of the event
 * loop, of up to ten milliseconds if all its operations are the longest grants of one large subject. A proposal with
 * many changes reserves all that it may need; the proposals after it get what it does not use.
 */
const BATCH_OPERATIONS_MAX = 512;
const BATCH_CHANGES_MAX = 1024;
const BATCH_BYTES_MAX = 720 * 1024;
/** Callers refused in one step. */
const REFUSALS_PER_STEP = 500;
/**
 * Memory of a change that waits or is being appended, without the strings of its call, which the call has reserved.
 */
const CHANGE_BYTES = 1000;
/** Reserved for the head of an entry. */
const ENTRY_HEAD_BYTES = 1024;
const RETRY = { firstMs: 20, maxMs: 1000 };
/** The interval at which a commit that waits for the lease checks it. */
const LEASE_POLL_MS = 20;

const EVERY_TENANT = (): boolean => true;

const nothingDone = (): ShardFailure => new ShardFailure('not-serving', 'The tenure or its lease has ended.');

interface SettingBack extends PromiseWithResolvers<boolean> {
  readonly aheadMs: () => number;
}

export class Appender {
  readonly time: LogTime;
  readonly #ports: AppenderPorts;
  readonly #slot: number;
  readonly #epoch: number;
  #lastSeq: number;
  #nextBase: Stamp;
  readonly #queue = new WriteQueue();
  readonly #inFlight = new InFlightOperations();
  /** Resolves with the next batch, if callers wait for the log to reach the present. */
  #advance: PromiseWithResolvers<void> | undefined;
  #settingBack: SettingBack | undefined;
  #running = false;
  /** Waits for the entry that fences the log. Undefined: the log has one of this epoch. */
  #fencing: PromiseWithResolvers<number> | undefined;
  #settlingSinceMs: number | undefined;
  /** While it is being appended, and until it is committed. */
  #pending: Batch | undefined;
  /** How long it has waited for promises. */
  #heldMs = 0;
  readonly #appendTimes = new AppendTimes();
  /** Ends the wait for promises, while that is all there is to do. */
  #endWait: (() => void) | undefined;
  readonly #commitWindow: GroupCommitWindow;
  #closed: ShardFailure | undefined;
  #idle: (() => void)[] = [];

  constructor(ports: AppenderPorts, end: LogEnd) {
    this.#ports = ports;
    this.#commitWindow = new GroupCommitWindow(ports.clock);
    this.#slot = end.slot;
    this.#epoch = end.epoch;
    this.#lastSeq = end.lastSeq;
    this.#nextBase = end.nextBase;
    this.time = new LogTime(ports.clock, end);
    if (!end.fenced) this.#fencing = Promise.withResolvers();
  }

  /** Resolves with the seq of the first entry of this epoch, once the log has it. */
  fence(): Promise<number> {
    if (this.#fencing === undefined) return Promise.resolve(this.#lastSeq);
    this.#start();
    return this.#fencing.promise;
  }

  /** Undefined: the outcome of an append is not known yet, or there is something to append. */
  get settled(): SettledLog | undefined {
    if (this.#running || this.#hasWork || this.#closed !== undefined) return undefined;
    return { lastSeq: this.#lastSeq, nextBase: this.#nextBase, behindMs: this.behindMs };
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Greater than every stamp in the log. */
  get nextBase(): Stamp {
    return this.#nextBase;
  }

  /** How far the time of entries is behind their bases: the same for all of the tenure. */
  get behindMs(): number {
    return this.time.behindMs;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** The start of the current batch, on the monotonic clock; undefined: none is in flight. */
  get settlingSinceMs(): number | undefined {
    return this.#settlingSinceMs;
  }

  /** The median time of an append; 0: not known yet. */
  get appendMs(): number {
    return this.#appendTimes.medianMs;
  }

  /** Whether a write of the tenant waits or is being appended. */
  isWriting(tenantId: TenantId): boolean {
    return this.#queue.has(tenantId) || this.#pending?.operations.some((each) => each.tenantId === tenantId) === true;
  }

  /** The slot's time after the entry that is being appended. */
  get pendingMs(): number | undefined {
    return this.#pending === undefined ? undefined : this.#timeAfter(this.#pending);
  }

  /** Resolves with the result once it is durable. A repeat of the operation gets the first result. */
  submit(operation: Proposal): Promise<OperationResult> {
    const { requestId, index } = operation;
    const inFlight = this.#inFlight.get(requestId, index);
    if (inFlight !== undefined) return inFlight;
    const { operations, queue: held } = this.#ports;
    const known = operations.restore(requestId, index);
    if (known !== undefined) return 'result' in known ? Promise.resolve(known.result) : Promise.reject(known.error);
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const { bytesMax } = operation;
    const fits = bytesMax <= BATCH_BYTES_MAX - ENTRY_HEAD_BYTES && weightOf(operation) <= BATCH_CHANGES_MAX;
    assert(fits, 'an operation fits into an entry');
    if (!held.hasCapacity || !this.#queue.accepts(operation)) {
      return Promise.reject(new GrantdError('overloaded', 'Too many writes are already waiting. Nothing was changed.'));
    }
    const result = new Promise<OperationResult>((resolve, reject) => {
      this.#queue.add({ ...operation, span: currentSpan(), resolve, reject });
    });
    held.add(CHANGE_BYTES * weightOf(operation));
    this.#inFlight.set(requestId, index, result);
    this.#commitWindow.arrived(this.#queue.length);
    this.#start();
    return result;
  }

  /** Resolves once an entry that is created from now on is in the log; an empty one if there are no writes. */
  advance(): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    this.#advance ??= Promise.withResolvers();
    this.#start();
    return this.#advance.promise;
  }

  /**
   * Appends an entry that sets the time of the log back to the wall clock, and ends the tenure with it. `aheadMs`: how
   * far it is ahead, called in the step that creates the entry; 0: time may not be set back now. Resolves to whether it
   * was.
   */
  setBack(aheadMs: () => number): Promise<boolean> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    this.#settingBack ??= { ...Promise.withResolvers<boolean>(), aheadMs };
    this.#start();
    return this.#settingBack.promise;
  }

  #start(): void {
    this.#endWait?.();
    if (this.#running) return;
    this.#running = true;
    // Operations that arrive in this turn join the same batch.
    this.#ports.clock.setImmediate(() => void this.#run());
  }

  /** Resolves when no operation waits or is in flight. */
  async drained(): Promise<void> {
    if (!this.#running) return;
    this.#commitWindow.end();
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  /** Ends the tenure: refuses waiting operations and appends no more. Operations in flight stay undecided. */
  close(failure: ShardFailure): void {
    if (this.#closed !== undefined) return;
    this.#closed = failure;
    this.#commitWindow.end();
    this.#endWait?.();
    this.#advance?.reject(failure);
    this.#advance = undefined;
    this.#settingBack?.reject(failure);
    this.#settingBack = undefined;
    this.#fencing?.reject(failure);
    this.#fencing = undefined;
    void this.#refuse(this.#queue.clear(), failure);
  }

  async #refuse(refused: readonly QueuedProposal[], failure: ShardFailure): Promise<void> {
    for (const [index, waiting] of refused.entries()) {
      this.#ended(waiting);
      waiting.reject(failure);
      if ((index + 1) % REFUSALS_PER_STEP === 0) await yieldTurn(this.#ports.clock);
    }
  }

  /** Call this right before the reply. */
  #ended(waiting: QueuedProposal): void {
    this.#inFlight.delete(waiting.requestId, waiting.index);
    this.#ports.queue.add(-CHANGE_BYTES * weightOf(waiting));
  }

  async #run(): Promise<void> {
    const { clock } = this.#ports;
    while (this.#hasWork && this.#closed === undefined) {
      if (this.#fencing !== undefined) {
        await this.#appendFence(this.#fencing);
        continue;
      }
      await this.#ports.waitForCapacity();
      // Operations that have arrived by now join this append; the next one is a whole fsync away.
      await yieldTurn(clock);
      if (this.#closed !== undefined) break;
      if (this.#settingBack !== undefined) {
        await this.#setBack(this.#settingBack);
        continue;
      }
      if (this.#advance === undefined && !this.#queue.tenants().some(this.#readiness)) {
        await this.#waitForPromises();
        continue;
      }
      const batch = this.#takeBatch();
      const startedMs = clock.monotonicMs();
      this.#settlingSinceMs = startedMs;
      this.#heldMs = 0;
      const failure = await this.#settle(batch);
      this.#settlingSinceMs = undefined;
      this.#pending = undefined;
      for (const { waiting, result, error } of batch.answers) {
        this.#ended(waiting);
        if (failure !== undefined) waiting.reject(failure);
        else if (result === undefined) waiting.reject(error);
        else waiting.resolve(result);
      }
      if (failure === undefined) batch.advance?.resolve();
      else batch.advance?.reject(failure);
      const tookMs = clock.monotonicMs() - startedMs - this.#heldMs;
      if (this.#idle.length === 0)
        await this.#commitWindow.gather(batch.answers.length, tookMs, () => this.#queue.length);
    }
    this.#running = false;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  /** Whether a write of a tenant need not wait before it is appended. */
  get #readiness(): (tenantId: TenantId) => boolean {
    const { promises, clock } = this.#ports;
    if (!promises.standing) return EVERY_TENANT;
    const endMs = clock.monotonicMs() + this.appendMs;
    return (tenantId) => promises.untilMsOf(tenantId) <= endMs;
  }

  /** Resolves when a write may have become ready, or there is something else to do. */
  async #waitForPromises(): Promise<void> {
    const { promises, clock } = this.#ports;
    const ends = this.#queue.tenants().map((tenantId) => promises.untilMsOf(tenantId));
    const firstMs = ends.reduce((first, endMs) => Math.min(first, endMs));
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(resolve, firstMs - this.appendMs - clock.monotonicMs());
      this.#endWait = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#endWait = undefined;
  }

  get #hasWork(): boolean {
    const { length } = this.#queue;
    const asks = [this.#advance, this.#settingBack, this.#fencing];
    return length > 0 || asks.some((asked) => asked !== undefined);
  }

  async #appendFence(fencing: PromiseWithResolvers<number>): Promise<void> {
    try {
      if (!(await this.#appendEmpty(this.time.next(this.#nextBase)))) return;
      this.#fencing = undefined;
      fencing.resolve(this.#lastSeq);
    } catch (error) {
      this.#loseTo(error);
    }
  }

  async #setBack(asked: SettingBack): Promise<void> {
    this.#settingBack = undefined;
    const aheadMs = asked.aheadMs();
    if (aheadMs === 0) asked.resolve(false);
    else if (await this.#appendEmpty(this.time.setBack(this.#nextBase, aheadMs))) asked.resolve(true);
    else asked.reject(nothingDone());
  }

  /** An entry without operations: whatever it rests on is committed. Resolves to whether it is in the log. */
  async #appendEmpty(time: EntryTime): Promise<boolean> {
    const batch = {
      ...time,
      operations: [],
      encoded: [],
      answers: [],
      spans: new Set<TraceSpan>(),
      advance: undefined,
    };
    this.#settlingSinceMs = this.#ports.clock.monotonicMs();
    const appended = await this.#append(batch);
    this.#settlingSinceMs = undefined;
    return appended === true;
  }

  /**
   * Resolves to undefined if the batch may be acknowledged, otherwise to the failure of its proposals. Without a valid
   * lease nothing is acknowledged, neither a commit nor a write without changes.
   */
  async #settle(batch: Batch): Promise<ShardFailure | undefined> {
    // A batch without changes was decided by committed state, so there is nothing to append.
    if (batch.operations.length === 0 && batch.advance === undefined) {
      if (!this.#ports.leaseValid()) return nothingDone();
      this.#ports.operations.remember(decidedOf(batch));
      return undefined;
    }
    let appended: boolean | undefined;
    try {
      appended = await commitTraced({ slot: this.#slot, ...batch }, () => this.#append(batch));
    } catch (error) {
      this.#loseTo(error);
    }
    if (appended === false) return nothingDone();
    if (appended === true && (await this.#leased())) return undefined;
    return new ShardFailure('undecided', 'The tenure ended while the write was in flight.');
  }

  /** A defect of this program. Memory may differ from the log, so the next recovery of the slot reads the log. */
  #loseTo(error: unknown): void {
    this.#lose(`the append failed: ${error instanceof Error ? error.message : String(error)}`);
  }

  #lose(reason: string): void {
    this.#ports.lost(reason);
    this.close(new ShardFailure('not-serving', 'The tenure has ended.'));
  }

  /** Takes the oldest operation of each tenant in turn, until the entry is full or none waits. */
  #takeBatch(): Batch {
    // Decisions see the time that the log will record for them.
    const time = this.time.next(this.#nextBase);
    const draft = new Draft(timeOfStamp(time.base) - this.behindMs);
    const advance = this.#advance;
    this.#advance = undefined;
    const operations: EntryOperation[] = [];
    const encoded: string[] = [];
    const answers: Answer[] = [];
    const spans = new Set<TraceSpan>();
    const nowMs = this.#ports.clock.monotonicMs();
    const atMs = this.#ports.clock.wallMs();
    let bytesFree = BATCH_BYTES_MAX - ENTRY_HEAD_BYTES;
    let changesFree = BATCH_CHANGES_MAX;
    const fits = (next: QueuedProposal): boolean =>
      answers.length < BATCH_OPERATIONS_MAX && next.bytesMax <= bytesFree && weightOf(next) <= changesFree;
    for (const next of this.#queue.inTurn(fits, this.#readiness)) {
      if (next.span !== undefined) spans.add(next.span);
      const { answer, changes, results } = this.#decide(next, draft, nowMs);
      answers.push(answer);
      changesFree -= next.changesMax === undefined ? 1 : changes.length;
      if (changes.length === 0) continue;
      const { tenantId, actor, requestId, index } = next;
      const operation = { tenantId, actor, requestId, index, atMs, changes, results };
      const text = encodeOperation(operation);
      bytesFree -= Buffer.byteLength(text) + 1;
      operations.push(operation);
      encoded.push(text);
    }
    const batch = { ...time, operations, encoded, answers, spans, advance };
    this.#pending = batch;
    return batch;
  }

  /** The slot's time once the batch is committed. */
  #timeAfter({ base, elapsedMs, operations }: Batch): number {
    return timeOfStamp(followingBase({ base, elapsedMs, operations }) - 1) - this.behindMs;
  }

  #decide(
    waiting: QueuedProposal,
    draft: Draft,
    nowMs: number,
  ): Pick<EntryOperation, 'changes' | 'results'> & { readonly answer: Answer } {
    // The operation may have been restored from the log while it waited.
    const restored = this.#ports.operations.restore(waiting.requestId, waiting.index);
    if (restored !== undefined) return { answer: { waiting, ...restored }, changes: [] };
    if (waiting.expiresAtMs <= nowMs) {
      const error = new ShardFailure('expired', 'The write expired before its turn came.');
      return { answer: { waiting, error }, changes: [] };
    }
    try {
      const { result, changes, results } = waiting.decide(draft);
      draft.add(waiting.tenantId, changes);
      return { answer: { waiting, result }, changes, results };
    } catch (error) {
      return { answer: { waiting, error }, changes: [] };
    }
  }

  /**
   * Resolves to whether the batch is in the log and in memory. False: another owner's entry took its place; undefined:
   * the tenure ended before the outcome was known.
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
        this.#observe('unknown', clock.monotonicMs() - startedMs, batch);
        outcome = await this.#readBack(record);
      }
      if (this.#closed !== undefined) return undefined;
      if (outcome === undefined) {
        await delay(clock, backoffMs(RETRY, failures));
        failures += 1;
        continue;
      }
      const present = outcome.kind === 'appended' ? record : outcome.record;
      if (present.entryId === entryId) {
        const tookMs = clock.monotonicMs() - startedMs;
        if (failures === 0) this.#appendTimes.add(tookMs);
        await this.#promisesOver(batch);
        if (this.#closed !== undefined) return undefined;
        // An owner that was paused for long may have appended at a seq that the next owner has already trimmed, where
        // no reader sees it. If the lease is valid now, no other shard has owned the slot in between, however long the
        // append took. The entry is then part of the log.
        if (!this.#ports.leaseValid() && !(await this.#leased())) return undefined;
        // The next tenure begins with the other time: nothing of this one may see both.
        if ((batch.behindMs ?? 0) !== this.behindMs) this.#lose('the time of its log was set back');
        else this.#commit(batch, record.seq);
        this.#observe('committed', tookMs, batch);
        return true;
      }
      if (present.epoch >= this.#epoch) {
        this.#observe('lost', clock.monotonicMs() - startedMs, batch);
        this.#lose(`the log has epoch ${present.epoch} at seq ${present.seq}`);
        return false;
      }
      // A late write of an earlier epoch. It follows the first entry of a later one, so every reader treats it as void.
      const isMissed = this.#fencing !== undefined && present.epoch === this.#epoch - 1;
      assert(!isMissed, `a log has an entry of its previous owner behind its settled end, at seq ${present.seq}`);
      this.#lastSeq = present.seq;
    }
    return undefined;
  }

  /** Resolves once no promise stands against showing the batch, or the tenure has ended. */
  async #promisesOver(batch: Batch): Promise<void> {
    const { promises, clock } = this.#ports;
    const timeMs = this.#timeAfter(batch);
    const sinceMs = clock.monotonicMs();
    for (let holdMs = promises.holdMs(batch.operations, timeMs); holdMs > 0 && this.#closed === undefined; ) {
      await delay(clock, holdMs);
      holdMs = promises.holdMs(batch.operations, timeMs);
    }
    this.#heldMs = clock.monotonicMs() - sinceMs;
  }

  /** Resolves to true once the lease is valid; false: the tenure has ended. */
  async #leased(): Promise<boolean> {
    while (this.#closed === undefined) {
      if (this.#ports.leaseValid()) return true;
      await delay(this.#ports.clock, LEASE_POLL_MS);
    }
    return false;
  }

  async #readBack(record: LogRecord): Promise<AppendOutcome | undefined> {
    try {
      const present = await this.#ports.log.readRecord(record.slot, record.seq, storeDeadline(this.#ports.clock));
      return present === undefined ? undefined : { kind: 'occupied', record: present };
    } catch {
      return undefined;
    }
  }

  #commit(batch: Batch, seq: number): void {
    assert(seq === this.#lastSeq + 1, 'entries are committed in the order of the log');
    this.#lastSeq = seq;
    const { base, elapsedMs, behindMs, operations } = batch;
    const entry = { seq, base, elapsedMs, behindMs, operations };
    this.#nextBase = followingBase(entry);
    this.#ports.commit(entry);
    this.#ports.operations.remember(decidedOf(batch));
  }

  #observe(outcome: 'committed' | 'lost' | 'unknown', tookMs: number, { operations }: Batch): void {
    const expired = expiredIn(operations);
    this.#ports.observe({ outcome, seconds: tookMs / 1000, operations: operations.length, expired });
  }
}
