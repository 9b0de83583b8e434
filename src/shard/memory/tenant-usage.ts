// The usage of one tenant over the last minutes, as fronts report it to the owner. It is kept in memory, within the
// budget of the process, and stored now and then (usage-store.ts): what was not stored yet is lost with the process, or
// when it is evicted as least recently used. Invariant: a cell holds one minute, and no report, however wrong, takes
// more memory than the cells.

import { MS_PER_HOUR, MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { UsageRow } from '../../store/store.ts';
import type { TenantUsageReport, UsageBucket } from '../shard.ts';
import { AskedNames } from './asked-names.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** An hour, and twenty minutes in which the one before can still be stored whole. */
export const USAGE_MINUTES = 80;
/** Requests, refused, checks. */
const COUNTS = 3;
const COUNT_MAX = 2 ** 32 - 1;
/** The arrays and their overhead; the texts of plans belong to the tenant. */
const USAGE_BYTES = (USAGE_MINUTES + USAGE_MINUTES * COUNTS) * Uint32Array.BYTES_PER_ELEMENT + USAGE_MINUTES * 8 + 400;

interface Cells {
  /** The minute since 1970 that each cell holds. */
  readonly minutes: Uint32Array;
  readonly counts: Uint32Array;
  /** The tenant's plan at the first report of the minute. */
  readonly plans: (string | undefined)[];
  readonly asked: AskedNames;
  /** Whether what earlier owners stored, of this hour and the one before and of names, is included. */
  seeded: boolean;
  /** Whether there was a report since the last time it was stored. */
  unstored: boolean;
  /** When it was last stored, or created; on the monotonic clock. */
  storedAtMs: number;
}

/** A whole number that fits into a cell; invalid values become zero or the maximum. */
const countOf = (value: number): number => (value > 0 ? Math.min(Math.floor(value), COUNT_MAX) : 0);

export class TenantUsage extends Evictable {
  /** That fronts have reported to this owner so far. */
  reportedChecks = 0;
  readonly #budget: MemoryBudget;
  #cells: Cells | undefined;
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
  }

  /**
   * `nowMs`: wall clock. If the front's clock is ahead, the current minute counts; reports older than the cells are
   * dropped. `plan`: the tenant's plan now. `monotonicMs`: from when on it is to be stored.
   */
  add(report: Omit<TenantUsageReport, 'slot' | 'tenantId'>, nowMs: number, plan?: string, monotonicMs = 0): void {
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    const minute = Math.min(report.minute, now);
    if (this.#dropped || !(minute > now - USAGE_MINUTES)) return;
    const cells = this.#cells ?? this.#allocate(monotonicMs);
    this.referenced = true;
    this.reportedChecks += countOf(report.checks);
    cells.unstored = true;
    count(cells, minute, report, plan);
  }

  /** `defined`: the names of the present rules; the others are dropped. Undefined: they are not in memory. */
  noteAsked(names: readonly string[], nowMs: number, defined?: ReadonlySet<string>, monotonicMs = 0): void {
    const asked = defined === undefined ? names : names.filter((name) => defined.has(name));
    if (this.#dropped || asked.length === 0) return;
    const cells = this.#cells ?? this.#allocate(monotonicMs);
    this.referenced = true;
    cells.unstored = true;
    cells.asked.note(asked, nowMs);
    this.#budget.resize(this, USAGE_BYTES + cells.asked.bytes);
  }

  /** When names were last asked about. `stored`: what earlier owners stored of it, unless this is seeded. */
  askedAtMs(names: readonly string[], stored: readonly UsageRow[], nowMs: number): readonly (number | undefined)[] {
    const earlier = new AskedNames();
    earlier.seed(stored, nowMs);
    return names.map((name) => this.#cells?.asked.askedAtMs(name, nowMs) ?? earlier.askedAtMs(name, nowMs));
  }

  /** By minute, from `fromMs`, ascending; omits minutes without requests. */
  read(nowMs: number, fromMs = 0): readonly UsageBucket[] {
    if (this.#cells === undefined) return [];
    const { minutes, counts, plans } = this.#cells;
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    const found: UsageBucket[] = [];
    for (let minute = now - USAGE_MINUTES + 1; minute <= now; minute += 1) {
      const cell = minute % USAGE_MINUTES;
      if (minutes[cell] !== minute || minute * MS_PER_MINUTE < fromMs) continue;
      const [requests = 0, refused = 0, checks = 0] = counts.subarray(cell * COUNTS, (cell + 1) * COUNTS);
      if (requests === 0) continue;
      const plan = plans[cell];
      const used = { atMs: minute * MS_PER_MINUTE, requests, refused, checks };
      found.push(plan === undefined ? used : { ...used, plan });
    }
    return found;
  }

  /** The last whole minute, whether or not it had requests. */
  lastMinute(nowMs: number): UsageBucket {
    const minute = Math.floor(nowMs / MS_PER_MINUTE) - 1;
    const cell = minute % USAGE_MINUTES;
    const at = cell * COUNTS;
    const { minutes, counts } = this.#cells ?? {};
    const known = minutes?.[cell] === minute ? counts?.subarray(at, at + COUNTS) : undefined;
    const [requests = 0, refused = 0, checks = 0] = known ?? [];
    return { atMs: minute * MS_PER_MINUTE, requests, refused, checks };
  }

  // ---- what is stored ----

  /** Whether it has everything of this hour and the one before that is still in its cells, stored parts included. */
  get seeded(): boolean {
    return this.#cells?.seeded ?? false;
  }

  /** Whether there was a report since it was last stored, which was no later than `beforeMs` on the monotonic clock. */
  isUnstored(beforeMs = Number.POSITIVE_INFINITY): boolean {
    return this.#cells?.unstored === true && this.#cells.storedAtMs <= beforeMs;
  }

  /** Adds what earlier owners stored of this hour and the one before, and of the names asked about, once. */
  seed(stored: readonly UsageBucket[], asked: readonly UsageRow[], nowMs: number): void {
    const cells = this.#cells;
    if (cells === undefined || cells.seeded) return;
    cells.seeded = true;
    cells.asked.seed(asked, nowMs);
    this.#budget.resize(this, USAGE_BYTES + cells.asked.bytes);
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    for (const bucket of stored) {
      const minute = bucket.atMs / MS_PER_MINUTE;
      if (minute > now - USAGE_MINUTES && minute <= now) count(cells, minute, bucket, bucket.plan);
    }
  }

  /** This hour, and the one before while all of it is in the cells; and the names that were asked about. */
  rows(nowMs: number): readonly UsageRow[] {
    const hour = hourOf(nowMs);
    const isWhole = Math.floor(nowMs / MS_PER_MINUTE) % MINUTES_PER_HOUR <= USAGE_MINUTES - MINUTES_PER_HOUR - 1;
    const byHour = Map.groupBy(this.read(nowMs), ({ atMs }) => hourOf(atMs));
    const counted = [...byHour].flatMap(([each, minutes]) =>
      each === hour || (each === hour - 1 && isWhole) ? rowsOfHour(each, minutes) : [],
    );
    return [...counted, ...(this.#cells?.asked.rows(nowMs) ?? [])];
  }

  /** Its rows are being stored. `false`: they could not be. */
  noteStored(monotonicMs: number, stored = true): void {
    if (this.#cells === undefined) return;
    this.#cells.unstored = !stored;
    this.#cells.storedAtMs = monotonicMs;
  }

  override evict(): void {
    this.#cells = undefined;
  }

  /** The tenure has ended. Only what is being stored is still read. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
  }

  #allocate(monotonicMs: number): Cells {
    const cells: Cells = {
      minutes: new Uint32Array(USAGE_MINUTES),
      counts: new Uint32Array(USAGE_MINUTES * COUNTS),
      plans: new Array<string | undefined>(USAGE_MINUTES).fill(undefined),
      asked: new AskedNames(),
      seeded: false,
      unstored: false,
      storedAtMs: monotonicMs,
    };
    this.#cells = cells;
    this.#budget.add(this, USAGE_BYTES);
    return cells;
  }
}

function count(
  { minutes, counts, plans }: Cells,
  minute: number,
  used: Pick<UsageBucket, 'requests' | 'refused' | 'checks'>,
  plan: string | undefined,
): void {
  const cell = minute % USAGE_MINUTES;
  const at = cell * COUNTS;
  if (minutes[cell] !== minute) {
    minutes[cell] = minute;
    plans[cell] = plan;
    counts.fill(0, at, at + COUNTS);
  }
  for (const [index, value] of [used.requests, used.refused, used.checks].entries()) {
    counts[at + index] = Math.min((counts[at + index] ?? 0) + countOf(value), COUNT_MAX);
  }
}

// ---- as rows of the store ----
//
// A tenant's usage as its owner stores it: a row with the minutes of an hour, for the last hours, and a row with the
// sum of an hour, for the last days. Hours take turns at a fixed number of places, so a later hour replaces one that is
// no longer read. Invariant: a row that is damaged, or of another hour than the one looked for, is no usage at all.

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
