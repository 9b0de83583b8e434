// Answers under rules, cached until a commit changes a grant that they rest on, so that repeated checks and pages of
// listings are not evaluated again. Invariant: every answer is that of the present state. Each is kept with the reads
// of its evaluation (grant-reads.ts) in the step of whose state it is; a commit marks the reads that it may change in
// the step in which it becomes visible, and an answer of which one is marked since is not used again. A commit of rules
// drops all answers, and one that depends on the time, because it met a grant that expires, is not cached.

import { ChangedReads, type GrantReads, readsChangedBy } from './grant-reads.ts';
import { KeptListings } from './kept-listings.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';
import { bytesOfText, copyOf } from './tuple-text.ts';

/** Divisor of the budget: of 256 MiB, one tenant's answers take 4 MiB at most, some 15,000 checks. */
const TENANT_SHARE = 64;
/** A page of more than this share of a tenant's bytes is not kept. */
const PAGE_SHARE = 8;
/** What says when grants have changed may take this share of them. */
const CHANGED_SHARE = 16;
/** Estimated bytes of an answer, and of a string in a page, without characters. */
const ANSWER_BYTES = 80;
const TEXT_BYTES = 24;
/** Of a number among the records, with the room for more. */
const NUMBER_BYTES = 5;
const NUMBERS_MIN = 256;
const GROWTH = 1.25;
/** An answer that rests on more reads is kept until the next commit. */
const CHECK_READS_MAX = 1000;
/** The same of a page. */
export const PAGE_READS_MAX = 5000;
/** Commits are numbered up to here; then all answers are dropped. */
const COMMITS_MAX = 0x7fff_ffff;

/** In the place of a number of reads: any commit drops the answer. */
const ANY_COMMIT = -1;
/** The commit since which a record was last found to hold; what was answered and how many reads; the reads. */
const HEAD = 2;
const NO_NUMBERS = new Int32Array(0);

/** What answers rest on, one record after another. */
class AnswerRecords {
  #numbers = NO_NUMBERS;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Returns its place. `reads`: undefined: it rests on everything. */
  add(authorized: boolean, reads: readonly (readonly number[])[] | undefined, now: number): number {
    const place = this.#count;
    const length = reads?.reduce((sum, each) => sum + each.length, 0) ?? 0;
    this.#reserve(HEAD + length);
    let at = place + HEAD;
    for (const each of reads ?? []) {
      this.#numbers.set(each, at);
      at += each.length;
    }
    this.#numbers[place] = now;
    this.#numbers[place + 1] = 2 * (reads === undefined ? ANY_COMMIT : length) + (authorized ? 1 : 0);
    this.#count = at;
    return place;
  }

  /** Copies a record that holds at `now`. Returns its place. */
  copy(of: AnswerRecords, from: number, now: number): number {
    const place = this.#count;
    const length = HEAD + Math.max(0, of.#readsOf(from));
    this.#reserve(length);
    this.#numbers.set(of.#numbers.subarray(from, from + length), place);
    this.#numbers[place] = now;
    this.#count = place + length;
    return place;
  }

  authorized(place: number): boolean {
    return ((this.#numbers[place + 1] ?? 0) & 1) === 1;
  }

  /** Whether the answer is that of the state at `now`, the present commit. */
  holds(place: number, changed: ChangedReads, now: number): boolean {
    const numbers = this.#numbers;
    const since = numbers[place] ?? 0;
    if (since === now) return true;
    const count = this.#readsOf(place);
    if (count === ANY_COMMIT || !changed.areUnchanged(numbers, place + HEAD, count, since)) return false;
    numbers[place] = now;
    return true;
  }

  #readsOf(place: number): number {
    return (this.#numbers[place + 1] ?? 0) >> 1;
  }

  #reserve(count: number): void {
    const size = this.#count + count;
    if (size <= this.#numbers.length) return;
    const numbers = new Int32Array(Math.max(NUMBERS_MIN, GROWTH * size));
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}

interface KeptPage {
  readonly texts: readonly string[];
  readonly place: number;
}

interface Generation {
  /** The places of their records. */
  readonly checks: Map<string, number>;
  readonly pages: Map<string, KeptPage>;
  readonly records: AnswerRecords;
  /** Of the answers, without their records. */
  answerBytes: number;
}

/** `number`: of a built-in relation, or of a name that the present rules define. */
export const checkKey = (subject: string, number: number, object: string): string => `${number} ${subject} ${object}`;

const newGeneration = (): Generation => ({
  checks: new Map(),
  pages: new Map(),
  records: new AnswerRecords(),
  answerBytes: 0,
});

const bytesOf = ({ answerBytes, records }: Generation): number => answerBytes + NUMBER_BYTES * records.count;

function taken<Kept>(from: Map<string, Kept>, key: string): Kept | undefined {
  const kept = from.get(key);
  if (kept !== undefined) from.delete(key);
  return kept;
}

export class AnswerCache extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #bytesMax: number;
  /** Recent answers; once they have half of the bytes, they replace the old ones. */
  #young = newGeneration();
  #old = newGeneration();
  #changed: ChangedReads;
  /** The number of the last commit. */
  #now = 0;
  /** Created at its first use: most listings are short. */
  #listings: KeptListings | undefined;
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
    this.#bytesMax = budget.bytesMax / TENANT_SHARE;
    this.#changed = this.#nothingChanged();
  }

  /** Listings that take several pages. */
  get listings(): KeptListings {
    if (this.#listings === undefined) {
      this.#listings = new KeptListings(this.#budget);
      if (this.#dropped) this.#listings.drop();
    }
    return this.#listings;
  }

  /** Whether a check with this key is authorized; undefined: it is not known. */
  check(key: string): boolean | undefined {
    const { checks, records } = this.#young;
    const place = checks.get(key);
    if (place !== undefined) {
      if (records.holds(place, this.#changed, this.#now)) return records.authorized(place);
      checks.delete(key);
    }
    const old = taken(this.#old.checks, key);
    const moved = old === undefined ? undefined : this.#move(old);
    if (moved === undefined) return undefined;
    this.#setCheck(key, moved);
    return records.authorized(moved);
  }

  /**
   * To be called in the step of whose state the answer is. `reads`: all that it rests on, together; undefined: it may
   * rest on any grant.
   */
  keepCheck(key: string, authorized: boolean, reads?: readonly GrantReads[]): void {
    this.#setCheck(key, this.#young.records.add(authorized, readsWithin(reads, CHECK_READS_MAX), this.#now));
  }

  #setCheck(key: string, place: number): void {
    this.#young.checks.set(key, place);
    this.#grow(ANSWER_BYTES + bytesOfText(key));
  }

  page(key: string): readonly string[] | undefined {
    const { pages, records } = this.#young;
    const page = pages.get(key);
    if (page !== undefined) {
      if (records.holds(page.place, this.#changed, this.#now)) return page.texts;
      pages.delete(key);
    }
    const old = taken(this.#old.pages, key);
    const moved = old === undefined ? undefined : this.#move(old.place);
    if (old === undefined || moved === undefined) return undefined;
    this.#setPage(key, { texts: old.texts, place: moved }, bytesOfPage(key, old.texts));
    return old.texts;
  }

  /** The same for a page. */
  keepPage(key: string, texts: readonly string[], reads?: readonly GrantReads[]): void {
    const bytes = bytesOfPage(key, texts);
    if (bytes > this.#bytesMax / PAGE_SHARE) return;
    const place = this.#young.records.add(true, readsWithin(reads, PAGE_READS_MAX), this.#now);
    // They may be slices of the texts of pages.
    this.#setPage(key, { texts: texts.map(copyOf), place }, bytes);
  }

  #setPage(key: string, page: KeptPage, bytes: number): void {
    this.#young.pages.set(key, page);
    this.#grow(bytes);
  }

  /** Copies an old record to the young ones, if it holds. Returns its place there. */
  #move(place: number): number | undefined {
    const { records } = this.#old;
    if (!records.holds(place, this.#changed, this.#now)) return undefined;
    return this.#young.records.copy(records, place, this.#now);
  }

  /** A grant was committed. */
  commit(subject: string, relation: number, object: string): void {
    const isEmpty = this.place < 0;
    if (isEmpty && this.#listings?.isEmpty !== false) return;
    const numbers = readsChangedBy(subject, relation, object);
    this.#listings?.change(numbers);
    if (isEmpty) return;
    if (this.#now === COMMITS_MAX) {
      this.clear();
      return;
    }
    this.#now += 1;
    this.#changed.change(numbers, this.#now);
  }

  /** Rules were committed. */
  clear(): void {
    this.#listings?.clear();
    if (this.place < 0) return;
    this.#budget.remove(this);
    this.evict();
  }

  /** The tenure has ended. */
  drop(): void {
    this.clear();
    this.#listings?.drop();
    this.#dropped = true;
  }

  override evict(): void {
    this.#young = newGeneration();
    this.#old = newGeneration();
    this.#changed = this.#nothingChanged();
    this.#now = 0;
  }

  #nothingChanged(): ChangedReads {
    return new ChangedReads(this.#bytesMax / CHANGED_SHARE);
  }

  /** An answer was added to the young ones. `bytes`: without its record. */
  #grow(bytes: number): void {
    this.#young.answerBytes += bytes;
    this.#changed.fit(this.#young.records.count);
    if (bytesOf(this.#young) > (this.#bytesMax - this.#changed.bytes) / 2) {
      this.#old = this.#young;
      this.#young = newGeneration();
    }
    const total = bytesOf(this.#young) + bytesOf(this.#old) + this.#changed.bytes;
    this.referenced = true;
    if (this.place >= 0) this.#budget.resize(this, total);
    else if (this.#dropped) this.evict();
    else this.#budget.add(this, total);
  }
}

function bytesOfPage(key: string, texts: readonly string[]): number {
  let bytes = ANSWER_BYTES + bytesOfText(key);
  for (const text of texts) bytes += TEXT_BYTES + bytesOfText(text);
  return bytes;
}

/** Undefined: they are too many, or not known. */
function readsWithin(
  reads: readonly GrantReads[] | undefined,
  countMax: number,
): readonly (readonly number[])[] | undefined {
  const found: (readonly number[])[] = [];
  let count = 0;
  for (const { numbers } of reads ?? []) {
    if (numbers === undefined) return undefined;
    found.push(numbers);
    count += numbers.length;
  }
  return reads === undefined || count > countMax ? undefined : found;
}
