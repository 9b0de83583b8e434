// How many readers a tenant has whose readers are `auto`. Its owner decides: it begins when calls of the tenant wait
// for their turn, and follows the checks of all fronts from there, wherever they are answered, so that a decision does
// not change what it rests on. Invariants: between 0 and the bound of the plan; it grows soon, shrinks late, and a
// tenant that never waits costs nothing.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { CROWDED_SHARE_MIN, type Crowding } from '../../core/async/crowding.ts';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
import { type Plans, readersOf, resolvePlan } from '../../core/plans.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';

const TICK_MS = 2000;
/** Fronts get their handles at the new readers, and the crowding of before is forgotten. */
const GROWTH_PAUSE_MS = 20_000;
/** A tenant that is large every morning keeps its readers over a coffee break. */
const SHRINK_AFTER_MS = 300_000;
/** A reader gets half of the checks that filled the owner: it asks for the position of each, and the load may grow. */
const SHARE_OF_READER = 0.5;
/** Below this part of the checks that filled it, the owner answers alone. */
const SHARE_OF_OWNER = 0.25;

export interface Choice {
  readonly readers: number;
  /** Checks a minute at which the owner alone was full. */
  readonly fullAt: number;
  readonly changedAtMs: number;
  /** Since when fewer would do; undefined: they would not. */
  readonly idleSinceMs: number | undefined;
}

export interface Observation {
  /** Calls of the tenant wait for their turn at the owner. */
  readonly crowded: boolean;
  /** Of the busier one of the present and the last minute, at all fronts. */
  readonly checksPerMinute: number;
  /** The bound of the plan. */
  readonly max: number;
  /** Monotonic. */
  readonly nowMs: number;
}

/** Undefined: the owner answers alone. */
export function nextChoice(choice: Choice | undefined, seen: Observation): Choice | undefined {
  const { crowded, checksPerMinute, max, nowMs } = seen;
  if (choice === undefined) {
    if (!crowded || max === 0) return undefined;
    const first = { fullAt: Math.max(1, checksPerMinute), changedAtMs: nowMs, idleSinceMs: undefined };
    return { readers: Math.min(max, 1 / SHARE_OF_READER), ...first };
  }
  const { readers, fullAt, changedAtMs } = choice;
  const needed =
    checksPerMinute < SHARE_OF_OWNER * fullAt ? 0 : Math.ceil(checksPerMinute / (SHARE_OF_READER * fullAt));
  const isSettled = nowMs - changedAtMs >= GROWTH_PAUSE_MS;
  const wanted = Math.min(max, crowded && isSettled ? Math.max(needed, readers + 1) : needed);
  const to = (count: number): Choice => ({ readers: count, fullAt, changedAtMs: nowMs, idleSinceMs: undefined });
  if (readers > max) return max === 0 ? undefined : to(max);
  if (wanted > readers) return isSettled ? to(wanted) : { ...choice, idleSinceMs: undefined };
  if (wanted === readers) return choice.idleSinceMs === undefined ? choice : { ...choice, idleSinceMs: undefined };
  const idleSinceMs = choice.idleSinceMs ?? nowMs;
  if (nowMs - idleSinceMs < SHRINK_AFTER_MS) return { ...choice, idleSinceMs };
  return wanted === 0 ? undefined : to(wanted);
}

export interface ReaderChoiceDependencies {
  readonly clock: Clock;
  readonly plans: Plans;
  readonly crowding: Pick<Crowding, 'shares'>;
  /** Of a tenant that this shard serves now. */
  readonly memoryOf: (tenantId: TenantId) => TenantMemory | undefined;
}

export class ReaderChoice {
  readonly #dependencies: ReaderChoiceDependencies;
  /** Of the tenants with readers that their owner chose; at most those that have ever been crowded here. */
  readonly #choices = new Map<TenantMemory, Choice>();
  #timer: Timer | undefined;

  constructor(dependencies: ReaderChoiceDependencies) {
    this.#dependencies = dependencies;
  }

  /** How many readers the tenant has now. */
  of(memory: TenantMemory): number {
    const readers = readersOf(this.#dependencies.plans, memory.tenant);
    return readers === 'auto' ? (this.#choices.get(memory)?.readers ?? 0) : readers;
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
    for (const memory of new Set([...crowded, ...this.#choices.keys()])) this.#decideFor(memory, crowded.has(memory));
  }

  #decideFor(memory: TenantMemory, crowded: boolean): void {
    const { clock, plans, memoryOf } = this.#dependencies;
    const { tenant } = memory;
    const before = this.#choices.get(memory);
    // A slot that has moved takes its choices along: its next owner begins anew.
    if (readersOf(plans, tenant) !== 'auto' || memoryOf(tenant.tenantId) !== memory) {
      this.#choices.delete(memory);
      return;
    }
    const { readersMax: max } = resolvePlan(plans, tenant.plan);
    const checksPerMinute = memory.usage.checksPerMinute(clock.wallMs());
    const next = nextChoice(before, { crowded, checksPerMinute, max, nowMs: clock.monotonicMs() });
    if (next === undefined) this.#choices.delete(memory);
    else this.#choices.set(memory, next);
    // Fronts learn the number with their next handle, for which they ask at once.
    if (next?.readers !== before?.readers) memory.renewHandles();
  }
}
