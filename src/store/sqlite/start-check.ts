// Compares the database with what `grantd.log-ends` says was acknowledged, before a start changes anything. SQLite
// takes a write-ahead log that is damaged, cut, missing or of another time for one that ends earlier, and a database
// file from a backup for the present one: a start would serve what is left, with revocations undone.
//
// Invariant: nothing is served unless every acknowledged entry of every log is there, or the operator has accepted what
// is missing (`--accept-loss`). A start that is refused has changed nothing: the connection here only reads, and such a
// connection neither moves nor removes the write-ahead log when it closes.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { integerAt, textAt } from '../stored-rows.ts';
import { DATABASE_FILE } from './data-directory.ts';
import { openDatabase, prepare } from './database.ts';
import { type Ends, type FoundLogEnds, LOG_ENDS_FILE, type LogEndsHead, readLogEnds, type Salts } from './log-ends.ts';
import { DatabaseRefusal, hasTables, requireKnownSchema } from './migrate.ts';
import type { Migration } from './migrations.ts';
import { CORRUPT, NOT_A_DATABASE, openReasonOf, primaryCodeOf } from './sqlite-errors.ts';

/** Slots that a message names. */
const NAMED_MAX = 5;

export const RESTORE =
  'Nothing was changed. Put the whole folder back from a backup (docs/operating/recovery.md, "The embedded store")';
const ACCEPT =
  'If there is none, "grantd dev --accept-loss" goes on with what is there; revocations that are missing are undone then';

/** What a start may go on from. */
export interface StartFindings {
  /** Undefined: grantd.log-ends is to be made, from `ends`. */
  readonly found: FoundLogEnds | undefined;
  readonly ends: Ends;
  /** The id of the database; undefined: it is new. */
  readonly databaseId: string | undefined;
  /** What is missing or cannot be told, and was accepted. */
  readonly accepted: readonly string[];
  /** Undefined: the process has had the files open before. */
  readonly facts: FileFacts | undefined;
}

/** The last seq of each of the slots. */
function readEnds(database: DatabaseSync, slots: Iterable<number>): Map<number, number> {
  const last = prepare(
    database,
    `SELECT coalesce(max(seq), 0) AS seq FROM log
     WHERE slot = ?1 AND segment = (SELECT max(segment) FROM log WHERE slot = ?1)`,
  );
  const ends = new Map<number, number>();
  for (const slot of slots) {
    const row = last.get(slot);
    if (row !== undefined) ends.set(slot, integerAt(row, 'seq'));
  }
  return ends;
}

function* slotsWithLogs(database: DatabaseSync): Generator<number> {
  const next = prepare(database, 'SELECT min(slot) AS slot FROM log WHERE slot > ?');
  for (let after = -1; ; ) {
    const row = next.get(after);
    if (row === undefined || row.slot === null) return;
    after = integerAt(row, 'slot');
    yield after;
  }
}

/** SQLite counts the first number up when it starts the log again, and draws the second. */
const follows = ([next]: Salts, [before]: Salts): boolean => next === (before + 1) % 2 ** 32;

interface Objection {
  readonly text: string;
  /** Whether SQLite would put pages of one time over those of another, which is never accepted. */
  readonly isMix?: boolean;
}

/** Why the files are not those that grantd.log-ends was written beside; undefined: they are. */
function strangeFiles(head: LogEndsHead, facts: FileFacts): Objection | undefined {
  const { base, current } = head;
  const generation = facts.generation ?? 0;
  if (head.state === 'clean') {
    if (facts.salts !== 'none') {
      const text = 'grantd.db-wal is of another time: grantd was stopped in order, and left none. Move it away';
      return { text, isMix: true };
    }
    const same = generation === current && (head.checksum === undefined || head.checksum === facts.checksum);
    return same ? undefined : { text: 'grantd.db is not as grantd left it: it was damaged, changed or replaced since' };
  }
  const goesOn = head.state === 'opening' || head.salts === undefined || isDeepStrictEqual(facts.salts, head.salts);
  if (goesOn && generation >= base) return undefined;
  if (goesOn) return { text: 'grantd.db is older than grantd.db-wal, which does not belong to it', isMix: true };
  if (facts.salts === undefined) return { text: 'grantd.db-wal is damaged at its beginning' };
  if (facts.salts !== 'none' && !follows(facts.salts, head.salts)) {
    return { text: 'grantd.db-wal is of another time than grantd.db', isMix: true };
  }
  if (generation >= current) return undefined;
  return { text: 'grantd.db-wal is missing, empty or of another time, and grantd.db alone is not complete' };
}

/** The acknowledged entries that the database lacks, in words; undefined: none. */
function missingEntries(acknowledged: Ends, ends: Ends): Objection | undefined {
  const shorter = [...acknowledged].filter(([slot, seq]) => (ends.get(slot) ?? 0) < seq);
  if (shorter.length === 0) return undefined;
  const entries = shorter.reduce((sum, [slot, seq]) => sum + seq - (ends.get(slot) ?? 0), 0);
  const named = shorter.slice(0, NAMED_MAX).map(([slot, seq]) => `${slot} ends at ${ends.get(slot) ?? 0} of ${seq}`);
  const rest = shorter.length > NAMED_MAX ? `, and ${shorter.length - NAMED_MAX} more` : '';
  const which = `${entries} acknowledged entries of the logs of ${shorter.length} slots (${named.join(', ')}${rest})`;
  return { text: `it lacks ${which}: grantd.db or grantd.db-wal was damaged, cut, removed or replaced` };
}

const readDatabaseId = (database: DatabaseSync): string | undefined => {
  const row = prepare(database, 'SELECT database_id FROM database_identity').get();
  return row && textAt(row, 'database_id');
};

/** Everything that speaks against a start. `facts` undefined: the process has the files open already. */
function objectionsTo(
  database: DatabaseSync,
  found: FoundLogEnds | 'missing' | 'damaged',
  facts: FileFacts | undefined,
  ends: Ends,
): readonly Objection[] {
  if (typeof found === 'string') {
    return [{ text: `${LOG_ENDS_FILE} is ${found}, so it is unknown whether all acknowledged writes are there` }];
  }
  if (readDatabaseId(database) !== found.head.databaseId) {
    const text = `${LOG_ENDS_FILE} is of another database than grantd.db. If it is the wrong file, move it away`;
    return [{ text, isMix: facts?.salts !== 'none' }];
  }
  const objections = [facts && strangeFiles(found.head, facts), missingEntries(found.ends, ends)];
  return objections.filter((each) => each !== undefined);
}

/**
 * Throws DatabaseRefusal, with what to do, unless the database has all that was acknowledged or `acceptLoss` says that
 * it need not. `isFirst`: this process has not had the files open yet.
 */
export function examineStart(
  directory: string,
  migrations: readonly Migration[],
  { isFirst, acceptLoss }: { readonly isFirst: boolean; readonly acceptLoss: boolean },
): StartFindings {
  const path = join(directory, DATABASE_FILE);
  const found = readLogEnds(join(directory, LOG_ENDS_FILE));
  const sum = typeof found === 'object' && found.head.state === 'clean' && found.head.checksum !== undefined;
  const facts = isFirst ? readFileFacts(path, { sum }) : undefined;
  const isUnused = found === 'missing' || (found !== 'damaged' && found.ends.size === 0);
  const unused: StartFindings = { found: undefined, ends: new Map(), databaseId: undefined, accepted: [], facts };
  const unmade = facts?.generation === undefined || (facts.hasJournal && facts.isSmall);
  if (facts !== undefined && unmade && isUnused) return unused;
  if (facts?.hasJournal === true) {
    throw new DatabaseRefusal(`grantd.db-journal does not belong to this database: move it away. ${RESTORE}`);
  }
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(path, 'reader');
    // A start that was killed at once leaves a database without tables, or without an id: it has served no client.
    if (!hasTables(database)) {
      if (isUnused) return unused;
      throw new DatabaseRefusal(
        `grantd.db has no tables, but ${LOG_ENDS_FILE} tells of entries: grantd.db-wal was removed or damaged. ${RESTORE}, or remove the folder to begin with an empty service`,
      );
    }
    requireKnownSchema(database, migrations);
    const databaseId = readDatabaseId(database);
    if (databaseId === undefined && isUnused) return unused;
    const ends = readEnds(database, slotsWithLogs(database));
    const objections = objectionsTo(database, found, facts, ends);
    const texts = objections.map(({ text }) => text);
    if (objections.length === 0) return { found: found as FoundLogEnds, ends, databaseId, accepted: [], facts };
    if (objections.some(({ isMix }) => isMix)) throw new DatabaseRefusal(`${texts.join('; ')}. ${RESTORE}`);
    if (!acceptLoss) throw new DatabaseRefusal(`${texts.join('; ')}. ${RESTORE}. ${ACCEPT}`);
    return { found: undefined, ends, databaseId, accepted: texts, facts };
  } catch (error) {
    // Files of different times look damaged.
    const strange = facts && typeof found === 'object' ? strangeFiles(found.head, facts) : undefined;
    if (error instanceof DatabaseRefusal || strange === undefined) throw error;
    throw new DatabaseRefusal(`${openReasonOf(error)}; ${strange.text}. ${RESTORE}`);
  } finally {
    database?.close();
  }
}

/** Why the database cannot be used, in words for the operator, and what to do. */
export function describeRefusal(error: unknown): string {
  if (error instanceof DatabaseRefusal) return error.message;
  const reason = openReasonOf(error);
  const code = primaryCodeOf(error);
  return code === CORRUPT || code === NOT_A_DATABASE ? `${reason}. ${RESTORE}` : reason;
}

// ---- the files by themselves ----
//
// What the files of the database say by themselves, read without SQLite: a connection would already repair them. Read
// only while no connection of this process has them open: closing a file drops the locks of the process on it.

/** https://www.sqlite.org/fileformat.html#the_database_header */
const GENERATION_AT = 60;
const DATABASE_HEADER_BYTES = 100;
/** https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const WAL_HEADER_BYTES = 32;
const WAL_MAGIC = 0x377f0682;
const SALTS_AT = 16;
const FIRST_PAGE_BYTES = 4096;
/**
 * A larger database file is not summed up when it is closed in order: at 1 GB/s, this delays a start and a stop by a
 * quarter of a second.
 */
const CHECKSUM_BYTES_MAX = 256 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

export interface FileFacts {
  /** `PRAGMA user_version` of the database file alone; undefined: the file is empty. */
  readonly generation: number | undefined;
  /** The salts of the write-ahead log; `none`: no such file, or an empty one; undefined: its header is damaged. */
  readonly salts: Salts | 'none' | undefined;
  /** Whether there is a rollback journal: SQLite has one only while it makes the first page of the database. */
  readonly hasJournal: boolean;
  /** Whether the database file has one page at most. */
  readonly isSmall: boolean;
  /** The checksum of the database file, if asked for. */
  readonly checksum: number | undefined;
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function readStart(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** Reads the salts from the header of a write-ahead log; undefined: it has another form. */
export function saltsOf(header: Buffer): Salts | undefined {
  if (header.length < WAL_HEADER_BYTES || (header.readUInt32BE(0) & ~1) >>> 0 !== WAL_MAGIC) return undefined;
  return [header.readUInt32BE(SALTS_AT), header.readUInt32BE(SALTS_AT + 4)];
}

/** Reads the header of an open write-ahead log. */
export function readSalts(file: number): Salts | undefined {
  const header = Buffer.alloc(WAL_HEADER_BYTES);
  return saltsOf(header.subarray(0, readSync(file, header, 0, WAL_HEADER_BYTES, 0)));
}

export function readFileFacts(databasePath: string, { sum }: { readonly sum: boolean }): FileFacts {
  const header = sizeOf(databasePath) === 0 ? undefined : readStart(databasePath, DATABASE_HEADER_BYTES);
  const walPath = `${databasePath}-wal`;
  return {
    generation: header?.length === DATABASE_HEADER_BYTES ? header.readUInt32BE(GENERATION_AT) : undefined,
    salts: sizeOf(walPath) === 0 ? 'none' : saltsOf(readStart(walPath, WAL_HEADER_BYTES)),
    hasJournal: sizeOf(`${databasePath}-journal`) > 0,
    isSmall: sizeOf(databasePath) <= FIRST_PAGE_BYTES,
    checksum: sum ? checksumOf(databasePath) : undefined,
  };
}

/** The checksum of all bytes of the file; undefined: it is too large. */
export function checksumOf(path: string): number | undefined {
  if (sizeOf(path) > CHECKSUM_BYTES_MAX) return undefined;
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let sum = 0;
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) {
      sum = crc32(chunk.subarray(0, length), sum);
    }
    return sum;
  } finally {
    closeSync(file);
  }
}
