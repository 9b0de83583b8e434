// What grants that expire make of a state of a tenant with rules: the state is another one from each expiry on, by the
// time of the slot, which nobody knows exactly.

import type { RuledState } from './ruled-history.ts';
import type { RuledGrant } from './ruled-universe.ts';
import { WALL_START_MS } from './simulated-process.ts';

/** Of the time of a slot: wall clocks differ by 200 ms either way, and monotonic ones by a few thousandths. */
const TOLERANCE_MS = 500;

export const slotTimeAt = (now: number): number => WALL_START_MS + now;

export const isSurelyOver = ({ expiresAtMs = Number.POSITIVE_INFINITY }: RuledGrant, now: number): boolean =>
  expiresAtMs <= slotTimeAt(now) - TOLERANCE_MS;

export const mayBeOver = ({ expiresAtMs = Number.POSITIVE_INFINITY }: RuledGrant, now: number): boolean =>
  expiresAtMs <= slotTimeAt(now) + TOLERANCE_MS;

const statesAfter = new WeakMap<RuledState, Map<number, RuledState>>();

/** Without what had expired by then. */
export function stateAfter(state: RuledState, expiredMs: number): RuledState {
  const known = statesAfter.get(state) ?? new Map<number, RuledState>();
  statesAfter.set(state, known);
  const grants = [...state.grants].filter(([, { expiresAtMs = Number.POSITIVE_INFINITY }]) => expiresAtMs > expiredMs);
  const found = known.get(grants.length) ?? { ...state, grants: new Map(grants) };
  known.set(grants.length, found);
  return found;
}

/** What the state may have been at some time from `from` to `until`. */
export function statesWithin(state: RuledState, from: number, until: number): readonly RuledState[] {
  const expiries = Array.from(state.grants.values(), ({ expiresAtMs = Number.POSITIVE_INFINITY }) => expiresAtMs);
  if (expiries.every((each) => each === Number.POSITIVE_INFINITY)) return [state];
  const start = slotTimeAt(from) - TOLERANCE_MS;
  const during = expiries.filter((each) => each > start && each <= slotTimeAt(until) + TOLERANCE_MS);
  return [start, ...new Set(during)].map((expiredMs) => stateAfter(state, expiredMs));
}
