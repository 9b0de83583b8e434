// Listings: pages of the operator's API put together, up to the number of rows that the caller asked for.

import { InvalidArgumentError } from 'commander';
import { type JsonRecord, optionalTextOf, recordsOf } from './json-view.ts';
import type { OperatorClient } from './operator-client.ts';

export const ROWS_DEFAULT = 1000;
const ROWS_MAX = 100_000;
const PAGE_LENGTH = 1000;

/** The value of `--limit`. */
export function parseRows(text: string): number {
  const rows = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rows < 1 || rows > ROWS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${ROWS_MAX}.`);
  return rows;
}

export interface Listing {
  readonly records: readonly JsonRecord[];
  /** Where to go on; undefined where that was all. */
  readonly nextCursor: string | undefined;
}

export async function readListing(
  client: OperatorClient,
  query: { readonly path: string; readonly name: string; readonly rows: number; readonly cursor?: string | undefined },
): Promise<Listing> {
  const records: JsonRecord[] = [];
  let cursor = query.cursor;
  do {
    const limit = String(Math.min(query.rows - records.length, PAGE_LENGTH));
    const page = await client.readJson({ method: 'GET', path: query.path, query: { limit, cursor } });
    records.push(...recordsOf(page, query.name));
    cursor = optionalTextOf(page, 'next_cursor');
  } while (cursor !== undefined && records.length < query.rows);
  return { records, nextCursor: cursor };
}
