// The last commits of a tenant that other shards read for. Invariant: every commit of the tenant after `afterSeq` is
// here, in the order of the log; of an entry there is everything or nothing. Beyond its bound the oldest are dropped,
// and the budget of the process evicts them as a whole: a reader that lacks one of them begins again.

import type { Clock } from '../../core/async/clock.ts';
import { type Change, encodeCommit } from '../log-changes.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** UTF-16 characters: what a reader can parse in a few turns. */
const CHARACTERS_MAX = 1024 * 1024;
const BYTES_PER_CHARACTER = 2;
/** Of a commit, without its text; and of the object itself. */
const COMMIT_BYTES = 100;
const RING_BYTES = 300;
/** After this time without a question the tenant has no readers: they ask for every check, or end. */
const FOLLOWED_MS = 60_000;
/** Dropped commits leave the list in bulk. */
const DROPPED_MAX = 1024;

interface RecentCommit {
  readonly seq: number;
  /** A line of JSON. */
  readonly text: string;
}

const bytesOf = ({ text }: RecentCommit): number => COMMIT_BYTES + BYTES_PER_CHARACTER * text.length;

export class RecentCommits extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #clock: Clock;
  #commits: RecentCommit[] = [];
  /** Index of the oldest commit. */
  #head = 0;
  #characters = 0;
  #afterSeq: number;
  #lastSeq: number;
  #askedAtMs: number;

  /** `seq`: of the last entry of the log. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number) {
    super();
    this.#budget = budget;
    this.#clock = clock;
    this.#afterSeq = seq;
    this.#lastSeq = seq;
    this.#askedAtMs = clock.monotonicMs();
    budget.add(this, RING_BYTES);
  }

  /** Whether the tenant has readers. */
  get followed(): boolean {
    return this.#clock.monotonicMs() - this.#askedAtMs < FOLLOWED_MS;
  }

  /** The entry after which the tenant has no commit, for a reader. */
  askedLastSeq(): number {
    this.#asked();
    return this.#lastSeq;
  }

  #asked(): void {
    this.#askedAtMs = this.#clock.monotonicMs();
    this.referenced = true;
    if (this.place < 0) this.#budget.add(this, RING_BYTES);
  }

  /** The commits after a seq as lines of JSON, in order; undefined: some of them are no longer here. */
  after(seq: number): string | undefined {
    this.#asked();
    if (seq < this.#afterSeq) return undefined;
    if (seq >= this.#lastSeq) return '';
    let lines = '';
    for (let index = this.#firstAfter(seq); index < this.#commits.length; index += 1) {
      const text = this.#commits[index]?.text ?? '';
      lines += lines === '' ? text : `\n${text}`;
    }
    return lines;
  }

  /** The changes of an operation. */
  commit(changes: readonly Change[], seq: number): void {
    this.#lastSeq = seq;
    if (this.place < 0) {
      this.#afterSeq = seq;
      return;
    }
    const commit = { seq, text: encodeCommit(seq, changes) };
    this.#commits.push(commit);
    this.#characters += commit.text.length;
    this.#budget.resize(this, this.bytes + bytesOf(commit));
    while (this.#characters > CHARACTERS_MAX) this.#dropOldestEntry();
  }

  override evict(): void {
    this.#clear();
  }

  /** The tenant or its tenure has ended, or the tenant has no readers. */
  drop(): void {
    this.#budget.remove(this);
    this.#clear();
  }

  #clear(): void {
    this.#commits = [];
    this.#head = 0;
    this.#characters = 0;
    this.#afterSeq = this.#lastSeq;
    this.bytes = RING_BYTES;
  }

  #dropOldestEntry(): void {
    const seq = this.#commits[this.#head]?.seq ?? this.#lastSeq;
    let bytes = 0;
    for (let oldest = this.#commits[this.#head]; oldest?.seq === seq; oldest = this.#commits[this.#head]) {
      bytes += bytesOf(oldest);
      this.#characters -= oldest.text.length;
      this.#head += 1;
    }
    this.#afterSeq = seq;
    this.#budget.resize(this, this.bytes - bytes);
    if (this.#head < DROPPED_MAX) return;
    this.#commits = this.#commits.slice(this.#head);
    this.#head = 0;
  }

  #firstAfter(seq: number): number {
    let low = this.#head;
    let high = this.#commits.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#commits[middle]?.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
