// The counts that a front reports. This is not a call, since it has no reply.

import type { FrontReport, TenantUsageReport } from '../../shard/shard.ts';
import type { Report__Output } from '../gen/grantd/v1/Report.ts';
import type { Usage__Output } from '../gen/grantd/v1/Usage.ts';
import { USAGE_PER_REPORT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';

/** Checks lengths only. The shard judges the numbers, and whether the tenants are its own. */
export function reportFrom({ load, usage }: Report__Output): FrontReport {
  return { load: load ?? undefined, usage: usage === null ? [] : usageFrom(usage) };
}

function usageFrom({ minute, slots, tenantIds, requests, refused, checks }: Usage__Output): TenantUsageReport[] {
  const count = slots.length;
  demand(count <= USAGE_PER_REPORT_MAX, `A report has more than ${USAGE_PER_REPORT_MAX} tenants.`);
  demand(
    [tenantIds, requests, refused, checks].every(({ length }) => length === count),
    'The columns of a report differ in length.',
  );
  return slots.map((slot, index) => ({
    slot,
    tenantId: tenantIds[index] ?? '',
    minute,
    requests: requests[index] ?? 0,
    refused: refused[index] ?? 0,
    checks: checks[index] ?? 0,
  }));
}
