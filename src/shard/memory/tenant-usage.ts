// The usage of one tenant over the last 60 minutes, as fronts report it to the owner. It is kept only in memory, within
// the budget of the process: it is lost with the tenure, or when it is evicted as least recently used. Invariant: a
// cell holds one minute, and no report, however wrong, takes more memory than 60 cells.

import { MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { TenantUsageReport, UsageMinute } from '../shard.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

const MINUTES = 60;
/** Requests, refused, checks. */
const COUNTS = 3;
const COUNT_MAX = 2 ** 32 - 1;
/** The arrays and their overhead; the texts of plans belong to the tenant. */
const USAGE_BYTES = (MINUTES + MINUTES * COUNTS) * Uint32Array.BYTES_PER_ELEMENT + MINUTES * 8 + 400;

interface Cells {
  /** The minute since 1970 that each cell holds. */
  readonly minutes: Uint32Array;
  readonly counts: Uint32Array;
  /** The tenant's plan at the first report of the minute. */
  readonly plans: (string | undefined)[];
}

/** A whole number that fits into a cell; invalid values become zero or the maximum. */
const countOf = (value: number): number => (value > 0 ? Math.min(Math.floor(value), COUNT_MAX) : 0);

export class TenantUsage extends Evictable {
  readonly #budget: MemoryBudget;
  #cells: Cells | undefined;
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
  }

  /**
   * `nowMs`: wall clock. If the front's clock is ahead, the current minute counts; reports older than 60 minutes are
   * dropped. `plan`: the tenant's plan now.
   */
  add(report: Omit<TenantUsageReport, 'slot' | 'tenantId'>, nowMs: number, plan?: string): void {
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    const minute = Math.min(report.minute, now);
    if (this.#dropped || !(minute > now - MINUTES)) return;
    const { minutes, counts, plans } = this.#cells ?? this.#allocate();
    this.referenced = true;
    const cell = minute % MINUTES;
    const at = cell * COUNTS;
    if (minutes[cell] !== minute) {
      minutes[cell] = minute;
      plans[cell] = plan;
      counts.fill(0, at, at + COUNTS);
    }
    for (const [index, value] of [report.requests, report.refused, report.checks].entries()) {
      counts[at + index] = Math.min((counts[at + index] ?? 0) + countOf(value), COUNT_MAX);
    }
  }

  /** Ascending; omits minutes without requests. */
  read(nowMs: number): readonly UsageMinute[] {
    if (this.#cells === undefined) return [];
    const { minutes, counts, plans } = this.#cells;
    const now = Math.floor(nowMs / MS_PER_MINUTE);
    const found: UsageMinute[] = [];
    for (let minute = now - MINUTES + 1; minute <= now; minute += 1) {
      const cell = minute % MINUTES;
      if (minutes[cell] !== minute) continue;
      const [requests = 0, refused = 0, checks = 0] = counts.subarray(cell * COUNTS, (cell + 1) * COUNTS);
      if (requests === 0) continue;
      const plan = plans[cell];
      const used = { atMs: minute * MS_PER_MINUTE, requests, refused, checks };
      found.push(plan === undefined ? used : { ...used, plan });
    }
    return found;
  }

  /** The last whole minute, whether or not it had requests. */
  lastMinute(nowMs: number): UsageMinute {
    const minute = Math.floor(nowMs / MS_PER_MINUTE) - 1;
    const cell = minute % MINUTES;
    const at = cell * COUNTS;
    const { minutes, counts } = this.#cells ?? {};
    const known = minutes?.[cell] === minute ? counts?.subarray(at, at + COUNTS) : undefined;
    const [requests = 0, refused = 0, checks = 0] = known ?? [];
    return { atMs: minute * MS_PER_MINUTE, requests, refused, checks };
  }

  override evict(): void {
    this.#cells = undefined;
  }

  /** The tenure has ended. */
  drop(): void {
    this.#dropped = true;
    this.#cells = undefined;
    this.#budget.remove(this);
  }

  #allocate(): Cells {
    const cells: Cells = {
      minutes: new Uint32Array(MINUTES),
      counts: new Uint32Array(MINUTES * COUNTS),
      plans: new Array<string | undefined>(MINUTES).fill(undefined),
    };
    this.#cells = cells;
    this.#budget.add(this, USAGE_BYTES);
    return cells;
  }
}
