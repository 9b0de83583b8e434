// A tenant's usage as its owner stores it: a row with the minutes of an hour, for the last hours, and a row with the
// sum of an hour, for the last days. Hours take turns at a fixed number of places, so a later hour replaces one that is
// no longer read. Invariant: a row that is damaged, or of another hour than the one looked for, is no usage at all.

import { MS_PER_HOUR, MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { UsageBucket } from '../shard.ts';

export const MINUTES_PER_HOUR = 60;

/** Hours of one kind of row, and where they are stored. */
export interface HourRows {
  readonly hours: number;
  readonly firstPlace: number;
}

/** One hour more than a day with both its ends: a reading by the minute goes back 25 hours. */
export const MINUTE_ROWS: HourRows = { hours: 26, firstPlace: 0 };
/** 32 days. */
export const HOUR_ROWS: HourRows = { hours: 32 * 24, firstPlace: 100 };

/** Since 1970. */
export const hourOf = (atMs: number): number => Math.floor(atMs / MS_PER_HOUR);

const placeOf = (hour: number, { hours, firstPlace }: HourRows): number => firstPlace + (hour % hours);

/** The places of some hours in a row: all of them if they go around the end. */
export function placesOf(fromHour: number, toHour: number, rows: HourRows): { readonly from: number; to: number } {
  const [from, to] = [placeOf(fromHour, rows), placeOf(toHour, rows)];
  const isWhole = toHour - fromHour < rows.hours && from <= to;
  return isWhole ? { from, to } : { from: rows.firstPlace, to: rows.firstPlace + rows.hours - 1 };
}

/** Minute of the hour, requests, refused, checks, and the plan if it is another one than before. */
type Entry = readonly [minute: number, requests: number, refused: number, checks: number, plan?: string];

function rowOf(hour: number, buckets: readonly UsageBucket[], rows: HourRows) {
  let plan: string | undefined;
  const entries = buckets.map((bucket): Entry => {
    const { atMs, requests, refused, checks } = bucket;
    const entry = [atMs / MS_PER_MINUTE - hour * MINUTES_PER_HOUR, requests, refused, checks] as const;
    if (bucket.plan === undefined || bucket.plan === plan) return entry;
    plan = bucket.plan;
    return [...entry, plan];
  });
  return { place: placeOf(hour, rows), counts: JSON.stringify([hour, entries]) };
}

/** The rows of an hour. `minutes`: those of the hour with a request, ascending; at least one. */
export const rowsOfHour = (hour: number, minutes: readonly UsageBucket[]) => [
  rowOf(hour, minutes, MINUTE_ROWS),
  rowOf(hour, [sumOf(hour, minutes)], HOUR_ROWS),
];

/** The hour of these minutes, under the plan of the last one. */
export function sumOf(hour: number, minutes: readonly UsageBucket[]): UsageBucket {
  const sum = (pick: (minute: UsageBucket) => number): number =>
    minutes.reduce((total, minute) => total + pick(minute), 0);
  const plan = minutes.findLast((minute) => minute.plan !== undefined)?.plan;
  return {
    atMs: hour * MS_PER_HOUR,
    requests: sum(({ requests }) => requests),
    refused: sum(({ refused }) => refused),
    checks: sum(({ checks }) => checks),
    ...(plan === undefined ? {} : { plan }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isEntry(value: unknown): value is Entry {
  if (!Array.isArray(value) || value.length < 4 || value.length > 5) return false;
  const [minute, requests, refused, checks, plan] = value;
  const isKnown = isCount(minute) && minute < MINUTES_PER_HOUR && [requests, refused, checks].every(isCount);
  return isKnown && (plan === undefined || typeof plan === 'string');
}

/** What a row contains of these hours; nothing if it is damaged. */
export function bucketsIn(
  { place, counts }: { readonly place: number; readonly counts: string },
  fromHour: number,
  toHour: number,
): readonly UsageBucket[] {
  const [hour, entries] = parsed(counts);
  const rows = place < HOUR_ROWS.firstPlace ? MINUTE_ROWS : HOUR_ROWS;
  const isAsked = isCount(hour) && hour >= fromHour && hour <= toHour && placeOf(hour, rows) === place;
  if (!isAsked || !Array.isArray(entries) || !entries.every(isEntry)) return [];
  let plan: string | undefined;
  return entries.slice(0, MINUTES_PER_HOUR).map(([minute, requests, refused, checks, named]) => {
    plan = named ?? plan;
    const atMs = hour * MS_PER_HOUR + minute * MS_PER_MINUTE;
    return { atMs, requests, refused, checks, ...(plan === undefined ? {} : { plan }) };
  });
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
