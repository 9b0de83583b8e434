// Sizes of the longest responses. A response reserves this much of the budget of responses before it is built.

import { isJsonObject } from '../../core/json-members.ts';
import { BULK_CHANGES_MAX, NAME_LENGTH_MAX, PAGE_LIMIT_DEFAULT, parsePageLimit } from '../../core/limits.ts';
import { IDENTIFIER_LENGTH_MAX } from '../../core/tuples.ts';
import { RULE_SET_BYTES_MAX } from '../../rules/rule-set.ts';

/** A code point takes up to four in UTF-8; those that JSON escapes take less even when escaped. */
const CODE_POINT_BYTES_MAX = 4;

/** One entity in a list, with its quotes and its comma. */
const ENTITY_BYTES_MAX = IDENTIFIER_LENGTH_MAX * CODE_POINT_BYTES_MAX + 3;

/** One key: its name, plus what has the same length in every record. */
const KEY_BYTES_MAX = NAME_LENGTH_MAX * CODE_POINT_BYTES_MAX + 400;

/** A list of namespaces has no pages. 1,000 of them take this much: the limit, unless the operator sets another. */
export const NAMESPACE_LIST_BYTES = 128 * 1024;

/** The limit of a query that is not validated yet: an invalid one is refused later, and takes nothing. */
function limitOf({ limit }: Readonly<Record<string, string>>): number {
  return limit === undefined ? PAGE_LIMIT_DEFAULT : (parsePageLimit(limit) ?? 0);
}

export const entityListBytesMax = (query: Readonly<Record<string, string>>): number =>
  limitOf(query) * ENTITY_BYTES_MAX;

/** Entities of which type and id are told apart. */
export const entityBytesMax = (count: number): number => count * (ENTITY_BYTES_MAX + '{"type":,"id":""}'.length);

/** What a grant takes besides its two identifiers: about the same in every record. */
const GRANT_FRAME_BYTES = 300;
const GRANT_BYTES_MAX = 2 * ENTITY_BYTES_MAX + GRANT_FRAME_BYTES;

export const grantListBytesMax = (query: Readonly<Record<string, string>>): number => limitOf(query) * GRANT_BYTES_MAX;

/** What a change takes besides its grant. */
const CHANGE_FRAME_BYTES = 300;

export const changeListBytesMax = (query: Readonly<Record<string, string>>): number =>
  limitOf(query) * (GRANT_BYTES_MAX + CHANGE_FRAME_BYTES);

/** A chain has as many grants as evaluation may follow, and one more. */
const REASONS_MAX = 27;

/** Of a body that is not validated yet: only a check that asks for its reasons has a long response. */
export const reasonsBytesMax = (body: unknown): number =>
  isJsonObject(body) && body.explain === true ? REASONS_MAX * GRANT_BYTES_MAX : 0;

export const keyListBytesMax = (query: Readonly<Record<string, string>>): number => limitOf(query) * KEY_BYTES_MAX;

/** What a preview says besides the rules: at most as much again, since it names relations that the rules name. */
export const RULES_BYTES = 2 * RULE_SET_BYTES_MAX + 64 * 1024;

/** UTF-8 takes up to three bytes for each UTF-16 unit, escaped or not. */
const unitsOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

/** Of a body that is not validated yet: the response repeats the identifiers of its grants. */
export function bulkWriteBytesMax(body: unknown): number {
  if (!isJsonObject(body) || !Array.isArray(body.grants)) return 0;
  let bytes = 0;
  for (const grant of body.grants.slice(0, BULK_CHANGES_MAX)) {
    if (isJsonObject(grant)) bytes += GRANT_FRAME_BYTES + 3 * (unitsOf(grant.subject) + unitsOf(grant.object));
  }
  return bytes;
}
