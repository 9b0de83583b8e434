// The last hour of the cluster as this process has seen it: figures every few seconds, and events of slots and shards.
// Invariants: a figure belongs to the moment at which it was taken, and a moment without one stays empty. Everything is
// bounded: samples by their number, events by their number and by the slots that each names.

import type { ClusterPicture, MemberView, ShardLoad, SlotView } from '../../../src/front/front.ts';

/** Half of the ten seconds that the figures of a shard cover, so that no peak falls between two samples. */
export const SAMPLE_INTERVAL_MS = 5000;
export const HISTORY_MS = 3_600_000;
const SAMPLES_MAX = HISTORY_MS / SAMPLE_INTERVAL_MS;
/** A rolling restart of 50 shards causes about a hundred. With the slots that they name, about 50 KB. */
const EVENTS_MAX = 256;
/** A move names its first few slots. */
const SLOTS_NAMED_MAX = 8;

const FIGURES = ['checksPerSecond', 'p99Ms', 'failuresPerSecond', 'slotsDown', 'lag'] as const;
export type Figure = (typeof FIGURES)[number];

/** For the whole cluster. Undefined if no shard reported it. */
export type Figures = Readonly<Record<Figure, number | undefined>>;

export interface Sample extends Figures {
  /** On the wall clock. */
  readonly atMs: number;
}

export type ClusterEvent = {
  /** The time of the sample that noticed the event, on the wall clock. */
  readonly atMs: number;
  /** The time of the sample before: the event happened in between. */
  readonly afterMs: number;
} & (
  | {
      readonly kind: 'moved';
      readonly slotCount: number;
      /** The first few, ascending. */
      readonly slots: readonly number[];
      /** Undefined: no owner. */
      readonly from: string | undefined;
      readonly to: string | undefined;
    }
  | { readonly kind: 'joined' | 'draining'; readonly shardName: string }
  /** `lost`: dead without having been seen draining. `left`: it had drained. */
  | { readonly kind: 'left' | 'lost'; readonly shardName: string }
);

/** By how many log entries a slot's checkpoint lags behind. */
export const lagOf = ({ logEnd, checkpoint }: SlotView): number | undefined =>
  logEnd === undefined || checkpoint === undefined ? undefined : logEnd - checkpoint;

/** The largest of the known values. */
export function largest<Item>(items: Iterable<Item>, pick: (item: Item) => number | undefined): number | undefined {
  let most: number | undefined;
  for (const item of items) {
    const value = pick(item);
    if (value !== undefined && (most === undefined || value > most)) most = value;
  }
  return most;
}

export function figuresOf({ slots, loads }: ClusterPicture): Figures {
  const total = (pick: (load: ShardLoad) => number): number | undefined =>
    loads === undefined || loads.length === 0 ? undefined : loads.reduce((sum, load) => sum + pick(load), 0);
  return {
    checksPerSecond: total((load) => load.checksPerSecond),
    p99Ms: largest(loads ?? [], (load) => load.p99Ms),
    failuresPerSecond: total((load) => load.failuresPerSecond),
    slotsDown: slots.reduce((sum, { state }) => sum + (state === 'serving' ? 0 : 1), 0),
    lag: largest(slots, lagOf),
  };
}

interface SlotOwners {
  readonly atMs: number;
  /** By slot. */
  readonly owners: ReadonlyMap<number, string | undefined>;
}

function movesBetween(before: SlotOwners['owners'], slots: readonly SlotView[]) {
  const moved = slots.filter(({ slot, shardName }) => before.has(slot) && before.get(slot) !== shardName);
  const groups = [...Map.groupBy(moved, ({ slot }) => before.get(slot)).values()].flatMap((left) => [
    ...Map.groupBy(left, ({ shardName }) => shardName).values(),
  ]);
  return groups.map((group) => ({
    kind: 'moved' as const,
    slotCount: group.length,
    slots: group.slice(0, SLOTS_NAMED_MAX).map(({ slot }) => slot),
    from: group[0] && before.get(group[0].slot),
    to: group[0]?.shardName,
  }));
}

function changesBetween(before: ReadonlyMap<string, MemberView>, members: readonly MemberView[]) {
  return members.flatMap(({ incarnation, shardName, state }) => {
    const last = before.get(incarnation)?.state;
    if (last === state || (last === undefined && state === 'dead')) return [];
    const kind =
      state === 'dead' ? (last === 'draining' ? 'left' : 'lost') : state === 'draining' ? 'draining' : 'joined';
    return [{ kind, shardName } as const];
  });
}

export class ClusterHistory {
  // One column per figure, with NaN for unknown: 35 KB for the hour, and no object per sample.
  readonly #atMs = new Float64Array(SAMPLES_MAX);
  readonly #columns: Readonly<Record<Figure, Float64Array>>;
  #first = 0;
  #count = 0;
  #seen: SlotOwners | undefined;
  /** By incarnation; undefined until the members have been read. */
  #members: ReadonlyMap<string, MemberView> | undefined;
  /** Newest first. */
  #events: readonly ClusterEvent[] = [];

  constructor() {
    const column = (): Float64Array => new Float64Array(SAMPLES_MAX);
    this.#columns = {
      checksPerSecond: column(),
      p99Ms: column(),
      failuresPerSecond: column(),
      slotsDown: column(),
      lag: column(),
    };
  }

  addSample(atMs: number, figures: Figures): void {
    this.#forgetAfter(atMs);
    const full = this.#count === SAMPLES_MAX;
    const index = full ? this.#first : (this.#first + this.#count) % SAMPLES_MAX;
    if (full) this.#first = (this.#first + 1) % SAMPLES_MAX;
    else this.#count += 1;
    this.#atMs[index] = atMs;
    for (const figure of FIGURES) this.#columns[figure][index] = figures[figure] ?? Number.NaN;
  }

  /** The wall clock was set back: by it, later samples have not happened yet. */
  #forgetAfter(atMs: number): void {
    while (this.#count > 0 && (this.#atMs[(this.#first + this.#count - 1) % SAMPLES_MAX] ?? 0) >= atMs)
      this.#count -= 1;
    if (this.#events.some((event) => event.atMs > atMs)) {
      this.#events = this.#events.filter((event) => event.atMs <= atMs);
    }
  }

  /** Oldest first, within the hour up to `nowMs`. */
  samples(nowMs: number): readonly Sample[] {
    const samples: Sample[] = [];
    for (let offset = 0; offset < this.#count; offset += 1) {
      const index = (this.#first + offset) % SAMPLES_MAX;
      const atMs = this.#atMs[index] ?? 0;
      if (atMs <= nowMs - HISTORY_MS || atMs > nowMs) continue;
      const figure = (name: Figure): number | undefined => {
        const value = this.#columns[name][index] ?? Number.NaN;
        return Number.isNaN(value) ? undefined : value;
      };
      samples.push({
        atMs,
        checksPerSecond: figure('checksPerSecond'),
        p99Ms: figure('p99Ms'),
        failuresPerSecond: figure('failuresPerSecond'),
        slotsDown: figure('slotsDown'),
        lag: figure('lag'),
      });
    }
    return samples;
  }

  /** Compares with the previous picture. The first one only sets the starting point. */
  noteChanges(atMs: number, { slots, members }: ClusterPicture): void {
    this.#forgetAfter(atMs);
    const afterMs = Math.min(this.#seen?.atMs ?? atMs, atMs);
    const found = [
      ...(this.#members === undefined || members === undefined ? [] : changesBetween(this.#members, members)),
      ...(this.#seen === undefined ? [] : movesBetween(this.#seen.owners, slots)),
    ];
    this.#seen = { atMs, owners: new Map(slots.map(({ slot, shardName }) => [slot, shardName])) };
    if (members !== undefined) this.#members = new Map(members.map((member) => [member.incarnation, member]));
    if (found.length === 0) return;
    const events = found.map((event): ClusterEvent => ({ atMs, afterMs, ...event }));
    this.#events = [...events, ...this.#events].slice(0, EVENTS_MAX);
  }

  /** Newest first, within the hour up to `nowMs`. */
  events(nowMs: number): readonly ClusterEvent[] {
    return this.#events.filter(({ atMs }) => atMs > nowMs - HISTORY_MS);
  }
}
