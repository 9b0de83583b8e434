// What the operator's API shows of each thing: the one place where a record becomes JSON. Never a secret.

import { formatTimestamp } from '../core/clock.ts';
import type { Plan } from '../core/plans.ts';
import { scopesOf } from '../core/scopes.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Grant, Namespace } from '../core/tuples.ts';
import type { MemberView, SlotView } from '../front/front.ts';
import type { ListedKey } from '../shard/shard.ts';
import type { TrailRow } from '../store/store.ts';

export function tenantRecord(tenant: Tenant): object {
  return {
    tenant_id: tenant.tenantId,
    name: tenant.name,
    plan: tenant.plan,
    state: tenant.state,
    created_at: formatTimestamp(tenant.createdAtMs),
  };
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
