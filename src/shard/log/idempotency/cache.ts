// Operation ids with their results, kept for twice the deadline. If the reply to a write was lost, a repeat gets the
// first result: 201 stays 201, 204 stays 204. Results that changed nothing are kept too (200, 404 and refusals): an
// earlier attempt that arrives late must not do what the service has reported as not done. Forgetting earlier would
// break this, so the bound is in time. If the ids take more memory than writes may have, the next writes wait
// (write-memory.ts).
//
// Ids are kept in generations, each of which a timer drops as a whole. A single map that is constantly filled and
// emptied would leave a chain of outgrown tables, with all their content, to the next full garbage collection.

import type { Clock, Timer } from '../../../core/async/clock.ts';
import type { HeldBytes } from '../../memory/write-memory.ts';
import type { OperationResult } from '../write-decisions.ts';
import { type DecidedOperation, type OperationOutcome, OperationTable } from './operation-table.ts';

const GENERATIONS = 4;

interface Generation {
  readonly startedAtMs: number;
  readonly table: OperationTable;
}

export class OperationMemory {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #held: HeldBytes;
  /** Newest first. */
  #generations: Generation[] = [];
  #timer: Timer | undefined;
  #dropped = false;

  constructor(clock: Clock, keepMs: number, held: HeldBytes) {
    this.#clock = clock;
    this.#keepMs = keepMs;
    this.#held = held;
  }

  /** Stores the outcomes of one batch. */
  remember(operations: readonly DecidedOperation[]): void {
    if (operations.length === 0 || this.#dropped) return;
    const nowMs = this.#clock.monotonicMs();
    let [newest] = this.#generations;
    if (newest === undefined || nowMs - newest.startedAtMs >= this.#keepMs / GENERATIONS) {
      newest = { startedAtMs: nowMs, table: new OperationTable() };
      this.#generations.unshift(newest);
      this.#schedule();
    }
    const before = newest.table.bytes;
    newest.table.add(operations);
    this.#held.add(newest.table.bytes - before);
  }

  restore(requestId: string, index: number): OperationOutcome | undefined {
    for (const { table } of this.#generations) {
      const outcome = table.find(requestId, index);
      if (outcome !== undefined) return outcome;
    }
    return undefined;
  }

  /** Begins to read back what was decided before `beforeMs`, on the monotonic clock. */
  beginRebuild(beforeMs: number): OperationRebuild {
    return new OperationRebuild(this.#held, (table) => {
      if (this.#dropped) return;
      this.#generations.push({ startedAtMs: beforeMs, table });
      this.#schedule();
    });
  }

  /** The tenure has ended. */
  drop(): void {
    this.#dropped = true;
    this.#timer?.cancel();
    this.#generations = [];
    this.#held.close();
  }

  /** One timer, for the next generation that expires. */
  #schedule(): void {
    if (this.#timer !== undefined || this.#dropped || this.#generations.length === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const oldestMs = Math.min(...this.#generations.map(({ startedAtMs }) => startedAtMs));
    this.#timer = this.#clock.setTimer(() => this.#forget(), Math.max(1, oldestMs + this.#keptMs - nowMs));
  }

  get #keptMs(): number {
    return this.#keepMs + this.#keepMs / GENERATIONS;
  }

  #forget(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const kept: Generation[] = [];
    let bytes = 0;
    for (const generation of this.#generations) {
      if (nowMs - generation.startedAtMs < this.#keptMs) kept.push(generation);
      else bytes += generation.table.bytes;
    }
    this.#generations = kept;
    this.#held.add(-bytes);
    this.#schedule();
  }
}

/**
 * Operation ids that are being read back from the log, newest first. Consecutive entries of one epoch share a table:
 * they are valid or void together.
 */
export class OperationRebuild {
  readonly #held: HeldBytes;
  readonly #install: (table: OperationTable) => void;
  #last: { readonly epoch: number; readonly table: OperationTable; readonly keep: () => void } | undefined;
  /** Tables that are held and not yet known to be valid. */
  readonly #tables = new Set<OperationTable>();

  constructor(held: HeldBytes, install: (table: OperationTable) => void) {
    this.#held = held;
    this.#install = install;
  }

  /** Call the returned function if entries of this epoch are valid here. */
  add(operations: readonly DecidedOperation[], epoch: number): () => void {
    if (operations.length === 0) {
      // Entries before the first entry of an epoch belong to another table, even if their epoch is that of later
      // entries.
      if (this.#last?.epoch !== epoch) this.#last = undefined;
      return () => {};
    }
    if (this.#last?.epoch !== epoch) {
      const table = new OperationTable();
      this.#tables.add(table);
      this.#last = {
        epoch,
        table,
        keep: () => {
          if (this.#tables.delete(table)) this.#install(table);
        },
      };
    }
    const { table, keep } = this.#last;
    const before = table.bytes;
    table.add(operations);
    this.#held.add(table.bytes - before);
    return keep;
  }

  /** No more entries follow: tables that were not found valid are void or unneeded. */
  end(): void {
    for (const { bytes } of this.#tables) this.#held.add(-bytes);
    this.#tables.clear();
  }
}

type PendingResult = Promise<OperationResult>;

/** Operations that are queued or being appended, by operation id: a repeat gets the promise of the first attempt. */
export class InFlightOperations {
  /** Most requests have one operation; a call with many has a map of its own. */
  readonly #byRequest = new Map<
    string,
    { readonly index: number; readonly pending: PendingResult } | Map<number, PendingResult>
  >();

  get(requestId: string, index: number): PendingResult | undefined {
    const found = this.#byRequest.get(requestId);
    if (found instanceof Map) return found.get(index);
    return found?.index === index ? found.pending : undefined;
  }

  /** The operation must not be in flight yet. */
  set(requestId: string, index: number, pending: PendingResult): void {
    const found = this.#byRequest.get(requestId);
    if (found === undefined) this.#byRequest.set(requestId, { index, pending });
    else if (found instanceof Map) found.set(index, pending);
    else {
      this.#byRequest.set(
        requestId,
        new Map([
          [found.index, found.pending],
          [index, pending],
        ]),
      );
    }
  }

  delete(requestId: string, index: number): void {
    const found = this.#byRequest.get(requestId);
    if (found instanceof Map) {
      found.delete(index);
      if (found.size > 0) return;
    } else if (found?.index !== index) {
      return;
    }
    this.#byRequest.delete(requestId);
  }
}
