// Recovery: a new owner takes over a slot. It raises the epoch, reads the checkpoint, the tenants and the log from
// there to its end, and appends the first entry of its epoch. After that no earlier epoch can commit:
//
//   claim ▶ read checkpoint, tenants ▶ replay to the end ▶ append *open* ─▶ appended: serve, record `opened`
//                                           ▲                  │
//                                           └──────────────────┘ occupied by an earlier epoch: that entry counts
//
// It replays only contiguous seqs, and refuses a log that ends before the row's `opened`. After recovery the slot
// serves reads. Writes wait for `rebuildWindow`, which reads back from the checkpoint to the start of the idempotency
// window.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import { segmentOf } from '../../core/slots.ts';
import type { Tenant } from '../../core/tenants.ts';
import type {
  Checkpoint,
  ConditionalOutcome,
  GrantCountRow,
  LogRecord,
  SlotRow,
  SlotStore,
  Stamp,
  Store,
} from '../../store/store.ts';
import { REBUILD_READ_BYTES } from '../memory/rebuild-queue.ts';
import { type SettledLog, ShardFailure } from '../shard.ts';
import { storeDeadline, yieldTurn } from '../store-calls.ts';
import {
  decodeEntry,
  decodeTailEntry,
  decodeTime,
  encodeEntry,
  followingBase,
  LogUnreadableError,
  type TailEntry,
  wallBase,
} from './entries.ts';
import type { PagesAhead } from './hot-pages.ts';
import { LogTail, type LogTailPorts } from './log-tail.ts';
import type { LogEnd } from './slot-time.ts';
import type { CommittedEntry } from './write-queue.ts';

/** Records in one read of the log: few in the first, then as many as take about a mebibyte. */
const RECORDS_PER_FIRST_READ = 8;
const RECORDS_PER_READ_MAX = 64;
const TENANTS_PER_READ = 1000;
/** Replay yields to other work after this long. */
const SLICE_MS = 10;
const RETRY_MS = 50;
/**
 * Retries of the append that opens a slot: with the first attempt about 10 s of a store that does not respond. The
 * shard opens the slot again later.
 */
const APPEND_RETRIES_MAX = 5;

export interface RecoveryPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly segmentSize: number;
  /**
   * A valid entry after the checkpoint: takes it into memory and queues it for the state tables. Resolves when there is
   * capacity for the next one.
   */
  readonly replay: (entry: CommittedEntry) => Promise<void>;
  /** Resolves once the lease is valid; rejects if it never will be again. */
  readonly leased: () => Promise<void>;
}

export interface RecoveredLog extends LogEnd {
  readonly first: number;
}

/**
 * Claims the slot if its row is still `known` (undefined: no row yet) and names no owner, this owner, or one that is
 * confirmed dead. `applied` false: the claim failed, and `row` shows why. A claim always starts a new epoch, so that no
 * write of an earlier epoch of this same owner can land in it.
 */
export async function claimSlot(
  ports: Pick<RecoveryPorts, 'store' | 'clock'>,
  claim: { readonly slot: number; readonly owner: string; readonly known: SlotRow | undefined },
  confirmDead: (owner: string) => Promise<boolean>,
): Promise<ConditionalOutcome<SlotRow>> {
  const { store, clock } = ports;
  const { slot, owner, known } = claim;
  if (known?.owner !== undefined && known.owner !== owner && !(await confirmDead(known.owner))) {
    return { applied: false, row: known };
  }
  const expected = known === undefined ? undefined : { owner: known.owner, epoch: known.epoch };
  return store.claimSlot({ slot, expected, owner }, storeDeadline(clock));
}

/** The log from a seq to `untilSeq`, or to its end, record by record. Throws LogUnreadableError at a gap. */
async function* readLog(
  ports: RecoveryPorts,
  slot: number,
  fromSeq: number,
  untilSeq = Number.POSITIVE_INFINITY,
): AsyncGenerator<LogRecord> {
  let seq = fromSeq;
  let count = RECORDS_PER_FIRST_READ;
  while (seq <= untilSeq) {
    const segment = segmentOf(seq, ports.segmentSize);
    const limit = Math.min(count, untilSeq - seq + 1);
    const records = await ports.store.readRecords(slot, seq, limit, storeDeadline(ports.clock));
    for (const record of records) {
      if (record.seq !== seq) {
        throw new LogUnreadableError(
          `The log of slot ${slot} has a gap: seq ${seq} is missing, but seq ${record.seq} exists.`,
        );
      }
      yield record;
      seq += 1;
    }
    if (records.length < limit && segmentOf(seq, ports.segmentSize) === segment) return;
    count = nextCount(records, count);
  }
}

/**
 * The number of records to read next: at most twice as many, and no more than fit if all are as large as the largest of
 * these.
 */
function nextCount(records: readonly LogRecord[], count: number): number {
  const largest = records.reduce((length, { body }) => Math.max(length, body.length), 1);
  const fitting = Math.max(Math.floor(REBUILD_READ_BYTES / largest), 1);
  return Math.min(2 * count, fitting, RECORDS_PER_READ_MAX);
}

/** How far a replay of the log has come. */
interface Replayed {
  lastSeq: number;
  nextBase: Stamp;
  highestEpoch: number;
  behindMs: number;
}

/** Before the entry at the checkpoint, which gives the epoch up to there: only valid entries are ever applied. */
function replayFrom({ slot, first }: SlotRow, checkpoint: Checkpoint): Replayed {
  if (checkpoint.seq + 1 < first) {
    throw new LogUnreadableError(
      `The log of slot ${slot} begins at seq ${first}, but the state tables contain it only up to seq ${checkpoint.seq}.`,
    );
  }
  return { lastSeq: Math.max(checkpoint.seq - 1, 0), nextBase: checkpoint.stamp + 1, highestEpoch: 0, behindMs: 0 };
}

/** Takes records of the log into memory, from where the replay is. */
async function replayLog(
  ports: RecoveryPorts,
  { slot, epoch }: SlotRow,
  checkpoint: Checkpoint,
  replayed: Replayed,
  records: AsyncIterable<LogRecord> | Iterable<LogRecord>,
): Promise<void> {
  const slice = new Slice(ports.clock);
  for await (const record of records) {
    if (record.epoch > epoch) throw new ShardFailure('not-serving', `Slot ${slot} already has epoch ${record.epoch}.`);
    const isVoid = record.epoch < replayed.highestEpoch;
    replayed.highestEpoch = Math.max(replayed.highestEpoch, record.epoch);
    replayed.lastSeq = record.seq;
    if (record.seq === checkpoint.seq) {
      replayed.behindMs = decodeTime(record).behindMs ?? 0;
      continue;
    }
    const entry = decodeEntry(record);
    if (!isVoid) {
      replayed.nextBase = Math.max(replayed.nextBase, followingBase(entry));
      replayed.behindMs = entry.behindMs ?? 0;
      await ports.replay({ ...entry, seq: record.seq });
    }
    await slice.giveWay();
  }
  if (replayed.lastSeq < checkpoint.seq) {
    throw new LogUnreadableError(
      `The log of slot ${slot} lacks seq ${checkpoint.seq}, although the state tables contain it up to there.`,
    );
  }
}

/**
 * Brings memory up to the end of the log and makes this epoch the only one that can append. `row` is this owner's
 * claim. `tail`: what was read ahead of the log; the rest, and what makes it doubtful, is read serially. Throws
 * LogUnreadableError if the log cannot be trusted, ShardFailure if another owner was first.
 */
export async function recoverLog(
  ports: RecoveryPorts,
  row: SlotRow,
  checkpoint: Checkpoint,
  tail?: LogTail,
): Promise<RecoveredLog> {
  const { slot, epoch, first } = row;
  const replayed = replayFrom(row, checkpoint);
  let known = tail?.restFrom(replayed.lastSeq + 1, ports.segmentSize);
  // It lacks even the entry at the checkpoint.
  if (known?.length === 0 && checkpoint.seq > 0) known = undefined;
  while (true) {
    const following = known === undefined ? readFollowing(ports, slot, replayed.lastSeq) : undefined;
    const records = known ?? readLog(ports, slot, replayed.lastSeq + 1);
    known = undefined;
    await replayLog(ports, row, checkpoint, replayed, records);
    const { lastSeq, nextBase, behindMs } = replayed;
    if (following !== undefined && !(await endsAt(ports, slot, lastSeq, following))) continue;
    if (row.opened !== undefined && lastSeq < row.opened) {
      throw new LogUnreadableError(
        `The log of slot ${slot} ends at seq ${lastSeq}, but an owner has recorded an entry at seq ${row.opened}.`,
      );
    }
    const openedAtMs = ports.clock.monotonicMs();
    const base = Math.max(nextBase, wallBase(ports.clock, behindMs));
    const time = { base, elapsedMs: 0, ...(behindMs === 0 ? {} : { behindMs }) };
    const record = {
      slot,
      seq: lastSeq + 1,
      epoch,
      entryId: ports.ids.create('ent'),
      body: encodeEntry(time, []),
    };
    if (!(await appendOnce(ports, record))) continue;
    // Without a lease, the record may be at a seq that has already been trimmed. The appender waits for it, too.
    await ports.leased();
    const open = { ...time, operations: [], seq: record.seq };
    await ports.replay(open);
    const fenced = true;
    return { slot, epoch, first, lastSeq: record.seq, fenced, nextBase: followingBase(open), behindMs, openedAtMs };
  }
}

/**
 * Brings memory up to the end of a log whose previous owner has settled it: nothing is behind that end, and nothing
 * comes there but from this owner, whose appender begins with the entry that fences the log. `row`: what the previous
 * owner made of it, with the outcome applied. Throws LogUnreadableError if the log does not reach that end.
 */
export async function recoverSettledLog(
  ports: RecoveryPorts,
  row: SlotRow,
  checkpoint: Checkpoint,
  { lastSeq, nextBase, behindMs }: SettledLog,
): Promise<RecoveredLog> {
  const { slot, epoch, first } = row;
  const replayed = replayFrom(row, checkpoint);
  const isBehind = checkpoint.seq < lastSeq;
  const fromSeq = replayed.lastSeq + 1;
  if (isBehind) await replayLog(ports, row, checkpoint, replayed, readLog(ports, slot, fromSeq, lastSeq));
  const endSeq = isBehind ? replayed.lastSeq : checkpoint.seq;
  if (endSeq !== lastSeq) {
    throw new LogUnreadableError(
      `The log of slot ${slot} ends at seq ${endSeq}, but its previous owner has left it at seq ${lastSeq}.`,
    );
  }
  return { slot, epoch, first, lastSeq, fenced: false, nextBase, behindMs, openedAtMs: ports.clock.monotonicMs() };
}

/** A time slice of long work. */
export class Slice {
  readonly #clock: Clock;
  #startMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  /** Yields to other work once the slice is used up. */
  async giveWay(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#startMs < SLICE_MS) return;
    await yieldTurn(this.#clock);
    this.#startMs = this.#clock.monotonicMs();
  }
}

/** The start of the segment behind the one in which the log goes on. */
interface NextSegment {
  readonly seq: number;
  readonly records: Promise<readonly LogRecord[]>;
}

function readFollowing({ store, clock, segmentSize }: RecoveryPorts, slot: number, lastSeq: number): NextSegment {
  const seq = (segmentOf(lastSeq + 1, segmentSize) + 1) * segmentSize;
  const records = store.readRecords(slot, seq, 1, storeDeadline(clock));
  // It may not be needed.
  records.catch(() => {});
  return { seq, records };
}

/**
 * Whether the log ends here. An empty result covers only one segment, and entries of the next segment after a gap would
 * be acknowledged writes. `read`: begun beside the replay; an entry that was appended since makes the append collide.
 * False: a previous owner has appended since.
 */
async function endsAt(ports: RecoveryPorts, slot: number, lastSeq: number, read: NextSegment): Promise<boolean> {
  const { store, clock, segmentSize } = ports;
  const isNext = segmentOf(lastSeq + 1, segmentSize) + 1 === segmentOf(read.seq, segmentSize);
  const [record] = await (isNext ? read : readFollowing(ports, slot, lastSeq)).records;
  if (record === undefined) return true;
  if ((await store.readRecord(slot, lastSeq + 1, storeDeadline(clock))) !== undefined) return false;
  throw new LogUnreadableError(
    `The log of slot ${slot} has a gap: seq ${lastSeq + 1} is missing, but seq ${record.seq} exists.`,
  );
}

/** Whether this very record is at its seq; false: another one is. Retries until the outcome is certain. */
async function appendOnce(ports: RecoveryPorts, record: LogRecord): Promise<boolean> {
  for (let tries = 0; ; tries += 1) {
    try {
      const outcome = await ports.store.append(record, storeDeadline(ports.clock));
      return outcome.kind === 'appended' || outcome.record.entryId === record.entryId;
    } catch (error) {
      // Repeating the same record settles the outcome of the first attempt: it finds itself or another one, or
      // succeeds.
      if (tries === APPEND_RETRIES_MAX) throw error;
      await delay(ports.clock, RETRY_MS);
    }
  }
}

export interface TailPorts extends Pick<RecoveryPorts, 'store' | 'clock' | 'segmentSize'> {
  /** Operation ids of entries younger than this must be known. */
  readonly operationsKeptMs: number;
  /**
   * Takes in an entry at or before the checkpoint: the state tables contain it, but its operation ids must be known.
   * Called newest first, with only the last change of each operation. Returns a function that stores the ids; it must
   * be called oldest first, and only for valid entries.
   */
  readonly restore: (entry: TailEntry, epoch: number) => () => void;
  /** Resolves when more may be read into memory. */
  readonly waitForCapacity?: () => Promise<void>;
  /** Whether the result is no longer needed. */
  readonly over: () => boolean;
}

interface Moment {
  readonly epoch: number;
  readonly elapsedMs: number;
}

/**
 * The minimum time between `older` and `newer`, as one monotonic clock measured it. Zero between two epochs: no clock
 * covers both, and wall clocks may be off by any amount.
 */
function leastAgeMs(newer: Moment | undefined, older: Moment): number {
  return newer?.epoch === older.epoch ? Math.max(0, newer.elapsedMs - older.elapsedMs) : 0;
}

/**
 * Reads backwards from the checkpoint to the start of the idempotency window: to `windowFrom`, or to entries that by
 * the clocks of their own epochs are too old for a client to repeat their operations. `known`: records that were read
 * before. Resolves with the first seq from which operation ids are known. Throws LogUnreadableError at a gap.
 */
export async function rebuildWindow(
  ports: TailPorts,
  slot: number,
  range: { readonly windowFrom: number; readonly checkpointSeq: number },
  known: readonly LogRecord[] = [],
): Promise<number> {
  const { store, clock, segmentSize } = ports;
  const entries: { readonly restore: () => void; readonly epoch: number }[] = [];
  const slice = new Slice(clock);
  let end = range.checkpointSeq;
  let newer: Moment | undefined;
  let ageMs = 0;
  // One or two entries may show that the log has been idle.
  let count = 1;
  while (end >= range.windowFrom && !ports.over()) {
    const segmentStart = segmentOf(end, segmentSize) * segmentSize;
    const start = Math.max(range.windowFrom, segmentStart, end - count + 1);
    await ports.waitForCapacity?.();
    const isWithin = ({ seq }: LogRecord): boolean => seq >= start && seq <= end;
    let records: readonly LogRecord[] = known.filter(isWithin);
    if (records.length !== end - start + 1) {
      records = await store.readRecords(slot, start, end - start + 1, storeDeadline(clock));
    }
    if (records.length !== end - start + 1) {
      throw new LogUnreadableError(`The log of slot ${slot} lacks entries between seq ${start} and ${end}.`);
    }
    for (const record of records.toReversed()) {
      const entry = decodeTailEntry(record);
      const moment = { epoch: record.epoch, elapsedMs: entry.elapsedMs };
      ageMs += leastAgeMs(newer, moment);
      newer = moment;
      entries.push({ restore: ports.restore(entry, record.epoch), epoch: record.epoch });
      await slice.giveWay();
    }
    end = start - 1;
    if (ageMs > ports.operationsKeptMs) break;
    count = nextCount(records, count);
  }
  let highestEpoch = 0;
  for (const { restore, epoch } of entries.toReversed()) {
    if (epoch < highestEpoch) continue;
    highestEpoch = epoch;
    restore();
    await slice.giveWay();
  }
  return end + 1;
}

/** The rows of all tenants of a slot, page by page. */
async function* everyTenant<Row extends { readonly tenantId: TenantId }>(
  read: (page: { readonly limit: number; readonly after?: TenantId }) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let after: TenantId | undefined;
  while (true) {
    const rows = await read({ limit: TENANTS_PER_READ, ...(after === undefined ? {} : { after }) });
    yield* rows;
    after = rows.at(-1)?.tenantId;
    if (rows.length < TENANTS_PER_READ) return;
  }
}

/** What the state tables say about a slot. */
export interface SlotState {
  readonly checkpoint: Checkpoint;
  /** Including fully deleted ones. */
  readonly tenants: readonly Tenant[];
  readonly grantCounts: readonly GrantCountRow[];
  /** Read after the checkpoint, too; undefined: pages are loaded once the slot is served. */
  readonly ahead?: PagesAhead | undefined;
  /** Undefined: it was not read, or is too large to be kept. Whoever has the state disposes of it. */
  readonly tail?: LogTail | undefined;
}

/**
 * The tables are read after the checkpoint, so that they are never behind it: a count is written with the entries that
 * changed it. A replay from the checkpoint completes them. So the state need not be the latest: whatever an owner has
 * written since is in the log, from that checkpoint on. `budget`: reads on in the log, and holds that within it.
 */
export async function readSlotState(
  { store, clock }: Pick<RecoveryPorts, 'store' | 'clock'>,
  slot: number,
  budget?: LogTailPorts['budget'],
): Promise<SlotState> {
  const stored = await store.readCheckpoint(slot, storeDeadline(clock));
  const checkpoint = stored ?? { seq: 0, stamp: 0, windowFrom: 1 };
  const tail = budget && LogTail.read({ store, clock, budget }, slot, checkpoint);
  try {
    const [tenants, grantCounts] = await Promise.all([
      Array.fromAsync(everyTenant((page) => store.listTenants({ slot, ...page }, storeDeadline(clock)))),
      Array.fromAsync(everyTenant((page) => store.listGrantCounts({ slot, ...page }, storeDeadline(clock)))),
    ]);
    return { checkpoint, tenants, grantCounts, tail: await tail };
  } catch (error) {
    void tail?.then((read) => read?.[Symbol.dispose]());
    throw error;
  }
}

// ---- after recovery ----

/** By then the checkpoint has usually passed the entry, also when many slots are opened at once. */
const RECORD_OPENED_MS = 3000;
const RECORD_RETRY_MS = 200;

interface OwnedSlot {
  readonly checkpointSeq: number;
  readonly slot: number;
  readonly owner: string;
  readonly epoch: number;
  readonly state: string;
}

/**
 * Records the seq of a tenure's first entry in the row of its slot, so that a later owner detects that the log has lost
 * that entry; the entry itself already fences. A checkpoint from that seq on is the same evidence, so the conditional
 * write is made only if none is stored by then. Retries until the store has recorded it, or the tenure has ended.
 */
export async function recordOpened(
  { store, clock }: { readonly store: SlotStore; readonly clock: Clock },
  tenure: OwnedSlot,
  opened: number,
  lose: (reason: string) => void,
): Promise<void> {
  const { slot, owner, epoch } = tenure;
  await delay(clock, RECORD_OPENED_MS);
  while (tenure.state !== 'ended' && tenure.checkpointSeq < opened) {
    try {
      const { applied, row } = await store.recordOpened({ slot, owner, epoch, opened }, storeDeadline(clock));
      if (applied) return;
      if (row?.owner !== owner || row.epoch !== epoch) lose('The slot has another owner now.');
    } catch {
      // The next attempt finds out whether it was recorded.
    }
    await delay(clock, RECORD_RETRY_MS);
  }
}
