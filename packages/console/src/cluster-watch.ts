// Looks at the cluster: for the pages that show it, and by itself every few seconds, so that the last hour is there
// whenever a page is opened. Invariants: one look at a time, however many pages ask and however silent the shards are.
// The last result stays, with its time, while no shard responds. After `close`, nothing is requested.

import type { Clock, Timer } from '../../../src/core/async/clock.ts';
import type { IdFactory } from '../../../src/core/ids.ts';
import type { ClusterPicture, OperatorApi, ShardLoad } from '../../../src/front/front.ts';
import {
  type ClusterEvent,
  ClusterHistory,
  figuresOf,
  HISTORY_MS,
  lagOf,
  largest,
  SAMPLE_INTERVAL_MS,
  type Sample,
} from './cluster-history.ts';

/** Pages refresh every two seconds, however many are open. */
const LOOK_AGE_MS_MAX = 1000;
/** Less than the time between two samples, so that looks at an unresponsive cluster do not pile up. */
const LOOK_MS_MAX = 4000;
/** Each name that ever owned a slot keeps its colour and its last figures; far more than a cluster has. */
const NAMES_MAX = 4096;

/** The last figures that a shard reported. */
export interface ShardFigures {
  readonly atMs: number;
  readonly load: ShardLoad;
  readonly lag: number | undefined;
}

export interface Look extends ClusterPicture {
  /** On the wall clock. */
  readonly atMs: number;
  /** Shard name → a number from 0 up that never changes. */
  readonly colours: ReadonlyMap<string, number>;
  /** By shard name, within the last hour; includes shards that did not respond to this look. */
  readonly lastFigures: ReadonlyMap<string, ShardFigures>;
}

interface WatchDependencies {
  readonly operator: Pick<OperatorApi, 'surveyCluster'>;
  readonly clock: Clock;
  readonly ids: Pick<IdFactory, 'create'>;
}

export class ClusterWatch {
  readonly #dependencies: WatchDependencies;
  readonly #history = new ClusterHistory();
  readonly #colours = new Map<string, number>();
  readonly #lastFigures = new Map<string, ShardFigures>();
  #current: { readonly startedMs: number; readonly look: Promise<Look>; ended: boolean } | undefined;
  #last: Look | undefined;
  #startedAtMs: number | undefined;
  #timer: Timer | undefined;
  #closed = false;

  constructor(dependencies: WatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes a sample now, and then one every few seconds. */
  start(): void {
    this.#startedAtMs = this.#dependencies.clock.wallMs();
    void this.#sample();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  /** When sampling started, on the wall clock. */
  get startedAtMs(): number | undefined {
    return this.#startedAtMs;
  }

  /** The last result, however old. */
  get last(): Look | undefined {
    return this.#last;
  }

  /** Oldest first, of the last hour. */
  samples(): readonly Sample[] {
    return this.#history.samples(this.#dependencies.clock.wallMs());
  }

  /** Newest first, of the last hour. */
  events(): readonly ClusterEvent[] {
    return this.#history.events(this.#dependencies.clock.wallMs());
  }

  /** Shared by all callers while it is in flight, and for a second afterwards. Rejects if no shard responds. */
  look(): Promise<Look> {
    const nowMs = this.#dependencies.clock.monotonicMs();
    const before = this.#current;
    if (before !== undefined && (!before.ended || nowMs - before.startedMs < LOOK_AGE_MS_MAX)) return before.look;
    const current = { startedMs: nowMs, look: this.#take(nowMs), ended: false };
    this.#current = current;
    current.look.then(
      (look) => {
        current.ended = true;
        this.#last = look;
      },
      () => {
        // The next caller retries.
        this.#current = undefined;
      },
    );
    return current.look;
  }

  async #sample(): Promise<void> {
    const { clock } = this.#dependencies;
    const startedMs = clock.monotonicMs();
    try {
      const look = await this.look();
      if (this.#closed) return;
      this.#history.addSample(look.atMs, figuresOf(look));
    } catch {
      // No shard responded: the history has a gap, and pages say so.
    }
    if (this.#closed) return;
    const elapsedMs = clock.monotonicMs() - startedMs;
    this.#timer = clock.setTimer(() => void this.#sample(), Math.max(0, SAMPLE_INTERVAL_MS - elapsedMs));
  }

  async #take(nowMs: number): Promise<Look> {
    const { operator, clock, ids } = this.#dependencies;
    const picture = await operator.surveyCluster({ requestId: ids.create('req'), deadlineMs: nowMs + LOOK_MS_MAX });
    const atMs = clock.wallMs();
    this.#history.noteChanges(atMs, picture);
    this.#noteNames(picture);
    this.#noteFigures(picture, atMs);
    return { ...picture, atMs, colours: new Map(this.#colours), lastFigures: new Map(this.#lastFigures) };
  }

  #noteNames({ slots, members }: ClusterPicture): void {
    const names = [...(members ?? []).map(({ shardName }) => shardName), ...slots.map(({ shardName }) => shardName)];
    for (const name of new Set(names)) {
      if (name === undefined || this.#colours.has(name) || this.#colours.size >= NAMES_MAX) continue;
      this.#colours.set(name, this.#colours.size);
    }
  }

  #noteFigures({ slots, loads }: ClusterPicture, atMs: number): void {
    for (const [name, figures] of this.#lastFigures) {
      if (figures.atMs <= atMs - HISTORY_MS) this.#lastFigures.delete(name);
    }
    const owned = Map.groupBy(slots, ({ shardName }) => shardName);
    for (const load of loads ?? []) {
      const { shardName } = load;
      if (!this.#lastFigures.has(shardName) && this.#lastFigures.size >= NAMES_MAX) continue;
      this.#lastFigures.set(shardName, { atMs, load, lag: largest(owned.get(shardName) ?? [], lagOf) });
    }
  }
}
