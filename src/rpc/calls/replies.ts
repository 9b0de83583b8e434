// The answers of a shard, as its server writes them.

import { assertNever } from '../../core/assert.ts';
import { type Grant, wireNumberOf } from '../../core/tuples.ts';
import type {
  ClusterMember,
  GrantResult,
  HandleGrant,
  ListedKey,
  Load,
  Page,
  SlotsReport,
  TenantStatus,
  TrailPage,
  UsageMinute,
} from '../../shard/shard.ts';
import { GrantOutcome } from '../gen/grantd/v1/GrantOutcome.ts';
import type { GrantResult as WireGrantResult } from '../gen/grantd/v1/GrantResult.ts';
import type { Key } from '../gen/grantd/v1/Key.ts';
import type { Reply } from '../gen/grantd/v1/Reply.ts';
import type { Tenant as WireTenant } from '../gen/grantd/v1/Tenant.ts';
import { MS_PER_MINUTE } from '../protocol.ts';

/** A reply without the id of what it answers. */
export type ReplyBody = Omit<Reply, 'id' | 'result'>;

export const DONE: ReplyBody = Object.freeze({ done: {} });

const nextCursorOf = (page: Page<unknown>): string => page.nextCursor ?? '';

export function handleReply(grant: HandleGrant): ReplyBody {
  return { handle: { ...grant, expiresAtMs: grant.expiresAtMs ?? 0 } };
}

function wireGrantResult(result: GrantResult): WireGrantResult {
  switch (result.kind) {
    case 'created':
      return { outcome: GrantOutcome.GRANT_CREATED, grantId: result.grantId, createdAtMs: result.createdAtMs };
    case 'exists':
      return { outcome: GrantOutcome.GRANT_EXISTS, grantId: result.grantId, createdAtMs: result.createdAtMs };
    case 'revoked':
      return { outcome: GrantOutcome.GRANT_REVOKED };
    case 'not-found':
      return { outcome: GrantOutcome.GRANT_NOT_FOUND };
    case 'refused':
      return { outcome: GrantOutcome.GRANT_REFUSED, errorCode: result.code, errorMessage: result.message };
    default:
      return assertNever(result);
  }
}

export function grantResultsReply(results: readonly GrantResult[]): ReplyBody {
  return { grantResults: { results: results.map(wireGrantResult) } };
}

export function objectsReply(page: Page<string>): ReplyBody {
  return { objects: { objects: [...page.items], nextCursor: nextCursorOf(page) } };
}

export function subjectsReply(page: Page<string>): ReplyBody {
  return { subjects: { subjects: [...page.items], nextCursor: nextCursorOf(page) } };
}

function wireKey(key: ListedKey): Key {
  return { ...key, expiresAtMs: key.expiresAtMs ?? 0, lastUsedAtMs: key.lastUsedAtMs ?? 0 };
}

export function keyReply(key: ListedKey): ReplyBody {
  return { key: wireKey(key) };
}

export function keysReply(page: Page<ListedKey>): ReplyBody {
  return { keys: { keys: page.items.map(wireKey), nextCursor: nextCursorOf(page) } };
}

function wireTenant({ counts, grants, deletion, ...tenant }: TenantStatus): WireTenant {
  return {
    ...tenant,
    counts: counts ?? null,
    grants: grants ?? null,
    deletion: deletion === undefined ? null : { ...deletion, lastPartAtMs: deletion.lastPartAtMs ?? 0 },
  };
}

export function tenantReply(tenant: TenantStatus): ReplyBody {
  return { tenant: wireTenant(tenant) };
}

export function tenantsReply(page: {
  readonly tenants: readonly TenantStatus[];
  readonly scannedTo: string | undefined;
}): ReplyBody {
  return { tenants: { tenants: page.tenants.map(wireTenant), scannedTo: page.scannedTo ?? '' } };
}

export function usageReply(minutes: readonly UsageMinute[]): ReplyBody {
  const usage = minutes.map(({ atMs, ...counts }) => ({ minute: atMs / MS_PER_MINUTE, ...counts }));
  return { tenant: { usage } };
}

export function loadReply(load: Load, of: { readonly shardName: string; readonly incarnation: string }): ReplyBody {
  return { slots: { ...of, load: { ...load, p99Ms: load.p99Ms ?? 0 } } };
}

export function grantsReply(page: Page<Grant>): ReplyBody {
  // The numbers of the protocol are those of the core, in the same order.
  const grants = page.items.map((grant) => ({ ...grant, relation: wireNumberOf(grant.relation) as 1 }));
  return { grants: { grants, nextCursor: nextCursorOf(page) } };
}

export function trailReply(page: TrailPage): ReplyBody {
  const entries = page.items.map((row) => ({ ...row }));
  return {
    trail: {
      entries,
      nextCursor: nextCursorOf(page),
      resumeCursor: page.resumeCursor ?? '',
      scannedToMs: page.scannedToMs ?? 0,
    },
  };
}

export function slotsReply(report: SlotsReport, shardName: string): ReplyBody {
  const { incarnation, leaseLeftMs, owned, rows } = report;
  return {
    slots: {
      slots: [...owned],
      incarnation,
      shardName,
      leased: leaseLeftMs !== undefined,
      leaseLeftMs: leaseLeftMs ?? 0,
      owners: rows.map(({ slot, epoch, owner }) => ({ slot, epoch, incarnation: owner ?? '' })),
    },
  };
}

export function membersReply(members: readonly ClusterMember[]): ReplyBody {
  return { members: { members: members.map((member) => ({ ...member })) } };
}
