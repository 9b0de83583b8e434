// What stands between a commit of the writer and its acknowledgement: the files must still be those that were opened,
// the write-ahead log must be the one that the commit went to, and `grantd.log-ends` learns how far each log got.
//
// The generation (`PRAGMA user_version`) ties the files together: it grows with every start, with every new beginning
// of the write-ahead log, and when the store closes. So a start can tell which database file a log belongs to.

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { integerAt } from '../../stored-rows.ts';
import { DATABASE_FILE } from '../data-directory.ts';
import { prepare } from '../database.ts';
import { LOG_ENDS_FILE, LogEnds, type LogEndsHead, type Salts } from '../log-ends.ts';
import { DamageError, FILES_GONE, WAL_OVERWRITTEN } from '../sqlite-errors.ts';
import { checksumOf, readSalts, type StartFindings } from '../start-check.ts';

/**
 * How much later than the acknowledgement the disk may have the ends: only a loss of power can take away what the
 * kernel has. A wait for the disk with each commit would halve the writes per second.
 */
const SYNC_MS = 250;
/** How often the files are looked at while nothing is written. */
export const LOOK_MS = 500;

interface KnownFile {
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** What the writer demands of it. */
export interface CommitWitness {
  /** Within a durable transaction, at its end. */
  beforeCommit(): void;
  /** After it, with the logs that it may have made longer. Throws if it must not be acknowledged. */
  afterCommit(appends: Iterable<{ readonly slot: number; readonly seq: number }>): void;
}

export class Acknowledgements implements CommitWitness {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #ends: LogEnds;
  readonly #files: readonly KnownFile[];
  readonly #wal: number;
  #raising = false;
  #syncedAtMs = performance.now();

  private constructor(database: DatabaseSync, path: string, ends: LogEnds, endsPath: string) {
    this.#database = database;
    this.#path = path;
    this.#ends = ends;
    this.#files = [path, `${path}-wal`, `${path}-shm`, endsPath].map(identify);
    // SQLite has no locks on this file, so closing it later drops none.
    this.#wal = openSync(`${path}-wal`, 'r');
  }

  /** Takes the database and the file of ends into use; makes that file if there is none to go on with. */
  static open(
    database: DatabaseSync,
    directory: string,
    { found, ends, databaseId, accepted, facts }: StartFindings,
    wallMs: number,
  ): Acknowledgements {
    const path = join(directory, DATABASE_FILE);
    const endsPath = join(directory, LOG_ENDS_FILE);
    const before = generationOf(database);
    const id = databaseId ?? randomUUID();
    const head: LogEndsHead =
      found === undefined
        ? { databaseId: id, state: 'opening', base: 0, current: before }
        : { ...found.head, state: 'opening', checksum: undefined };
    const file = found === undefined ? LogEnds.create(endsPath, head, ends) : LogEnds.open(endsPath, found);
    if (found !== undefined) file.writeHead(head);
    database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
    prepare(database, 'INSERT INTO database_identity (one, database_id) VALUES (1, ?) ON CONFLICT DO NOTHING').run(id);
    const insertLoss = prepare(database, 'INSERT INTO accepted_losses (at_ms, reason) VALUES (?, ?)');
    for (const reason of accepted) insertLoss.run(wallMs, reason);
    database.exec(`PRAGMA user_version = ${before + 1}; COMMIT`);
    const opened = new Acknowledgements(database, path, file, endsPath);
    const salts = opened.#readSalts();
    // Never more than the database file has: what is still in a log that goes on is not there yet.
    const goesOn = facts === undefined || isDeepStrictEqual(salts, facts.salts);
    const base = goesOn ? (facts === undefined ? head.base : (facts.generation ?? 0)) : before;
    file.writeHead({ ...head, state: 'open', salts, base, current: before + 1 });
    return opened;
  }

  beforeCommit(): void {
    if (this.#raising) this.#database.exec(`PRAGMA user_version = ${this.#ends.head.current + 1}`);
  }

  afterCommit(appends: Iterable<{ readonly slot: number; readonly seq: number }>): void {
    this.look();
    const { head } = this.#ends;
    const salts = this.#readSalts();
    const current = this.#raising ? head.current + 1 : head.current;
    if (!isDeepStrictEqual(salts, head.salts)) {
      // SQLite has moved everything into the database file, and begun anew with this commit.
      this.#ends.writeHead({ ...head, salts, base: head.current, current });
      this.#raising = current === head.current;
    } else if (this.#raising) {
      this.#ends.writeHead({ ...head, current });
      this.#raising = false;
    }
    for (const { slot, seq } of appends) this.#ends.note(slot, seq);
    this.#ends.write();
    if (performance.now() - this.#syncedAtMs >= SYNC_MS) this.sync();
  }

  /** Throws DamageError if a file is not what it was. */
  look(): void {
    for (const { path, device, inode } of this.#files) {
      const now = statSync(path, { throwIfNoEntry: false });
      if (now?.ino !== inode || now.dev !== device) {
        throw new DamageError(FILES_GONE);
      }
    }
  }

  sync(): void {
    this.#ends.sync();
    this.#syncedAtMs = performance.now();
  }

  #readSalts(): Salts {
    const salts = readSalts(this.#wal);
    if (salts === undefined) throw new DamageError(WAL_OVERWRITTEN);
    return salts;
  }

  /** Closes the database. `isWhole`: its files are known to be complete then, unless this throws. */
  close({ isWhole }: { readonly isWhole: boolean }): void {
    try {
      if (!isWhole) return;
      const { current } = this.#ends.head;
      const generation = current + 1;
      this.look();
      this.#database.exec(`PRAGMA synchronous = FULL; BEGIN IMMEDIATE; PRAGMA user_version = ${generation}; COMMIT`);
      this.afterCommit([]);
      this.#ends.writeHead({ ...this.#ends.head, current: generation });
      this.#database.close();
      // Another connection still has it, or SQLite could not move everything: as after a crash, the next start does.
      if (statSync(`${this.#path}-wal`, { throwIfNoEntry: false }) !== undefined) return;
      const checksum = checksumOf(this.#path);
      this.#ends.writeHead({ ...this.#ends.head, state: 'clean', salts: undefined, checksum });
    } finally {
      if (this.#database.isOpen) this.#database.close();
      this.#ends.close();
      closeSync(this.#wal);
    }
  }
}

const generationOf = (database: DatabaseSync): number => {
  const row = prepare(database, 'PRAGMA user_version').get();
  return row === undefined ? 0 : integerAt(row, 'user_version');
};

function identify(path: string): KnownFile {
  const { dev, ino } = statSync(path);
  return { path, device: dev, inode: ino };
}
