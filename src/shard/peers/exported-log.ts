// The changes of all tenants of a slot, from the log itself, for the export of the audit log. An entry of the log never
// changes, and a seq means the same to every owner, so a reader continues at the next owner where it stopped at the
// last one. Invariants: the pages of a slot, put together, are the changes of its valid entries in the order of the
// log, none left out and none twice; a page has whole entries; nothing of a trimmed part of the log is read.
//
// All reads take turns as one more tenant would, and pass the gate of reads as it would.

import type { Clock } from '../../core/async/clock.ts';
import { turnOf } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { segmentOf } from '../../core/slots.ts';
import type { LogRecord, LogStore } from '../../store/store.ts';
import { decodeEntry, ENTRY_BYTES_MAX, type Entry } from '../log/entries.ts';
import { timeBase } from '../log/slot-time.ts';
import type { Tenure } from '../log/tenure.ts';
import { auditLogRow } from '../log-changes.ts';
import type { LoggedChange, LoggedPage, LogQuery } from '../shard.ts';
import { ShardFailure } from '../shard.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';

/** In the turns and at the gate of reads, where other keys are ids of tenants. */
const READER = 'audit-export';
/** Entries of the first read, then as many as probably have a mebibyte. */
const ENTRIES_PER_FIRST_READ = 8;
const ENTRIES_PER_READ_MAX = 64;
const BYTES_PER_READ = 1024 * 1024;
/** Reads and time of one page: far below a request's deadline, in case the store is slow. */
const READS_MAX = 16;
const READING_MS_MAX = 2000;
/**
 * Characters of the changes in one page, besides those of its last entry: an entry has up to a mebibyte, and a thousand
 * changes, so a page fits a message.
 */
const PAGE_LENGTH_MAX = 256 * 1024;
/** The cost of a read, and of decoding an entry and each of its characters. */
const READ_MS = 0.2;
const ENTRY_MS = 0.05;
const CHARACTER_MS = 0.00002;

export interface LogContext {
  readonly store: Pick<LogStore, 'readRecord' | 'readRecords'>;
  readonly clock: Clock;
  readonly segmentSize: number;
}

/** Rejects with `cursor-too-old` if entries after the place were trimmed, `invalid-cursor` if it is not a place. */
export async function readEntries(
  context: LogContext,
  tenure: Tenure,
  { afterSeq, sinceMs }: Pick<LogQuery, 'afterSeq' | 'sinceMs'>,
): Promise<LoggedPage> {
  const end = tenure.lastSeq;
  if (afterSeq > end) throw new GrantdError('invalid-cursor', '"cursor" is ahead of the log.');
  demandKept(tenure, afterSeq);
  const reading = new ExportRead(context, tenure, afterSeq, sinceMs * 1000);
  const enoughAtMs = context.clock.monotonicMs() + READING_MS_MAX;
  for (let reads = 0; reading.next <= end && !reading.isFull; reads += 1) {
    if (reads === READS_MAX || (reads > 0 && context.clock.monotonicMs() >= enoughAtMs)) break;
    await reading.read(end);
  }
  // What was trimmed meanwhile may have been missing from what was read.
  demandKept(tenure, afterSeq);
  tenure.assertServing();
  return { items: reading.items, nextSeq: reading.readTo, atEnd: reading.next > end };
}

function demandKept({ first }: Tenure, afterSeq: number): void {
  if (afterSeq + 1 >= first) return;
  throw new GrantdError('cursor-too-old', 'The log no longer has all changes after this cursor.');
}

class ExportRead {
  readonly items: LoggedChange[] = [];
  /** The last valid entry that was read. */
  readTo: number;
  /** To be read next. */
  next: number;
  readonly #context: LogContext;
  readonly #tenure: Tenure;
  readonly #sinceBase: number;
  readonly #afterSeq: number;
  #epoch = 0;
  #entriesPerRead = ENTRIES_PER_FIRST_READ;
  #length = 0;
  #base = 0;
  #skipped = false;

  constructor(context: LogContext, tenure: Tenure, afterSeq: number, sinceBase: number) {
    this.#context = context;
    this.#tenure = tenure;
    this.#sinceBase = sinceBase;
    this.#afterSeq = afterSeq;
    this.readTo = afterSeq;
    // The entry before has the epoch, if the log still has that entry.
    this.next = Math.max(afterSeq, tenure.first);
  }

  get isFull(): boolean {
    return this.#length >= PAGE_LENGTH_MAX;
  }

  /** Reads some entries up to `end`. */
  async read(end: number): Promise<void> {
    const { segmentSize } = this.#context;
    const segmentEnd = (segmentOf(this.next, segmentSize) + 1) * segmentSize - 1;
    const records = await this.#readRecords(
      Math.min(this.#entriesPerRead, segmentEnd - this.next + 1, end - this.next + 1),
    );
    for (const record of records) {
      if (this.isFull) return;
      await turnOf(this.#tenure.budget.turns, READER, ENTRY_MS + CHARACTER_MS * record.body.length);
      this.#take(record);
    }
    const largest = records.reduce((length, { body }) => Math.max(length, body.length), 1);
    const fitting = Math.max(1, Math.floor(BYTES_PER_READ / largest));
    this.#entriesPerRead = Math.min(2 * this.#entriesPerRead, fitting, ENTRIES_PER_READ_MAX);
    if (this.#base < this.#sinceBase && !this.#skipped) await this.#skip(end);
  }

  #take(record: LogRecord): void {
    this.next = record.seq + 1;
    // A late append of an earlier epoch, which was never acknowledged.
    if (record.epoch < this.#epoch) return;
    this.#epoch = record.epoch;
    if (record.seq <= this.#afterSeq) return;
    const entry = decodeEntry(record);
    this.#base = entry.base;
    this.readTo = record.seq;
    if (timeBase({ nextBase: entry.base, behindMs: entry.behindMs ?? 0 }) < this.#sinceBase) return;
    for (const change of changesOf(record.seq, entry)) {
      this.items.push(change);
      this.#length += change.change.length;
    }
  }

  async #readRecords(count: number): Promise<readonly LogRecord[]> {
    const { store, clock } = this.#context;
    const { budget, slot } = this.#tenure;
    const bytes = Math.min(count * ENTRY_BYTES_MAX, BYTES_PER_READ * 2);
    const records = await budget.loads.run(READER, bytes, clock, async () => {
      await turnOf(budget.turns, READER, READ_MS);
      this.#tenure.assertServing();
      return readFromStore(store.readRecords(slot, this.next, count, storeDeadline(clock)));
    });
    if (records.length === count && records.every(({ seq }, index) => seq === this.next + index)) return records;
    throw new ShardFailure('not-serving', `The log of slot ${slot} cannot be read at seq ${this.next} right now.`);
  }

  /**
   * Goes on with the segment before the last one that begins before the time: bases only grow, except for those of void
   * entries.
   */
  async #skip(end: number): Promise<void> {
    const { store, clock, segmentSize } = this.#context;
    this.#skipped = true;
    let low = segmentOf(this.next, segmentSize) + 1;
    let high = segmentOf(end, segmentSize);
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const seq = middle * segmentSize;
      const record = await readFromStore(store.readRecord(this.#tenure.slot, seq, storeDeadline(clock)));
      if (record === undefined)
        throw new ShardFailure('not-serving', `The log cannot be read at seq ${seq} right now.`);
      if (decodeEntry(record).base < this.#sinceBase) low = middle + 1;
      else high = middle - 1;
    }
    const start = (high - 1) * segmentSize;
    if (start <= this.next) return;
    this.next = start;
    this.readTo = start - 1;
    this.#epoch = 0;
  }
}

function* changesOf(seq: number, { operations }: Entry): Generator<LoggedChange, void, undefined> {
  let index = 0;
  for (const operation of operations) {
    for (const change of operation.changes) {
      yield { tenantId: operation.tenantId, ...auditLogRow(change, operation, seq, index) };
      index += 1;
    }
  }
}
