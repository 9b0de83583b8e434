// Keeps a mirror: makes it from a snapshot, follows the feed, and makes it anew where the feed cannot be followed or
// the rules need more grants than it has. The old one stays until the new one is complete.

import {
  batchOf,
  type ChangesPage,
  CursorLost,
  Horizon,
  type JoinSet,
  type MirrorPlace,
  type MirrorSource,
  pairsOf,
  RelationGone,
} from './mirror.ts';
import type { SearchSink } from './search-sink.ts';
import type { MirrorTable, SqlMirror } from './sql-mirror.ts';

/** What a person or a metric is told. */
export interface MirrorWatch {
  note(text: string): void;
  loaded(grants: number): void;
  followed(page: ChangesPage, place: MirrorPlace): unknown;
}

export interface MirrorRun {
  readonly source: MirrorSource;
  readonly mirror: SqlMirror;
  readonly watch: MirrorWatch;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** What is kept beside the mirror, after each page. */
  readonly sink?: Pick<SearchSink, 'step'> | undefined;
}

/** A snapshot, and over it what has changed while it was read. Undefined: interrupted. */
export async function takeSnapshot(
  { source, mirror, watch }: Pick<MirrorRun, 'source' | 'mirror' | 'watch'>,
  table: MirrorTable,
  pairs: readonly string[],
): Promise<MirrorPlace | undefined> {
  await mirror.begin(table);
  let [cursor, next, last]: [string | undefined, string | undefined, number] = [undefined, undefined, 0];
  do {
    const page = await source.snapshot(pairs, next);
    if (page === undefined) return undefined;
    cursor ??= page.feed;
    [next, last] = [page.next, Math.max(last, page.seq)];
    await mirror.load(table, page.grants);
    watch.loaded(page.grants.length);
  } while (next !== undefined);
  // A change says what a grant is after it, whatever page had it. From the last page on, nothing is missing.
  for (let seq = -1; cursor !== undefined; ) {
    const page: ChangesPage | undefined = await source.changes(pairs, cursor, { waitSeconds: seq < 0 ? 0 : 1 });
    if (page === undefined) return undefined;
    await mirror.change(table, batchOf(page.changes, seq));
    [seq, cursor] = [page.seq, page.cursor];
    if (seq >= last) return { seq, cursor, horizon: seq };
  }
  return undefined;
}

const SWAP_PAUSE_MS = 1000;

async function rebuild(run: MirrorRun, joins: JoinSet): Promise<void> {
  const { mirror, signal, watch } = run;
  const pairs = pairsOf(joins);
  watch.note(`Reading all grants of ${pairs.join(', ')}.`);
  const place = await takeSnapshot(run, 'grants_next', pairs);
  if (place === undefined) return;
  while (!(await mirror.swap(joins, { ...place, pairs }))) {
    if (signal.aborted) return;
    watch.note('The former mirror is in use by a query that takes long. Trying again.');
    await new Promise((resolve) => setTimeout(resolve, SWAP_PAUSE_MS));
  }
  watch.note(`The mirror is complete, as of entry ${place.seq}.`);
}

/** Until rules are changed. What the joins need is there already. */
async function follow(run: MirrorRun, joins: JoinSet, horizons: Horizon): Promise<void> {
  const { source, mirror, watch, signal, nowMs, sink } = run;
  const { database } = mirror;
  const pairs = pairsOf(joins);
  let state = await mirror.state();
  let isBegun = false;
  for (let waitSeconds = 0; state !== undefined && !signal.aborted; ) {
    const asked = new AbortController();
    const stop = database.onAsked(() => asked.abort());
    const page: ChangesPage | undefined = await source
      .changes(pairs, state.cursor, { waitSeconds, signal: asked.signal })
      .finally(stop);
    waitSeconds = page === undefined || page.changes.length > 0 ? 0 : database.waitSeconds;
    if (page === undefined) continue;
    // The service knows the place: these are grants of its tenant, to be joined by its rules.
    if (!isBegun) await mirror.define(joins, pairs);
    isBegun = true;
    const place = { seq: Math.max(state.seq, page.seq), cursor: page.cursor, horizon: state.horizon };
    place.horizon = horizons.move(place, nowMs());
    await mirror.apply(batchOf(page.changes, state.seq), place);
    state = { ...state, ...place };
    watch.followed(page, place);
    await sink?.step({ database, joins, state, isAtEnd: page.changes.length === 0, signal });
    if (page.rules) return;
  }
}

/** Until the signal aborts. Rejects with failures of the database, and those of the service that will not pass. */
export async function runMirror(run: MirrorRun): Promise<void> {
  const { source, mirror, watch, signal } = run;
  const horizons = new Horizon();
  await mirror.open();
  for (let isLost = false; !signal.aborted; ) {
    const joins = await source.joins();
    if (joins === undefined) return;
    const kept = new Set((await mirror.state())?.pairs);
    const isReady = pairsOf(joins).every((pair) => kept.has(pair));
    if (!isReady) await mirror.announce(joins);
    try {
      if (isLost || !isReady) await rebuild(run, joins);
      else await follow(run, joins, horizons);
      isLost = false;
    } catch (error) {
      if (error instanceof RelationGone) continue;
      if (!(error instanceof CursorLost)) throw error;
      watch.note(`The feed cannot be followed from here: ${error.message}`);
      // What has been mirrored are grants of another tenant, or of another store.
      if (error.isForeign) await mirror.announce(joins);
      isLost = true;
    }
  }
}
