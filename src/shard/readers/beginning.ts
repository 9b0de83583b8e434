// What a reader of a tenant begins with, as the owner has it at one position of the log.

import { z } from 'zod';
import type { Tenant } from '../../core/tenants.ts';
import type { CountKey, GrantCountRow } from '../../store/store.ts';
import { tenantSchema } from '../log-changes.ts';

export interface Beginning {
  readonly tenant: Tenant;
  readonly count: Omit<GrantCountRow, 'tenantId'>;
  /** As `TenantMemory` has it. */
  readonly nextExpiryMs?: number | undefined;
}

const beginningSchema = z.object({
  tenant: tenantSchema,
  count: z.object({
    seq: z.int().nonnegative(),
    grants: z.int(),
    bytes: z.int(),
    byKey: z
      .array(
        z.object({
          key: z.custom<CountKey>((key) => typeof key === 'string' && /^(?:relation|condition):/.test(key)),
          grants: z.int(),
        }),
      )
      .default([]),
    collectedToBaseMs: z.number().optional(),
  }),
  // JSON has no infinity, which stands for: there were grants with an expiry, and none is left.
  nextExpiryMs: z
    .number()
    .nullable()
    .optional()
    .transform((value) => (value === null ? Number.POSITIVE_INFINITY : value)),
});

export const encodeBeginning = (beginning: Beginning): string => JSON.stringify(beginning);

/** Throws if it is anything else. */
export function decodeBeginning(text: string): Beginning {
  const { tenant, count, nextExpiryMs } = beginningSchema.parse(JSON.parse(text));
  const { collectedToBaseMs, ...counted } = count;
  return { tenant, count: collectedToBaseMs === undefined ? counted : { ...counted, collectedToBaseMs }, nextExpiryMs };
}
