// The usage of one tenant over the last minutes, as fronts report it to the owner. It is kept in memory, within the
// budget of the process, and stored now and then (usage-store.ts): what was not stored yet is lost with the process, or
// when it is evicted as least recently used. Invariant: a cell holds one minute, and no report, however wrong, takes
// more memory than the cells.

import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { TenantUsageReport, UsageBucket } from '../shard.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';
import { hourOf, MINUTES_PER_HOUR, rowsOfHour } from './usage-rows.ts';

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
  /** Whether what earlier owners stored of this hour and the one before is included. */
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

  /** Of a minute at the earliest; ascending; omits minutes without requests. */
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

  /** Adds what earlier owners stored of this hour and the one before, once. */
  seed(stored: readonly UsageBucket[], nowMs: number): void {
    const cells = this.#cells;
    if (cells === undefined || cells.seeded) return;
    cells.seeded = true;
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    for (const bucket of stored) {
      const minute = bucket.atMs / MS_PER_MINUTE;
      if (minute > now - USAGE_MINUTES && minute <= now) count(cells, minute, bucket, bucket.plan);
    }
  }

  /** This hour, and the one before while all of it is in the cells. */
  rows(nowMs: number) {
    const hour = hourOf(nowMs);
    const isWhole = Math.floor(nowMs / MS_PER_MINUTE) % MINUTES_PER_HOUR <= USAGE_MINUTES - MINUTES_PER_HOUR - 1;
    const byHour = Map.groupBy(this.read(nowMs), ({ atMs }) => hourOf(atMs));
    return [...byHour].flatMap(([each, minutes]) =>
      each === hour || (each === hour - 1 && isWhole) ? rowsOfHour(each, minutes) : [],
    );
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
