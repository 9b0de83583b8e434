// How many bytes the longest answers may have: what they reserve of the budget of responses before they are made.

import { NAME_LENGTH_MAX, PAGE_LIMIT_DEFAULT, parsePageLimit } from '../../core/limits.ts';
import { IDENTIFIER_LENGTH_MAX } from '../../core/tuples.ts';

/** A code point takes up to four in UTF-8, and those that JSON escapes take less even so. */
const CODE_POINT_BYTES_MAX = 4;

/** In a list, with its quotes and its comma. */
const ENTITY_BYTES_MAX = IDENTIFIER_LENGTH_MAX * CODE_POINT_BYTES_MAX + 3;

/** Its name, and what is of the same length in every record. */
const KEY_BYTES_MAX = NAME_LENGTH_MAX * CODE_POINT_BYTES_MAX + 400;

/** A list of namespaces has no pages. This is what 1,000 take, the bound unless the operator sets another. */
export const NAMESPACE_LIST_BYTES = 128 * 1024;

/** Of a query not validated yet: what is no limit is refused later, and takes nothing. */
function limitOf({ limit }: Readonly<Record<string, string>>): number {
  return limit === undefined ? PAGE_LIMIT_DEFAULT : (parsePageLimit(limit) ?? 0);
}

export const entityListBytesMax = (query: Readonly<Record<string, string>>): number =>
  limitOf(query) * ENTITY_BYTES_MAX;

/** Both of its identifiers, and what is of about the same length in every record. */
const GRANT_BYTES_MAX = 2 * ENTITY_BYTES_MAX + 300;

export const grantListBytesMax = (query: Readonly<Record<string, string>>): number => limitOf(query) * GRANT_BYTES_MAX;

export const keyListBytesMax = (query: Readonly<Record<string, string>>): number => limitOf(query) * KEY_BYTES_MAX;
