// The count of a tenant's grants as one text in one cell. Of two writes with the same timestamp, Cassandra keeps the
// greater value of each cell: in separate cells, the parts of two counts could mix.

import { assert } from '../../../core/assert.ts';
import type { TenantId } from '../../../core/ids.ts';
import type { GrantCountRow } from '../../store.ts';

/** seq, grants, bytes; then up to when expired grants are collected, if any ever had an expiry. */
const FORM = /^(\d+) (\d+) (\d+)(?: to:(\d+))?$/;

export function encodeGrantCount({ seq, grants, bytes, collectedToMs }: GrantCountRow): string {
  const counted = `${seq} ${grants} ${bytes}`;
  return collectedToMs === undefined ? counted : `${counted} to:${collectedToMs}`;
}

/** Throws if no version of this program could have written this text. */
export function decodeGrantCount(tenantId: TenantId, text: string): GrantCountRow {
  const match = FORM.exec(text);
  assert(match !== null, 'the column count holds a count');
  const [seq = 0, grants = 0, bytes = 0] = match.slice(1, 4).map(Number);
  const row = { tenantId, seq, grants, bytes };
  return match[4] === undefined ? row : { ...row, collectedToMs: Number(match[4]) };
}
