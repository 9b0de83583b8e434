// The file `grantd.log-ends` beside the database: how far the log of each slot was acknowledged, and which database and
// write-ahead log that was in. SQLite takes a damaged or missing write-ahead log for one that ends earlier; with this
// file a start notices.
//
// Invariant: the file is never ahead of the database. It is written after the commit that it tells of is on the disk,
// and before anyone hears of that commit. The kernel gets every write at once, so it survives the end of the process;
// the disk gets it within SYNC_MS (acknowledgements.ts), so after a loss of power it may be behind by that.
//
// The file consists of pages, each with a checksum, in two copies that are written in turn: a write that was cut short
// leaves the copy before it. Page 0 is the head, every other page has the ends of 255 slots, in the order in which they
// came.

import { closeSync, fdatasyncSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../core/assert.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { parseJson } from '../../core/text/json.ts';

export const LOG_ENDS_FILE = 'grantd.log-ends';

const PAGE_BYTES = 4096;
/** Checksum, page number, version. */
const HEADER_BYTES = 16;
/** A slot plus one, since zero means no slot, and its seq. */
const END_BYTES = 16;
const ENDS_PER_PAGE = (PAGE_BYTES - HEADER_BYTES) / END_BYTES;
/** More than the slots of any cluster need. */
const PAGES_MAX = 64;
const FORMAT = 1;
const FILE_MODE = 0o600;

/** The two random numbers in the header of a write-ahead log: another pair each time that it starts again. */
export type Salts = readonly [number, number];

export interface LogEndsHead {
  /** The id that the database has, too. */
  readonly databaseId: string;
  /** `opening`: between `clean` and `open`. `clean`: closed in order, without a write-ahead log. */
  readonly state: 'opening' | 'open' | 'clean';
  /** The salts of the present write-ahead log; absent: not known yet. */
  readonly salts?: Salts | undefined;
  /** The generation of the database file (`PRAGMA user_version`) when the present write-ahead log began. */
  readonly base: number;
  /** The generation of the database together with the present write-ahead log. */
  readonly current: number;
  /** Only if clean, and the database file is small enough: the checksum of its bytes. */
  readonly checksum?: number | undefined;
}

interface StoredHead extends LogEndsHead {
  readonly format: number;
  /** The number of pages with slots. */
  readonly pages: number;
}

/** By slot, the seq up to which its log was acknowledged. */
export type Ends = ReadonlyMap<number, number>;

export interface FoundLogEnds {
  readonly head: StoredHead;
  readonly ends: Ends;
}

interface Page {
  version: number;
  readonly bytes: Buffer;
}

const sealOf = (bytes: Buffer): number => crc32(bytes.subarray(4));

function parsePage(bytes: Buffer, number: number): Page | undefined {
  if (bytes.readUInt32BE(0) !== sealOf(bytes) || bytes.readUInt32BE(4) !== number) return undefined;
  return { version: bytes.readDoubleBE(8), bytes };
}

/** The newer of its two copies that are whole; undefined: neither is. */
function readPage(file: number, number: number): Page | undefined {
  const copies = [0, 1].map((copy) => {
    const bytes = Buffer.alloc(PAGE_BYTES);
    readSync(file, bytes, 0, PAGE_BYTES, (2 * number + copy) * PAGE_BYTES);
    return parsePage(bytes, number);
  });
  return copies.reduce((best, page) => ((page?.version ?? -1) > (best?.version ?? -1) ? page : best), undefined);
}

function* endsOf({ bytes }: Page): Generator<{ readonly slot: number; readonly seq: number }> {
  for (let at = HEADER_BYTES; at < PAGE_BYTES; at += END_BYTES) {
    const slot = bytes.readDoubleBE(at) - 1;
    if (slot < 0) return;
    yield { slot, seq: bytes.readDoubleBE(at + 8) };
  }
}

function parseHead(page: Page | undefined): StoredHead | undefined {
  if (page === undefined) return undefined;
  const text = page.bytes.toString('utf8', HEADER_BYTES).replace(/\0+$/, '');
  const head = parseJson(text, 'The head');
  // The checksum says that grantd has written it.
  if (!isJsonObject(head)) return undefined;
  const stored = head as unknown as StoredHead;
  return stored.format === FORMAT && stored.pages <= PAGES_MAX ? stored : undefined;
}

/** `missing`: there is no file. `damaged`: its contents are lost. */
export function readLogEnds(path: string): FoundLogEnds | 'missing' | 'damaged' {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'missing';
    throw error;
  }
  try {
    const head = parseHead(readPage(file, 0));
    if (head === undefined) return 'damaged';
    const ends = new Map<number, number>();
    for (let number = 1; number <= head.pages; number += 1) {
      const page = readPage(file, number);
      if (page === undefined) return 'damaged';
      for (const { slot, seq } of endsOf(page)) ends.set(slot, seq);
    }
    return { head, ends };
  } finally {
    closeSync(file);
  }
}

/** The file, open for its only writer. */
export class LogEnds {
  readonly #file: number;
  readonly #pages = new Map<number, Page>();
  readonly #dirty = new Set<number>();
  /** The place of each slot among all that have an end. */
  readonly #places = new Map<number, number>();
  #head: LogEndsHead;
  #slotPages = 0;
  #synced = true;

  private constructor(file: number, head: LogEndsHead) {
    this.#file = file;
    this.#head = head;
  }

  /** Makes the file anew, whole or not at all. */
  static create(path: string, head: LogEndsHead, ends: Ends): LogEnds {
    const draft = `${path}.new`;
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx+', FILE_MODE);
    try {
      const made = new LogEnds(file, head);
      for (const [slot, seq] of ends) made.note(slot, seq);
      made.writeHead(head);
      fsyncSync(file);
      renameSync(draft, path);
      syncDirectory(dirname(path));
      return made;
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  /** Goes on with a file that was read before. */
  static open(path: string, { head }: FoundLogEnds): LogEnds {
    const opened = new LogEnds(openSync(path, 'r+'), head);
    opened.#pages.set(0, readPage(opened.#file, 0) ?? newPage(0));
    opened.#slotPages = head.pages;
    for (let number = 1; number <= opened.#slotPages; number += 1) {
      const page = readPage(opened.#file, number) ?? newPage(number);
      opened.#pages.set(number, page);
      for (const { slot } of endsOf(page)) opened.#places.set(slot, opened.#places.size);
    }
    return opened;
  }

  get head(): LogEndsHead {
    return this.#head;
  }

  /** The log of the slot was acknowledged up to here, once `write` has returned. */
  note(slot: number, seq: number): void {
    const place = this.#places.get(slot) ?? this.#places.size;
    this.#places.set(slot, place);
    const number = 1 + Math.floor(place / ENDS_PER_PAGE);
    const at = HEADER_BYTES + END_BYTES * (place % ENDS_PER_PAGE);
    const page = this.#pages.get(number) ?? newPage(number);
    this.#pages.set(number, page);
    if (page.bytes.readDoubleBE(at + 8) >= seq) return;
    page.bytes.writeDoubleBE(slot + 1, at);
    page.bytes.writeDoubleBE(seq, at + 8);
    this.#dirty.add(number);
  }

  /** Gives what was noted to the kernel. What fails is written with the next call. */
  write(): void {
    let last = this.#slotPages;
    for (const number of this.#dirty) {
      this.#writePage(number);
      last = Math.max(last, number);
      this.#dirty.delete(number);
    }
    if (last === this.#slotPages) return;
    // The head must not count pages that a loss of power could take away.
    this.sync();
    this.#slotPages = last;
    this.writeHead(this.#head);
  }

  /** Writes the head, and waits until the disk has it. */
  writeHead(head: LogEndsHead): void {
    this.#head = head;
    this.write();
    const page = this.#pages.get(0) ?? newPage(0);
    this.#pages.set(0, page);
    const stored: StoredHead = { ...head, format: FORMAT, pages: this.#slotPages };
    const text = Buffer.from(JSON.stringify(stored));
    assert(text.length <= PAGE_BYTES - HEADER_BYTES, 'the head fits its page');
    page.bytes.fill(0, HEADER_BYTES);
    text.copy(page.bytes, HEADER_BYTES);
    this.#writePage(0);
    this.sync();
  }

  #writePage(number: number): void {
    const page = this.#pages.get(number);
    assert(page !== undefined, 'a page that is written was made before');
    page.version += 1;
    page.bytes.writeUInt32BE(number, 4);
    page.bytes.writeDoubleBE(page.version, 8);
    page.bytes.writeUInt32BE(sealOf(page.bytes), 0);
    this.#synced = false;
    writeSync(this.#file, page.bytes, 0, PAGE_BYTES, (2 * number + (page.version % 2)) * PAGE_BYTES);
  }

  /** Waits until the disk has what was written. */
  sync(): void {
    if (this.#synced) return;
    fdatasyncSync(this.#file);
    this.#synced = true;
  }

  close(): void {
    closeSync(this.#file);
  }
}

const newPage = (number: number): Page => {
  assert(number <= PAGES_MAX, 'there are no more slots than a cluster may have');
  return { version: 0, bytes: Buffer.alloc(PAGE_BYTES) };
};

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
