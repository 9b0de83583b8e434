// Decides each kind of write. A decision is taken in batch order, against committed memory plus the earlier decisions
// of the same batch (the draft). It is synchronous: everything that it reads was pinned before the write was queued.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { attributesOf, attributesOfId, type GrantAttributes } from '../../core/grant-attributes.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import type { Tenant } from '../../core/tenants.ts';
import { grantOf, type Namespace, namespaceOf, type Tuple, tupleKey } from '../../core/tuples.ts';
import type { Change } from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import {
  type BulkWriteResult,
  type GrantRefusal,
  type GrantRequest,
  type GrantResult,
  type RevokeResult,
  ShardFailure,
} from '../shard.ts';
import type { TailOperation } from './entries.ts';
import type { LoggedResults } from './logged-results.ts';

export type OperationResult =
  | { readonly kind: 'grant'; readonly grant: GrantResult }
  | { readonly kind: 'bulk'; readonly bulk: BulkWriteResult }
  | ({ readonly kind: 'revocation' } & RevokeResult)
  | { readonly kind: 'namespace'; readonly created: boolean; readonly namespace: Namespace }
  | { readonly kind: 'key'; readonly key: ApiKeyRecord }
  | { readonly kind: 'key-revoked' }
  | { readonly kind: 'tenant'; readonly tenant: Tenant };

export interface Decision {
  readonly result: OperationResult;
  /** Empty: nothing is logged. Without `results`, the last one is the change that the operation requested. */
  readonly changes: readonly Change[];
  /** What the log stores of the result in addition to the changes. */
  readonly results?: LoggedResults;
}

/** A grant as decided earlier in the batch. */
export interface DraftedGrant {
  readonly tuple: Tuple;
  /** `null`: revoked. */
  readonly facts: GrantAttributes | null;
}

/** Decides, or throws the GrantdError that the operation's caller gets. */
export type Decide = (draft: Draft) => Decision;

/** Committed memory plus the earlier decisions of the batch. */
export class Draft {
  readonly #grants = new Map<TenantId, Map<string, DraftedGrant>>();
  readonly #namespaces = new Map<TenantId, Map<string, Namespace>>();
  readonly #keys = new Map<TenantId, Map<string, ApiKeyRecord | null>>();
  readonly #tenants = new Map<TenantId, Tenant>();
  /** Grants created minus grants revoked. */
  readonly #grantCounts = new Map<TenantId, number>();

  /** Adds the changes of a decision. */
  add(tenantId: TenantId, changes: readonly Change[]): void {
    for (const change of changes) {
      switch (change.kind) {
        case 'grant-created':
        case 'grant-revoked': {
          const { grant: tuple } = change;
          const created = change.kind === 'grant-created';
          nested(this.#grants, tenantId).set(tupleKey(tuple), { tuple, facts: created ? tuple : null });
          this.#grantCounts.set(tenantId, (this.#grantCounts.get(tenantId) ?? 0) + (created ? 1 : -1));
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

  grant(memory: TenantMemory, { facts }: WatchedTuple, tuple: Tuple): GrantAttributes | null {
    const drafted = this.#grants.get(memory.tenantId)?.get(tupleKey(tuple));
    if (drafted !== undefined) return drafted.facts;
    assert(facts !== undefined, 'a write is queued only when its tuple is known');
    return facts;
  }

  /** The grants of a tenant that earlier decisions of the batch changed. */
  draftedGrants(memory: TenantMemory): Iterable<DraftedGrant> {
    return this.#grants.get(memory.tenantId)?.values() ?? [];
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

type LimitCode = GrantRefusal | 'key-limit-reached';

/** A write that was queued before its tenant's deletion must not follow it. Its caller authenticates again, in vain. */
export function assertLives(draft: Draft, memory: TenantMemory): void {
  const { state } = draft.tenant(memory);
  if (state === 'deleting' || state === 'deleted')
    throw new ShardFailure('handle-unknown', 'The tenant is being deleted.');
}

export const limitReached = (memory: TenantMemory, what: string, max: number): string =>
  `The plan of tenant ${memory.tenantId} allows ${max} ${what}.`;

/** A result rather than a failure of the call: the other grants of the call take effect. */
function refuseGrant({ onRefused }: DecideContext, code: GrantRefusal, message: string): Decision {
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
    const { subject, object } = request;
    const present = draft.grant(memory, tuple, request);
    if (request.revoke) {
      if (present === null) return { result: { kind: 'grant', grant: { kind: 'not-found' } }, changes: [] };
      const grant = grantOf(request, present);
      return { result: { kind: 'grant', grant: { kind: 'revoked' } }, changes: [{ kind: 'grant-revoked', grant }] };
    }
    if (present !== null) {
      return { result: { kind: 'grant', grant: { kind: 'exists', ...attributesOf(present) } }, changes: [] };
    }
    const names = new Set([namespaceOf(subject), namespaceOf(object)]);
    const missing = [...names].filter((name) => draft.namespace(memory, name) === undefined);
    const { namespacesMax, grantsMax } = resolvePlan(context.plans, draft.tenant(memory).plan);
    if (grantsMax !== undefined && (draft.grantCount(memory) ?? 0) >= grantsMax) {
      return refuseGrant(context, 'grant-limit-reached', limitReached(memory, 'grants', grantsMax));
    }
    if (missing.length > 0 && draft.namespaceCount(memory) + missing.length > namespacesMax) {
      return refuseGrant(context, 'namespace-limit-reached', limitReached(memory, 'namespaces', namespacesMax));
    }
    const attributes = attributesOfId(context.ids.create('grt'));
    const { createdAtMs } = attributes;
    return {
      result: { kind: 'grant', grant: { kind: 'created', ...attributes } },
      changes: [
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

function bulkFromLog(
  { grants, revoked }: LoggedResults & { kind: 'bulk' },
  changes: readonly Change[],
): BulkWriteResult {
  const created = changes.flatMap((change) => (change.kind === 'grant-created' ? [change.grant] : [])).values();
  return {
    kind: 'written',
    grants: grants.map((grant) => {
      if (grant !== 'created') return { created: false, ...attributesOf(grant) };
      const { value } = created.next();
      assert(value !== undefined, 'an entry of the log has a change for each grant that was created');
      return { created: true, ...attributesOf(value) };
    }),
    revoked,
  };
}

/** The result of an operation in the log: a repeat gets it again. */
export function resultFromLog(operation: TailOperation): OperationResult | undefined {
  const { results } = operation;
  if (results?.kind === 'bulk') return { kind: 'bulk', bulk: bulkFromLog(results, operation.changes) };
  if (results !== undefined) return results;
  const change = operation.changes.at(-1);
  switch (change?.kind) {
    case undefined:
      return undefined;
    case 'grant-created':
      return { kind: 'grant', grant: { kind: 'created', ...attributesOf(change.grant) } };
    case 'grant-revoked':
      return { kind: 'grant', grant: { kind: 'revoked' } };
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
