// What a run is made of: sizes, faults and their odds, drawn from the seed. A focus makes the faults that one protection is
// there for frequent; without one the draw is broad.

import type { SeededRandom } from './seeded-random.ts';
import { NO_STORE_FAULTS, type StoreFaults } from './store-view.ts';

export const NEMESES = [
  'kill-shard',
  'restart-front',
  'stop-shard',
  'pause-shard',
  'pause-front',
  'add-shard',
  'remove-shard',
  'cut-network',
  'reset-network',
  'cut-store',
  'store-down',
  'jump-wall',
  'lose-record',
] as const;

export type Nemesis = (typeof NEMESES)[number];

export const FOCUSES = ['broad', 'failover', 'pauses', 'store', 'memory', 'moves', 'lost-records', 'displaced'] as const;

export type Focus = (typeof FOCUSES)[number];

export interface Profile {
  readonly focus: Focus;
  readonly slots: number;
  readonly shards: number;
  readonly shardsMax: number;
  readonly fronts: number;
  readonly tenants: number;
  readonly clientsPerFront: number;
  /** How long clients work and faults happen, in virtual time. */
  readonly activeMs: number;
  readonly thinkMsMax: number;
  readonly subjects: number;
  readonly objects: number;
  readonly segmentSize: number;
  readonly subjectRowsMax: number;
  readonly memoryBytesMax: number;
  readonly logRetentionMs: number;
  readonly store: StoreFaults;
  /** Between two faults, on average. */
  readonly nemesisMs: number;
  readonly nemeses: Readonly<Partial<Record<Nemesis, number>>>;
  readonly slowNetwork: number;
}

const HOUR_MS = 3_600_000;
/** Longer than operation ids are kept, so that what a recovery has to read back is there. */
const SHORT_RETENTION_MS = 26_000;

const BROAD: Readonly<Partial<Record<Nemesis, number>>> = {
  'kill-shard': 4,
  'restart-front': 1,
  'stop-shard': 2,
  'pause-shard': 4,
  'pause-front': 1,
  'add-shard': 2,
  'remove-shard': 2,
  'cut-network': 3,
  'reset-network': 2,
  'cut-store': 2,
  'store-down': 1,
  'jump-wall': 1,
};

const FOCUSED: Readonly<Record<Exclude<Focus, 'broad'>, Readonly<Partial<Record<Nemesis, number>>>>> = {
  failover: { 'kill-shard': 6, 'cut-store': 3, 'pause-shard': 2, 'reset-network': 2 },
  pauses: { 'pause-shard': 6, 'cut-store': 4, 'kill-shard': 1 },
  store: { 'kill-shard': 2, 'cut-store': 2, 'store-down': 1 },
  memory: { 'kill-shard': 1, 'reset-network': 1 },
  moves: { 'add-shard': 3, 'remove-shard': 3, 'stop-shard': 3, 'kill-shard': 1 },
  'lost-records': { 'lose-record': 6, 'kill-shard': 1 },
  displaced: { 'kill-shard': 5, 'cut-store': 4, 'pause-shard': 2 },
};

function drawStoreFaults(random: SeededRandom, focus: Focus): StoreFaults {
  const calm = random.chance(focus === 'broad' ? 0.3 : 0.1);
  if (calm && focus !== 'store' && focus !== 'displaced') return { ...NO_STORE_FAULTS, slow: 0.01, staleMsMax: 200 };
  const scale = focus === 'store' ? 2 : 1;
  return {
    slow: random.between(0.005, 0.04) * scale,
    lost: random.between(0, 0.02) * scale,
    unanswered: random.between(0.002, 0.03) * scale,
    late: random.between(0.002, focus === 'displaced' ? 0.08 : 0.03) * scale,
    displaced: focus === 'displaced' ? 0.9 : random.pick([0, 0.5]),
    lateMsMax: random.pick([3000, 10_000, 60_000]),
    staleMsMax: random.pick([0, 200, 1000]),
  };
}

export function drawProfile(random: SeededRandom, focus: Focus = 'broad'): Profile {
  const pressed = random.chance(focus === 'memory' ? 1 : 0.5);
  const sparse = random.chance(focus === 'memory' ? 0.5 : 0.3);
  const trims = random.chance(0.3) && focus !== 'displaced';
  const nemeses = focus === 'broad' ? BROAD : FOCUSED[focus];
  const { 'jump-wall': jumps = 0, ...others } = nemeses;
  return {
    focus,
    slots: random.whole(2, 5),
    shards: random.whole(2, 3),
    shardsMax: 4,
    fronts: 2,
    tenants: random.whole(2, 3),
    clientsPerFront: random.whole(3, 4),
    activeMs: random.between(20_000, 32_000),
    thinkMsMax: random.pick([200, 500, 900]),
    subjects: random.whole(2, 3),
    objects: random.whole(2, 5),
    segmentSize: random.pick([4, 8, 32]),
    subjectRowsMax: sparse ? random.whole(1, 3) : 10_000,
    memoryBytesMax: pressed ? random.whole(600, 3000) : 1_000_000,
    // A wall clock that jumps ahead makes entries older than they are, by an hour.
    logRetentionMs: trims ? SHORT_RETENTION_MS : 10 * HOUR_MS,
    store: drawStoreFaults(random, focus),
    nemesisMs: random.between(1500, 6000),
    nemeses: trims || jumps === 0 ? others : nemeses,
    slowNetwork: random.pick([0.002, 0.02]),
  };
}
