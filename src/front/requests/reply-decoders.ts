// The answers of a shard, as a front reads them. What does not have the promised shape is an `internal` error, never a
// guess: an absent or foreign answer must not turn into an empty list or a deny.

import { GrantdError } from '../../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../../core/ids.ts';
import type { TenantState } from '../../core/tenants.ts';
import { type Grant, relationOf } from '../../core/tuples.ts';
import { GrantOutcome } from '../../rpc/gen/grantd/v1/GrantOutcome.ts';
import type { GrantRecord__Output } from '../../rpc/gen/grantd/v1/GrantRecord.ts';
import type { GrantResult__Output } from '../../rpc/gen/grantd/v1/GrantResult.ts';
import type { Key__Output } from '../../rpc/gen/grantd/v1/Key.ts';
import type { Tenant__Output } from '../../rpc/gen/grantd/v1/Tenant.ts';
import { MS_PER_MINUTE } from '../../rpc/protocol.ts';
import type { GrantRefusal, GrantResult, ListedKey, Page, TenantStatus, UsageMinute } from '../../shard/shard.ts';

export function malformed(what: string): GrantdError {
  return new GrantdError('internal', 'The shard gave an answer that cannot be read.', { cause: new Error(what) });
}

/** The part of a reply that its call asks for. */
export function answered<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw malformed('The answer is to another question.');
  return value;
}

const zeroAsUndefined = (ms: number): number | undefined => (ms === 0 ? undefined : ms);

export function pageFrom<Item>(items: readonly Item[], nextCursor: string): Page<Item> {
  return { items, nextCursor: nextCursor === '' ? undefined : nextCursor };
}

export function tenantIdFrom(text: string): TenantId {
  const tenantId = parseTenantId(text);
  if (tenantId === undefined) throw malformed('A tenant id is ill-formed.');
  return tenantId;
}

export function keyIdFrom(text: string): KeyId {
  const keyId = parseKeyId(text);
  if (keyId === undefined) throw malformed('A key id is ill-formed.');
  return keyId;
}

const TENANT_STATES: ReadonlyMap<string, TenantState> = new Map(
  (['active', 'suspended', 'deleting', 'deleted'] as const).map((state) => [state, state]),
);

export function tenantFrom(tenant: Tenant__Output): TenantStatus {
  const { name, plan, createdAtMs, counts, grants, deletion } = tenant;
  const state = TENANT_STATES.get(tenant.state);
  if (state === undefined) throw malformed(`"${tenant.state}" is not a state of a tenant.`);
  return {
    tenantId: tenantIdFrom(tenant.tenantId),
    name,
    plan,
    state,
    createdAtMs,
    ...(counts ? { counts } : {}),
    ...(grants ? { grants } : {}),
    ...(deletion ? { deletion: { ...deletion, lastPartAtMs: zeroAsUndefined(deletion.lastPartAtMs) } } : {}),
  };
}

export function usageFrom({ usage }: Tenant__Output): readonly UsageMinute[] {
  return usage.map(({ minute, ...counts }) => ({ atMs: minute * MS_PER_MINUTE, ...counts }));
}

export function keyFrom(key: Key__Output): ListedKey {
  return {
    keyId: keyIdFrom(key.keyId),
    name: key.name,
    scopes: key.scopes,
    createdAtMs: key.createdAtMs,
    expiresAtMs: zeroAsUndefined(key.expiresAtMs),
    lastUsedAtMs: zeroAsUndefined(key.lastUsedAtMs),
  };
}

export function grantFrom(grant: GrantRecord__Output): Grant {
  const { subject, object, grantId, createdAtMs } = grant;
  const relation = relationOf(grant.relation);
  if (relation === undefined) throw malformed(`${grant.relation} is not a relation.`);
  return { subject, relation, object, grantId, createdAtMs };
}

const isGrantRefusal = (code: string): code is GrantRefusal =>
  code === 'namespace-limit-reached' || code === 'grant-limit-reached';

export function grantResultFrom(result: GrantResult__Output): GrantResult {
  const { grantId, createdAtMs } = result;
  switch (result.outcome) {
    case GrantOutcome.GRANT_CREATED:
      return { kind: 'created', grantId, createdAtMs };
    case GrantOutcome.GRANT_EXISTS:
      return { kind: 'exists', grantId, createdAtMs };
    case GrantOutcome.GRANT_REVOKED:
      return { kind: 'revoked' };
    case GrantOutcome.GRANT_NOT_FOUND:
      return { kind: 'not-found' };
    case GrantOutcome.GRANT_REFUSED:
      if (!isGrantRefusal(result.errorCode)) throw malformed(`A write was refused: ${result.errorCode}.`);
      return { kind: 'refused', code: result.errorCode, message: result.errorMessage };
    default:
      throw malformed('A write has no outcome.');
  }
}
