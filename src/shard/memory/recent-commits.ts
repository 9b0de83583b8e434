// The last commits of a tenant that other shards read for. A reader that lacks one that is gone begins again.

import type { Clock } from '../../core/async/clock.ts';
import { type Change, encodeCommit } from '../log-changes.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { type RecentItem, RecentItems } from './recent-items.ts';

const BYTES_PER_CHARACTER = 2;
/** Of a commit, without its text; and of the object itself. */
const COMMIT_BYTES = 100;
const EMPTY_BYTES = 300;

/** What a reader takes in one step, in some milliseconds; the last entry of a part may exceed it. */
const PART_CHARACTERS = 256 * 1024;

export interface CommitsPart {
  /** Of JSON, a commit each, in order. */
  readonly lines: string;
  /** Of its last entry. */
  readonly lastSeq: number;
  readonly more: boolean;
}

interface RecentCommit extends RecentItem {
  /** A line of JSON. */
  readonly text: string;
}

export class RecentCommits extends RecentItems<RecentCommit> {
  /** `seq`: of the last entry of the log. Its commits from here on are reported to `commit`. */
  constructor(budget: MemoryBudget, clock: Clock, seq: number, limits?: ReaderLimits) {
    super(budget, clock, seq, EMPTY_BYTES, limits);
  }

  /** The entry after which the tenant has no commit, for a reader. */
  askedLastSeq(): number {
    this.asked();
    return this.lastSeq;
  }

  /** The commits after a seq, of whole entries; undefined: some of them are no longer here. */
  after(seq: number): CommitsPart | undefined {
    this.asked();
    if (seq < this.afterSeq) return undefined;
    let lines = '';
    let lastSeq = seq;
    for (const commit of this.itemsAfter((each) => each.seq > seq)) {
      if (commit.seq > lastSeq && lines.length >= PART_CHARACTERS) return { lines, lastSeq, more: true };
      lines += lines === '' ? commit.text : `\n${commit.text}`;
      lastSeq = commit.seq;
    }
    return { lines, lastSeq, more: false };
  }

  /** The changes of an operation. */
  commit(changes: readonly Change[], seq: number): void {
    this.add(seq, () => {
      const text = encodeCommit(seq, changes);
      return [{ seq, text, bytes: COMMIT_BYTES + BYTES_PER_CHARACTER * text.length }];
    });
  }
}
