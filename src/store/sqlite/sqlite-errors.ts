// Translates SQLite's result codes into the store's errors. Every failure at run time is `unavailable` to the caller.
// The reason is one of a few, so that the log can report it once instead of once per call.

import type { Failure } from './messages.ts';

/** https://www.sqlite.org/rescode.html: the primary code is the low byte. */
export const CORRUPT = 11;
export const NOT_A_DATABASE = 26;

const REASONS: ReadonlyMap<number, string> = new Map([
  [5, 'the database is locked by another program'],
  [8, 'the database is not writable'],
  [10, 'the disk reports an input/output error'],
  [CORRUPT, 'the database is damaged'],
  [13, 'the disk is full'],
  [14, 'the database file cannot be opened'],
  [NOT_A_DATABASE, 'grantd.db is not a database'],
]);

const SYSTEM_REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'it is not writable'],
  ['EPERM', 'it is not writable'],
  ['EROFS', 'it is not writable'],
  ['EEXIST', 'it is not a directory'],
  ['ENOTDIR', 'it is not a directory'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk is full'],
]);

/** The files are not what they were; its message is the reason. */
export class DamageError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DamageError';
  }
}

function property(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null && name in error ? Reflect.get(error, name) : undefined;
}

/** The extended result code of a node:sqlite error, or undefined for any other error. */
export function extendedCodeOf(error: unknown): number | undefined {
  const code = property(error, 'errcode');
  return typeof code === 'number' ? code : undefined;
}

/** The primary result code of a node:sqlite error, or undefined for any other error. */
export function primaryCodeOf(error: unknown): number | undefined {
  const code = extendedCodeOf(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Whether the error is an input/output error (SQLITE_IOERR), after which it is unknown what reached the disk. */
export function isInputOutputError(error: unknown): boolean {
  return primaryCodeOf(error) === 10;
}

export function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const extended = property(error, 'errcode');
  return typeof extended === 'number' ? `${text} (SQLite code ${extended})` : text;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof DamageError) return { reason: error.message, message: '' };
  const code = primaryCodeOf(error);
  const reason = code === undefined ? undefined : REASONS.get(code);
  return { reason: reason ?? 'an unexpected error occurred in the store', message: describeError(error) };
}

/** Why a data directory cannot be opened, in words for the operator, without the name of the directory. */
export function openReasonOf(error: unknown): string {
  const code = primaryCodeOf(error);
  if (code !== undefined) return REASONS.get(code) ?? describeError(error);
  const system = property(error, 'code');
  return (typeof system === 'string' ? SYSTEM_REASONS.get(system) : undefined) ?? describeError(error);
}

// ---- damage ----
//
// Whether the store is known to be damaged: one word of memory that every thread with a connection shares. Invariant:
// once it is set it stays set until the process ends, and no thread reads or writes any more: a damaged store that goes
// on takes writes that no start will find again, and gives answers that may be wrong. The main side is not ready then.

export const FILES_GONE = 'files of the database were removed or replaced while it was running';
export const WAL_OVERWRITTEN = 'grantd.db-wal was overwritten or cut short by another program';

/** By number in memory. */
const DAMAGE_REASONS = [
  undefined,
  'the database is damaged',
  'grantd.db is not a database any more',
  'a file of the database was cut short',
  FILES_GONE,
  WAL_OVERWRITTEN,
] as const;

type DamageReason = Exclude<(typeof DAMAGE_REASONS)[number], undefined>;

/** https://www.sqlite.org/rescode.html */
const SHORT_READ = 522;
const CORRUPT_FILE_SYSTEM = 8458;

/** What an error of any connection says about the files; undefined: nothing. */
function damageOf(error: unknown): DamageReason | undefined {
  if (error instanceof DamageError) return DAMAGE_REASONS.find((reason) => reason === error.message);
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
    return DAMAGE_REASONS[Atomics.load(this.#word, 0)];
  }

  /** Throws DamageError once damage is known. */
  requireNone(): void {
    const { reason } = this;
    if (reason !== undefined) throw new DamageError(reason);
  }

  /** Remembers what the error says, if it speaks of damage. */
  note(error: unknown): void {
    const reason = damageOf(error);
    if (reason !== undefined) Atomics.compareExchange(this.#word, 0, 0, DAMAGE_REASONS.indexOf(reason));
  }
}
