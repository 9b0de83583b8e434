// What the files of the database say by themselves, read without SQLite: a connection would already repair them. Read
// only while no connection of this process has them open: closing a file drops the locks of the process on it.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Salts } from './log-ends.ts';

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
  /** Of the write-ahead log; `none`: there is no such file, or it is empty; undefined: its header is damaged. */
  readonly salts: Salts | 'none' | undefined;
  /** Whether there is a rollback journal: SQLite has one only while it makes the first page of the database. */
  readonly hasJournal: boolean;
  /** Whether the database file has one page at most. */
  readonly isSmall: boolean;
  /** Of the database file, if asked for. */
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

/** Of the header of a write-ahead log; undefined: this is none. */
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

/** Of all bytes of the file; undefined: it is too large. */
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
