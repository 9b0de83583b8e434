// A tenant in replies, both ways.

import type { TenantState } from '../../../core/tenants.ts';
import type { TenantStatus } from '../../../shard/shard.ts';
import type { Tenant, Tenant__Output } from '../../gen/grantd/v1/Tenant.ts';
import { stateReader, tenantIdFrom, zeroAsUndefined } from './answer-fields.ts';
import { minuteFrom, minuteToWire } from './usage-minutes.ts';

export function tenantToWire({ counts, grants, deletion, lastMinute, ...tenant }: TenantStatus): Tenant {
  return {
    ...tenant,
    counts: counts ?? null,
    grants: grants ?? null,
    lastMinute: lastMinute === undefined ? null : minuteToWire(lastMinute),
    deletion: deletion === undefined ? null : { ...deletion, lastPartAtMs: deletion.lastPartAtMs ?? 0 },
  };
}

const stateFrom = stateReader<TenantState>(['active', 'suspended', 'deleting', 'deleted'], 'tenant');

export function tenantFrom(tenant: Tenant__Output): TenantStatus {
  const { tenantId, name, plan, state, createdAtMs, counts, grants, deletion, lastMinute } = tenant;
  return {
    tenantId: tenantIdFrom(tenantId),
    name,
    plan,
    state: stateFrom(state),
    createdAtMs,
    ...(counts ? { counts } : {}),
    ...(grants ? { grants } : {}),
    ...(lastMinute ? { lastMinute: minuteFrom(lastMinute) } : {}),
    ...(deletion ? { deletion: { ...deletion, lastPartAtMs: zeroAsUndefined(deletion.lastPartAtMs) } } : {}),
  };
}
