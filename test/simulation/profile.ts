// What a run is made of: sizes, faults and their odds, drawn from the seed. A focus makes the faults that one
// protection is there for frequent; without one the draw is broad.

import type { PositionLimits } from '../../src/front/requests/read-positions.ts';
import { PAGE_LIMITS, type PageLimits, type ReaderLimits } from '../../src/shard/memory/limits.ts';
import type { LullKind } from './expiry-lulls.ts';
import {
  CHECKED,
  drawOperations,
  drawPageLimits,
  type OperationProfile,
  PROMISED_ACTIONS,
} from './operation-profile.ts';
import type { SeededRandom } from './seeded-random.ts';
import { RATES_APART } from './simulated-process.ts';
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
  'stall-connection',
  'delay-requests',
  'isolate-shard',
  'isolate-front',
  'restart-beside',
  'cut-heartbeats',
  'mute-shard',
  'suspend-shard',
  'suspend-front',
  /** The machine of a front stands still for a moment, and its connections stay. */
  'doze-front',
  /** An owner goes, and a front still hears of a reader and not of the next owner. */
  'leave-apart',
  /** The same as soon as a write that a promise held back is committed, and the next promise is given. */
  'leave-promised',
  /** The wall clock of an owner jumps by less than a second or two. */
  'step-wall',
  'jump-wall-far',
  /** One wall clock is an hour off for a while: of a shard, from its start or from a jump on, or of the store. */
  'wrong-clock',
  'stall-shard',
  'stall-store',
  /** The store stands still for one shard. */
  'stall-store-link',
  'foreign-shard',
  'doubt-place',
] as const;

export type Nemesis = (typeof NEMESES)[number];

export const FOCUSES = [
  'broad',
  /** Owners die, and what they were asked is asked again. */
  'failover',
  /** Owners are cut off or stand still for about as long as a lease, and some fronts reach only them. */
  'zombies',
  /** Owners are cut off, and some fronts reach only them, while other shards die and start again in the same place. */
  'restarts',
  /** Watches of places doubt that a shard is there: of shards that are cut off, and of shards that have just died. */
  'watches',
  /**
   * Event loops, the whole store, and the way to it from one shard stand still for up to a second, one at a time:
   * nobody is declared dead.
   */
  'stalls',
  /** The store fails in every way it can. */
  'store',
  /** Hardly any memory, a slow store. */
  'memory',
  /** Subjects that no page holds whole are listed and exported in small reads, while their grants come and go. */
  'listings',
  /** Many grants are written, and what matches is revoked, at one moment each, while owners change. */
  'transactions',
  /** Readers answer beside owners that die, stand still, are cut off and hand over. */
  'readers',
  /**
   * Tenants with readers are asked in bursts, and then for a while only written, while owners and readers keep little:
   * fronts gather their questions, and readers fall behind.
   */
  'busy',
  /** Event loops often have no time left, so that calls and checks wait for their turn, at owners and at readers. */
  'saturated',
  /** Readers are cut off from the store, one after the other, while everything else is whole. */
  'reader-cut-off',
  /**
   * Owners promise readers for long that nothing is committed, while they hand over, die, lose the store, and fronts
   * stand still, one of these in each run; in some, nothing goes wrong, and writes go on nevertheless.
   */
  'promises',
  /** The same while grants and keys expire, and wall clocks jump. */
  'promise-times',
  /** The owner hands over, or loses the store, when it has just promised that nothing is committed. */
  'promise-ends',
  /** The owner of a tenant whose readers are `auto` is crowded for a while, and then not. */
  'auto-readers',
  /** Keys are rotated, and used until their end and beyond, at readers and fronts whose wall clocks are an hour off. */
  'key-clocks',
  /** Each front has a reader of its own, in the process of the only owner: counts of commits spare it questions. */
  'threads',
  /** Keys are revoked, and tenants suspended, while calls of theirs are on their way from one owner to the next. */
  'keys',
  /** Several operators change, import, export and remove tenants, over kills and handovers. */
  'operators',
  /** Keys are rotated, and used until their end and beyond, over kills and handovers. */
  'rotations',
  /** Slots move all the time. */
  'moves',
  /** Slots move, and requests are long on their way to former owners. */
  'delays',
  /** Wall clocks jump by an hour, and owners die. */
  'clocks',
  /** Grants expire; wall clocks are up to an hour apart and jump, and owners die. */
  'expiry',
  /** A tenant has rules, groups and folders, and all of it changes, while owners change and have hardly any memory. */
  'rules',
  /** As `rules`, with gates, conditions, and calls that bring along a context and grants. */
  'gates',
  /** The changes of a tenant are followed while owners and fronts come and go, and under keys that are revoked. */
  'feeds',
  /**
   * Records of the log vanish, as they never may. Slots may be refused from then on, and nothing may be answered
   * wrongly.
   */
  'lost-records',
  /** Appends of former owners land behind those of the next. */
  'displaced',
  /**
   * Clocks run at half their speed, which no lease survives: the assumption that it rests on is broken. Clients only
   * make grants that nobody else makes, and the fence alone has to keep them.
   */
  'broken-clocks',
  /** Bytes that a front sent long ago and gave up arrive after all. */
  'late-bytes',
  /** Sessions lapse while reads wait for responses that the store gave long ago. */
  'late-responses',
  /** Scans of members and slots show what was there seconds ago, and members come and go. */
  'stale-scans',
  /** The log is trimmed as soon as it may be, and owners die whose responses have not arrived. */
  'trimming',
  /** Machines are suspended: their monotonic clocks stand still, their wall clocks run on. The log is trimmed. */
  'suspended',
  /** A shard of a restored copy, with higher epochs, comes to an address of discovery, while owners die. */
  'foreign-shards',
  /** Wall clocks jump by hours and days, both ways and beyond the retention of the log, which is trimmed. */
  'far-clocks',
  /** Now and then one wall clock of all is an hour off. */
  'wrong-clocks',
] as const;

export type Focus = (typeof FOCUSES)[number];

export interface Profile extends OperationProfile {
  readonly focus: Focus;
  readonly slots: number;
  /** Of a tenant that a run begins with, at least. */
  readonly readersMin: number;
  /** Overrides of what owners keep for readers, and of the readers' own bounds. */
  readonly readerLimits: Partial<ReaderLimits>;
  /** Overrides of the bounds by which fronts gather questions to owners. */
  readonly positionLimits: Partial<PositionLimits>;
  /** Clients only write for so long, again and again: nobody asks for the position of a tenant then. */
  readonly readPauseMs: number;
  /** Clients of the first front only read, and those of the others only write: no reader hears of a write but by it. */
  readonly writersApart: boolean;
  /** How often an event loop has no time left. */
  readonly saturated: number;
  /** Whether each front has a reader of its own that shares memory with the owner. */
  readonly threads: boolean;
  readonly shards: number;
  readonly shardsMax: number;
  readonly fronts: number;
  readonly tenants: number;
  readonly clientsPerFront: number;
  /** How long clients work and faults happen, in virtual time. */
  readonly activeMs: number;
  readonly thinkMsMax: number;
  /** After which a front gives up. */
  readonly deadlineMs: number;
  /** The cluster's, which fixes how long operation ids are kept: twice as long. */
  readonly clusterDeadlineMs: number;
  readonly subjects: number;
  /** The number of the first one. */
  readonly firstSubject: number;
  readonly objects: number;
  readonly segmentSize: number;
  readonly pageLimits: Partial<PageLimits>;
  readonly memoryBytesMax: number;
  readonly logRetentionMs: number;
  /** Between two rounds of maintenance; the log is trimmed in every 30th. */
  readonly maintenanceMs: number;
  readonly store: StoreFaults;
  /** Between two faults, on average. */
  readonly nemesisMs: number;
  readonly nemeses: Readonly<Partial<Record<Nemesis, number>>>;
  readonly slowNetwork: number;
  /** How long a shard lets a front be silent. */
  readonly keepaliveMs: number;
  /** The one whose clock runs at less than half its speed, where there is one. */
  readonly slowShard: string | undefined;
  /** How far the rates of monotonic clocks may be from that of the world, as a part of it. */
  readonly ratesApart: number;
  /** How far wall clocks may be off. */
  readonly wallSkewMs: number;
  /** Beyond that from the others, a shard serves nothing. Infinite: what holds however wrong clocks are is judged. */
  readonly clockSkewMsMax: number;
  /** Clients per front whose grants expire. */
  readonly expiryClients: number;
  /** Now and then they only ask about one of them. */
  readonly lulls: LullKind | undefined;
  /** How long after its making a grant expires, at least. */
  readonly expiryMsMin: number;
  /** Clients per front that ask about a tenant with rules, besides the one that writes. */
  readonly ruledClients: number;
  /** Whether its rules have gates, and its grants conditions. */
  readonly gated: boolean;
  /** Whether the changes of a tenant of its own are read and followed. */
  readonly feedReaders: boolean;
  /** Whether the keys of a tenant are rotated. */
  readonly rotations: boolean;
  /** How often each of them is used around its end. */
  readonly keysUsedAtEnd: number;
  /** Nothing happens to the owner of the only slot: faults are those of its readers and of fronts. */
  readonly ownerSpared: boolean;
  /** The readers of tenants are `auto`; their owner has more to do than time for so long. 0: neither. */
  readonly crowdedMs: number;
  /** Everything that a call needs is there all the time: none is refused for want of it, and no check takes long. */
  readonly whole: boolean;
  /** Every grant is made once, nothing is revoked and nothing is read before the end. */
  readonly uniqueGrants: boolean;
}

/** Tenants have up to so many readers, each tenant as many as is drawn for it. */
export const READERS_DRAWN_MAX = 3;

const SLICED: Partial<PageLimits> = { rowsPerRead: 1, readsBeforeWhole: 2 };
const HOUR_MS = 3_600_000;
/** Where the log is trimmed: less than the default, so that much of a run is older than operation ids are kept. */
const SHORT_DEADLINE_MS = 6000;
/** Longer than operation ids are kept, so that what a recovery has to read back is there. */
const SHORT_RETENTION_MS = 2 * SHORT_DEADLINE_MS + 2000;

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
  'isolate-shard': 2,
  'isolate-front': 1,
  'delay-requests': 2,
  'cut-heartbeats': 1,
  'mute-shard': 1,
  'suspend-shard': 1,
  'suspend-front': 0.5,
  'foreign-shard': 1,
};

const FOCUSED: Readonly<Record<Exclude<Focus, 'broad'>, Readonly<Partial<Record<Nemesis, number>>>>> = {
  failover: { 'kill-shard': 4, 'cut-store': 2, 'pause-shard': 2, 'reset-network': 4 },
  zombies: { 'isolate-shard': 1 },
  restarts: { 'restart-beside': 1 },
  watches: { 'doubt-place': 1 },
  stalls: { 'stall-shard': 2, 'stall-store': 1, 'stall-store-link': 2 },
  store: { 'kill-shard': 2, 'cut-store': 2, 'store-down': 1 },
  memory: { 'kill-shard': 1, 'reset-network': 1 },
  // What is committed and not yet in the state tables is what listings have to put together.
  listings: { 'cut-heartbeats': 6, 'kill-shard': 1, 'stop-shard': 1, 'reset-network': 2 },
  transactions: { 'kill-shard': 4, 'cut-heartbeats': 2, 'stop-shard': 1, 'reset-network': 3 },
  keys: {
    'kill-shard': 1,
    'stop-shard': 1,
    'cut-store': 10,
    'pause-shard': 1,
    'reset-network': 4,
    'delay-requests': 3,
  },
  readers: {
    'kill-shard': 1,
    'stop-shard': 2,
    'pause-shard': 2,
    'cut-network': 3,
    'cut-heartbeats': 2,
    'isolate-shard': 2,
    'reset-network': 2,
    'delay-requests': 3,
  },
  busy: {
    'kill-shard': 1,
    'stop-shard': 1,
    'cut-network': 2,
    'pause-shard': 1,
    'reset-network': 1,
    'delay-requests': 3,
  },
  saturated: { 'kill-shard': 1, 'stop-shard': 1, 'pause-shard': 1, 'reset-network': 1, 'delay-requests': 2 },
  'reader-cut-off': { 'cut-store': 1 },
  'auto-readers': { 'reset-network': 1, 'restart-front': 1 },
  'key-clocks': { 'jump-wall': 3, 'kill-shard': 1, 'restart-front': 1, 'reset-network': 1 },
  // As `drawForPromises` says.
  promises: {},
  'promise-times': { 'step-wall': 12, 'jump-wall': 1, 'restart-front': 1, 'reset-network': 1 },
  'promise-ends': { 'leave-promised': 1 },
  threads: {
    'kill-shard': 1,
    'stop-shard': 1,
    'restart-front': 2,
    'pause-front': 3,
    'stall-shard': 4,
    'delay-requests': 4,
  },
  operators: { 'kill-shard': 3, 'stop-shard': 2, 'cut-store': 1, 'reset-network': 3 },
  rotations: { 'kill-shard': 3, 'stop-shard': 2, 'cut-store': 1, 'reset-network': 2, 'restart-front': 1 },
  moves: {
    'add-shard': 3,
    'remove-shard': 3,
    'stop-shard': 2,
    'delay-requests': 4,
    'isolate-front': 6,
    'cut-heartbeats': 1,
  },
  delays: { 'add-shard': 3, 'remove-shard': 3, 'stop-shard': 2, 'delay-requests': 16 },
  clocks: { 'jump-wall': 5, 'kill-shard': 4, 'reset-network': 6 },
  expiry: {
    'jump-wall': 4,
    'kill-shard': 4,
    'stop-shard': 2,
    'pause-shard': 2,
    'cut-heartbeats': 1,
    'add-shard': 1,
    'remove-shard': 1,
    'reset-network': 3,
  },
  gates: { 'kill-shard': 3, 'stop-shard': 2, 'add-shard': 1, 'remove-shard': 1, 'reset-network': 2 },
  rules: { 'kill-shard': 3, 'stop-shard': 2, 'cut-store': 1, 'add-shard': 1, 'remove-shard': 1, 'reset-network': 3 },
  feeds: {
    'kill-shard': 3,
    'stop-shard': 3,
    'restart-front': 2,
    'cut-store': 1,
    'pause-shard': 1,
    'add-shard': 1,
    'remove-shard': 1,
    'reset-network': 3,
  },
  'lost-records': { 'lose-record': 6, 'kill-shard': 1 },
  displaced: { 'kill-shard': 3, 'cut-store': 2 },
  'broken-clocks': { 'cut-heartbeats': 1 },
  'late-bytes': { 'stall-connection': 1 },
  'late-responses': { 'cut-heartbeats': 4, 'isolate-front': 1 },
  'stale-scans': { 'kill-shard': 3, 'add-shard': 4, 'remove-shard': 2 },
  trimming: { 'mute-shard': 4, 'kill-shard': 2, 'stop-shard': 1, 'reset-network': 2 },
  suspended: { 'suspend-shard': 6, 'suspend-front': 3, 'kill-shard': 1, 'reset-network': 1 },
  'foreign-shards': { 'foreign-shard': 5, 'kill-shard': 2, 'stop-shard': 1, 'restart-front': 1, 'reset-network': 1 },
  'wrong-clocks': { 'wrong-clock': 6, 'kill-shard': 1, 'stop-shard': 1, 'reset-network': 1 },
  'far-clocks': { 'jump-wall-far': 5, 'kill-shard': 2, 'mute-shard': 2, 'suspend-shard': 1 },
};

function drawStoreFaults(random: SeededRandom, focus: Focus): StoreFaults {
  const rough: readonly Focus[] = ['store', 'memory', 'listings', 'keys', 'operators'];
  const steady: readonly Focus[] = ['zombies', 'restarts', 'watches', 'stalls', 'broken-clocks'];
  if (steady.includes(focus)) return { ...NO_STORE_FAULTS, staleMsMax: 200 };
  if (focus === 'displaced') {
    return {
      ...NO_STORE_FAULTS,
      lateAppend: 0.3,
      lateWhenCut: 0.7,
      displaced: 0.9,
      lateMsMax: random.pick([6000, 15_000]),
    };
  }
  const slowResponses = drawSlowResponses(random.fork('slow responses'), focus);
  const calm: readonly Focus[] = ['late-responses', 'stale-scans', 'trimming'];
  if (calm.includes(focus) || (random.chance(0.4) && !rough.includes(focus))) {
    return { ...NO_STORE_FAULTS, ...slowResponses, slow: 0.01, staleMsMax: focus === 'stale-scans' ? 5000 : 200 };
  }
  const scale = focus === 'store' ? 2 : 1;
  return {
    ...slowResponses,
    slow: random.between(0.005, 0.04) * scale,
    lost: random.between(0, 0.02) * scale,
    unanswered: random.between(0.002, 0.03) * scale,
    late: random.between(0.002, 0.03) * scale,
    lateAppend: random.pick([0, 0.05]),
    lateWhenCut: random.pick([0, 0.3]),
    displaced: random.pick([0, 0.5]),
    lateMsMax: random.pick([3000, 10_000, 60_000]),
    staleMsMax: random.pick([0, 200, 1000]),
  };
}

function drawSlowResponses(
  random: SeededRandom,
  focus: Focus,
): Pick<StoreFaults, 'slowResponse' | 'slowResponseMsMax'> {
  // Just within the deadline of a call.
  const slowResponseMsMax = 4900;
  const { slowResponse: none } = NO_STORE_FAULTS;
  switch (focus) {
    case 'late-responses':
      return { slowResponseMsMax, slowResponse: { ...none, state: 0.1 } };
    case 'stale-scans':
      return { slowResponseMsMax, slowResponse: { ...none, scan: 0.05 } };
    case 'trimming':
      return { slowResponseMsMax, slowResponse: { ...none, log: 0.2 } };
    default: {
      const chance = random.pick([0, 0, 0.01, 0.05]);
      const slowResponse = { state: chance, log: chance, scan: chance, write: chance / 2 };
      return { slowResponseMsMax: random.pick([1000, 4900]), slowResponse };
    }
  }
}

function drawNemesisMs(random: SeededRandom, focus: Focus): number {
  switch (focus) {
    case 'late-bytes':
      return 2000;
    case 'zombies':
    case 'restarts':
    case 'watches':
    case 'broken-clocks':
    case 'displaced':
    case 'late-responses':
      // A member is declared dead only by those who see the store without a gap for as long as a lease.
      return random.between(4000, 7000);
    case 'moves':
    case 'delays':
      return random.between(200, 500);
    case 'stale-scans':
      return random.between(1000, 2500);
    case 'rules':
    case 'gates':
      return random.between(2000, 5000);
    default:
      return random.between(800, 4500);
  }
}

export function drawProfile(random: SeededRandom, focus: Focus = 'broad'): Profile {
  const profile = { ...drawBroadly(random, focus), ...drawForStore(random.fork('store'), focus) };
  return { ...profile, clockSkewMsMax: clockSkewMsMax(profile) };
}

/** Much of the same, where what one client does has to be seen by the next at once. */
const CROWDED = { tenants: 2, thinkMsMax: 100, subjects: 1, objects: 2 };

const TRIMMED = {
  deadlineMs: SHORT_DEADLINE_MS,
  clusterDeadlineMs: SHORT_DEADLINE_MS,
  logRetentionMs: SHORT_RETENTION_MS,
  maintenanceMs: 30,
};

/** Operations are known for so short that a machine is often suspended for longer. */
const SHORT_WINDOW = { deadlineMs: 3000, clusterDeadlineMs: 3000, logRetentionMs: 8000 };

const SPARED = { ownerSpared: true, slots: 1, shardsMax: 3 };

/** Clients whose question was lost with an owner ask something else soon. */
const RULED = { deadlineMs: 3000, tenants: 2, clientsPerFront: 1 };

/** Some owners read all subjects early; without a filter, they read those that have no grant, too. */
const drawReadsBeforeScan = (random: SeededRandom): number =>
  random.pick([0, 3, PAGE_LIMITS.readsBeforeScan, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);

/** In half of the runs, hardly any subject or object has a page that is whole. */
function drawSmallPages(random: SeededRandom): Partial<Profile> {
  const readsBeforeScan = drawReadsBeforeScan(random);
  if (random.chance(0.5)) return { pageLimits: { readsBeforeScan } };
  return { pageLimits: { rowsMax: random.whole(1, 3), rowsPerListing: random.whole(1, 3), readsBeforeScan } };
}

function drawForReaders(random: SeededRandom): Partial<Profile> {
  switch (random.weighted({ memory: 4, checks: 3, broad: 3 })) {
    case 'memory':
      // Hardly anything stays in memory: what an answer puts together was read at several moments.
      return {
        subjects: 2,
        pageLimits: { rowsMax: 1 },
        memoryBytesMax: 1_000_000,
        nemesisMs: 6000,
        thinkMsMax: 50,
        store: { ...NO_STORE_FAULTS, slow: 0.01 },
      };
    case 'checks':
      // Many checks to each write, and many of both are long on their way.
      return {
        activeMs: random.between(8000, 14_000),
        slowNetwork: 0.15,
        clientsPerFront: 6,
        thinkMsMax: 60,
        actions: CHECKED,
      };
    case 'broad':
      return {};
  }
}

/** Of one tuple, with a position on its way all the time and a write from time to time. */
const WRITERS_APART: Partial<Profile> = {
  writersApart: true,
  tenants: 1,
  objects: 1,
  clientsPerFront: 5,
  thinkMsMax: 30,
  slowNetwork: 0.05,
};

/** An entry of one grant takes some 700 bytes. */
const drawLittleFollowed = (random: SeededRandom): Partial<Profile> => ({
  readerLimits: {
    recentBytesMax: random.pick([1000, 3000, 30_000]),
    followedMs: random.pick([300, 700, 2000]),
    idleMs: random.pick([1500, 5000]),
    charactersPerStep: random.pick([32, 500]),
  },
  positionLimits: {
    gatherMs: random.pick([4, 4, 15]),
    busyFlights: random.whole(1, 12),
    tenantsMax: random.pick([1, 1000]),
  },
});

function drawBusy(random: SeededRandom): Partial<Profile> {
  return {
    ...drawLittleFollowed(random),
    activeMs: random.between(8000, 12_000),
    // What writes to the slot of another tenant moves the time of the log on.
    slots: 8,
    maintenanceMs: 1000,
    nemesisMs: random.between(2000, 5000),
    ...(random.chance(0.5)
      ? { ...WRITERS_APART, memoryBytesMax: 1_000_000 }
      : {
          readPauseMs: random.pick([600, 1500]),
          expiryClients: 2,
          slowNetwork: 0.15,
          memoryBytesMax: random.pick([1_000_000, random.whole(2400, 12_000)]),
        }),
  };
}

/** Reads of a tenant come all the time, and now and then a write, over another front or the same. */
const PROMISED: Partial<Profile> = {
  slots: 1,
  tenants: 2,
  subjects: 1,
  objects: 1,
  clientsPerFront: 4,
  thinkMsMax: 30,
  pageLimits: {},
  memoryBytesMax: 1_000_000,
  operators: 0,
  // Leases, and the tenth by which a front uses a promise for less long, bear no more.
  ratesApart: 0.04,
  store: NO_STORE_FAULTS,
  actions: PROMISED_ACTIONS,
};

/** Promises last longer than those of production: as long as a lease is waited for beyond its end, and longer. */
const drawQuiet = (random: SeededRandom, longest = 1500): Pick<Profile, 'readerLimits'> => ({
  readerLimits: { quietMs: random.pick([40, 300, longest]), restedMs: random.pick([0, 300]) },
});

const drawLeaving = (random: SeededRandom): Partial<Profile> => ({
  // A client whose write or reader is cut off would ask nothing else meanwhile.
  writersApart: true,
  tenants: 1,
  deadlineMs: 5000,
  // All shards but the owner.
  readersMin: READERS_DRAWN_MAX,
  // As long as it takes another shard to become the owner.
  readerLimits: { quietMs: random.pick([1000, 3000, 3000]), restedMs: 0 },
  activeMs: 24_000,
});

function drawForPromises(random: SeededRandom): Partial<Profile> {
  const some = {
    ...PROMISED,
    ...drawQuiet(random),
    activeMs: random.between(8000, 12_000),
    slowNetwork: random.pick([0.002, 0.05]),
  };
  switch (random.weighted({ whole: 2, apart: 4, moves: 1, dozes: 2 })) {
    case 'whole':
      return {
        ...some,
        // Reads go on whatever becomes of the writes, one after the other before a promise is over.
        writersApart: true,
        tenants: 1,
        clientsPerFront: 8,
        slowNetwork: 0.002,
        readerLimits: { quietMs: random.pick([100, 300]), restedMs: random.pick([0, 100]) },
        whole: true,
        activeMs: 5000,
        nemeses: { 'reset-network': 0 },
      };
    case 'apart':
      return {
        ...some,
        // A client whose write or reader is cut off would ask nothing else meanwhile.
        ...drawLeaving(random),
        nemesisMs: 3000,
        nemeses: { 'leave-apart': 1 },
      };
    case 'moves':
      return { ...some, nemesisMs: 600, nemeses: { 'stop-shard': 3, 'add-shard': 2, 'kill-shard': 1 } };
    case 'dozes':
      return { ...some, nemesisMs: 400, nemeses: { 'doze-front': 3, 'stall-shard': 1 } };
  }
}

function drawForPromiseTimes(random: SeededRandom): Partial<Profile> {
  const some = { ...PROMISED, clientsPerFront: 1 };
  switch (random.weighted({ steps: 3, lulls: 4, keys: 3 })) {
    case 'steps':
      return {
        ...some,
        ...drawQuiet(random, 600),
        activeMs: random.between(8000, 12_000),
        nemesisMs: random.between(200, 1000),
        expiryClients: 2,
      };
    case 'lulls':
      return {
        ...some,
        readerLimits: { quietMs: random.pick([300, 800, 1500]), restedMs: random.pick([0, 300]) },
        activeMs: random.between(12_000, 16_000),
        // A clock that jumps takes the lease away for up to half a second.
        nemesisMs: random.between(2000, 6000),
        expiryClients: 2,
        lulls: 'promises',
        // None but those of lulls: a tenant whose grants may expire is promised nothing.
        expiryMsMin: HOUR_MS,
        actions: { ...PROMISED_ACTIONS, burst: 0 },
      };
    case 'keys':
      return {
        ...some,
        ...SPARED,
        ...drawQuiet(random),
        activeMs: random.between(8000, 12_000),
        rotations: true,
        keysUsedAtEnd: 40,
        nemeses: { 'reset-network': 1 },
        nemesisMs: 3000,
      };
  }
}

const drawForPromiseEnds = (random: SeededRandom): Partial<Profile> => ({
  ...PROMISED,
  ...drawLeaving(random),
  readerLimits: { quietMs: 3000, restedMs: 0 },
  // The reader of the third one is seldom the shard that owns the slot next.
  firstSubject: 3,
  subjects: 3,
  shards: 1 + READERS_DRAWN_MAX,
  shardsMax: 1 + READERS_DRAWN_MAX,
  slowNetwork: 0.002,
  nemesisMs: 4000,
});

/** What the focuses on readers have besides their faults. */
function drawForReads(random: SeededRandom, focus: Focus): Partial<Profile> {
  switch (focus) {
    case 'readers':
      return drawForReaders(random);
    case 'busy':
      return drawBusy(random);
    case 'promises':
      return drawForPromises(random);
    case 'promise-times':
      return drawForPromiseTimes(random);
    case 'promise-ends':
      return drawForPromiseEnds(random);
    case 'reader-cut-off':
      return {
        ...SPARED,
        whole: true,
        activeMs: random.between(10_000, 16_000),
        // Of the shards without a store at least one is a reader, and all that it is asked for is cold.
        readersMin: 2,
        subjects: 20,
        pageLimits: { rowsMax: 1, readsBeforeScan: Number.POSITIVE_INFINITY },
        memoryBytesMax: 1_000_000,
        store: NO_STORE_FAULTS,
        nemesisMs: 3000,
        thinkMsMax: 100,
        actions: CHECKED,
        operators: 0,
      };
    case 'auto-readers':
      return {
        ...SPARED,
        // Most of it is waiting: for a decision, and until it is old enough for the next.
        activeMs: 200_000,
        crowdedMs: 65_000,
        readerLimits: { shrinkAfterMs: 20_000 },
        shards: 4,
        shardsMax: 4,
        tenants: 1,
        clientsPerFront: 1,
        subjects: 24,
        // A front whose clients only read never uses its handle at the owner again.
        writersApart: true,
        thinkMsMax: 1500,
        store: NO_STORE_FAULTS,
        memoryBytesMax: 1_000_000,
        nemesisMs: 25_000,
        operators: 0,
      };
    case 'key-clocks':
      return {
        ...SPARED,
        activeMs: random.between(8000, 12_000),
        clientsPerFront: 1,
        store: NO_STORE_FAULTS,
        wallSkewMs: HOUR_MS,
        nemesisMs: random.between(500, 2000),
        rotations: true,
      };
    case 'saturated':
      return { activeMs: random.between(8000, 12_000), saturated: random.pick([0.3, 0.7]) };
    default:
      return {};
  }
}

/** What the focuses on time and the store have besides their faults. */
function drawForStore(random: SeededRandom, focus: Focus): Partial<Profile> {
  switch (focus) {
    case 'late-responses':
      // Nothing stays in memory: nearly every answer waits for the store.
      return { ...CROWDED, slots: random.whole(2, 3), pageLimits: { rowsMax: 1 }, memoryBytesMax: 1 };
    case 'stale-scans':
      return { ...CROWDED, slots: 8 };
    case 'trimming':
      return { ...TRIMMED, segmentSize: 4 };
    case 'suspended':
      return { ...TRIMMED, ...CROWDED, ...SHORT_WINDOW };
    case 'far-clocks':
      return TRIMMED;
    case 'wrong-clocks':
      return { shards: 3, shardsMax: 3, nemesisMs: random.between(1500, 3000), store: NO_STORE_FAULTS };
    case 'expiry':
      // Little else is written to the slot, nor collected soon: nothing but the answers themselves moves the log on.
      return {
        slots: 8,
        clientsPerFront: 1,
        maintenanceMs: 5000,
        nemesisMs: random.between(500, 1500),
        lulls: random.chance(0.5) ? 'deaths' : undefined,
      };
    case 'feeds':
      return { deadlineMs: 3000, tenants: 2, clientsPerFront: 1 };
    case 'rules':
    case 'gates':
      return { ...RULED, thinkMsMax: random.pick([50, 150]), ...drawSmallPages(random) };
    default:
      return drawForReads(random, focus);
  }
}

const CROWDED_FOCUSES: readonly Focus[] = [
  'moves',
  'delays',
  'zombies',
  'restarts',
  'watches',
  'keys',
  'readers',
  'busy',
  'saturated',
  'promises',
  'promise-times',
  'promise-ends',
  'threads',
  'listings',
  'transactions',
];

/** The focuses in which each tenant has readers. */
const READ_FOCUSES: readonly Focus[] = [
  'readers',
  'busy',
  'saturated',
  'promises',
  'promise-times',
  'promise-ends',
  'reader-cut-off',
  'auto-readers',
  'key-clocks',
];

/** Of runs that are not about readers. */
const ORDINARY = {
  readerLimits: {},
  positionLimits: {},
  readPauseMs: 0,
  writersApart: false,
  saturated: 0,
  ownerSpared: false,
  crowdedMs: 0,
  whole: false,
  keysUsedAtEnd: 0,
  ratesApart: RATES_APART,
  expiryMsMin: 100,
  firstSubject: 1,
};

/** The bound unless another one is set. */
const CLOCK_SKEW_MS_MAX = 10_000;

/** The faults with clocks that are so wrong that a shard would give up its slots. */
const FAR_CLOCKS: readonly Nemesis[] = ['jump-wall', 'jump-wall-far', 'step-wall', 'suspend-shard'];

const clockSkewMsMax = ({ nemeses, wallSkewMs, slowShard }: Profile): number =>
  FAR_CLOCKS.some((each) => (nemeses[each] ?? 0) > 0) || wallSkewMs > 200 || slowShard !== undefined
    ? Number.POSITIVE_INFINITY
    : CLOCK_SKEW_MS_MAX;

function drawBroadly(random: SeededRandom, focus: Focus): Profile {
  const pressed = focus === 'memory' || random.chance(0.5);
  const sparse = random.chance(focus === 'memory' ? 0.5 : 0.3);
  // Most subjects need several reads then, and are read to their end when they are asked about again.
  const sliced = random.chance(0.5);
  const trims = random.chance(0.3) && focus !== 'displaced' && focus !== 'late-bytes';
  // Much of the same, where what one client does has to be seen by the next at once.
  const crowded = CROWDED_FOCUSES.includes(focus);
  const isolates = focus === 'zombies' || focus === 'restarts' || focus === 'watches';
  const ruled = focus === 'broad' && random.fork('rules').chance(0.3);
  const { 'jump-wall': jumps = 0, ...others } = focus === 'broad' ? BROAD : FOCUSED[focus];
  return {
    ...ORDINARY,
    focus,
    slots: random.whole(2, crowded ? 3 : 5),
    readersMin: READ_FOCUSES.includes(focus) ? 1 : 0,
    threads: focus === 'threads',
    shards:
      focus === 'threads'
        ? 1
        : focus === 'restarts' || focus === 'watches' || READ_FOCUSES.includes(focus)
          ? 3
          : random.whole(2, 3),
    shardsMax: focus === 'threads' ? 1 : 4,
    fronts: 2,
    tenants: crowded ? 2 : random.whole(2, 3),
    clientsPerFront: focus === 'transactions' ? random.whole(2, 3) : random.whole(3, 5),
    activeMs: focus === 'late-bytes' ? 45_000 : random.between(20_000, 32_000),
    // So that clients of a front that reaches few shards do not all wait for the others.
    deadlineMs: focus === 'moves' || isolates ? 1500 : trims ? SHORT_DEADLINE_MS : 10_000,
    clusterDeadlineMs: trims ? SHORT_DEADLINE_MS : 10_000,
    thinkMsMax: crowded ? 100 : focus === 'broken-clocks' ? 1000 : random.pick([200, 400, 700]),
    subjects: focus === 'listings' || focus === 'transactions' ? 2 : crowded ? 1 : random.whole(2, 3),
    objects: focus === 'listings' ? 9 : focus === 'transactions' ? 3 : crowded ? 2 : random.whole(2, 5),
    segmentSize: random.pick([4, 8, 32]),
    pageLimits: drawPageLimits(random.fork('page limits'), focus, {
      ...(sparse ? { rowsMax: random.whole(1, 3) } : sliced ? SLICED : {}),
      readsBeforeScan: drawReadsBeforeScan(random.fork('filter')),
    }),
    memoryBytesMax: pressed ? random.whole(2400, 12_000) : 1_000_000,
    // A wall clock that jumps ahead makes entries older than they are, by an hour.
    logRetentionMs: trims ? SHORT_RETENTION_MS : 10 * HOUR_MS,
    maintenanceMs: 100,
    store: drawStoreFaults(random, focus),
    nemesisMs: drawNemesisMs(random, focus),
    nemeses: trims ? others : { ...others, ...(jumps === 0 ? {} : { 'jump-wall': jumps }) },
    slowNetwork: focus === 'moves' || focus === 'delays' ? 0.15 : random.pick([0.002, 0.02]),
    keepaliveMs: focus === 'late-bytes' ? 120_000 : 2000,
    slowShard: focus === 'broken-clocks' ? 'shard-0' : undefined,
    clockSkewMsMax: CLOCK_SKEW_MS_MAX,
    wallSkewMs: focus === 'displaced' ? 5000 : focus === 'expiry' ? HOUR_MS : 200,
    expiryClients: focus === 'expiry' ? 3 : 0,
    lulls: undefined,
    uniqueGrants: focus === 'broken-clocks',
    ruledClients: focus === 'rules' || focus === 'gates' ? 3 : ruled ? 1 : 0,
    gated: focus === 'gates',
    feedReaders: focus === 'feeds',
    rotations: focus === 'rotations',
    ...drawOperations(random.fork('operations'), focus),
  };
}
