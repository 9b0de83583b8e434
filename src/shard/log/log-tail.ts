// The end of a log, read before the recovery of its slot by a plain read, which decides nothing: it may have missed
// records. The append that opens the slot finds what it has missed. Bound: the last records of a slot, and their bytes,
// counted in the budget until they are disposed of.

import type { Clock } from '../../core/async/clock.ts';
import { segmentOf } from '../../core/slots.ts';
import type { Checkpoint, LogRecord, LogStore } from '../../store/store.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { storeDeadline } from '../store-calls.ts';

/**
 * Most logs have fewer records behind the checkpoint, and one of the last before it shows that the log has been idle.
 */
const RECORDS = 10;
const RECORDS_BEFORE = 3;
/** A log that ends with an import has one entry that is nearly as large. */
const BYTES_MAX = 1024 * 1024;

export interface LogTailPorts {
  readonly store: Pick<LogStore, 'readTail'>;
  readonly clock: Clock;
  readonly budget: Pick<MemoryBudget, 'hold' | 'isNearlyFull'>;
}

/** Ascending, from a few records before the checkpoint on. */
export class LogTail implements Disposable {
  readonly #fromSeq: number;
  readonly #budget: LogTailPorts['budget'];
  #records: readonly LogRecord[];
  #bytes: number;

  private constructor(fromSeq: number, budget: LogTailPorts['budget'], records: readonly LogRecord[], bytes: number) {
    this.#fromSeq = fromSeq;
    this.#budget = budget;
    this.#records = records;
    this.#bytes = bytes;
  }

  /** Never rejects. Undefined: the log is read serially instead. */
  static async read(
    { store, clock, budget }: LogTailPorts,
    slot: number,
    { seq, windowFrom }: Checkpoint,
  ): Promise<LogTail | undefined> {
    const fromSeq = Math.max(Math.min(seq, Math.max(seq - RECORDS_BEFORE, windowFrom)), 1);
    const records = await store.readTail(slot, fromSeq, RECORDS, storeDeadline(clock)).catch(() => undefined);
    if (records === undefined) return undefined;
    const bytes = records.reduce((sum, { body }) => sum + body.length, 0);
    if (bytes > BYTES_MAX || budget.isNearlyFull) return undefined;
    budget.hold(bytes);
    return new LogTail(fromSeq, budget, records, bytes);
  }

  get records(): readonly LogRecord[] {
    return this.#records;
  }

  /** The same records, for another holder. This one has none any more. */
  move(): LogTail {
    const moved = new LogTail(this.#fromSeq, this.#budget, this.#records, this.#bytes);
    this.#records = [];
    this.#bytes = 0;
    return moved;
  }

  /**
   * The records from this seq on, if they are the rest of the log as far as a plain read can tell. Undefined: only
   * serial reads can say whether the log is whole.
   */
  restFrom(seq: number, segmentSize: number): readonly LogRecord[] | undefined {
    const rest = this.#records.filter((record) => record.seq >= seq);
    const isWhole = rest.every((record, index) => record.seq === seq + index);
    // The read went as far as the next segment: nothing is behind a gap at the end of this one.
    const isSameSegment = segmentOf(this.#fromSeq, segmentSize) === segmentOf(seq + rest.length, segmentSize);
    return isWhole && isSameSegment && this.#records.length < RECORDS ? rest : undefined;
  }

  [Symbol.dispose](): void {
    this.#budget.hold(-this.#bytes);
    this.#bytes = 0;
    this.#records = [];
  }
}
