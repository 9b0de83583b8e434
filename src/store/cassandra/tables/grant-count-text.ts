// The count of a tenant's grants as one text in one cell. Of two writes with the same timestamp, Cassandra keeps the
// greater value of each cell: in separate cells, the parts of two counts could mix. The steps come first, at a fixed
// width, so that the count that is further along is the greater text.

import { assert } from '../../../core/assert.ts';
import type { TenantId } from '../../../core/ids.ts';
import type { GrantCountRow } from '../../store.ts';

/** Digits of the greatest safe integer. */
const STEPS_WIDTH = 16;

/**
 * steps, seq, grants, bytes; then up to when expired grants are collected, and the position, if there are. A program of
 * a version that does not know expiry takes the former for an ill-formed position, and refuses the slot: it would take
 * the tenant's grants for ones that never expire.
 */
const FORM = /^(\d{16}) (\d+) (\d+) (\d+)(?: to:(\d+))?(?: (.*))?$/s;

export function encodeGrantCount({ steps, seq, grants, bytes, collectedToMs, position }: GrantCountRow): string {
  const counted = `${String(steps).padStart(STEPS_WIDTH, '0')} ${seq} ${grants} ${bytes}`;
  const collected = collectedToMs === undefined ? counted : `${counted} to:${collectedToMs}`;
  return position === undefined ? collected : `${collected} ${position}`;
}

/** Throws if no version of this program could have written this text. */
export function decodeGrantCount(tenantId: TenantId, text: string): GrantCountRow {
  const match = FORM.exec(text);
  assert(match !== null, 'the column count holds a count');
  const [steps = 0, seq = 0, grants = 0, bytes = 0] = match.slice(1, 5).map(Number);
  const row = { tenantId, seq, grants, bytes, position: match[6], steps };
  return match[5] === undefined ? row : { ...row, collectedToMs: Number(match[5]) };
}
