// Whether the store is known to be damaged: one word of memory that every thread with a connection shares. Invariant:
// once it is set it stays set until the process ends, and no thread reads or writes any more: a damaged store that goes
// on takes writes that no start will find again, and gives answers that may be wrong. The main side is not ready then.

import { CORRUPT, DamageError, extendedCodeOf, NOT_A_DATABASE, primaryCodeOf } from './sqlite-errors.ts';

export const FILES_GONE = 'files of the database were removed or replaced while it was running';
export const WAL_OVERWRITTEN = 'grantd.db-wal was overwritten or cut short by another program';

/** By number in memory. */
const REASONS = [
  undefined,
  'the database is damaged',
  'grantd.db is not a database any more',
  'a file of the database was cut short',
  FILES_GONE,
  WAL_OVERWRITTEN,
] as const;

type DamageReason = Exclude<(typeof REASONS)[number], undefined>;

/** https://www.sqlite.org/rescode.html */
const SHORT_READ = 522;
const CORRUPT_FILE_SYSTEM = 8458;

/** What an error of any connection says about the files; undefined: nothing. */
function damageOf(error: unknown): DamageReason | undefined {
  if (error instanceof DamageError) return REASONS.find((reason) => reason === error.message);
  const code = extendedCodeOf(error);
  if (code === undefined) return undefined;
  if (code === SHORT_READ) return 'a file of the database was cut short';
  if (code === CORRUPT_FILE_SYSTEM || primaryCodeOf(error) === CORRUPT) return 'the database is damaged';
  return primaryCodeOf(error) === NOT_A_DATABASE ? 'grantd.db is not a database any more' : undefined;
}

export class Damage {
  readonly memory: SharedArrayBuffer;
  readonly #word: Int32Array;

  constructor(memory = new SharedArrayBuffer(4)) {
    this.memory = memory;
    this.#word = new Int32Array(memory);
  }

  /** The first damage that any thread has noticed. */
  get reason(): DamageReason | undefined {
    return REASONS[Atomics.load(this.#word, 0)];
  }

  /** Throws DamageError once damage is known. */
  requireNone(): void {
    const { reason } = this;
    if (reason !== undefined) throw new DamageError(reason);
  }

  /** Remembers what the error says, if it speaks of damage. */
  note(error: unknown): void {
    const reason = damageOf(error);
    if (reason !== undefined) Atomics.compareExchange(this.#word, 0, 0, REASONS.indexOf(reason));
  }
}
