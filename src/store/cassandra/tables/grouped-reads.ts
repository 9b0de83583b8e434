// Reads of single partitions that are requested in one turn of the event loop go to Cassandra as one statement. A shard
// that takes over the slots of another one reads the same few tables for each of them: together they cost little more
// than one. Invariant: each call gets exactly the rows of its own partition, in the order of the table.

import type { Clock } from '../../../core/async/clock.ts';
import type { DeadlineMs } from '../../store.ts';
import { integerAt } from '../../stored-rows.ts';
import type { Executor, Row } from '../driver/executor.ts';

/** Partitions in one statement: the node that gets it reads them all at once. */
const SLOTS_PER_READ = 32;
/** In one statement at most: some 5 ms to decode and share out. */
const ROWS_PER_READ = 8192;

export interface GroupedReadsPorts {
  readonly executor: Executor;
  readonly clock: Clock;
}

interface Waiting {
  readonly slot: number;
  readonly limit: number;
  readonly deadline: DeadlineMs;
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupedReads {
  readonly #ports: GroupedReadsPorts;
  readonly #statement: string;
  #waiting: Waiting[] = [];

  /** `statement`: its parameters are a list of slots and the limit of rows of each; its rows have a column `slot`. */
  constructor(ports: GroupedReadsPorts, statement: string) {
    this.#ports = ports;
    this.#statement = statement;
  }

  /** The first rows of the slot. */
  read(slot: number, limit: number, deadline: DeadlineMs): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ slot, limit, deadline, resolve, reject });
      if (this.#waiting.length === 1) this.#ports.clock.setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    const limitMax = Math.max(...waiting.map(({ limit }) => limit));
    const count = Math.min(SLOTS_PER_READ, Math.max(1, Math.floor(ROWS_PER_READ / limitMax)));
    for (let start = 0; start < waiting.length; start += count) {
      void this.#readGroup(waiting.slice(start, start + count), limitMax);
    }
  }

  /** Never rejects. */
  async #readGroup(group: readonly Waiting[], limitMax: number): Promise<void> {
    const slots = [...new Set(group.map(({ slot }) => slot))];
    const deadline = Math.max(...group.map((each) => each.deadline));
    try {
      const rows = await this.#ports.executor.readAll(this.#statement, [slots, limitMax], deadline);
      const bySlot = Map.groupBy(rows, (row) => integerAt(row, 'slot'));
      for (const { slot, limit, resolve } of group) resolve((bySlot.get(slot) ?? []).slice(0, limit));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
