// Reads a whole small table, as a hint of its contents. One statement can read it as a range, but Cassandra reads a
// range from whichever replicas come first, without a second chance if one has fallen silent: until the other nodes
// give that replica up, after 10 to 20 s, such a read hangs. Reads of single rows have that second chance. So while a
// node is silent, or after a range read was too slow, the rows are read one by one, by the known keys.

import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs } from '../../store.ts';
import { integerAt } from '../../stored-rows.ts';
import type { Executor, Row } from '../driver/executor.ts';

/** A range read that takes longer is abandoned. */
const RANGE_MS_MAX = 1000;
/** After that, rows are read one by one for this long before the next range read. */
const RANGE_AGAIN_MS = 5000;
const KEYS_PER_READ = 64;

/** What range reads of one table have shown applies to the others too. */
export class RangeTrust {
  againAtMs = Number.NEGATIVE_INFINITY;
}

export interface TableScanPorts {
  readonly executor: Executor;
  readonly clock: Clock;
  readonly trust: RangeTrust;
  /** Whether a node is known to be silent. */
  readonly isNodeSilent: () => boolean;
}

export interface TableScanStatements {
  readonly all: string;
  /** Its one parameter: the keys. */
  readonly some: string;
}

export class TableScan {
  readonly #ports: TableScanPorts;
  readonly #statements: TableScanStatements;

  constructor(ports: TableScanPorts, statements: TableScanStatements) {
    this.#ports = ports;
    this.#statements = statements;
  }

  /** `keys`: those known now; undefined if too little is known, so that a range read is needed. */
  async list(keys: () => readonly (string | number)[] | undefined, deadline: DeadlineMs): Promise<readonly Row[]> {
    const { clock, isNodeSilent, trust } = this.#ports;
    const nowMs = clock.monotonicMs();
    const known = keys();
    if (known === undefined) return this.#range(deadline);
    if (isNodeSilent() || nowMs < trust.againAtMs) return this.some(known, deadline);
    try {
      return await this.#range(Math.min(deadline, nowMs + RANGE_MS_MAX));
    } catch (error) {
      if (!GrantdError.from(error).retryable || clock.monotonicMs() >= deadline) throw error;
      trust.againAtMs = clock.monotonicMs() + RANGE_AGAIN_MS;
      return this.some(known, deadline);
    }
  }

  #range(deadline: DeadlineMs): Promise<readonly Row[]> {
    return this.#ports.executor.readAll(this.#statements.all, [], deadline);
  }

  /** Only the rows of these keys. */
  async some(keys: readonly (string | number)[], deadline: DeadlineMs): Promise<readonly Row[]> {
    const parts: Promise<readonly Row[]>[] = [];
    for (let start = 0; start < keys.length; start += KEYS_PER_READ) {
      const part = keys.slice(start, start + KEYS_PER_READ);
      parts.push(this.#ports.executor.readAll(this.#statements.some, [part], deadline));
    }
    return (await Promise.all(parts)).flat();
  }
}

// ---- reads of several partitions ----
//
// Reads of single partitions that are requested in one turn of the event loop go to Cassandra as one statement. A shard
// that takes over the slots of another one reads the same few tables for each of them: together they cost little more
// than one. Invariant: each call gets exactly the rows of its own partition, in the order of the table.

/** Partitions in one statement: the node that gets it reads them all at once. */
const SLOTS_PER_READ = 32;
/** In one statement at most: some 5 ms to decode and share out. */
const ROWS_PER_READ = 8192;

export interface GroupedReadsPorts {
  readonly executor: Executor;
  readonly clock: Clock;
}

interface PendingScan {
  readonly slot: number;
  readonly limit: number;
  readonly deadline: DeadlineMs;
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupedReads {
  readonly #ports: GroupedReadsPorts;
  readonly #statement: string;
  #waiting: PendingScan[] = [];

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
  async #readGroup(group: readonly PendingScan[], limitMax: number): Promise<void> {
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
