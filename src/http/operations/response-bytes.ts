// How many bytes the longest answers may have: what they claim of the budget of responses before they are made.

import { IDENTIFIER_LENGTH_MAX } from '../../core/tuples.ts';
import { KEY_NAME_LENGTH_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from '../wire/limits.ts';

/** A code point takes up to four in UTF-8, and those that JSON escapes take less even so. */
const CODE_POINT_BYTES_MAX = 4;

/** In a list, with its quotes and its comma. */
const OBJECT_BYTES_MAX = IDENTIFIER_LENGTH_MAX * CODE_POINT_BYTES_MAX + 3;

/** Its name, and what is of the same length in every record. */
const KEY_BYTES_MAX = KEY_NAME_LENGTH_MAX * CODE_POINT_BYTES_MAX + 400;

/** A list of namespaces has no pages. This is what 1,000 take, the bound unless the operator sets another. */
export const NAMESPACE_LIST_BYTES = 128 * 1024;

/** Of a query not validated yet: what is no limit is refused later, and takes nothing. */
function limitOf({ limit }: Readonly<Record<string, string>>): number {
  if (limit === undefined) return PAGE_LIMIT_DEFAULT;
  const number = Number(limit);
  return number >= 1 && number <= PAGE_LIMIT_MAX ? number : 0;
}

export const objectListBytesMax = (query: Readonly<Record<string, string>>): number =>
  limitOf(query) * OBJECT_BYTES_MAX;

export const keyListBytesMax = (query: Readonly<Record<string, string>>): number => limitOf(query) * KEY_BYTES_MAX;
