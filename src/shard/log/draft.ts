// The draft of a batch: committed memory plus the earlier decisions of the batch, at the time that the log will record
// for the batch.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { type GrantAttributes, hasExpired } from '../../core/grant-attributes.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenants.ts';
import { grantOf, type Namespace, type Tuple, tupleKey } from '../../core/tuples.ts';
import { NO_TYPES, type SubjectTypes, type TupleFault, tupleFault } from '../../rules/allowed-grants.ts';
import type { RulesText } from '../../rules/rules-text.ts';
import type { CountKey } from '../../store/store.ts';
import {
  type Change,
  countDifferences,
  endsGrant,
  type GrantChange,
  grantDifference,
  isGrantChange,
  type StateSetting,
  settingsOf,
} from '../log-changes.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import { ShardFailure } from '../shard.ts';

/** A grant as decided earlier in the batch. */
export interface DraftedGrant {
  readonly tuple: Tuple;
  /** `null`: revoked. */
  readonly facts: GrantAttributes | null;
}

export class Draft {
  readonly #grants = new Map<TenantId, Map<string, DraftedGrant>>();
  readonly #namespaces = new Map<TenantId, Map<string, Namespace>>();
  readonly #keys = new Map<TenantId, Map<string, ApiKeyRecord | null>>();
  readonly #tenants = new Map<TenantId, Tenant>();
  /** Rules written in the batch, by their text. */
  readonly #rules = new Map<TenantId, string>();
  /** Grants created minus grants that ended. */
  readonly #grantCounts = new Map<TenantId, number>();
  /** The same by own relation and by condition. */
  readonly #keyCounts = new Map<TenantId, Map<string, number>>();
  /** The slot's time once the batch is in the log: a grant that has expired by then does not hold. */
  readonly nowMs: number;

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  add(tenantId: TenantId, changes: readonly Change[]): void {
    for (const change of changes) {
      if (isGrantChange(change)) this.#addGrant(tenantId, change);
      else for (const setting of settingsOf(change)) this.#set(tenantId, setting);
    }
  }

  #addGrant(tenantId: TenantId, change: GrantChange): void {
    const { grant: tuple } = change;
    nested(this.#grants, tenantId).set(tupleKey(tuple), { tuple, facts: endsGrant(change) ? null : tuple });
    this.#grantCounts.set(tenantId, (this.#grantCounts.get(tenantId) ?? 0) + grantDifference(change));
    for (const { key, grants } of countDifferences(change)) {
      const counts = nested(this.#keyCounts, tenantId);
      counts.set(key, (counts.get(key) ?? 0) + grants);
    }
  }

  #set(tenantId: TenantId, setting: StateSetting): void {
    switch (setting.kind) {
      case 'namespace':
        nested(this.#namespaces, tenantId).set(setting.name, setting);
        break;
      case 'key':
        nested(this.#keys, tenantId).set(setting.key.keyId, setting.tombstone ? null : setting.key);
        break;
      case 'tenant':
        this.#tenants.set(tenantId, setting.tenant);
        break;
      case 'rules':
        this.#rules.set(tenantId, setting.rules);
        break;
    }
  }

  /** The grant, whether it has expired or not. */
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

  grantCount({ tenantId, grantCount }: TenantMemory): number {
    return grantCount.grants + (this.#grantCounts.get(tenantId) ?? 0);
  }

  /** Grants with one own relation or one condition. A grant that has expired counts until it is collected. */
  countOf({ tenantId, grantCount }: TenantMemory, key: CountKey): number {
    return grantCount.countOf(key) + (this.#keyCounts.get(tenantId)?.get(key) ?? 0);
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

  /** The tenant's rules, which must be pinned. */
  rules(memory: TenantMemory): RulesText {
    return this.#written(memory) ?? memory.rules.pinned;
  }

  /** As the write of them prepared them. */
  #written({ tenantId, rules }: TenantMemory): RulesText | undefined {
    const text = this.#rules.get(tenantId);
    return text === undefined ? undefined : rules.written(text);
  }

  /** See `tupleFault`. The rules of the tenant must be pinned unless the relation is a built-in one. */
  tupleFault(memory: TenantMemory, tuple: Tuple, list?: string, index?: number): TupleFault | undefined {
    return tupleFault(() => this.rules(memory), tuple, list, index);
  }

  /**
   * What the tenant's rules say about the subjects of grants. Throws a failure after which the front repeats the write,
   * if the tenant had no rules when it was queued, and they are not in memory.
   */
  subjectTypes(memory: TenantMemory): SubjectTypes {
    const written = this.#written(memory);
    if (written !== undefined) return written.types;
    const { tenant, rules } = memory;
    if (tenant.rulesRevision === undefined) return NO_TYPES;
    if (rules.loaded !== undefined) return rules.loaded.types;
    throw new ShardFailure('not-serving', 'Rules were set while the write waited. Nothing was done.');
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

/**
 * The grant of a tuple at the time of the batch. A decision that rests on an expiry logs it: the expiry is in the log,
 * once, before any caller learns of it.
 */
export function asOf(
  { nowMs }: Draft,
  tuple: Tuple,
  stored: GrantAttributes | null,
): { readonly present: GrantAttributes | null; readonly expired: readonly Change[] } {
  if (stored === null || !hasExpired(stored, nowMs)) return { present: stored, expired: [] };
  return { present: null, expired: [{ kind: 'grant-expired', grant: grantOf(tuple, stored) }] };
}
