// How many readers a tenant has whose readers are `auto`. Its owner decides: it begins when calls of the tenant wait
// for their turn, and follows the checks of all fronts from there, wherever they are answered, so that a decision does
// not change what it rests on. Invariants: the number is at most the bound of the plan; it grows soon and shrinks late,
// one at a time; a tenant that never waits costs nothing.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { CROWDED_SHARE_MIN, type Crowding } from '../../core/async/turns.ts';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
import { type Plans, readersOf, resolvePlan } from '../../core/plans.ts';
import { READER_LIMITS, type ReaderLimits } from '../memory/limits.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';

/** Fronts report the checks of a tenant every two seconds, so a rate over one tick is that of five reports. */
const TICK_MS = 10_000;
/** Fronts get their handles at the new readers, and a whole tick passes with them. */
const GROWTH_PAUSE_MS = 2 * TICK_MS;
const FIRST_READERS = 2;
/** A reader gets this part of the checks that filled the owner: it asks for positions too, and the load may grow. */
const SHARE_OF_READER = 0.6;
/** Below this part of the checks that filled it, the owner answers alone. */
const SHARE_OF_OWNER = 0.25;

export interface Choice {
  readonly readers: number;
  /** Checks a second at which the owner alone was full. */
  readonly fullAt: number;
  readonly changedAtMs: number;
  /** Since when fewer would do; undefined: they would not. */
  readonly idleSinceMs: number | undefined;
}

export interface Observation {
  /** Calls of the tenant wait for their turn at the owner. */
  readonly crowded: boolean;
  /** At all fronts, since the tick before. */
  readonly checksPerSecond: number;
  /** The bound of the plan. */
  readonly max: number;
  /** Shards beside the owner. One that is away comes back, so it only keeps the number from growing. */
  readonly others: number;
  /** Monotonic. */
  readonly nowMs: number;
}

/** Undefined: the owner answers alone. */
export function nextChoice(
  choice: Choice | undefined,
  seen: Observation,
  { shrinkAfterMs }: Pick<ReaderLimits, 'shrinkAfterMs'> = READER_LIMITS,
): Choice | undefined {
  const { crowded, checksPerSecond, max, others, nowMs } = seen;
  const { readers, fullAt, changedAtMs } = choice ?? {
    readers: 0,
    fullAt: Math.max(1, checksPerSecond),
    changedAtMs: 0,
  };
  const to = (count: number): Choice | undefined =>
    count === 0 ? undefined : { readers: count, fullAt, changedAtMs: nowMs, idleSinceMs: undefined };
  const possible = Math.min(max, others);
  if (choice === undefined) return crowded ? to(Math.min(possible, FIRST_READERS)) : undefined;
  if (readers > max) return to(max);
  const isSettled = nowMs - changedAtMs >= GROWTH_PAUSE_MS;
  const part = checksPerSecond / fullAt;
  const needed = part < SHARE_OF_OWNER ? 0 : Math.ceil(part / SHARE_OF_READER);
  if (crowded || needed >= readers) {
    const wanted = Math.min(possible, Math.max(needed, crowded ? readers + 1 : 0));
    return isSettled && wanted > readers ? to(wanted) : { ...choice, idleSinceMs: undefined };
  }
  const idleSinceMs = choice.idleSinceMs ?? nowMs;
  return nowMs - idleSinceMs < shrinkAfterMs ? { ...choice, idleSinceMs } : to(readers - 1);
}

/** A tenant that is crowded, or has readers. */
interface WatchedTenant {
  readonly choice: Choice | undefined;
  /** That fronts had reported at the last tick. */
  readonly checks: number;
  readonly atMs: number;
}

export interface ReaderChoiceDependencies {
  readonly clock: Clock;
  readonly plans: Plans;
  readonly crowding: Pick<Crowding, 'shares'>;
  /** Shards beside this one. */
  readonly others: () => number;
  /** The memory of a tenant that this shard serves now. */
  readonly memoryOf: (tenantId: TenantId) => TenantMemory | undefined;
  readonly readerLimits?: ReaderLimits;
}

export class ReaderChoice {
  readonly #dependencies: ReaderChoiceDependencies;
  readonly #watched = new Map<TenantMemory, WatchedTenant>();
  #timer: Timer | undefined;

  constructor(dependencies: ReaderChoiceDependencies) {
    this.#dependencies = dependencies;
  }

  /** How many readers the tenant has now. */
  of(memory: TenantMemory): number {
    const readers = readersOf(this.#dependencies.plans, memory.tenant);
    return readers === 'auto' ? (this.#watched.get(memory)?.choice?.readers ?? 0) : readers;
  }

  start(): void {
    this.#timer = this.#dependencies.clock.setTimer(() => {
      this.#decide();
      this.start();
    }, TICK_MS);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #decide(): void {
    const { clock, crowding, memoryOf } = this.#dependencies;
    const crowded = new Set<TenantMemory>();
    for (const [key, share] of crowding.shares(clock.monotonicMs())) {
      const tenantId = share < CROWDED_SHARE_MIN ? undefined : parseTenantId(key);
      const memory = tenantId && memoryOf(tenantId);
      if (memory !== undefined) crowded.add(memory);
    }
    for (const memory of new Set([...crowded, ...this.#watched.keys()])) this.#decideFor(memory, crowded.has(memory));
  }

  #decideFor(memory: TenantMemory, crowded: boolean): void {
    const { clock, plans, others, memoryOf, readerLimits } = this.#dependencies;
    const { tenant, usage } = memory;
    const before = this.#watched.get(memory);
    this.#watched.delete(memory);
    // A slot that has moved takes its choices along: its next owner begins anew.
    if (readersOf(plans, tenant) !== 'auto' || memoryOf(tenant.tenantId) !== memory) return;
    const atMs = clock.monotonicMs();
    const checks = usage.reportedChecks;
    let choice: Choice | undefined;
    if (before !== undefined) {
      const checksPerSecond = ((checks - before.checks) * 1000) / (atMs - before.atMs);
      const { readersMax: max } = resolvePlan(plans, tenant.plan);
      const seen = { crowded, checksPerSecond, max, others: others(), nowMs: atMs };
      choice = nextChoice(before.choice, seen, readerLimits);
    }
    if (choice !== undefined || crowded) this.#watched.set(memory, { choice, checks, atMs });
    if (choice?.readers !== before?.choice?.readers) memory.settingsChanged();
  }
}
