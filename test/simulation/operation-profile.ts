// What clients and operators ask for in a run, and the sizes that this is about: the part of a profile that faults of
// machines, networks and stores have nothing to do with.

import { PAGE_LIMITS, type PageLimits } from '../../src/shard/memory/limits.ts';
import type { Focus } from './profile.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What clients do. */
export type Action =
  | 'grant'
  | 'revoke'
  | 'check'
  | 'bulk'
  | 'list'
  | 'holders'
  | 'several'
  | 'sweep'
  | 'key'
  | 'key-race'
  | 'key-list'
  | 'namespace'
  | 'write-bulk'
  | 'clear'
  | 'move'
  | 'moved'
  | 'burst';

/** What operators do. */
export type OperatorAction = 'state' | 'readers' | 'import' | 'export' | 'grants' | 'subjects' | 'keys' | 'tenant';

export interface OperationProfile {
  /** How often clients do what. */
  readonly actions: Readonly<Record<Action, number>>;
  readonly operators: number;
  /** The pause of an operator between two calls, at most. */
  readonly operatorMsMax: number;
  readonly operatorActions: Readonly<Record<OperatorAction, number>>;
  /** Rows of a deleted tenant that one call of the store removes. */
  readonly purgeRowsMax: number;
}

const ACTIONS: OperationProfile['actions'] = {
  grant: 22,
  revoke: 18,
  check: 22,
  bulk: 8,
  list: 10,
  holders: 6,
  several: 3,
  sweep: 0.5,
  key: 3,
  'key-race': 1,
  'key-list': 1,
  namespace: 3,
  // Last, so that the seeds of focuses without them keep what they draw.
  'write-bulk': 0,
  clear: 0,
  move: 0,
  moved: 0,
  burst: 0,
};

/** Ten times as many checks as writes. */
export const CHECKED: OperationProfile['actions'] = { ...ACTIONS, grant: 9, revoke: 8, check: 170, bulk: 16 };

/** Hardly anything but single checks, and changes that they find out. */
export const PROMISED_ACTIONS: OperationProfile['actions'] = {
  ...ACTIONS,
  grant: 8,
  revoke: 8,
  check: 100,
  bulk: 6,
  list: 2,
  holders: 2,
  several: 1,
  sweep: 0,
  namespace: 1,
  burst: 4,
};

const FOCUSED_ACTIONS: Readonly<Partial<Record<Focus, OperationProfile['actions']>>> = {
  // A write betrays a former owner, since it collides in the log; a read does not.
  moves: { ...ACTIONS, grant: 8, revoke: 8, check: 60 },
  listings: { ...ACTIONS, sweep: 20, bulk: 12, check: 8, holders: 16 },
  keys: { ...ACTIONS, check: 30, 'key-race': 16 },
  broad: { ...ACTIONS, 'write-bulk': 6, clear: 1.5 },
  // What changes at one moment, a reader has to show at one moment, whether it is in its memory or not.
  readers: { ...ACTIONS, grant: 16, revoke: 14, move: 24, moved: 40 },
  busy: { ...ACTIONS, grant: 30, revoke: 26, move: 8, moved: 10, burst: 14 },
  saturated: { ...ACTIONS, check: 60, burst: 8 },
  threads: { ...ACTIONS, check: 60 },
  transactions: { ...ACTIONS, grant: 16, check: 16, 'write-bulk': 30, clear: 10 },
};

const OPERATOR_ACTIONS: OperationProfile['operatorActions'] = {
  state: 4,
  readers: 1,
  import: 2,
  export: 2,
  grants: 1,
  subjects: 1,
  keys: 1,
  tenant: 1,
};

const FOCUSED_OPERATOR_ACTIONS: Readonly<Partial<Record<Focus, OperationProfile['operatorActions']>>> = {
  listings: { ...OPERATOR_ACTIONS, state: 1, export: 6, grants: 6, subjects: 3 },
  keys: { ...OPERATOR_ACTIONS, state: 12 },
};

export function drawOperations(random: SeededRandom, focus: Focus): OperationProfile {
  const busy = focus === 'operators' || focus === 'listings';
  const operators = focus === 'operators' ? 3 : random.whole(1, 2);
  return {
    actions: FOCUSED_ACTIONS[focus] ?? ACTIONS,
    // There clients only make grants that nobody else makes.
    operators: focus === 'broken-clocks' ? 0 : operators,
    operatorMsMax: busy ? 1500 : random.pick([3000, 8000]),
    operatorActions: FOCUSED_OPERATOR_ACTIONS[focus] ?? OPERATOR_ACTIONS,
    purgeRowsMax: random.pick([1, 3, 100]),
  };
}

/** Listings take several reads of the store mostly, however few rows there are. */
export function drawPageLimits(random: SeededRandom, focus: Focus, drawn: Partial<PageLimits>): Partial<PageLimits> {
  const rowsPerListing = random.pick([1, 2, 3, PAGE_LIMITS.rowsPerListing]);
  if (focus === 'broad' || focus === 'transactions') {
    return { ...drawn, rowsPerListing, revokedPerCall: random.pick([1, 2, 3, PAGE_LIMITS.revokedPerCall]) };
  }
  if (focus !== 'listings') return { ...drawn, rowsPerListing };
  // No subject has a page that is whole, but for those without grants.
  return { rowsMax: random.whole(1, 2), rowsPerListing: random.whole(1, 3) };
}
