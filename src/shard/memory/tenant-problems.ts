// The problems that requests of one tenant met lately, as fronts report them to the owner: for each key and kind of
// problem how often, and the last one. In memory alone, within the budget of the process: what is here is lost with the
// tenure, or when it is evicted. Invariant: no report, however wrong, takes more memory than the newest kinds.

import type { TenantProblem, TenantProblemReport } from '../shard.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** Kinds of problems of a tenant, each of one key: as many as a person reads. */
const KINDS_MAX = 20;
/** The longest texts of each, and their overhead. */
const PROBLEMS_BYTES = KINDS_MAX * 1200;

export class TenantProblems extends Evictable {
  readonly #budget: MemoryBudget;
  /** The one that was met last comes last. */
  #kinds = new Map<string, TenantProblem>();
  #dropped = false;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
  }

  add({ keyId, code, count, requestId, detail }: TenantProblemReport, atMs: number): void {
    if (this.#dropped) return;
    if (this.#kinds.size === 0) this.#budget.add(this, PROBLEMS_BYTES);
    this.referenced = true;
    const kind = `${keyId} ${code}`;
    const known = this.#kinds.get(kind);
    this.#kinds.delete(kind);
    const sinceMs = known?.sinceMs ?? atMs;
    this.#kinds.set(kind, { keyId, code, count: (known?.count ?? 0) + count, sinceMs, atMs, requestId, detail });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > KINDS_MAX && oldest !== undefined) this.#kinds.delete(oldest);
  }

  /** Newest first. */
  read(): readonly TenantProblem[] {
    return [...this.#kinds.values()].reverse();
  }

  override evict(): void {
    this.#kinds = new Map();
  }

  /** The tenure has ended. */
  drop(): void {
    this.#dropped = true;
    this.#budget.remove(this);
  }
}
