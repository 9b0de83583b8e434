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
