// Decides each kind of write. A decision is taken in batch order, against committed memory plus the earlier decisions
// of the same batch (the draft). It is synchronous: everything that it reads was pinned before the write was queued.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import {
  attributesOf,
  attributesOfId,
  type GrantAttributes,
  hasExpired,
  withExpiry,
} from '../../core/grant-attributes.ts';
import { EXPIRY_PASSED } from '../../core/grant-expiry.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import type { Tenant } from '../../core/tenants.ts';
import { grantOf, type Namespace, namespaceOf, type Tuple } from '../../core/tuples.ts';
import { type Change, endsGrant } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import { type GrantRefusal, type GrantRequest, type GrantResult, ShardFailure } from '../shard.ts';
import type { TailOperation } from './entries.ts';

export type OperationResult =
  | { readonly kind: 'grant'; readonly grant: GrantResult }
  /** Grants whose expiry was told. */
  | { readonly kind: 'collected'; readonly grants: number }
  | { readonly kind: 'namespace'; readonly created: boolean; readonly namespace: Namespace }
  | { readonly kind: 'key'; readonly key: ApiKeyRecord }
  | { readonly kind: 'key-revoked' }
  | { readonly kind: 'tenant'; readonly tenant: Tenant };

export interface Decision {
  readonly result: OperationResult;
  /** Empty: nothing is logged. The last one is the change that the operation requested. */
  readonly changes: readonly Change[];
}

/** Decides, or throws the GrantdError that the operation's caller gets. */
export type Decide = (draft: Draft) => Decision;

/** Committed memory plus the earlier decisions of the batch. */
export class Draft {
  readonly #grants = new Map<string, GrantAttributes | null>();
  readonly #namespaces = new Map<TenantId, Map<string, Namespace>>();
  readonly #keys = new Map<TenantId, Map<string, ApiKeyRecord | null>>();
  readonly #tenants = new Map<TenantId, Tenant>();
  /** Grants created minus grants that ended. */
  readonly #grantCounts = new Map<TenantId, number>();
  /** The slot's time once the batch is in the log: a grant that has expired by then does not hold. */
  readonly nowMs: number;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  /** Adds the changes of a decision. */
  add(tenantId: TenantId, changes: readonly Change[]): void {
    for (const change of changes) {
      switch (change.kind) {
        case 'grant-created':
        case 'grant-revoked':
        case 'grant-updated':
        case 'grant-expired': {
          const { subject, relation, object } = change.grant;
          const key = `${tenantId} ${subject} ${relation} ${object}`;
          const ends = endsGrant(change);
          this.#grants.set(key, ends ? null : change.grant);
          const difference = change.kind === 'grant-updated' ? 0 : ends ? -1 : 1;
          this.#grantCounts.set(tenantId, (this.#grantCounts.get(tenantId) ?? 0) + difference);
          break;
        }
        case 'namespace-created':
          nested(this.#namespaces, tenantId).set(change.name, change);
          break;
        case 'key-created':
          nested(this.#keys, tenantId).set(change.key.keyId, change.key);
          break;
        case 'key-revoked':
          nested(this.#keys, tenantId).set(change.key.keyId, null);
          break;
        case 'tenant-created':
        case 'tenant-updated':
          this.#tenants.set(tenantId, change.tenant);
          break;
      }
    }
  }

  /** The grant, whether it has expired or not. */
  grant(memory: TenantMemory, { facts }: WatchedTuple, request: Tuple): GrantAttributes | null {
    const { subject, relation, object } = request;
    const drafted = this.#grants.get(`${memory.tenantId} ${subject} ${relation} ${object}`);
    if (drafted !== undefined) return drafted;
    assert(facts !== undefined, 'a write is queued only when its tuple is known');
    return facts;
  }

  /** Undefined while the tenant's existing grants are being counted. */
  grantCount(memory: TenantMemory): number | undefined {
    const { grants } = memory.grantCount;
    return grants === undefined ? undefined : grants + (this.#grantCounts.get(memory.tenantId) ?? 0);
  }

  namespace(memory: TenantMemory, name: string): Namespace | undefined {
    const drafted = this.#namespaces.get(memory.tenantId)?.get(name);
    if (drafted !== undefined) return drafted;
    const row = memory.namespaces.rows.get(name);
    return row === undefined ? undefined : { name, createdAtMs: row.createdAtMs };
  }

  namespaceCount(memory: TenantMemory): number {
    return memory.namespaces.rows.size + (this.#namespaces.get(memory.tenantId)?.size ?? 0);
  }

  key(memory: TenantMemory, keyId: string): ApiKeyRecord | undefined {
    const drafted = this.#keys.get(memory.tenantId)?.get(keyId);
    if (drafted !== undefined) return drafted ?? undefined;
    return memory.keys.rows.get(keyId);
  }

  /** Whether an earlier decision of the batch revoked the key. */
  revokes(tenantId: TenantId, keyId: string): boolean {
    return this.#keys.get(tenantId)?.get(keyId) === null;
  }

  keyCount(memory: TenantMemory): number {
    let count = memory.keys.rows.size;
    for (const [keyId, key] of this.#keys.get(memory.tenantId) ?? []) {
      const committed = memory.keys.rows.has(keyId);
      if (key !== null && !committed) count += 1;
      if (key === null && committed) count -= 1;
    }
    return count;
  }

  tenant(memory: TenantMemory): Tenant {
    return this.#tenants.get(memory.tenantId) ?? memory.tenant;
  }

  hasTenant(tenantId: TenantId): boolean {
    return this.#tenants.has(tenantId);
  }
}

function nested<Value>(maps: Map<TenantId, Map<string, Value>>, tenantId: TenantId): Map<string, Value> {
  let map = maps.get(tenantId);
  if (map === undefined) {
    map = new Map();
    maps.set(tenantId, map);
  }
  return map;
}

export interface DecideContext {
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly plans: Plans;
  /** Called when a limit of the plan was reached. */
  readonly onRefused: (code: LimitCode) => void;
}

type LimitCode = Exclude<GrantRefusal, 'invalid-request'> | 'key-limit-reached';

/** A write that was queued before its tenant's deletion must not follow it. Its caller authenticates again, in vain. */
function assertLives(draft: Draft, memory: TenantMemory): void {
  const { state } = draft.tenant(memory);
  if (state === 'deleting' || state === 'deleted')
    throw new ShardFailure('handle-unknown', 'The tenant is being deleted.');
}

const limitReached = (memory: TenantMemory, what: string, max: number): string =>
  `The plan of tenant ${memory.tenantId} allows ${max} ${what}.`;

/** A result rather than a failure of the call: the other grants of the call take effect. */
function refuseGrant({ onRefused }: DecideContext, code: Extract<LimitCode, GrantRefusal>, message: string): Decision {
  onRefused(code);
  return { result: { kind: 'grant', grant: { kind: 'refused', code, message } }, changes: [] };
}

export function decideGrant(
  context: DecideContext,
  memory: TenantMemory,
  tuple: WatchedTuple,
  request: GrantRequest,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const { subject, object, expiresAtMs } = request;
    const stored = draft.grant(memory, tuple, request);
    const { present, expired } = asOf(draft, request, stored);
    if (request.revoke) {
      if (present === null) return { result: { kind: 'grant', grant: { kind: 'not-found' } }, changes: expired };
      const grant = grantOf(request, present);
      return { result: { kind: 'grant', grant: { kind: 'revoked' } }, changes: [{ kind: 'grant-revoked', grant }] };
    }
    if (typeof expiresAtMs === 'number' && expiresAtMs <= draft.nowMs) {
      const refused = { kind: 'refused', code: 'invalid-request', message: EXPIRY_PASSED } as const;
      return { result: { kind: 'grant', grant: refused }, changes: [] };
    }
    if (present !== null) return decideExpiry(request, present);
    const names = new Set([namespaceOf(subject), namespaceOf(object)]);
    const missing = [...names].filter((name) => draft.namespace(memory, name) === undefined);
    const { namespacesMax, grantsMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (grantsMax !== undefined && (draft.grantCount(memory) ?? 0) - expired.length >= grantsMax) {
      return refuseGrant(context, 'grant-limit-reached', limitReached(memory, 'grants', grantsMax));
    }
    if (missing.length > 0 && draft.namespaceCount(memory) + missing.length > namespacesMax) {
      return refuseGrant(context, 'namespace-limit-reached', limitReached(memory, 'namespaces', namespacesMax));
    }
    const attributes = withExpiry(attributesOfId(context.ids.create('grt')), expiresAtMs ?? undefined);
    const { createdAtMs } = attributes;
    return {
      result: { kind: 'grant', grant: { kind: 'created', ...attributes } },
      changes: [
        ...expired,
        ...missing.map((name): Change => ({ kind: 'namespace-created', name, createdAtMs })),
        {
          kind: 'grant-created',
          grant: grantOf(request, attributes),
          newSubject: !memory.pages.holdsSome(subject),
        },
      ],
    };
  };
}

/**
 * What a tuple holds at the time of the batch. A decision that rests on an expiry logs it, so that the log tells it
 * before any caller learns of it, and tells it once.
 */
export function asOf(
  { nowMs }: Draft,
  tuple: Tuple,
  stored: GrantAttributes | null,
): { readonly present: GrantAttributes | null; readonly expired: readonly Change[] } {
  if (stored === null || !hasExpired(stored, nowMs)) return { present: stored, expired: [] };
  return { present: null, expired: [{ kind: 'grant-expired', grant: grantOf(tuple, stored) }] };
}

/** The tuple has a grant: its expiry stays, or is replaced, or removed. */
function decideExpiry(request: GrantRequest, present: GrantAttributes): Decision {
  const expiresAtMs = request.expiresAtMs === undefined ? present.expiresAtMs : (request.expiresAtMs ?? undefined);
  const updated = withExpiry(present, expiresAtMs);
  return {
    result: { kind: 'grant', grant: { kind: 'exists', ...updated } },
    changes: expiresAtMs === present.expiresAtMs ? [] : [{ kind: 'grant-updated', grant: grantOf(request, updated) }],
  };
}

/** Tells the expiry of grants that have expired by the time of the batch, unless they have ended or changed since. */
export function decideCollection(memory: TenantMemory, tuples: readonly CollectedTuple[]): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const changes = tuples.flatMap(({ tuple, request }) => {
      return asOf(draft, request, draft.grant(memory, tuple, request)).expired;
    });
    return { result: { kind: 'collected', grants: changes.length }, changes };
  };
}

export interface CollectedTuple {
  readonly request: Tuple;
  readonly tuple: WatchedTuple;
}

export function decideNamespace(context: DecideContext, memory: TenantMemory, name: string): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const present = draft.namespace(memory, name);
    if (present !== undefined) {
      return { result: { kind: 'namespace', created: false, namespace: present }, changes: [] };
    }
    const { namespacesMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (draft.namespaceCount(memory) >= namespacesMax) {
      context.onRefused('namespace-limit-reached');
      throw new GrantdError('namespace-limit-reached', limitReached(memory, 'namespaces', namespacesMax));
    }
    const namespace = { name, createdAtMs: context.clock.wallMs() };
    return {
      result: { kind: 'namespace', created: true, namespace },
      changes: [{ kind: 'namespace-created', ...namespace }],
    };
  };
}

export function decideKey(
  context: DecideContext,
  memory: TenantMemory,
  key: Omit<ApiKeyRecord, 'createdAtMs'>,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const { keysMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (draft.keyCount(memory) >= keysMax) {
      context.onRefused('key-limit-reached');
      throw new GrantdError('key-limit-reached', limitReached(memory, 'API keys', keysMax));
    }
    const record = { ...key, createdAtMs: context.clock.wallMs() };
    return { result: { kind: 'key', key: record }, changes: [{ kind: 'key-created', key: record }] };
  };
}

export function decideKeyRevocation(memory: TenantMemory, keyId: string): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const key = draft.key(memory, keyId);
    if (key === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    return { result: { kind: 'key-revoked' }, changes: [{ kind: 'key-revoked', key }] };
  };
}

export function decideTenant(tenant: Tenant, exists: () => boolean): Decide {
  return (draft) => {
    assert(!exists() && !draft.hasTenant(tenant.tenantId), 'a tenant id is never used again');
    return { result: { kind: 'tenant', tenant }, changes: [{ kind: 'tenant-created', tenant }] };
  };
}

/** Undefined fields stay unchanged. A tenant that is being deleted accepts only one more change, to `deleted`. */
export function decideTenantUpdate(
  memory: TenantMemory,
  update: { readonly [Field in 'name' | 'plan']: string | undefined } & { readonly state: Tenant['state'] | undefined },
): Decide {
  return (draft) => {
    const present = draft.tenant(memory);
    const leaving = present.state === 'deleting' || present.state === 'deleted';
    if (leaving && update.state !== 'deleting' && update.state !== 'deleted') {
      throw new GrantdError('tenant-not-found', `Tenant ${memory.tenantId} is being deleted.`);
    }
    const tenant: Tenant = {
      ...present,
      name: update.name ?? present.name,
      plan: update.plan ?? present.plan,
      state: present.state === 'deleted' ? 'deleted' : (update.state ?? present.state),
    };
    const same = tenant.name === present.name && tenant.plan === present.plan && tenant.state === present.state;
    return { result: { kind: 'tenant', tenant }, changes: same ? [] : [{ kind: 'tenant-updated', tenant }] };
  };
}

/** The result of an operation in the log: a repeat gets it again. */
export function resultFromLog(operation: TailOperation): OperationResult | undefined {
  const change = operation.changes.at(-1);
  switch (change?.kind) {
    case undefined:
      return undefined;
    case 'grant-created':
      return { kind: 'grant', grant: { kind: 'created', ...attributesOf(change.grant) } };
    case 'grant-revoked':
      return { kind: 'grant', grant: { kind: 'revoked' } };
    case 'grant-updated':
      return { kind: 'grant', grant: { kind: 'exists', ...attributesOf(change.grant) } };
    case 'grant-expired':
      // Of a revocation that found the grant expired. Nobody repeats a collection.
      return { kind: 'grant', grant: { kind: 'not-found' } };
    case 'namespace-created':
      return { kind: 'namespace', created: true, namespace: { name: change.name, createdAtMs: change.createdAtMs } };
    case 'key-created':
      return { kind: 'key', key: change.key };
    case 'key-revoked':
      return { kind: 'key-revoked' };
    case 'tenant-created':
    case 'tenant-updated':
      return { kind: 'tenant', tenant: change.tenant };
  }
}
