// Which pages of a slot are used most, estimated from samples. Counts are kept for two generations, each of bounded
// size: once the younger one is full, it replaces the older one. So pages in frequent use stay known, and the estimate
// takes the same memory and time however many pages there are.

import { z } from 'zod';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
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

// ---- the stored list ----
//
// It names the hot pages of a slot, which a new owner loads first. It has no grants, so it cannot make an answer wrong.
// Invariant: a list has bounded size, and a text that is not a valid list counts as none.

/** Enough for the pages that get most checks; a successor loads them within a second or so. */
export const HOT_PAGES_MAX = 256;
/** Characters of the stored text, so that one list is a small row. */
const LIST_LENGTH_MAX = 32 * 1024;
/** Of a page in the list, without its entity. */
const ENTRY_LENGTH = 24;

/** Version 1: tenants, and for each page the index of its tenant, its side and its entity, hottest first. */
const listSchema = z.object({
  version: z.literal(1),
  tenants: z.array(z.string()).max(HOT_PAGES_MAX),
  pages: z.array(z.tuple([z.int().nonnegative(), z.enum(['subject', 'object']), z.string().min(1)])).max(HOT_PAGES_MAX),
});

/** The first of the pages, as many as a list takes. */
export function encodeHotPages(pages: Iterable<NamedPage>): string {
  const tenants = new Map<TenantId, number>();
  const listed: z.infer<typeof listSchema>['pages'] = [];
  let length = 0;
  for (const { tenantId, side, entity } of pages) {
    // Escaped, a character may take six.
    length += ENTRY_LENGTH + JSON.stringify(entity).length + (tenants.has(tenantId) ? 0 : tenantId.length + 3);
    if (listed.length === HOT_PAGES_MAX || length > LIST_LENGTH_MAX - ENTRY_LENGTH) break;
    const index = tenants.get(tenantId) ?? tenants.size;
    tenants.set(tenantId, index);
    listed.push([index, side, entity]);
  }
  return JSON.stringify({ version: 1, tenants: [...tenants.keys()], pages: listed });
}

/** Undefined: the text is no list of this version. */
export function decodeHotPages(text: string): readonly NamedPage[] | undefined {
  if (text.length > LIST_LENGTH_MAX) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = listSchema.safeParse(content);
  if (data === undefined) return undefined;
  const tenants = data.tenants.map(parseTenantId);
  return data.pages.flatMap(([index, side, entity]) => {
    const tenantId = tenants[index];
    return tenantId === undefined ? [] : [{ tenantId, side, entity }];
  });
}
