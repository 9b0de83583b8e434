// A whole small table, as a hint of what stands in it. Reading it as a range is one statement, but a range is read from
// whichever replicas come first, with no second chance for one that has fallen silent: until the others give it up,
// after 10 to 20 s, such a read takes as long. Reads of single rows do have that chance. So while a node is silent, or
// a range has taken too long, the rows are read one by one, by the keys that are known.

import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs } from '../../store.ts';
import type { Executor, Row } from '../driver/executor.ts';
import { readWhole } from './read-whole.ts';

/** A range that takes longer is given up. */
const RANGE_MS_MAX = 1000;
/** Then rows are read one by one for so long, before a range is tried again. */
const RANGE_AGAIN_MS = 5000;
const KEYS_PER_READ = 64;

/** What reads of one table as a range have shown holds for those of another. */
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
  /** With one parameter, the keys. */
  readonly some: string;
}

export class TableScan {
  readonly #ports: TableScanPorts;
  readonly #statements: TableScanStatements;

  constructor(ports: TableScanPorts, statements: TableScanStatements) {
    this.#ports = ports;
    this.#statements = statements;
  }

  /** `keys`: those that are known now; undefined where too little is known, so that a range has to do. */
  async list(keys: () => readonly (string | number)[] | undefined, deadline: DeadlineMs): Promise<readonly Row[]> {
    const { clock, isNodeSilent, trust } = this.#ports;
    const nowMs = clock.monotonicMs();
    const known = keys();
    if (known === undefined) return this.#range(deadline);
    if (isNodeSilent() || nowMs < trust.againAtMs) return this.#some(known, deadline);
    try {
      return await this.#range(Math.min(deadline, nowMs + RANGE_MS_MAX));
    } catch (error) {
      if (!GrantdError.from(error).retryable || clock.monotonicMs() >= deadline) throw error;
      trust.againAtMs = clock.monotonicMs() + RANGE_AGAIN_MS;
      return this.#some(known, deadline);
    }
  }

  #range(deadline: DeadlineMs): Promise<readonly Row[]> {
    return readWhole(this.#ports.executor, this.#statements.all, [], deadline);
  }

  async #some(keys: readonly (string | number)[], deadline: DeadlineMs): Promise<readonly Row[]> {
    const parts: Promise<readonly Row[]>[] = [];
    for (let start = 0; start < keys.length; start += KEYS_PER_READ) {
      const part = keys.slice(start, start + KEYS_PER_READ);
      parts.push(readWhole(this.#ports.executor, this.#statements.some, [part], deadline));
    }
    return (await Promise.all(parts)).flat();
  }
}
