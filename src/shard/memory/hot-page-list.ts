// The stored list of a slot's hot pages: which pages its owner would load first. It names pages and has no grants, so
// nothing that it says can make an answer wrong. Invariant: a list has bounded size, and text that is no list, whoever
// wrote it, is as good as none.

import { z } from 'zod';
import { parseTenantId, type TenantId } from '../../core/ids.ts';
import type { NamedPage } from './page-uses.ts';

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
