// The joins of names under the present rules of a tenant, so that each is built once. Invariant: all of them are of one
// rule set, and count towards the memory budget; those of other rules are dropped at the first use of new ones.

import type { Join } from '../../rules/join.ts';
import { Evictable, type MemoryBudget } from './memory-budget.ts';

/** Divisor of the budget: of 256 MiB, one tenant's joins take 4 MiB at most: four of the largest. */
const TENANT_SHARE = 64;
const JOINS_MAX = 200;
/** Estimated bytes: of an empty cache, of a join besides its JSON, and of a character of that. */
const CACHE_BYTES = 500;
const JOIN_BYTES = 300;
const BYTES_PER_CHARACTER = 4;

export class JoinCache extends Evictable {
  readonly #budget: MemoryBudget;
  readonly #joins = new Map<string, Join>();
  /** The rules that the joins are of. */
  #rules: object | undefined;
  #size = CACHE_BYTES;

  constructor(budget: MemoryBudget) {
    super();
    this.#budget = budget;
  }

  find(rules: object, key: string): Join | undefined {
    if (this.#rules !== rules) return undefined;
    this.referenced = true;
    return this.#joins.get(key);
  }

  /** If there are too many, it starts anew: one who asks for more is the only one who waits. */
  keep(rules: object, key: string, join: Join): void {
    const bytes = JOIN_BYTES + BYTES_PER_CHARACTER * (key.length + JSON.stringify(join).length);
    const isFull = this.#joins.size >= JOINS_MAX || this.#size + bytes > this.#budget.bytesMax / TENANT_SHARE;
    if (this.#rules !== rules || isFull) this.evict();
    this.#rules = rules;
    this.#joins.set(key, join);
    this.#size += bytes;
    if (this.place >= 0) this.#budget.resize(this, this.#size);
    else this.#budget.add(this, this.#size);
  }

  /** The tenure has ended. */
  drop(): void {
    this.#budget.remove(this);
    this.evict();
  }

  override evict(): void {
    this.#joins.clear();
    this.#size = CACHE_BYTES;
  }
}
