// A tenure: one (slot, epoch) at its owner. This object holds everything that is true only while this shard owns the
// slot: tenants with their pages and handles, the queue of writes, the overlay, the operation ids. Invariant:
// everything is dropped together, so nothing of an earlier tenure can reach a later one.
//
//   opening ──recovered──▶ serving ──release──▶ releasing ──flushed──▶ ended
//      └───── another owner, unreadable log ──────────┴──────────────▶ ended

import { assert } from '../../core/assert.ts';
import { type Clock, delay } from '../../core/async/clock.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenants.ts';
import type { GrantCountRow, GrantCountWrite, LogRecord, SlotRow, Stamp, Store } from '../../store/store.ts';
import type { PageLimits, ReaderLimits } from '../memory/limits.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { DueTenants, TenantMemory, type TenantMemoryDependencies } from '../memory/tenant-memory.ts';
import { TextOrder } from '../memory/text-order.ts';
import type { HeldBytes, WriteKind } from '../memory/write-memory.ts';
import { QUIET_SLACK_MS, type SettledLog, ShardFailure, type SlotStatus } from '../shard.ts';
import { Appender } from './appender.ts';
import { Applier } from './applier.ts';
import type { CommitCounts } from './commit-counts.ts';
import { checkpointStamp, LogUnreadableError } from './entries.ts';
import { HotPages, type PageAhead, type PreloadOutcome } from './hot-pages.ts';
import { OperationMemory } from './idempotency/cache.ts';
import { decidedIn, rebuildWithin } from './idempotency/rebuild.ts';
import { IdempotencyWindow } from './idempotency/window.ts';
import type { LogTail } from './log-tail.ts';
import type { SlotPromises } from './quiet-promises.ts';
import {
  type RecoveryPorts,
  readSlotState,
  rebuildWindow,
  recordOpened,
  recoverLog,
  recoverSettledLog,
  Slice,
  type SlotState,
} from './recovery.ts';
import { type LogEnd, type LogTime, SlotTime, timeOfStamp } from './slot-time.ts';
import { storeLastUsage } from './usage-store.ts';
import type { OperationResult } from './write-decisions.ts';
import type { AppenderPorts, CommittedEntry, Proposal } from './write-queue.ts';

/** The interval at which an opening that waits for the lease checks it. */
const LEASE_POLL_MS = 20;

export class Tenure {
  readonly slot: number;
  readonly epoch: number;
  readonly owner: string;
  /** The first seq that the log still has. */
  first: number;
  readonly tenants = new Map<TenantId, TenantMemory>();
  /** The ids of `tenants`. */
  readonly tenantIds = new TextOrder<TenantId>();
  readonly due = new DueTenants();
  readonly leftovers: Leftovers = { deletedTenants: undefined, notBeforeMs: 0 };
  readonly budget: TenureDependencies['budget'];
  readonly hotPages: HotPages;
  /** By which its grants expire. */
  readonly slotTime: SlotTime;
  /** Tenants that have, or had, grants that expire. */
  readonly expiring = new Set<TenantMemory>();
  readonly #dependencies: TenureDependencies;
  readonly #memoryDependencies: TenantMemoryDependencies;
  readonly #row: SlotRow;
  readonly #operations: OperationMemory;
  readonly #held: { readonly [Kind in WriteKind]: HeldBytes };
  /** Whether the operation ids of all replayed entries are known. While memory is short they are read back later. */
  #replayedKnown = true;
  #grants = 0;
  #state: SlotStatus['state'] | 'ended' = 'opening';
  /** The seq of the entry with which it began to serve. */
  begunSeq = 0;
  /** Whether it still promises anything: not once the slot is about to move. */
  mayPromise = true;
  #appender: Appender | undefined;
  #applier: Applier | undefined;
  #window: IdempotencyWindow | undefined;
  #rebuilding: Promise<void> | undefined;

  /** `row`: the claim that made `owner` the owner. */
  constructor(row: SlotRow, owner: string, dependencies: TenureDependencies) {
    this.slot = row.slot;
    this.epoch = row.epoch;
    this.owner = owner;
    this.#row = row;
    this.first = row.first;
    this.#dependencies = dependencies;
    this.#memoryDependencies = { ...dependencies, applied: () => this.applied(), due: this.due };
    const { clock, operationsKeptMs, budget } = dependencies;
    this.budget = budget;
    this.slotTime = new SlotTime(clock, this);
    this.hotPages = new HotPages(dependencies, this);
    const hold = (kind: WriteKind): HeldBytes => budget.writes.hold(kind);
    this.#held = { queue: hold('queue'), backlog: hold('backlog'), operations: hold('operations') };
    this.#operations = new OperationMemory(clock, operationsKeptMs, this.#held.operations);
  }

  get state(): SlotStatus['state'] | 'ended' {
    return this.#state;
  }

  /** Whether the tenure accepts requests. Answering also requires the lease: `assertServing`. */
  get serving(): boolean {
    return this.#state === 'serving';
  }

  get lastSeq(): number {
    return this.#appender?.lastSeq ?? 0;
  }

  get queueLength(): number {
    return this.#appender?.queueLength ?? 0;
  }

  /** The start of the append in flight, and of the wait of appended entries for the applier; undefined: none. */
  get waits(): { readonly appendSinceMs: number | undefined; readonly applySinceMs: number | undefined } {
    return { appendSinceMs: this.#appender?.settlingSinceMs, applySinceMs: this.#applier?.waitingSinceMs };
  }

  get checkpointSeq(): number {
    return this.#applier?.checkpointSeq ?? 0;
  }

  /** The start of the idempotency window in the stored checkpoint: nothing from there on may be trimmed. */
  get windowFrom(): number {
    return this.#applier?.windowFrom ?? 0;
  }

  /** Entries up to this one are in the state tables. */
  get appliedSeq(): number {
    return this.#applier?.appliedSeq ?? 0;
  }

  /** Live grants of all its tenants. */
  get grants(): number {
    return this.#grants;
  }

  /** Log entries that the state tables do not contain yet. */
  get lagEntries(): number {
    return this.#appender === undefined || this.#applier === undefined ? 0 : this.lastSeq - this.#applier.appliedSeq;
  }

  status(): SlotStatus | undefined {
    if (this.#state === 'ended') return undefined;
    const { slot, epoch, lastSeq: logEnd, checkpointSeq: checkpoint } = this;
    const { size: tenants } = this.tenants;
    return { slot, epoch, state: this.#state, logEnd, checkpoint, tenants };
  }

  /**
   * Recovers the slot and serves it. Throws if it cannot; the tenure has then ended. `reading`: the state of the slot,
   * if the caller has begun to read it. `settled`: where the log ends, if the previous owner has said so.
   */
  async open(reading?: Promise<SlotState>, settled?: SettledLog): Promise<void> {
    const { store, clock, ids, segmentSize } = this.#dependencies;
    const replay = (entry: CommittedEntry) => this.#replay(entry);
    const ports: RecoveryPorts = { store, clock, ids, segmentSize, replay, leased: () => this.#leased() };
    let tail: LogTail | undefined;
    try {
      const state = await this.#stateOf(reading);
      const { checkpoint, tenants, grantCounts, ahead } = state;
      tail = state.tail?.move();
      if (this.#state !== 'opening') throw this.#notServing();
      const windowFrom = Math.max(checkpoint.windowFrom, this.#row.first);
      const window = new IdempotencyWindow(clock, this.#dependencies.operationsKeptMs, windowFrom);
      this.#window = window;
      this.#applier = this.#createApplier(checkpoint, window);
      const slice = new Slice(clock);
      for (const tenant of tenants) {
        await slice.giveWay();
        if (tenant.state === 'deleted') this.leftovers.deletedTenants ??= { after: undefined };
        else this.#addTenant(tenant, false);
      }
      for (const row of grantCounts) this.#loadCount(row);
      await this.#takeIn(ahead?.pages ?? [], slice);
      const end = await (settled === undefined
        ? recoverLog(ports, this.#row, checkpoint, tail)
        : recoverSettledLog(ports, this.#row, checkpoint, settled));
      this.#expectExpiries(grantCounts, end);
      // Those of an earlier tenure in this process, which may have committed what this one has found in the log.
      await this.#dependencies.promises.over();
      if (this.#state !== 'opening') throw this.#notServing();
      this.begunSeq = end.lastSeq;
      this.#appender = new Appender(
        {
          log: store,
          clock,
          ids,
          operations: this.#operations,
          queue: this.#held.queue,
          commit: (entry) => this.#commit(entry),
          waitForCapacity: () => this.#waitForCapacity(),
          promises: this.#dependencies.promises,
          leaseValid: this.#dependencies.leaseValid,
          lost: (reason) => this.#lose(reason),
          observe: this.#dependencies.observeAppend,
        },
        end,
      );
      assert(this.#state === 'opening', 'a tenure is opened once');
      this.#state = 'serving';
      this.#dependencies.commitCounts?.raise(this.slot);
      this.hotPages.preload(ahead?.list);
      // Rejects with the end of the tenure.
      void this.#appender.fence().then(
        (opened) => this.#recordOpened(opened),
        () => {},
      );
      const checkpointSeq = this.#replayedKnown ? checkpoint.seq : end.lastSeq;
      const range = { windowFrom, checkpointSeq };
      this.#rebuilding = this.#rebuildWindow(window, range, end, tail?.records).finally(() => tail?.[Symbol.dispose]());
    } catch (error) {
      tail?.[Symbol.dispose]();
      this.end('The slot could not be opened.');
      throw error;
    }
  }

  #recordOpened(opened: number): Promise<void> {
    return recordOpened(this.#dependencies, this, opened, (reason) => this.#lose(reason));
  }

  #loadCount(row: GrantCountRow): void {
    const memory = this.tenants.get(row.tenantId);
    if (memory === undefined) return;
    memory.grantCount.load(row);
    this.#grants += row.grants;
  }

  /** Their grants may have begun to expire from there on. The time of the log is known once it was replayed. */
  #expectExpiries(grantCounts: readonly GrantCountRow[], { behindMs }: LogEnd): void {
    for (const { tenantId, collectedToBaseMs } of grantCounts) {
      const memory = this.tenants.get(tenantId);
      if (memory === undefined || collectedToBaseMs === undefined) continue;
      memory.expect(Math.max(collectedToBaseMs - behindMs, 0));
      this.expiring.add(memory);
    }
  }

  /** What was read of the slot, unless the log has been trimmed since, so that a replay can no longer complete it. */
  async #stateOf(reading: Promise<SlotState> | undefined): Promise<SlotState> {
    const state = await reading;
    // The replay begins with the entry at the checkpoint.
    const from = state === undefined ? 0 : Math.max(state.checkpoint.seq, 1);
    if (state !== undefined && from >= this.#row.first) return state;
    return readSlotState(this.#dependencies, this.slot);
  }

  /** Pages that were read before: the replay of the log puts over them whatever was committed since. */
  async #takeIn(pages: readonly PageAhead[], slice: Slice): Promise<void> {
    for (const { tenantId, side, entity, rows } of pages) {
      await slice.giveWay();
      this.tenants.get(tenantId)?.pagesOf(side).take(entity, rows);
      this.#dependencies.observePreload('loaded');
    }
    for (const tenantId of new Set(pages.map((page) => page.tenantId))) void this.tenants.get(tenantId)?.loadSettings();
  }

  /** Whether the operation ids of earlier owners are known, so that no more of the log is read back. */
  get restored(): boolean {
    return this.#rebuilding === undefined;
  }

  /** Resolves with the result once it is durable. */
  submit(operation: Proposal): Promise<OperationResult> {
    if (this.#appender === undefined || this.#state !== 'serving') return Promise.reject(this.#notServing());
    return this.#appender.submit(operation);
  }

  /** Resolves once the log has reached the time at which this was called: see slot-time.ts. */
  advance(): Promise<void> {
    if (this.#appender === undefined || this.#state !== 'serving') return Promise.reject(this.#notServing());
    return this.#appender.advance();
  }

  /** Sets time back to the wall clock, and ends with that: see `Appender.setBack` and time-repair.ts. */
  setBack(aheadMs: () => number): Promise<boolean> {
    if (this.#appender === undefined || this.#state !== 'serving') return Promise.reject(this.#notServing());
    return this.#appender.setBack(aheadMs);
  }

  /** How far its time is behind the bases of its log: the same for all of the tenure. */
  get behindMs(): number {
    return this.#appender?.behindMs ?? 0;
  }

  /** Greater than the stamp of every commit so far. */
  get nextBase(): Stamp {
    return this.#appender?.nextBase ?? 0;
  }

  /** Undefined before the first entry. */
  get time(): LogTime | undefined {
    return this.#appender?.time;
  }

  /**
   * Promises that for so many ms from now nobody is shown a new commit of the tenant, nor that one of its grants has
   * expired; 0: nothing is promised. To be called where the lease was found valid, in the same step.
   */
  promiseQuiet(memory: TenantMemory): number {
    const { clock, promises, leaseLeftMs } = this.#dependencies;
    const { quietMs, restedMs } = this.#dependencies.readerLimits;
    const appender = this.#appender;
    if (appender === undefined || !this.mayPromise || appender.isWriting(memory.tenantId)) return 0;
    const isRested = clock.monotonicMs() - memory.keepCommits(this.lastSeq).committedAtMs >= restedMs;
    // A successor that waits for the lease shows nothing before it is over. Without end: the store belongs to this
    // process, and its readers to the same, where they seldom have to ask.
    const leftMs = leaseLeftMs();
    if (leftMs === Number.POSITIVE_INFINITY) return 0;
    const ms = Math.floor(Math.min(isRested ? quietMs : appender.appendMs, quietMs, leftMs));
    const { nowMs } = this.slotTime;
    if (memory.uncollectedMs <= nowMs + ms + QUIET_SLACK_MS) return 0;
    return promises.give(memory.tenantId, ms, nowMs, appender.pendingMs);
  }

  /** Resolves when the state tables contain every commit so far. */
  async applied(): Promise<void> {
    await this.#applier?.applied(this.lastSeq);
    if (!this.serving) throw this.#notServing();
  }

  /** Resolves when no recovery will replay any commit made so far. */
  async checkpointed(): Promise<void> {
    await this.#applier?.flush();
    if (!this.serving) throw this.#notServing();
  }

  /** Throws `not-serving` unless the shard may answer now. Call it again after the last await before answering. */
  assertServing(): void {
    if (this.#state !== 'serving') throw this.#notServing();
    if (!this.#dependencies.leaseValid()) {
      throw new ShardFailure(
        'not-serving',
        'The shard has no valid lease, or its clock is wrong: it cannot be sure of what it would answer.',
      );
    }
  }

  /**
   * Accepts no more requests and finishes what is in flight (with `flush`, also applies and checkpoints it). Takes at
   * most `limitMs`, since the next owner recovers from the log anyway. Afterwards the slot may be released, and is
   * never served again in this epoch. Resolves with the end of the log if no append is in doubt.
   */
  async release({
    limitMs,
    flush,
  }: {
    readonly limitMs: number;
    readonly flush: boolean;
  }): Promise<SettledLog | undefined> {
    if (this.#state !== 'serving') return undefined;
    this.#state = 'releasing';
    const finished = this.#appender?.drained().then(() => (flush ? this.#applier?.flush() : undefined));
    await Promise.race([finished, delay(this.#dependencies.clock, limitMs)]);
    const settled = this.#appender?.settled;
    // Nothing is appended or applied any more, whatever happens to the slot.
    this.#appender?.close(new ShardFailure('not-serving', 'The slot was released.'));
    this.#applier?.close();
    this.#dependencies.commitCounts?.raise(this.slot);
    return settled;
  }

  /** Ends a tenure that was released, and stores what no next owner waits for. Takes at most `limitMs`. */
  async leave(limitMs: number): Promise<void> {
    if (this.#state !== 'releasing') return;
    const stored = Promise.all([this.hotPages.storeNow(), storeLastUsage(this.#dependencies, this.due)]);
    this.end('The slot was released.');
    await Promise.race([stored, delay(this.#dependencies.clock, limitMs)]);
  }

  /** Drops everything. Acknowledged writes are in the log. */
  end(reason: string): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#dependencies.commitCounts?.raise(this.slot);
    this.#appender?.close(new ShardFailure('not-serving', reason));
    this.#applier?.close();
    this.hotPages.end();
    for (const memory of this.tenants.values()) memory.drop();
    this.tenants.clear();
    this.expiring.clear();
    this.#operations.drop();
    this.#held.queue.close();
  }

  #notServing(): ShardFailure {
    return new ShardFailure('not-serving', `Slot ${this.slot} is ${this.#state}.`);
  }

  #lose(reason: string): void {
    if (this.#state === 'ended') return;
    this.end(reason);
    this.#dependencies.onLost(reason);
  }

  #createApplier(checkpoint: ConstructorParameters<typeof Applier>[2], window: IdempotencyWindow): Applier {
    const { store, clock, observeState } = this.#dependencies;
    return new Applier(
      {
        store,
        clock,
        window,
        backlog: this.#held.backlog,
        confirm: (tenants, seq) => {
          for (const tenantId of tenants) this.tenants.get(tenantId)?.confirm(seq);
        },
        wrote: (rows) => observeState({ rows }),
        failed: (error) => observeState({ error }),
      },
      this.slot,
      checkpoint,
    );
  }

  /** Resolves once the lease is valid; rejects if the tenure has ended. */
  async #leased(): Promise<void> {
    while (this.#state !== 'ended') {
      if (this.#dependencies.leaseValid()) return;
      await delay(this.#dependencies.clock, LEASE_POLL_MS);
    }
    throw this.#notServing();
  }

  async #waitForCapacity(): Promise<void> {
    await this.#rebuilding;
    const { backlog, operations } = this.#held;
    while (true) {
      if (!backlog.hasCapacity) this.#dependencies.observeWait(this.slot, 'backlog');
      await this.#applier?.waitForCapacity();
      if (operations.hasCapacity) return;
      this.#dependencies.observeWait(this.slot, 'operations');
      await operations.waitForCapacity();
    }
  }

  /** Writes wait for this. A log that cannot be trusted ends the tenure. */
  async #rebuildWindow(
    window: IdempotencyWindow,
    range: Parameters<typeof rebuildWindow>[2],
    { openedAtMs }: LogEnd,
    known: readonly LogRecord[] | undefined,
  ): Promise<void> {
    const { store, clock, segmentSize, operationsKeptMs, budget, observeWait } = this.#dependencies;
    try {
      await rebuildWithin(
        {
          clock,
          operations: this.#operations,
          held: this.#held.operations,
          order: budget.writes.rebuilds,
          openedAtMs,
          keepMs: operationsKeptMs,
          ended: () => this.#state === 'ended',
          onWait: () => observeWait(this.slot, 'operations'),
        },
        async (ports) => {
          const tail = { store, clock, segmentSize, operationsKeptMs, ...ports };
          const knownFrom = await rebuildWindow(tail, this.slot, range, known);
          // If the rebuild ended early, the window has passed: everything decided before the opening has left it.
          if (this.#state !== 'ended') window.startAt(knownFrom);
        },
      );
    } catch (error) {
      if (!(error instanceof LogUnreadableError)) throw error;
      this.#lose(error.message);
    }
    this.#rebuilding = undefined;
  }

  async #replay(entry: CommittedEntry): Promise<void> {
    // The session may have ended in the meantime.
    if (this.#state === 'ended') throw this.#notServing();
    this.#replayedKnown &&= this.#held.operations.processHasCapacity;
    if (this.#replayedKnown) this.#operations.remember(decidedIn(entry));
    this.#commit(entry);
    await this.#applier?.waitForCapacity();
  }

  #commit(entry: CommittedEntry): void {
    this.#dependencies.commitCounts?.raise(this.slot);
    const counted = new Set<TenantMemory>();
    for (const { tenantId, changes } of entry.operations) {
      for (const change of changes) {
        if (change.kind === 'tenant-created' && !this.tenants.has(tenantId)) this.#addTenant(change.tenant, true);
        const memory = this.tenants.get(tenantId);
        if (memory === undefined) continue;
        const { grants } = memory.grantCount;
        if (memory.commit(change, entry.seq)) counted.add(memory);
        this.#grants += memory.grantCount.grants - grants;
        if (memory.nextExpiryMs !== undefined) this.expiring.add(memory);
        if (change.kind === 'tenant-updated' && change.tenant.state === 'deleted') {
          memory.drop();
          this.#grants -= memory.grantCount.grants;
          this.tenants.delete(tenantId);
          this.tenantIds.delete(tenantId);
          this.expiring.delete(memory);
        }
      }
    }
    this.#publish(entry);
    this.#window?.add(entry.seq);
    const stamp = checkpointStamp(entry);
    const rows = Array.from(counted, ({ tenantId, grantCount }) => grantCount.row(tenantId, entry.seq));
    const counts = rows.map((row): GrantCountWrite => ({ kind: 'grant-count', slot: this.slot, row, stamp }));
    this.#applier?.add(entry, counts);
  }

  /**
   * Publishes a committed entry to the change feeds of its tenants. Memory has the whole entry by then, so a follower
   * finds its key, its tenant and the pages as the entry left them. An operation without followers costs one lookup.
   */
  #publish({ seq, base, operations }: CommittedEntry): void {
    const timeMs = timeOfStamp(base);
    let index = 0;
    for (const operation of operations) {
      this.tenants.get(operation.tenantId)?.publish(operation.changes, operation, { seq, index, timeMs });
      index += operation.changes.length;
    }
  }

  /** `isNew`: every grant that it has is committed after this. */
  #addTenant(tenant: Tenant, isNew: boolean): void {
    this.tenantIds.add(tenant.tenantId);
    this.tenants.set(tenant.tenantId, new TenantMemory(tenant, isNew, this.#memoryDependencies));
  }
}

/** The ports and bounds of the shard, and the observers of the tenure's work. */
export interface TenureDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly budget: MemoryBudget;
  readonly pageLimits: PageLimits;
  readonly readerLimits: ReaderLimits;
  readonly segmentSize: number;
  /** Raised in the step of each commit, for readers in this process. Undefined: there are none. */
  readonly commitCounts?: CommitCounts | undefined;
  /** How long operation ids are kept: twice the deadline. */
  readonly operationsKeptMs: number;
  /** Whether the owner's lease, and its wall clock, let it answer now. */
  readonly leaseValid: () => boolean;
  /** How long the lease is valid without a further heartbeat. Infinite: it does not expire. */
  readonly leaseLeftMs: () => number;
  /** What this process has promised about the slot. */
  readonly promises: SlotPromises;
  readonly observeAppend: AppenderPorts['observe'];
  readonly observeState: (outcome: { readonly rows: number } | { readonly error: unknown }) => void;
  /** Called when writes of a slot wait for memory. */
  readonly observeWait: (slot: number, kind: WriteKind) => void;
  /** A slot's list of hot pages is stored at most this often. Default: every 30 seconds. */
  readonly hotPagesWriteMs?: number | undefined;
  readonly observePreload: (outcome: PreloadOutcome) => void;
  /** The tenure ended unexpectedly. */
  readonly onLost: (reason: string) => void;
}

/** Obsolete rows that the tenure has found; its maintenance removes them. */
export interface Leftovers {
  /** Where the removal of deleted tenants' records continues; undefined: there are none. */
  deletedTenants: { readonly after: TenantId | undefined } | undefined;
  /** Not before this time, on the monotonic clock. */
  notBeforeMs: number;
}

/** What the calls of peers need of the tenure that answers them: the owner's own, or what a reader has of it. */
export interface ServedTenure
  extends Pick<
    Tenure,
    | 'slot'
    | 'epoch'
    | 'budget'
    | 'slotTime'
    | 'begunSeq'
    | 'lastSeq'
    | 'nextBase'
    | 'behindMs'
    | 'time'
    | 'assertServing'
    | 'advance'
    | 'applied'
    | 'checkpointed'
    | 'submit'
  > {
  readonly hotPages: Pick<HotPages, 'note' | 'sample'>;
}
