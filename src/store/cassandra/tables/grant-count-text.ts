// The count of a tenant's grants as one text in one cell. Of two writes with the same timestamp, Cassandra keeps the
// greater value of each cell: in separate cells, the parts of two counts could mix. The steps come first, at a fixed
// width, so that the count that is further along is the greater text.

import { assert } from '../../../core/assert.ts';
import type { TenantId } from '../../../core/ids.ts';
import type { GrantCountRow } from '../../store.ts';

/** Digits of the greatest safe integer. */
const STEPS_WIDTH = 16;

/** steps, seq, grants, bytes, and the position if there is one. */
const FORM = /^(\d{16}) (\d+) (\d+) (\d+)(?: (.*))?$/s;

export function encodeGrantCount({ steps, seq, grants, bytes, position }: GrantCountRow): string {
  const counted = `${String(steps).padStart(STEPS_WIDTH, '0')} ${seq} ${grants} ${bytes}`;
  return position === undefined ? counted : `${counted} ${position}`;
}

/** Throws if no version of this program could have written this text. */
export function decodeGrantCount(tenantId: TenantId, text: string): GrantCountRow {
  const match = FORM.exec(text);
  assert(match !== null, 'the column count holds a count');
  const [steps = 0, seq = 0, grants = 0, bytes = 0] = match.slice(1, 5).map(Number);
  return { tenantId, seq, grants, bytes, position: match[5], steps };
}
