// The count of a tenant's grants as one text, in one cell. Of two writes with the same timestamp Cassandra keeps, cell by
// cell, the greater value: in cells of their own the parts of two counts could mix. The steps come first, at a fixed width,
// so that the count that has come further is the greater one.

import { z } from 'zod';
import type { TenantId } from '../../core/ids.ts';
import type { GrantCountRow } from '../store.ts';

/** Digits of the greatest safe integer. */
const STEPS_WIDTH = 16;

const countSchema = z.object({
  seq: z.int().nonnegative(),
  grants: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  position: z.string().optional(),
});

export function encodeGrantCount({ steps, seq, grants, bytes, position }: GrantCountRow): string {
  return `${String(steps).padStart(STEPS_WIDTH, '0')} ${JSON.stringify({ seq, grants, bytes, position })}`;
}

/** Throws for a text that no version of this program could have written. */
export function decodeGrantCount(tenantId: TenantId, text: string): GrantCountRow {
  const { seq, grants, bytes, position } = countSchema.parse(JSON.parse(text.slice(STEPS_WIDTH + 1)));
  const steps = z
    .int()
    .nonnegative()
    .parse(Number(text.slice(0, STEPS_WIDTH)));
  return { tenantId, seq, grants, bytes, position, steps };
}
