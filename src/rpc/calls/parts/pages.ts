// Pages of listings, both ways. An empty cursor on the wire means none: a request starts at the beginning, or a listing
// has ended.

import { assert } from '../../../core/assert.ts';
import { PAGE_LIMIT_MAX } from '../../../core/limits.ts';
import type { PageQuery, ResultPage } from '../../../shard/shard.ts';
import { limitOf } from './request-fields.ts';

export function pageQueryToWire(query: PageQuery, limitMax = PAGE_LIMIT_MAX) {
  assert(query.limit >= 1 && query.limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
  return { limit: Math.min(query.limit, limitMax), cursor: query.cursor ?? '' };
}

export function pageQueryFromWire(page: { readonly limit: number; readonly cursor: string }): PageQuery {
  return { limit: limitOf(page.limit), cursor: page.cursor === '' ? undefined : page.cursor };
}

export const nextCursorOf = (page: ResultPage<unknown>): string => page.nextCursor ?? '';

export function pageFrom<Item>(items: readonly Item[], nextCursor: string): ResultPage<Item> {
  return { items, nextCursor: nextCursor === '' ? undefined : nextCursor };
}
