// Pages of the fake: a cursor names the last item before the next page, and the query that it belongs to.

import { Refusal } from './problem.ts';
import { compareTexts } from './state.ts';

const encode = (value: unknown): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function decode(cursor: string): unknown {
  try {
    const binary = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (each) => each.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

/** The item that a cursor of this query names. */
function placeOf(cursor: string, query: string): unknown {
  const value = decode(cursor);
  const [of, place] = Array.isArray(value) ? value : [];
  if (of === query && place !== undefined) return place;
  throw new Refusal(400, 'invalid-cursor', 'The cursor was not issued for this query.');
}

/** The number of changes already sent. */
export function feedPlaceOf(cursor: string): number {
  const place = placeOf(cursor, 'feed');
  if (typeof place === 'number' && Number.isSafeInteger(place) && place >= 0) return place;
  throw new Refusal(400, 'invalid-cursor', 'The cursor was not issued for the change feed.');
}

export const feedCursorOf = (place: number): string => encode(['feed', place]);

interface ItemPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** `query`: identifies the listing. `textOf`: the unique sort key of an item. */
export function pageOf<T>(
  all: Iterable<T>,
  textOf: (item: T) => string,
  query: unknown,
  cursor: string | null,
  limit: number,
): ItemPage<T> {
  const listing = JSON.stringify(query);
  const last = cursor === null ? undefined : placeOf(cursor, listing);
  const behind = [...all]
    .filter((item) => typeof last !== 'string' || compareTexts(textOf(item), last) > 0)
    .sort((left, right) => compareTexts(textOf(left), textOf(right)));
  const items = behind.slice(0, limit);
  const end = items.at(-1);
  return { items, next: behind.length > limit && end !== undefined ? encode([listing, textOf(end)]) : null };
}
