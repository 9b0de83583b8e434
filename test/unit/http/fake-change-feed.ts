// A change feed in memory: the port of the front over a list. What is committed reaches every follower that keeps up at
// once, as one batch that they share; one that is behind goes on where it stopped when it resumes.

import {
  type FeedChange,
  type FeedContent,
  type FeedFilter,
  feedMatcher,
  wholeSeq,
} from '../../../src/core/change-feed.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type {
  ChangesPage,
  ChangesQuery,
  FeedBatch,
  FeedFollower,
  FeedStart,
  FeedSubscription,
} from '../../../src/front/changes.ts';
import type { RequestContext, TenantSession } from '../../../src/front/front.ts';

const AT_MS = 1_768_469_400_000;

interface Following {
  readonly follower: FeedFollower;
  position: number;
  behind: boolean;
}

export const grantChange = (id: number, namespace = 'document'): FeedContent => ({
  action: 'grant.created',
  grant: {
    subject: `user:${id}`,
    relation: 'viewer',
    object: `${namespace}:${id}`,
    grantId: 'grt_01jhm9r0g0e8xsg4k6t2v8w0ya',
    createdAtMs: AT_MS,
  },
});

export class FakeChangeFeed implements Pick<TenantSession, 'readChanges' | 'followChanges'> {
  readonly #changes: FeedChange[] = [];
  readonly #following = new Set<Following>();
  /** Positions before this one are no longer kept. */
  earliest = 0;
  /** Set by a test: the next first read fails with it. */
  fault: GrantdError | undefined;
  /** Set by a test: first reads wait for it. */
  gate: Promise<void> = Promise.resolve();
  #rests = 0;

  get #lastSeq(): number {
    return this.#changes.at(-1)?.seq ?? 0;
  }

  get followers(): number {
    return this.#following.size;
  }

  get behind(): number {
    return [...this.#following].filter(({ behind }) => behind).length;
  }

  /** All of them at one moment. */
  commit(...contents: readonly FeedContent[]): void {
    const before = this.#changes.length;
    for (const [index, change] of contents.entries()) {
      const cursor = `c${this.#changes.length + 1}`;
      const [actor, requestId] = ['key_01jhm9r0g0e8xsg4k6t2v8w0yz', 'req_01jhm9r0g0e8xsg4k6t2v8w0yb'];
      this.#changes.push({ seq: before + 1, index, atMs: AT_MS + before, actor, requestId, cursor, change });
    }
    const batch = this.#batchFrom(before);
    for (const following of this.#following) {
      if (following.behind || following.position !== before) continue;
      following.position = this.#changes.length;
      following.behind = !following.follower.take(batch);
    }
  }

  /** The owner says that there is nothing new. */
  rest(): void {
    this.#rests += 1;
    const batch = { changes: [], cursor: `c${this.#changes.length}`, seq: this.#lastSeq, atMs: AT_MS + this.#rests };
    for (const { follower, behind, position } of this.#following) {
      if (!behind && position === this.#changes.length) follower.take(batch);
    }
  }

  /** The feed ends for all of its followers. */
  end(error: GrantdError | undefined): void {
    const ended = [...this.#following];
    this.#following.clear();
    for (const { follower } of ended) follower.end(error);
  }

  async readChanges(_context: RequestContext, query: ChangesQuery): Promise<ChangesPage> {
    const start = await this.#begin(query);
    const matches = feedMatcher(query.filter) ?? (() => true);
    const all = this.#changes.slice(start).filter(matches);
    const changes = all.slice(0, query.limit);
    const last = all.length > query.limit ? changes.at(-1) : undefined;
    const [cursor, seq] =
      last === undefined ? [`c${this.#changes.length}`, this.#lastSeq] : [last.cursor, wholeSeq(last)];
    return { changes, cursor, seq, atMs: AT_MS, atEnd: last === undefined };
  }

  async followChanges(start: FeedStart, _filter: FeedFilter, follower: FeedFollower): Promise<FeedSubscription> {
    const following: Following = { follower, position: await this.#begin(start), behind: false };
    this.#following.add(following);
    this.#pump(following);
    return {
      resume: () => {
        following.behind = false;
        this.#pump(following);
      },
      close: () => {
        this.#following.delete(following);
      },
    };
  }

  #pump(following: Following): void {
    while (this.#following.has(following) && !following.behind && following.position < this.#changes.length) {
      const batch = this.#batchFrom(following.position);
      following.position = this.#changes.length;
      following.behind = !following.follower.take(batch);
    }
  }

  #batchFrom(position: number): FeedBatch {
    const cursor = `c${this.#changes.length}`;
    return { changes: this.#changes.slice(position), cursor, seq: this.#lastSeq, atMs: AT_MS };
  }

  async #begin({ cursor, since }: FeedStart): Promise<number> {
    await this.gate;
    const { fault } = this;
    this.fault = undefined;
    if (fault !== undefined) throw fault;
    if (since !== undefined) return since === 'now' ? this.#changes.length : 0;
    if (cursor === undefined) return this.earliest;
    const position = /^c[0-9]+$/.test(cursor) ? Number(cursor.slice(1)) : Number.NaN;
    if (!(position <= this.#changes.length)) throw new GrantdError('invalid-cursor', 'The cursor is not one.');
    if (position >= this.earliest) return position;
    const details = { earliest: `c${this.earliest}` };
    throw new GrantdError('cursor-too-old', 'The changes are no longer kept.', { details });
  }
}
