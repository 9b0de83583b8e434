// The applier of one tenure: write-behind. It writes committed entries to the state tables in log order, reports
// confirmed entries to memory, and moves the checkpoint, never past what is confirmed. It retries a failed batch until
// it succeeds: state writes are stamped, so a repeat changes nothing. Its backlog is bounded: if it lags, writes wait.
// The backlog consists of entries; their rows are derived only for the write. Rows would be several times as large, and
// would outlive several garbage collections.
//
// The grant counts that a batch changed are written once, with its last entry. No checkpoint precedes them, so a stored
// count is never behind the checkpoint.
//
// A checkpoint also records where the idempotency window begins. An idle slot writes it once more when the window is
// empty, so that the next owner has nothing to read back.

import { assert } from '../../core/assert.ts';
import { backoffMs, type Clock, delay, type Timer } from '../../core/async/clock.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Checkpoint, GrantCountWrite, StateStore, StateWrite } from '../../store/store.ts';
import { countStateRows, deriveState, lengthOf } from '../log-changes.ts';
import type { HeldBytes } from '../memory/write-memory.ts';
import { storeDeadline } from '../store-calls.ts';
import { checkpointStamp } from './entries.ts';
import type { IdempotencyWindow } from './idempotency/window.ts';
import type { CommittedEntry } from './write-queue.ts';

/** Rows in one call to the store. */
const WRITES_PER_CALL = 4000;
/** Their approximate memory: a row of rules can be as long as a thousand others. */
const BYTES_PER_CALL = 16 * 1024 * 1024;
/** Backlog of rows at which writes to the slot wait. All slots together also have a bound in bytes. */
const LAG_WRITES_MAX = 40_000;
/**
 * At most the memory of a row's part of its entry and of the overlay, and of the row itself while it is written,
 * without the strings of its grant.
 */
const ROW_BYTES = 500;
/** Each character occurs in the change and in the row of the audit log. */
const BYTES_PER_CHARACTER = 4;
/**
 * How long entries gather before they are written, unless a caller waits for them. Rows of one partition then share a
 * mutation, and appends, which callers do wait for, have the store to themselves. A restart replays one second of
 * entries in any case.
 */
const GATHER_MS = 500;
/** About the most that a restart replays. */
const CHECKPOINT_ENTRIES = 256;
const CHECKPOINT_MS = 1000;
const RETRY = { firstMs: 50, maxMs: 2000 };

export interface ApplierPorts {
  readonly store: StateStore;
  readonly clock: Clock;
  /** Entries are added to the window before they are added here. */
  readonly window: Pick<IdempotencyWindow, 'from' | 'emptyInMs'>;
  /** Bytes held by the backlogs of all slots. */
  readonly backlog: HeldBytes;
  /** The state tables now contain the changes of these tenants up to `seq`. */
  readonly confirm: (tenants: ReadonlySet<TenantId>, seq: number) => void;
  /** Called with the number of rows written. */
  readonly wrote: (rows: number) => void;
  readonly failed: (error: unknown) => void;
}

type CheckpointAtEntry = Omit<Checkpoint, 'windowFrom'>;

interface PendingEntry {
  readonly entry: CommittedEntry;
  readonly checkpoint: CheckpointAtEntry;
  readonly rows: number;
  readonly counts: readonly GrantCountWrite[];
  readonly bytes: number;
}

export class Applier {
  readonly #ports: ApplierPorts;
  readonly #slot: number;
  readonly #pending: PendingEntry[] = [];
  #pendingRows = 0;
  #progressAtMs = 0;
  #running = false;
  #closed = false;
  #endGathering: (() => void) | undefined;
  #applied: CheckpointAtEntry;
  #checkpoint: Checkpoint;
  #checkpointedAtMs: number;
  #checkpointTimer = false;
  #windowTimer: Timer | undefined;
  #waiters: { readonly seq: number; readonly resolve: () => void }[] = [];
  #capacityWaiters: (() => void)[] = [];

  constructor(ports: ApplierPorts, slot: number, checkpoint: Checkpoint) {
    this.#ports = ports;
    this.#slot = slot;
    this.#applied = checkpoint;
    this.#checkpoint = checkpoint;
    this.#checkpointedAtMs = ports.clock.monotonicMs();
  }

  /** The state tables contain every entry up to here. */
  get appliedSeq(): number {
    return this.#applied.seq;
  }

  /** The stored checkpoint: the state tables contain every entry up to here. */
  get checkpointSeq(): number {
    return this.#checkpoint.seq;
  }

  /** The time of the last progress while entries wait, on the monotonic clock; undefined: none waits. */
  get waitingSinceMs(): number | undefined {
    return this.#pending.length === 0 ? undefined : this.#progressAtMs;
  }

  /** The store knows that the idempotency window begins here, or later. */
  get windowFrom(): number {
    return this.#checkpoint.windowFrom;
  }

  get hasCapacity(): boolean {
    return this.#pendingRows < LAG_WRITES_MAX && this.#ports.backlog.hasCapacity;
  }

  /** Resolves when the backlog is within its bounds, or the tenure has ended. */
  async waitForCapacity(): Promise<void> {
    while (!this.hasCapacity && !this.#closed) {
      this.#endGathering?.();
      if (!this.#ports.backlog.hasCapacity) {
        await this.#ports.backlog.waitForCapacity();
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#capacityWaiters.push(resolve);
      });
    }
  }

  /** Entries come in log order, each with the grant counts that it changed. */
  add(entry: CommittedEntry, counts: readonly GrantCountWrite[] = []): void {
    if (this.#closed) return;
    let rows = 0;
    let characters = 0;
    for (const { changes } of entry.operations) {
      for (const change of changes) {
        characters += lengthOf(change);
        rows += countStateRows(change);
      }
    }
    const checkpoint = { seq: entry.seq, stamp: checkpointStamp(entry) };
    if (this.#pending.length === 0) this.#progressAtMs = this.#ports.clock.monotonicMs();
    const bytes = ROW_BYTES * rows + BYTES_PER_CHARACTER * characters;
    this.#pending.push({ entry, checkpoint, rows, counts, bytes });
    this.#pendingRows += rows;
    this.#ports.backlog.add(bytes);
    if (this.#isUrgent) this.#endGathering?.();
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  get #isUrgent(): boolean {
    if (this.#closed || this.#waiters.length > 0 || this.#pendingRows >= WRITES_PER_CALL) return true;
    return !this.#ports.backlog.hasCapacity;
  }

  /** Resolves when the state tables contain every entry up to `seq`, or the tenure has ended. */
  applied(seq: number): Promise<void> {
    if (this.#applied.seq >= seq || this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ seq, resolve });
      this.#endGathering?.();
    });
  }

  /** Resolves when everything added so far is applied and behind the checkpoint, or the tenure has ended. */
  async flush(): Promise<void> {
    const seq = this.#pending.at(-1)?.entry.seq ?? this.#applied.seq;
    await this.applied(seq);
    while (!this.#closed) {
      await this.#writeCheckpoint();
      if (this.#checkpoint.seq >= seq) return;
      await delay(this.#ports.clock, RETRY.firstMs);
    }
  }

  /** The tenure has ended: writes nothing more. Entries that were not applied are in the log. */
  close(): void {
    this.#closed = true;
    this.#ports.backlog.close();
    this.#endGathering?.();
    this.#windowTimer?.cancel();
    const waiters = [...this.#capacityWaiters, ...this.#waiters.map(({ resolve }) => resolve)];
    this.#capacityWaiters = [];
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0 && !this.#closed) {
      await this.#gather();
      if (this.#closed) break;
      const { taken, rows, counts } = this.#take();
      const last = taken.at(-1);
      assert(last !== undefined, 'at least one entry was taken');
      if (!(await this.#write([...this.#rowsOf(taken), ...counts]))) break;
      this.#pending.splice(0, taken.length);
      this.#ports.wrote(rows + counts.length);
      this.#ports.confirm(tenantsIn(taken), last.entry.seq);
      this.#ports.backlog.add(-taken.reduce((bytes, pending) => bytes + pending.bytes, 0));
      this.#pendingRows -= rows;
      this.#progressAtMs = this.#ports.clock.monotonicMs();
      this.#applied = last.checkpoint;
      this.#wake();
      await this.#checkpointIfDue();
    }
    this.#running = false;
    this.#scheduleCheckpoint();
  }

  async #gather(): Promise<void> {
    if (this.#isUrgent) return;
    await new Promise<void>((resolve) => {
      const timer = this.#ports.clock.setTimer(resolve, GATHER_MS);
      this.#endGathering = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#endGathering = undefined;
  }

  /** The next entries, and the counts after them. */
  #take(): { taken: readonly PendingEntry[]; rows: number; counts: readonly GrantCountWrite[] } {
    const taken: PendingEntry[] = [];
    const counts = new Map<TenantId, GrantCountWrite>();
    let rows = 0;
    let bytes = 0;
    for (const pending of this.#pending) {
      bytes += pending.bytes;
      if (taken.length > 0 && (rows + pending.rows > WRITES_PER_CALL || bytes > BYTES_PER_CALL)) break;
      rows += pending.rows;
      taken.push(pending);
      for (const count of pending.counts) counts.set(count.row.tenantId, count);
    }
    return { taken, rows, counts: [...counts.values()] };
  }

  #rowsOf(taken: readonly PendingEntry[]): StateWrite[] {
    const writes: StateWrite[] = [];
    for (const { entry } of taken) {
      let index = 0;
      for (const operation of entry.operations) {
        for (const change of operation.changes) {
          const position = { slot: this.#slot, seq: entry.seq, index, stamp: entry.base + index };
          for (const row of deriveState(change, operation, position)) writes.push(row);
          index += 1;
        }
      }
    }
    return writes;
  }

  async #write(writes: readonly StateWrite[]): Promise<boolean> {
    for (let failures = 0; !this.#closed; failures += 1) {
      try {
        if (writes.length > 0) await this.#ports.store.writeState(writes, storeDeadline(this.#ports.clock));
        return !this.#closed;
      } catch (error) {
        this.#ports.failed(error);
        await delay(this.#ports.clock, backoffMs(RETRY, failures));
      }
    }
    return false;
  }

  #wake(): void {
    const { seq } = this.#applied;
    const ready = this.#waiters.filter((waiter) => waiter.seq <= seq);
    this.#waiters = this.#waiters.filter((waiter) => waiter.seq > seq);
    for (const { resolve } of ready) resolve();
    if (this.#pendingRows >= LAG_WRITES_MAX) return;
    const waiting = this.#capacityWaiters;
    this.#capacityWaiters = [];
    for (const resolve of waiting) resolve();
  }

  async #checkpointIfDue(): Promise<void> {
    const entries = this.#applied.seq - this.#checkpoint.seq;
    const elapsedMs = this.#ports.clock.monotonicMs() - this.#checkpointedAtMs;
    if (entries >= CHECKPOINT_ENTRIES || (entries > 0 && elapsedMs >= CHECKPOINT_MS)) await this.#writeCheckpoint();
  }

  /** An idle applier writes a checkpoint at its end a little later. */
  #scheduleCheckpoint(): void {
    if (this.#checkpointTimer || this.#closed) return;
    if (this.#checkpoint.seq === this.#applied.seq) {
      this.#scheduleWindow();
      return;
    }
    this.#checkpointTimer = true;
    this.#ports.clock.setTimer(() => {
      this.#checkpointTimer = false;
      if (!this.#running) void this.#writeCheckpoint().then(() => this.#scheduleCheckpoint());
    }, CHECKPOINT_MS);
  }

  /** Writes one more checkpoint when the idempotency window is empty. */
  #scheduleWindow(): void {
    this.#windowTimer?.cancel();
    if (this.#checkpoint.windowFrom > this.#checkpoint.seq) return;
    const delayMs = Math.max(CHECKPOINT_MS, Math.ceil(this.#ports.window.emptyInMs));
    this.#windowTimer = this.#ports.clock.setTimer(() => {
      if (!this.#running) void this.#writeCheckpoint().then(() => this.#scheduleCheckpoint());
    }, delayMs);
  }

  async #writeCheckpoint(): Promise<void> {
    const windowFrom = Math.min(this.#ports.window.from, this.#applied.seq + 1);
    const checkpoint = { ...this.#applied, windowFrom };
    if (this.#closed || !isLater(checkpoint, this.#checkpoint)) return;
    try {
      await this.#ports.store.writeCheckpoint(this.#slot, checkpoint, storeDeadline(this.#ports.clock));
      if (isLater(checkpoint, this.#checkpoint)) this.#checkpoint = checkpoint;
      this.#checkpointedAtMs = this.#ports.clock.monotonicMs();
    } catch (error) {
      this.#ports.failed(error);
    }
  }
}

const tenantsIn = (taken: readonly PendingEntry[]): ReadonlySet<TenantId> =>
  new Set(taken.flatMap(({ entry }) => entry.operations.map(({ tenantId }) => tenantId)));

function isLater(checkpoint: Checkpoint, than: Checkpoint): boolean {
  return checkpoint.seq > than.seq || (checkpoint.seq === than.seq && checkpoint.windowFrom > than.windowFrom);
}
