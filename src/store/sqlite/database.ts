// A connection to the database: its settings, and its prepared statements. SQL is constant text; values are always
// bound.

import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';

/** Only another program (a backup, a shell) can hold a lock on this file; a call that waits longer fails. */
const BUSY_TIMEOUT_MS = 1000;
/**
 * Pages in the write-ahead log (32 MiB) at which a commit of the writer moves the rest of it into the database, so that
 * the log can start again. The checkpointer thread has moved most of it before, next to the writer: on a slow disk,
 * moving everything would delay appends by thousands of random page writes.
 */
const AUTOCHECKPOINT_PAGES = 8000;
/** During a cold start or a long read, the log may outgrow this; it is cut back to this size when it starts again. */
const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Per connection. The rest is in the page cache of the operating system, one system call away. */
const CACHE_KIB = { writer: 16 * 1024, reader: 8 * 1024, checkpointer: 256 };

export type ConnectionMode = keyof typeof CACHE_KIB;

export function openDatabase(path: string, mode: ConnectionMode): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly: mode === 'reader' });
  try {
    database.exec(`PRAGMA cache_size = -${CACHE_KIB[mode]}`);
    if (mode === 'writer') {
      database.exec('PRAGMA journal_mode = WAL');
      database.exec('PRAGMA synchronous = FULL');
      database.exec(`PRAGMA journal_size_limit = ${WAL_SIZE_LIMIT_BYTES}`);
    }
    database.exec(`PRAGMA wal_autocheckpoint = ${mode === 'writer' ? AUTOCHECKPOINT_PAGES : 0}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export type Row = Readonly<Record<string, SQLOutputValue>>;
/** The values of a row, in the order of the selected columns. */
export type FlatRow = readonly SQLOutputValue[];

export interface Statement<EachRow = Row> {
  all(...values: readonly SQLInputValue[]): readonly EachRow[];
  /** Reads no further than its reader. The statement must not run again before its end. */
  iterate(...values: readonly SQLInputValue[]): Iterable<EachRow>;
  get(...values: readonly SQLInputValue[]): EachRow | undefined;
  /** The number of rows changed. */
  run(...values: readonly SQLInputValue[]): number;
}

export function prepare(database: DatabaseSync, sql: string): Statement {
  const statement = database.prepare(sql);
  return {
    all: (...values) => statement.all(...values),
    iterate: (...values) => statement.iterate(...values),
    get: (...values) => statement.get(...values),
    run: (...values) => Number(statement.run(...values).changes),
  };
}

/** For listings of many rows, which are cheaper as arrays. */
export function prepareFlat(database: DatabaseSync, sql: string): Pick<Statement<FlatRow>, 'all'> {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  // The types of node:sqlite do not know `setReturnArrays`, which makes rows arrays.
  return { all: (...values) => statement.all(...values) as unknown as readonly FlatRow[] };
}
