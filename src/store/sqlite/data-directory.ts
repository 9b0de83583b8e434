// The data directory: created if missing, readable only by its owner, and held by one process at a time. The hold is an
// operating system lock on a separate database (never on grantd.db, which several connections of this process share).
// It ends with the process, however that ends, and leaves nothing to clean up. A second `openSqliteStore` in the same
// process is refused too: SQLite distinguishes its connections where the system's locks would not.

import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreRefusal } from '../store-adapter.ts';
import { LOG_ENDS_FILE } from './log-ends.ts';
import { openReasonOf, primaryCodeOf } from './sqlite-errors.ts';

const BUSY = 5;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

export const DATABASE_FILE = 'grantd.db';
/** Holds the lock. No other code may open it: the first close of any handle to it would release the lock. */
const LOCK_FILE = 'grantd.lock';
/** Names the holder of the lock, only for the error message; the named process may no longer exist. */
const PID_FILE = 'grantd.pid';

export interface DirectoryHold {
  release(): void;
}

/** An error for the operator that names the directory and the problem. */
export function directoryError(directory: string, reason: string, cause?: unknown): StoreRefusal {
  return new StoreRefusal(`The data directory ${directory} cannot be used: ${reason}.`, { cause });
}

function readHolder(directory: string): string {
  try {
    const pid = readFileSync(join(directory, PID_FILE), 'utf8').trim();
    if (pid === String(process.pid)) return 'this process';
    return /^\d{1,10}$/.test(pid) ? `another process (pid ${pid})` : 'another process';
  } catch {
    return 'another process';
  }
}

function takeLock(directory: string): DatabaseSync {
  const path = join(directory, LOCK_FILE);
  closeSync(openSync(path, 'a', FILE_MODE));
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    // Without a journal file, a killed process leaves nothing behind.
    lock.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/**
 * Throws a StoreRefusal if there is no database, but something that is only there with one: a start would make a new
 * one, and destroy what could have been rescued. `companions`: names of other files that are written beside a database.
 */
function requireDatabase(directory: string, companions: readonly string[]): void {
  const sizeOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.size;
  const size = sizeOf(DATABASE_FILE);
  if (size !== undefined && size > 0) return;
  const wal = `${DATABASE_FILE}-wal`;
  const found = [LOG_ENDS_FILE, ...companions].filter((name) => sizeOf(name) !== undefined);
  if ((sizeOf(wal) ?? 0) > 0) found.push(wal);
  if (found.length === 0) return;
  throw directoryError(
    directory,
    `${DATABASE_FILE} is ${size === 0 ? 'empty' : 'missing'}, but ${found.join(', ')} ${found.length === 1 ? 'is' : 'are'} there. Nothing was changed. Put the whole folder back from a backup, or remove the folder to begin with an empty service`,
  );
}

/** Creates and locks the directory. Throws a StoreRefusal if that fails, or if its database is gone. */
export function holdDirectory(directory: string, companions: readonly string[] = []): DirectoryHold {
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    lock = takeLock(directory);
    const pidPath = join(directory, PID_FILE);
    writeFileSync(pidPath, `${process.pid}\n`, { mode: FILE_MODE });
    requireDatabase(directory, companions);
    // Created here for its mode: SQLite would make it world-readable, and gives its -wal and -shm files the same mode.
    closeSync(openSync(join(directory, DATABASE_FILE), 'a', FILE_MODE));
    const held = lock;
    return {
      release: () => {
        // The file first: after the lock is released, a new holder may have written its own file.
        rmSync(pidPath, { force: true });
        held.close();
      },
    };
  } catch (error) {
    if (lock !== undefined) rmSync(join(directory, PID_FILE), { force: true });
    lock?.close();
    if (error instanceof StoreRefusal) throw error;
    if (primaryCodeOf(error) === BUSY) throw directoryError(directory, `it is held by ${readHolder(directory)}`, error);
    throw directoryError(directory, openReasonOf(error), error);
  }
}
