// Which pages of a slot are used most, estimated from samples. Counts are kept for two generations, each of bounded
// size: once the younger one is full, it replaces the older one. So pages in frequent use stay known, and the estimate
// takes the same memory and time however many pages there are.

import type { TenantId } from '../../core/ids.ts';
import type { PageSide } from './page-side.ts';

/** Pages counted in one generation: twice as many as a slot's list of hot pages may name, in both together. */
const PAGES_PER_GENERATION = 256;
/** Estimated bytes of both generations, without the characters of entities, which pages in memory share. */
export const PAGE_USES_BYTES = 2 * PAGES_PER_GENERATION * 64;

export interface NamedPage {
  readonly tenantId: TenantId;
  readonly side: PageSide['name'];
  readonly entity: string;
}

/** By tenant, then by side and entity. */
type Generation = Map<TenantId, Map<string, number>>;

/** Neither name of a side is the beginning of the other. */
const keyOf = (side: PageSide['name'], entity: string): string => `${side} ${entity}`;

function pageOf(tenantId: TenantId, key: string): NamedPage {
  const space = key.indexOf(' ');
  return { tenantId, side: key.startsWith('object ') ? 'object' : 'subject', entity: key.slice(space + 1) };
}

export class PageUses {
  #young: Generation = new Map();
  #old: Generation = new Map();
  #youngPages = 0;

  /** A sampled use. */
  note({ tenantId, side, entity }: NamedPage): void {
    let pages = this.#young.get(tenantId);
    if (pages === undefined) {
      pages = new Map();
      this.#young.set(tenantId, pages);
    }
    const key = keyOf(side, entity);
    const uses = pages.get(key);
    pages.set(key, (uses ?? 0) + 1);
    if (uses !== undefined) return;
    this.#youngPages += 1;
    if (this.#youngPages < PAGES_PER_GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngPages = 0;
  }

  /** The most used pages first, tenants in turn: no tenant takes the places of the others. */
  *hottest(): Generator<NamedPage> {
    const ranked = this.#ranked();
    for (let rank = 0, found = true; found; rank += 1) {
      found = false;
      for (const [tenantId, keys] of ranked) {
        const key = keys[rank];
        if (key === undefined) continue;
        found = true;
        yield pageOf(tenantId, key);
      }
    }
  }

  #ranked(): [TenantId, string[]][] {
    const tenants = new Set([...this.#young.keys(), ...this.#old.keys()]);
    return Array.from(tenants, (tenantId) => {
      const uses = new Map(this.#old.get(tenantId));
      for (const [key, count] of this.#young.get(tenantId) ?? []) uses.set(key, count + (uses.get(key) ?? 0));
      const byUse = [...uses].sort(([, left], [, right]) => right - left);
      return [tenantId, byUse.map(([key]) => key)];
    });
  }
}
