// Executes the writes, on the writer thread. All waiting conditional writes share one transaction with synchronous =
// FULL, so that one fsync serves many slots; their results are sent after its commit. State is written between them, in
// slices of a few milliseconds, in transactions with synchronous = NORMAL, which do not wait for the disk.
//
// Why that is enough for state: the write-ahead log is one file with a checksum that continues from frame to frame. So
// what survives a loss of power is a prefix of the commits, and a later FULL commit makes every earlier one durable. A
// checkpoint is written after the state that it covers, and state after the log entry that it derives from. So in any
// prefix the checkpoint is ahead of neither. Both kinds use one connection, whose page cache thus stays warm.
//
// Invariant: a durable write is confirmed only after its commit, and once its witness has agreed (acknowledgements.ts).
// Nothing is written or confirmed once any connection has noticed damage.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { assert } from '../../../core/assert.ts';
import type { LogRecord } from '../../store.ts';
import { prepare, type Statement } from '../database.ts';
import type { Reply, Request } from '../messages.ts';
import { type Damage, failureOf, isInputOutputError } from '../sqlite-errors.ts';
import type { CommitWitness } from './acknowledgements.ts';
import { createConditionalHandlers } from './conditional-calls.ts';
import { createStateHandlers } from './state-calls.ts';

/** How long a transaction of state may delay a waiting append, in addition to its current step. */
const STATE_SLICE_MS = 5;

interface StateJob {
  readonly id: number;
  readonly steps: Generator<undefined, unknown, undefined>;
}

type Synchronous = 'FULL' | 'NORMAL';

/** The value of `PRAGMA synchronous` for FULL (https://www.sqlite.org/pragma.html#pragma_synchronous). */
const SYNCHRONOUS_FULL = 2;

export class Writer {
  readonly #database: DatabaseSync;
  readonly #reply: (replies: readonly Reply[]) => void;
  readonly #witness: CommitWitness;
  readonly #damage: Damage;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #readSynchronous: Statement;
  readonly #conditionalHandlers: Readonly<Record<string, (...args: never[]) => unknown>>;
  readonly #stateHandlers: Readonly<Record<string, (...args: never[]) => Generator<undefined, unknown, undefined>>>;
  #conditional: Request[] = [];
  /** In order of arrival. Bounded, like the other queue, by what the main side sends. */
  #state: StateJob[] = [];
  #synchronous: Synchronous | undefined;
  /** After an input/output error, it is unknown which frames of the write-ahead log have reached the disk. */
  #walSuspect = false;

  constructor(
    database: DatabaseSync,
    reply: (replies: readonly Reply[]) => void,
    { witness, damage }: { readonly witness: CommitWitness; readonly damage: Damage },
  ) {
    this.#database = database;
    this.#reply = reply;
    this.#witness = witness;
    this.#damage = damage;
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
    this.#readSynchronous = prepare(database, 'PRAGMA synchronous');
    this.#conditionalHandlers = createConditionalHandlers(database);
    this.#stateHandlers = createStateHandlers(database);
  }

  accept(requests: readonly Request[]): void {
    for (const request of requests) {
      const createSteps = this.#stateHandlers[request.name];
      if (createSteps === undefined) this.#conditional.push(request);
      else this.#state.push({ id: request.id, steps: createSteps(...(request.args as never[])) });
    }
  }

  /** Whether everything that was committed is known to be in the files. */
  get isWhole(): boolean {
    return !this.#walSuspect && this.#damage.reason === undefined;
  }

  /** One durable transaction and one slice of state. False when nothing is left to do. */
  runRound(): boolean {
    if (this.#conditional.length > 0) this.#runConditional();
    if (this.#state.length > 0) this.#runState();
    return this.#conditional.length + this.#state.length > 0;
  }

  #runConditional(): void {
    const requests = this.#conditional;
    this.#conditional = [];
    try {
      const replies: Reply[] = [];
      this.#transact('FULL', () => {
        for (const { id, name, args } of requests) {
          const handle = this.#conditionalHandlers[name];
          if (handle === undefined) throw new Error(`There is no call ${name}.`);
          replies.push({ id, result: handle(...(args as never[])) });
        }
        this.#witness.beforeCommit();
        this.#assertDurable();
      });
      this.#witness.afterCommit(appendsOf(requests));
      this.#damage.requireNone();
      this.#reply(replies);
    } catch (error) {
      this.#damage.note(error);
      const failure = failureOf(error);
      this.#reply(requests.map(({ id }) => ({ id, failure })));
    }
  }

  /**
   * If a commit returned before the disk has the data, later acknowledged writes could be lost, and nothing else would
   * reveal it.
   */
  #assertDurable(): void {
    assert(
      this.#readSynchronous.get()?.synchronous === SYNCHRONOUS_FULL,
      'acknowledged writes are committed with synchronous = FULL',
    );
  }

  #runState(): void {
    const replies: Reply[] = [];
    let touched = 0;
    try {
      this.#transact('NORMAL', () => {
        const endMs = performance.now() + STATE_SLICE_MS;
        for (const { id, steps } of this.#state) {
          touched += 1;
          let step = steps.next();
          while (step.done !== true && performance.now() < endMs) step = steps.next();
          if (step.done !== true) return;
          replies.push({ id, result: step.value });
          if (performance.now() >= endMs) return;
        }
      });
      this.#state = this.#state.slice(replies.length);
      this.#reply(replies);
    } catch (error) {
      this.#damage.note(error);
      const failure = failureOf(error);
      // If not even the transaction could begin, none of these writes can be done now.
      const failed = touched === 0 ? this.#state.length : touched;
      this.#reply(this.#state.slice(0, failed).map(({ id }) => ({ id, failure })));
      this.#state = this.#state.slice(failed);
    }
  }

  #transact(synchronous: Synchronous, run: () => void): void {
    this.#damage.requireNone();
    const database = this.#database;
    if (database.isTransaction) database.exec('ROLLBACK');
    if (this.#walSuspect) this.#settleWal();
    if (this.#synchronous !== synchronous) {
      database.exec(`PRAGMA synchronous = ${synchronous}`);
      this.#synchronous = synchronous;
    }
    try {
      this.#begin.run();
      run();
      this.#commit.run();
    } catch (error) {
      this.#walSuspect ||= isInputOutputError(error);
      // Some errors have already rolled it back; if this fails too, the next transaction retries.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * After a failed fsync, the kernel may regard the lost pages as written, and a later fsync succeeds over a hole: a
   * restart would then end the log at the hole and lose what was acknowledged after it. So nothing is committed until
   * everything in the write-ahead log has been moved into the database and a new log has started.
   */
  #settleWal(): void {
    const result = this.#database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (result?.busy !== 0) throw new Error('The write-ahead log could not be recovered after an input/output error.');
    this.#walSuspect = false;
  }
}

/** The entries that the appends among the requests have put there or found there. */
function* appendsOf(requests: readonly Request[]): Generator<LogRecord> {
  // The calls of the port have these arguments.
  for (const { name, args } of requests) if (name === 'append') yield args[0] as LogRecord;
}
