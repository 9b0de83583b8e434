// The usage of tenants in the store: written now and then by their owner, so that it outlives restarts and moves of the
// slot, and read for an operator. It is kept outside the log. Invariants: no check waits for it; an owner that has not
// read what earlier ones stored never overwrites it; a failure loses minutes of figures, and nothing else.

import type { Clock } from '../../core/async/clock.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import { isLeaving } from '../../core/tenants.ts';
import { MS_PER_HOUR, MS_PER_MINUTE } from '../../core/text/timestamps.ts';
import type { StateStore } from '../../store/store.ts';
import { ASKED_PLACES } from '../memory/asked-names.ts';
import type { DueTenants, TenantMemory } from '../memory/tenant-memory.ts';
import {
  bucketsIn,
  HOUR_ROWS,
  hourOf,
  MINUTE_ROWS,
  placesOf,
  sumOf,
  type TenantUsage,
  USAGE_MINUTES,
} from '../memory/tenant-usage.ts';
import type { UsageBucket, UsageSeries } from '../shard.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';

/** The usage of a tenant is stored at most this often: an owner that dies loses as much of it. */
export const USAGE_STORE_MS = 5 * 60_000;
/** What one round of maintenance, or the release of a slot, may take for it; the next round continues. */
const STORING_MS_MAX = 1000;
const TENANTS_AT_ONCE = 8;
/** A reading that begins no longer ago than this has minutes, and otherwise hours. */
const BY_MINUTE_MS_MAX = 25 * MS_PER_HOUR;

interface UsagePorts {
  readonly store: Pick<StateStore, 'readUsage' | 'writeUsage'>;
  readonly clock: Clock;
}

type Due = Pick<DueTenants, 'reportedUsage'>;

// ---- writing ----

/** Stores the usage that has not been stored for five minutes. Rejects after the first failure. */
export const storeDueUsage = (ports: UsagePorts, due: Due): Promise<void> =>
  storeUsage(ports, due, ports.clock.monotonicMs() - USAGE_STORE_MS);

/** Stores all usage that is not stored yet, when the slot is released. Never rejects: it may be lost. */
export const storeLastUsage = (ports: UsagePorts, due: Due): Promise<void> =>
  storeUsage(ports, due).catch(() => undefined);

async function storeUsage(ports: UsagePorts, { reportedUsage }: Due, storedBeforeMs?: number): Promise<void> {
  const { clock } = ports;
  const untilMs = clock.monotonicMs() + STORING_MS_MAX;
  const due: TenantMemory[] = [];
  // The tenure may end meanwhile: what it drops is still stored.
  for (const memory of reportedUsage) {
    // Usage that is written after the tenant's rows were removed would remain.
    if (isLeaving(memory.tenant) || !memory.usage.isUnstored()) reportedUsage.delete(memory);
    else if (memory.usage.isUnstored(storedBeforeMs)) due.push(memory);
  }
  await inParallel(due, TENANTS_AT_ONCE, async (memory) => {
    if (clock.monotonicMs() < untilMs) await storeOne(ports, memory);
  });
}

async function storeOne({ store, clock }: UsagePorts, { tenantId, usage }: TenantMemory): Promise<void> {
  if (!usage.seeded) {
    const hour = hourOf(clock.wallMs());
    const [rows, asked] = await Promise.all(
      [placesOf(hour - 1, hour, MINUTE_ROWS), ASKED_PLACES].map((places) =>
        store.readUsage({ tenantId, ...places }, storeDeadline(clock)),
      ),
    );
    usage.seed(rows?.flatMap((row) => bucketsIn(row, hour - 1, hour)) ?? [], asked ?? [], clock.wallMs());
  }
  const nowMs = clock.wallMs();
  const rows = usage.rows(nowMs);
  if (rows.length === 0) return;
  usage.noteStored(clock.monotonicMs());
  try {
    await store.writeUsage(tenantId, rows, nowMs, storeDeadline(clock));
  } catch (error) {
    usage.noteStored(clock.monotonicMs(), false);
    throw error;
  }
}

// ---- reading ----

/** By the minute if `sinceMs` is no longer ago than a day, and otherwise by the hour. Rejects with `not-serving`. */
export async function readUsage(
  { store, clock }: UsagePorts,
  { tenantId, usage }: Pick<TenantMemory, 'tenantId' | 'usage'>,
  sinceMs: number,
): Promise<Omit<UsageSeries, 'problems'>> {
  const nowMs = clock.wallMs();
  const isByMinute = nowMs - sinceMs <= BY_MINUTE_MS_MAX;
  const [rows, bucketMs] = isByMinute ? [MINUTE_ROWS, MS_PER_MINUTE] : [HOUR_ROWS, MS_PER_HOUR];
  const hour = hourOf(nowMs);
  const fromHour = Math.max(hourOf(sinceMs), hour - rows.hours + 1);
  const fromMs = Math.max(Math.floor(sinceMs / bucketMs) * bucketMs, fromHour * MS_PER_HOUR);

  const buckets = new Map<number, UsageBucket>();
  if (!isInMemory(usage, nowMs, fromMs)) {
    const query = { tenantId, ...placesOf(fromHour, hour, rows) };
    const stored = await readFromStore(store.readUsage(query, storeDeadline(clock)));
    for (const row of stored) for (const bucket of bucketsIn(row, fromHour, hour)) buckets.set(bucket.atMs, bucket);
  }
  const recent = usage.read(nowMs, (hour - 1) * MS_PER_HOUR);
  for (const bucket of isByMinute ? recent : hoursOf(recent, nowMs, usage.seeded)) {
    const before = usage.seeded ? undefined : buckets.get(bucket.atMs);
    buckets.set(bucket.atMs, before === undefined ? bucket : added(before, bucket));
  }
  const found = [...buckets.values()].filter(({ atMs, requests }) => atMs >= fromMs && requests > 0);
  return { bucketMs, buckets: found.sort((left, right) => left.atMs - right.atMs) };
}

/** When names were last asked about; undefined: not in the last day. Rejects with `not-serving`. */
export async function readAsked(
  { store, clock }: UsagePorts,
  { tenantId, usage }: Pick<TenantMemory, 'tenantId' | 'usage'>,
  names: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const isKnown = usage.seeded || names.length === 0;
  const query = { tenantId, ...ASKED_PLACES };
  const stored = isKnown ? [] : await readFromStore(store.readUsage(query, storeDeadline(clock)));
  return usage.askedAtMs(names, stored, clock.wallMs());
}

/** Whether nothing of the store is needed. */
const isInMemory = (usage: TenantUsage, nowMs: number, fromMs: number): boolean =>
  usage.seeded && hourOf(fromMs) >= hourOf(nowMs) - 1 && fromMs > nowMs - (USAGE_MINUTES - 1) * MS_PER_MINUTE;

/** The hours of these minutes. The one before this is left to the store once its first minutes are not in memory. */
function hoursOf(minutes: readonly UsageBucket[], nowMs: number, seeded: boolean): readonly UsageBucket[] {
  const byHour = Map.groupBy(minutes, ({ atMs }) => hourOf(atMs));
  const isWhole = (hour: number): boolean => hour * MS_PER_HOUR > nowMs - USAGE_MINUTES * MS_PER_MINUTE;
  return [...byHour].flatMap(([hour, each]) => (!seeded || isWhole(hour) ? [sumOf(hour, each)] : []));
}

const added = (left: UsageBucket, right: UsageBucket): UsageBucket => ({
  ...left,
  ...right,
  requests: left.requests + right.requests,
  refused: left.refused + right.refused,
  checks: left.checks + right.checks,
});
