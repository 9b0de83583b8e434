// Listings: joins pages of the operator's API, up to the requested number of rows.

import { InvalidArgumentError } from 'commander';
import { PAGE_LIMIT_MAX } from '../core/limits.ts';
import type { OperatorClient } from './operator-client.ts';
import { itemsOf, type JsonRecord, optionalTextOf } from './output/json-view.ts';

export const ROWS_DEFAULT = 1000;
const ROWS_MAX = 100_000;

/** The value of `--limit`. */
export function parseRows(text: string): number {
  const rows = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rows < 1 || rows > ROWS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${ROWS_MAX}.`);
  return rows;
}

export interface Listing {
  readonly items: readonly (JsonRecord | string)[];
  /** Where to continue; undefined at the end. */
  readonly nextCursor: string | undefined;
}

export async function readListing(
  client: OperatorClient,
  listing: {
    readonly path: string;
    readonly name: string;
    readonly rows: number;
    readonly cursor?: string | undefined;
    readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  },
): Promise<Listing> {
  const items: (JsonRecord | string)[] = [];
  let cursor = listing.cursor;
  do {
    const limit = String(Math.min(listing.rows - items.length, PAGE_LIMIT_MAX));
    const page = await client.readJson({
      method: 'GET',
      path: listing.path,
      query: { ...listing.query, limit, cursor },
    });
    items.push(...itemsOf(page, listing.name));
    cursor = optionalTextOf(page, 'next_cursor');
  } while (cursor !== undefined && items.length < listing.rows);
  return { items, nextCursor: cursor };
}
