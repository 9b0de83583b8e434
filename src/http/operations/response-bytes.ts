// Sizes of the longest responses. A response reserves this much of the budget of responses before it is built.

import { CONDITION_BYTES_MAX } from '../../core/grant-terms.ts';
import { isJsonObject } from '../../core/json-members.ts';
import {
  BULK_CHANGES_MAX,
  NAME_LENGTH_MAX,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  PROOF_BYTES_MAX,
  parsePageLimit,
} from '../../core/limits.ts';
import { RULES_VERSIONS_MAX } from '../../core/rules-versions.ts';
import { IDENTIFIER_LENGTH_MAX } from '../../core/tuples.ts';
import { JOIN_BYTES_MAX } from '../../rules/join.ts';
import { RULES_SOURCE_BYTES_MAX } from '../../rules/rule-set.ts';
import type { OperationRequest } from './operation.ts';

/** A code point takes up to four in UTF-8; those that JSON escapes take less even when escaped. */
const CODE_POINT_BYTES_MAX = 4;

/** One entity in a list, with its quotes and its comma. */
const ENTITY_BYTES_MAX = IDENTIFIER_LENGTH_MAX * CODE_POINT_BYTES_MAX + 3;

/** One key: its name, and fields of the same length in every record. */
const KEY_BYTES_MAX = NAME_LENGTH_MAX * CODE_POINT_BYTES_MAX + 400;

/** A list of namespaces has no pages. 1,000 of them take this much: the limit, unless the operator sets another. */
export const NAMESPACE_LIST_BYTES = 128 * 1024;

/** A request whose query is not validated yet. */
type Listing = Pick<OperationRequest, 'query'>;

/** An invalid limit is refused later, and takes nothing. */
function limitOf({ query: { limit } }: Listing): number {
  return limit === undefined ? PAGE_LIMIT_DEFAULT : (parsePageLimit(limit) ?? 0);
}

export const entityListBytesMax = (request: Listing): number => limitOf(request) * ENTITY_BYTES_MAX;

/** The same of a listing in a body, which is not validated yet. */
export function entityBodyBytesMax({ body }: Pick<OperationRequest, 'body'>): number {
  const { limit = PAGE_LIMIT_DEFAULT } = isJsonObject(body) ? body : {};
  return typeof limit === 'number' && limit <= PAGE_LIMIT_MAX ? Math.max(limit, 0) * ENTITY_BYTES_MAX : 0;
}

/** Entities written as `{type, id}`. */
export const entityBytesMax = (count: number): number => count * (ENTITY_BYTES_MAX + '{"type":,"id":""}'.length);

/** Bytes of a grant besides its two identifiers: about the same in every record, and the longest condition. */
const GRANT_FRAME_BYTES = 340 + CONDITION_BYTES_MAX;
const GRANT_BYTES_MAX = 2 * ENTITY_BYTES_MAX + GRANT_FRAME_BYTES;

export const grantListBytesMax = (request: Listing): number => limitOf(request) * GRANT_BYTES_MAX;

/** Bytes of a change besides its grant. */
const CHANGE_FRAME_BYTES = 300;

export const changeListBytesMax = (request: Listing): number =>
  limitOf(request) * (GRANT_BYTES_MAX + CHANGE_FRAME_BYTES);

/** A chain has as many grants as evaluation may follow, and one more. */
const REASONS_MAX = 27;

/** Grants of the reason of a denial, what their conditions saw, and the sentence. */
const REASON_BYTES_MAX = 11 * GRANT_BYTES_MAX + 16 * 1024;

/**
 * `body`: not validated yet. Only a check with `explain` has a long response: a chain of grants, or a proof with its
 * grants listed once more.
 */
export const reasonsBytesMax = (body: unknown): number =>
  isJsonObject(body) && body.explain === true
    ? Math.max(REASONS_MAX * GRANT_BYTES_MAX, 2 * PROOF_BYTES_MAX) + REASON_BYTES_MAX
    : 0;

export const keyListBytesMax = (request: Listing): number => limitOf(request) * KEY_BYTES_MAX;

/** A preview adds at most as many bytes as the rules have: it names relations that the rules name. */
export const RULES_BYTES = RULES_SOURCE_BYTES_MAX + 64 * 1024;

/** What its JSON takes beyond the bound of a join, which is one of what it is made of. */
export const JOIN_RESPONSE_BYTES = JOIN_BYTES_MAX + 16 * 1024;

/** The name of an operator is the longest part of a version. */
export const RULES_VERSIONS_BYTES = RULES_VERSIONS_MAX * 640;

/** UTF-8 takes up to three bytes for each UTF-16 unit, escaped or not. */
const unitsOf = (value: unknown): number => (typeof value === 'string' ? value.length : 0);

/** `body`: not validated yet. The response repeats the identifiers of its grants. */
export function bulkWriteBytesMax(body: unknown): number {
  if (!isJsonObject(body) || !Array.isArray(body.grants)) return 0;
  let bytes = 0;
  for (const grant of body.grants.slice(0, BULK_CHANGES_MAX)) {
    if (isJsonObject(grant)) bytes += GRANT_FRAME_BYTES + 3 * (unitsOf(grant.subject) + unitsOf(grant.object));
  }
  return bytes;
}
