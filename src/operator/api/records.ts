// What the operator's API shows of each thing: the one place where a record becomes JSON. Never a secret.

import { formatTimestamp } from '../../core/async/clock.ts';
import { type Plan, type Plans, resolvePlan } from '../../core/plans.ts';
import { scopesOf } from '../../core/scopes.ts';
import type { Grant, Namespace } from '../../core/tuples.ts';
import type { MemberView, ShardLoad, SlotView } from '../../front/front.ts';
import type { ListedKey, TenantDeletion, TenantStatus, UsageMinute } from '../../shard/shard.ts';
import type { TrailRow } from '../../store/store.ts';

/** `deletion` only while there is one. */
export function tenantRecord(tenant: TenantStatus, plans: Plans): object {
  const { namespacesMax, keysMax, grantsMax } = resolvePlan(plans, tenant.plan);
  const { counts, grants, deletion } = tenant;
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    plan: tenant.plan,
    state: tenant.state,
    created_at: formatTimestamp(tenant.createdAtMs),
    bounds: { namespaces_max: namespacesMax, keys_max: keysMax, grants_max: grantsMax ?? null },
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

const optionalTimestamp = (wallMs: number | undefined): string | null =>
  wallMs === undefined ? null : formatTimestamp(wallMs);

const optionalWholeMs = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms));

const keyFields = (key: ListedKey): object => ({
  key_id: key.keyId,
  name: key.name,
  scopes: scopesOf(key.scopes),
  created_at: formatTimestamp(key.createdAtMs),
  expires_at: optionalTimestamp(key.expiresAtMs),
});

export function keyRecord(key: ListedKey): object {
  return { ...keyFields(key), last_used_at: optionalTimestamp(key.lastUsedAtMs) };
}

/** Of a key just made: with its text, which is shown this once. */
export function createdKeyRecord(key: ListedKey, text: string): object {
  return { ...keyFields(key), key: text };
}

export function grantRecord(grant: Grant): object {
  return {
    grant_id: grant.grantId,
    subject: grant.subject,
    relation: grant.relation,
    object: grant.object,
    created_at: formatTimestamp(grant.createdAtMs),
  };
}

export function namespaceRecord(namespace: Namespace): object {
  return { name: namespace.name, created_at: formatTimestamp(namespace.createdAtMs) };
}

export function changeRecord(row: TrailRow): object {
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

export function planRecord(plan: Plan): object {
  return {
    name: plan.name,
    requests: plan.requests ?? null,
    window_seconds: plan.windowSeconds,
    namespaces_max: plan.namespacesMax,
    keys_max: plan.keysMax,
    grants_max: plan.grantsMax ?? null,
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

/** Rates to a hundredth, since what is behind the last digits is noise. */
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
    beat: member.beat,
    started_at: formatTimestamp(member.startedAtMs),
    lease_left_ms: optionalWholeMs(member.leaseLeftMs),
    slots: member.slotsOwned,
  };
}
