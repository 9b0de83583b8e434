// Listings under rules that go on behind a page, kept whole for their next pages: an evaluation finds all that is
// listed, however short the page. Invariant: that of the answer cache. What commits change is remembered for a while,
// so that a commit costs the same however many listings there are; before each page it is looked up among the reads of
// the listing, once.

import { compareUtf8 } from '../../core/tuples.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';
import { firstAfter, searchText } from './text-order.ts';
import { bytesOfText } from './tuple-text.ts';

/** Divisor of the budget: of 256 MiB, one tenant's listings take 8 MiB at most, some 150,000 objects. */
const TENANT_SHARE = 32;
/** Estimated bytes of a listing, and of a block, without characters. */
const LISTING_BYTES = 300;
const BLOCK_BYTES = 100;
const NUMBER_BYTES = 4;
/** Changed reads that are remembered: those of some thousand commits. */
const CHANGES_MAX = 8192;
/** Strings in a block: what is taken apart for a page is not much more than the page. */
export const TEXTS_PER_BLOCK = 500;
const SEPARATOR = '\n';
const EMPTY = 0;
const SET_MIN = 64;

/** A set of numbers of reads, which is filled in steps. */
export class ReadSet {
  #places = new Int32Array(SET_MIN);
  #count = 0;

  get bytes(): number {
    return NUMBER_BYTES * this.#places.length;
  }

  add(number: number): void {
    if (2 * this.#count >= this.#places.length) this.#grow();
    if (insert(this.#places, number)) this.#count += 1;
  }

  has(number: number): boolean {
    const places = this.#places;
    for (let place = placeIn(places, number); places[place] !== EMPTY; place = (place + 1) & (places.length - 1)) {
      if (places[place] === number) return true;
    }
    // In the set, 0 is an empty place.
    return number === EMPTY;
  }

  #grow(): void {
    const places = new Int32Array(2 * this.#places.length);
    for (const number of this.#places) if (number !== EMPTY) insert(places, number);
    this.#places = places;
  }
}

const placeIn = (places: Int32Array, number: number): number => number & (places.length - 1);

/** Whether it was missing. */
function insert(places: Int32Array, number: number): boolean {
  let place = placeIn(places, number);
  for (; places[place] !== EMPTY; place = (place + 1) & (places.length - 1)) {
    if (places[place] === number) return false;
  }
  places[place] = number;
  return true;
}

/** Ascending strings without white space, in blocks of one string each: a third of the memory of a list. */
export class TextBlocks {
  readonly #first: string[] = [];
  readonly #blocks: string[] = [];
  bytes = 0;

  /** The next ones, at most `TEXTS_PER_BLOCK`. */
  add(texts: readonly string[]): void {
    const block = texts.join(SEPARATOR);
    // A copy: a substring would keep the string that it is a part of.
    this.#first.push(Buffer.from(texts[0] ?? '').toString());
    this.#blocks.push(block);
    this.bytes += BLOCK_BYTES + bytesOfText(block) + bytesOfText(texts[0] ?? '');
  }

  /** The first strings after `after`. */
  firstAfter(after: string, countMax: number): readonly string[] {
    const found = searchText((at) => this.#first[at] ?? '', after, 0, this.#first.length);
    let at = Math.max(0, found >= 0 ? found : -2 - found);
    const texts: string[] = [];
    for (; at < this.#blocks.length && texts.length < countMax; at += 1) {
      const block = (this.#blocks[at] ?? '').split(SEPARATOR);
      const start = texts.length === 0 ? firstAfter(block, after) : 0;
      texts.push(...block.slice(start, start + countMax - texts.length));
    }
    return texts;
  }
}

/** All that is listed after `after`, and what it rests on. */
export interface WholeListing {
  readonly after: string;
  readonly texts: TextBlocks;
  readonly reads: ReadSet;
}

interface KeptListing extends WholeListing {
  readonly bytes: number;
  /** How many changes have been looked up. */
  looked: number;
}

export class KeptListings extends Evictable {
  readonly #budget: MemoryBudget;
  readonly bytesMax: number;
  /** In the order of their last use. */
  readonly #listings = new Map<string, KeptListing>();
  #bytes = 0;
  /** The last changed reads; a ring. */
  #changes: Int32Array | undefined;
  /** How many there were so far. */
  #count = 0;
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
    this.bytesMax = budget.bytesMax / TENANT_SHARE;
  }

  get isEmpty(): boolean {
    return this.#listings.size === 0;
  }

  /** The next strings of a listing, at most `countMax`. Undefined: they are not known. */
  find(key: string, after: string, countMax: number): readonly string[] | undefined {
    const listing = this.#listings.get(key);
    if (listing === undefined) return undefined;
    if (!this.#holds(listing)) {
      this.#delete(key, listing);
      this.#resize();
      return undefined;
    }
    if (compareUtf8(after, listing.after) < 0) return undefined;
    this.#listings.delete(key);
    this.#listings.set(key, listing);
    this.referenced = true;
    return listing.texts.firstAfter(after, countMax);
  }

  /** To be called in the step of whose state the listing is. */
  keep(key: string, listing: WholeListing): void {
    const bytes = LISTING_BYTES + bytesOfText(key) + listing.texts.bytes + listing.reads.bytes;
    if (bytes > this.bytesMax || this.#dropped) return;
    const former = this.#listings.get(key);
    if (former !== undefined) this.#delete(key, former);
    for (const [each, oldest] of this.#listings) {
      if (this.#bytes + bytes <= this.bytesMax) break;
      this.#delete(each, oldest);
    }
    this.#changes ??= new Int32Array(CHANGES_MAX);
    this.#listings.set(key, { ...listing, bytes, looked: this.#count });
    this.#bytes += bytes;
    this.#resize();
    // Pages that checks use come first: until its next page, it is the next to be evicted.
    this.referenced = false;
  }

  /** A commit may have changed the results of these reads. */
  change(numbers: readonly number[]): void {
    if (this.#changes === undefined) return;
    for (const number of numbers) {
      this.#changes[this.#count % CHANGES_MAX] = number;
      this.#count += 1;
    }
  }

  clear(): void {
    this.#budget.remove(this);
    this.evict();
  }

  /** The tenure has ended. */
  drop(): void {
    this.clear();
    this.#dropped = true;
  }

  override evict(): void {
    this.#listings.clear();
    this.#bytes = 0;
    this.#changes = undefined;
  }

  #holds(listing: KeptListing): boolean {
    const changes = this.#changes;
    if (changes === undefined || this.#count - listing.looked > CHANGES_MAX) return false;
    for (let index = listing.looked; index < this.#count; index += 1) {
      if (listing.reads.has(changes[index % CHANGES_MAX] ?? EMPTY)) return false;
    }
    listing.looked = this.#count;
    return true;
  }

  #delete(key: string, { bytes }: KeptListing): void {
    this.#listings.delete(key);
    this.#bytes -= bytes;
  }

  #resize(): void {
    const bytes = this.#bytes + (this.#changes?.byteLength ?? 0);
    if (this.place >= 0) this.#budget.resize(this, bytes);
    else this.#budget.add(this, bytes);
  }
}
