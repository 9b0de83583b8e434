// A mirror in SQLite that is kept step by step, a call of the service at a time: between two steps, nothing of it runs.

import type { MirrorSource } from '../../../packages/sync/src/mirror.ts';
import { runMirror } from '../../../packages/sync/src/run-mirror.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { SqliteDatabase } from '../../../packages/sync/src/sqlite-database.ts';
import { Killed, killedAt } from '../../kit/killed-database.ts';

/** Before a call. */
interface Gate {
  readonly reached: PromiseWithResolvers<void>;
  readonly opened: PromiseWithResolvers<void>;
}

const newGate = (): Gate => ({ reached: Promise.withResolvers(), opened: Promise.withResolvers() });
export const SILENT = { note: () => undefined, loaded: () => undefined, followed: () => undefined };

export interface SteppedOptions {
  nowMs(): number;
  /** After so many, a process is killed. */
  statements(): number;
}

export class SteppedMirror {
  readonly #file: string;
  readonly #source: MirrorSource;
  readonly #options: SteppedOptions;
  #gate = newGate();
  #ended = new AbortController();
  #run: Promise<void> = Promise.resolve();

  /** `file`: the name of a database in memory will do, as long as another connection keeps it. */
  constructor(file: string, source: MirrorSource, options: SteppedOptions) {
    this.#file = file;
    this.#options = options;
    // Interrupted, once it has ended.
    const pass = async <Result>(call: () => Promise<Result>): Promise<Result | undefined> => {
      const { reached, opened } = this.#gate;
      reached.resolve();
      await opened.promise;
      return this.#ended.signal.aborted ? undefined : call();
    };
    this.#source = {
      joins: () => pass(() => source.joins()),
      snapshot: (pairs, cursor) => pass(() => source.snapshot(pairs, cursor)),
      changes: (pairs, cursor, options) => pass(() => source.changes(pairs, cursor, options)),
    };
  }

  /** A new process. */
  async start(): Promise<void> {
    const { nowMs, statements } = this.#options;
    const database = new SqliteDatabase(this.#file);
    this.#gate = newGate();
    this.#ended = new AbortController();
    this.#run = runMirror({
      source: this.#source,
      mirror: new SqlMirror(killedAt(database, statements())),
      watch: SILENT,
      signal: this.#ended.signal,
      nowMs,
    }).finally(() => database.close());
    await this.#reached();
  }

  /** A call of the service, and all that follows from its response. */
  async step(): Promise<void> {
    const { opened } = this.#gate;
    this.#gate = newGate();
    opened.resolve();
    await this.#reached();
  }

  /** The next call; a process that was killed is followed by another one. */
  async #reached(): Promise<void> {
    try {
      await Promise.race([this.#gate.reached.promise, this.#run]);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await this.start();
    }
  }

  async end(): Promise<void> {
    this.#ended.abort();
    this.#gate.opened.resolve();
    await this.#run.catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error;
    });
  }
}
