// Keeps the sets in the documents of an index as a mirror has them, page by page of the feed. What has to be written is
// what the mirror has changed since the place of the index, and what is below; documents without sets are found in the
// index itself. Invariant: the place moves only once all that has changed up to it is written, and of a document older
// sets are never written over newer ones, so a process that ends anywhere, or is deposed, does no harm.

import { randomUUID } from 'node:crypto';
import { type JoinSet, OPEN, SyncFailure } from './mirror.ts';
import type { SearchIndex, SearchPlace } from './search-index.ts';
import { grantsAbove, ObjectSets, searchFields, searchQuery, structureOf } from './search-sets.ts';
import type { MirrorDatabase, MirrorState } from './sql-mirror.ts';

const SLICE = 500;
/** Others take over from a process that has not been seen for so long. */
const LEASE_MS = 30_000;
const BEAT_MS = 5_000;
/** How long the feed may wait for documents without sets. */
const NEW_MS_MAX = 5_000;
const ATTEMPTS_MAX = 20;

export interface SinkOptions {
  /** Of the file of this mirror. */
  readonly holder: string;
  readonly nowMs: () => number;
  readonly note: (text: string) => void;
  readonly written: (documents: number) => void;
}

/** What the mirror has after a page of the feed. */
export interface SinkStep {
  readonly database: MirrorDatabase;
  readonly joins: JoinSet;
  readonly state: MirrorState;
  /** Whether it has everything. */
  readonly isAtEnd: boolean;
  readonly signal: AbortSignal;
}

type Held = NonNullable<Awaited<ReturnType<SearchIndex['place']>>>;

/** Another process has taken the place. */
class Deposed extends Error {}

export class SearchSink {
  readonly #index: SearchIndex;
  readonly #options: SinkOptions;
  /** Another process, and since when it has not been seen. */
  #other: { readonly seqNo: number | undefined; readonly sinceMs: number } | undefined;
  #movedMs = 0;

  constructor(index: SearchIndex, options: SinkOptions) {
    this.#index = index;
    this.#options = options;
  }

  async step(step: SinkStep): Promise<void> {
    const { state, signal } = step;
    try {
      const held = await this.#take(step);
      if (held === undefined) return;
      if (held.place.seq < state.seq) await this.#writeChanged(step, held);
      if (!signal.aborted) await this.#move(held, { seq: state.seq });
      if (!(await this.#writeNew(step, held)) || held.place.ready) return;
      await this.#move(held, { ready: true });
      this.#options.note(`All documents of ${this.#index.name} have their sets, as of entry ${state.seq}.`);
    } catch (error) {
      if (!(error instanceof Deposed)) throw error;
    }
  }

  /** Undefined: another process is at work, or was further. */
  async #take({ joins, state, isAtEnd }: SinkStep): Promise<Held | undefined> {
    const { holder, nowMs, note } = this.#options;
    const found = await this.#index.place();
    if (found !== undefined && found.place.holder !== holder) {
      if (this.#other === undefined) note(`${found.place.holder} keeps ${this.#index.name}. Waiting for its end.`);
      if (this.#other?.seqNo !== found.version?.seqNo) {
        this.#other = { seqNo: found.version?.seqNo, sinceMs: nowMs() };
      }
      if (nowMs() - (this.#other?.sinceMs ?? 0) < LEASE_MS) return undefined;
    }
    if (found !== undefined && found.place.seq > state.seq && !isAtEnd) return undefined;
    this.#other = undefined;
    const { revision } = joins;
    const texts = JSON.stringify(joins.joins);
    const isContinued =
      found?.place.joins === texts && state.horizon <= found.place.seq && found.place.seq <= state.seq;
    if (found !== undefined && isContinued) {
      await this.#move(found, { holder, revision });
      return found;
    }
    note(`Writing the sets of all documents of ${this.#index.name}.`);
    await this.#index.prepare(Object.fromEntries(joins.joins.map(({ id, join }) => [id, searchFields(join)])));
    const queries = Object.fromEntries(joins.joins.map((each) => [each.id, searchQuery(each)]));
    const place = { generation: randomUUID(), seq: state.seq, ready: false, joins: texts, queries, holder, revision };
    const held = { place, version: found?.version };
    this.#movedMs = Number.NEGATIVE_INFINITY;
    await this.#move(held, {});
    return held;
  }

  /** Now and then without a change, so that others see this process. */
  async #move(held: Held, change: Partial<SearchPlace>): Promise<void> {
    const place = { ...held.place, ...change };
    const isChanged = Object.entries(change).some(([name, value]) => Reflect.get(held.place, name) !== value);
    const nowMs = this.#options.nowMs();
    if (!isChanged && nowMs - this.#movedMs < BEAT_MS) return;
    const version = await this.#index.move(place, held.version);
    if (version === undefined) throw new Deposed();
    Object.assign(held, { place, version });
    this.#movedMs = nowMs;
  }

  /** What has lost something first. */
  async #writeChanged(step: SinkStep, held: Held): Promise<void> {
    const { database, joins, signal } = step;
    const grants = database.table('grants');
    const structure = Array.from(structureOf(joins), (relation) => `'${relation}'`).join(', ');
    await database.run(`CREATE INDEX IF NOT EXISTS grantd_since ON ${grants} (since)`);
    await database.run('CREATE TEMP TABLE IF NOT EXISTS changed (number integer PRIMARY KEY, object text)');
    await database.run('DELETE FROM changed');
    await database.run(
      `INSERT INTO changed (object) WITH RECURSIVE found(object, is_less) AS (
  SELECT object, 0 FROM ${grants} WHERE since > $1
  UNION SELECT object, 1 FROM ${grants} WHERE until > $1 AND until < ${OPEN}
  UNION SELECT g.object, f.is_less FROM found AS f JOIN ${grants} AS g ON g.subject = f.object
    WHERE g.until = ${OPEN} AND g.relation IN (${structure}))
SELECT object FROM found WHERE substr(object, 1, length($2)) = $2 GROUP BY object ORDER BY max(is_less) DESC`,
      ...[held.place.seq, prefixOf(joins)],
    );
    for (let last = 0; !signal.aborted; ) {
      const select = `SELECT number, object FROM changed WHERE number > $1 ORDER BY number LIMIT ${SLICE}`;
      const rows = await database.run(select, last);
      if (rows.length === 0) return;
      const ids = rows.map(({ object }) => String(object).slice(prefixOf(joins).length));
      await this.#write(step, held, { ids, isShown: false });
      last = Number(rows.at(-1)?.number);
      await this.#move(held, {});
    }
  }

  /** Documents that have no sets of this generation. True: there is none left. */
  async #writeNew(step: SinkStep, held: Held): Promise<boolean> {
    const endMs = this.#options.nowMs() + NEW_MS_MAX;
    while (!step.signal.aborted && this.#options.nowMs() < endMs) {
      const ids = await this.#index.findOthers(held.place.generation, SLICE);
      if (ids.length === 0) return true;
      // A document that is no more may still be found for a while.
      if ((await this.#write(step, held, { ids, isShown: true })) === 0) return false;
      await this.#move(held, {});
    }
    return false;
  }

  async #write(
    { database, joins, state: { seq } }: SinkStep,
    { place: { generation } }: Held,
    { ids, isShown }: { readonly ids: readonly string[]; readonly isShown: boolean },
  ): Promise<number> {
    const prefix = prefixOf(joins);
    let written = 0;
    let left = ids;
    for (let attempts = 0; left.length > 0; attempts += 1) {
      if (attempts === ATTEMPTS_MAX)
        throw new SyncFailure(`Documents of ${this.#index.name} change all the time`, true);
      const documents = (await this.#index.read(left)).filter(
        (document) => document.generation !== generation || document.seq <= seq,
      );
      const objects = documents.map(({ id }) => prefix + id);
      const grants = await grantsAbove(database, objects, structureOf(joins));
      const sets = joins.joins.map(({ id, join }) => [id, new ObjectSets(join, grants)] as const);
      const updates = documents.map((document) => ({
        document,
        sets: { generation, seq, ...Object.fromEntries(sets.map(([id, each]) => [id, each.of(prefix + document.id)])) },
      }));
      left = await this.#index.write(updates, isShown);
      written += updates.length - left.length;
    }
    this.#options.written(written);
    return written;
  }
}

/** Of the objects that the documents are. */
const prefixOf = ({ joins }: JoinSet): string => `${joins[0]?.join.namespace ?? ''}:`;
