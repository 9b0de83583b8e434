// JSON records that only the operator's API has; keys, namespaces and grants are the same in both APIs
// (core/records.ts). Never a secret.

import type { AuditEntry } from '../../core/audit-events.ts';
import { type Plan, type Plans, resolvePlan } from '../../core/plans.ts';
import { formatTimestamp, optionalTimestamp } from '../../core/text/timestamps.ts';
import type { MemberView, ShardLoad, SlotView } from '../../front/front.ts';
import type { AuditRecord, LoggedChange, TenantDeletion, TenantStatus, UsageMinute } from '../../shard/shard.ts';

/** `deletion` is present only while there is one. */
export function tenantRecord(tenant: TenantStatus, plans: Plans): object {
  const { namespacesMax, keysMax, grantsMax, streamsMax } = resolvePlan(plans, tenant.plan);
  const { counts, grants, deletion } = tenant;
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    plan: tenant.plan,
    state: tenant.state,
    created_at: formatTimestamp(tenant.createdAtMs),
    bounds: {
      namespaces_max: namespacesMax,
      keys_max: keysMax,
      grants_max: grantsMax ?? null,
      streams_max: streamsMax,
    },
    counts: counts === undefined ? null : { namespaces: counts.namespaces, keys: counts.keys },
    grants: grants?.grants ?? null,
    grant_bytes: grants?.bytes ?? null,
    ...(deletion === undefined ? {} : { deletion: deletionRecord(deletion) }),
  };
}

const deletionRecord = ({ partsRemoved, lastPartAtMs }: TenantDeletion): object => ({
  parts_removed: partsRemoved,
  last_part_at: optionalTimestamp(lastPartAtMs),
});

export function usageRecord({ atMs, requests, refused, checks }: UsageMinute): object {
  return { at: formatTimestamp(atMs), requests, refused, checks };
}

const optionalWholeMs = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms));

export function auditLogRecord(row: AuditRecord): Omit<AuditEntry, 'tenant_id'> {
  const change: unknown = JSON.parse(row.change);
  return {
    seq: row.seq,
    index: row.index,
    at: formatTimestamp(row.atMs),
    actor: row.actor,
    request_id: row.requestId,
    change,
  };
}

/** With its tenant, for the export of all tenants. */
export const exportedRecord = (row: LoggedChange): AuditEntry => ({ tenant_id: row.tenantId, ...auditLogRecord(row) });

export function planRecord(plan: Plan): object {
  return {
    name: plan.name,
    requests: plan.requests ?? null,
    window_seconds: plan.windowSeconds,
    namespaces_max: plan.namespacesMax,
    keys_max: plan.keysMax,
    grants_max: plan.grantsMax ?? null,
    streams_max: plan.streamsMax,
  };
}

export function slotRecord(slot: SlotView): object {
  const { logEnd, checkpoint } = slot;
  return {
    slot: slot.slot,
    state: slot.state,
    shard: slot.shardName ?? null,
    incarnation: slot.incarnation ?? null,
    address: slot.address ?? null,
    epoch: slot.epoch ?? null,
    lease_left_ms: optionalWholeMs(slot.leaseLeftMs),
    log_end: logEnd ?? null,
    checkpoint: checkpoint ?? null,
    checkpoint_lag: logEnd === undefined || checkpoint === undefined ? null : logEnd - checkpoint,
    tenants: slot.tenants ?? null,
  };
}

/** Rates are rounded to a hundredth; further digits are noise. */
export function loadRecord(load: ShardLoad): object {
  const rounded = (rate: number): number => Math.round(rate * 100) / 100;
  return {
    shard: load.shardName,
    checks_per_second: rounded(load.checksPerSecond),
    failures_per_second: rounded(load.failuresPerSecond),
    p99_ms: load.p99Ms === undefined ? null : rounded(load.p99Ms),
  };
}

export function memberRecord(member: MemberView): object {
  return {
    incarnation: member.incarnation,
    shard: member.shardName,
    address: member.address,
    state: member.state,
    heartbeat: member.heartbeat,
    started_at: formatTimestamp(member.startedAtMs),
    lease_left_ms: optionalWholeMs(member.leaseLeftMs),
    slots: member.slotsOwned,
  };
}
