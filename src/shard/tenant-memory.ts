// Tenant memory: what a tenure holds in memory of one tenant: its record, the pages of its subjects, its namespaces and
// keys, the handles given out. Every commit passes through `commit` here, in log order, in one synchronous step, and
// from that step on every answer shows it.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import { assertNever } from '../core/assert.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { Tenant } from '../core/tenants.ts';
import { relationNumber } from '../core/tuples.ts';
import type { Stamp } from '../store/store.ts';
import type { Change } from './changes.ts';
import { GrantCount } from './grant-count.ts';
import { LazyTable } from './lazy-table.ts';
import type { TenantDeletion } from './shard.ts';
import { readFromStore, storeDeadline } from './store-calls.ts';
import { SubjectPages, type SubjectPagesDependencies } from './subject-pages.ts';
import { TenantUsage } from './tenant-usage.ts';

/** A handle as its owner keeps it. Dead ones are refused at their next use. */
export interface HandleState {
  readonly keyId: string;
  /** On its connection. */
  readonly number: number;
  dead: boolean;
  /** Tells its connection that it has died, so that it keeps nothing of the tenant in memory. */
  readonly onDead: (number: number) => void;
}

/** When a key was last used and when that was last written; wall clock, ms. */
export interface KeyUse {
  usedAtMs: number;
  writtenAtMs: number;
}

export class TenantMemory {
  readonly tenantId: TenantId;
  tenant: Tenant;
  readonly pages: SubjectPages;
  readonly namespaces: LazyTable<{ readonly createdAtMs: number }>;
  readonly keys: LazyTable<ApiKeyRecord>;
  readonly keyUses = new Map<KeyId, KeyUse>();
  readonly usage: TenantUsage;
  readonly grantCount = new GrantCount();
  /** Of a tenant that is being deleted, once the removal of what is no newer than the stamp has begun. */
  removal: (TenantDeletion & { readonly stamp: Stamp }) | undefined;
  /** By key. */
  readonly #handles = new Map<string, Set<HandleState>>();

  constructor(tenant: Tenant, dependencies: SubjectPagesDependencies) {
    const { store, clock, budget } = dependencies;
    this.tenantId = tenant.tenantId;
    this.tenant = tenant;
    this.pages = new SubjectPages(tenant.tenantId, dependencies);
    this.usage = new TenantUsage(budget);
    this.namespaces = new LazyTable(budget, async () => {
      const rows = await readFromStore(store.listNamespaces(tenant.tenantId, storeDeadline(clock)));
      return new Map(rows.map(({ name, createdAtMs }) => [name, { createdAtMs }]));
    });
    this.keys = new LazyTable(budget, async () => {
      const rows = await readFromStore(store.listKeys(tenant.tenantId, storeDeadline(clock)));
      return new Map(rows.map((key) => [key.keyId, key]));
    });
  }

  // ---- commits ----

  /** Takes in a committed change. Synchronous: no answer is given between its parts. */
  commit(change: Change, seq: number): void {
    switch (change.kind) {
      case 'grant-created':
      case 'grant-revoked': {
        const { subject, relation, object, grantId, createdAtMs } = change.grant;
        const facts = change.kind === 'grant-created' ? { grantId, createdAtMs } : null;
        this.pages.commit(subject, relationNumber(relation) ?? 0, object, facts, seq);
        return;
      }
      case 'namespace-created':
        this.namespaces.commit(change.name, { createdAtMs: change.createdAtMs }, seq);
        return;
      case 'key-created':
        this.keys.commit(change.key.keyId, change.key, seq);
        return;
      case 'key-revoked':
        this.keys.commit(change.key.keyId, null, seq);
        this.keyUses.delete(change.key.keyId);
        this.#killHandles(change.key.keyId);
        return;
      case 'tenant-created':
      case 'tenant-updated':
        this.tenant = change.tenant;
        this.#killHandles();
        return;
      default:
        assertNever(change);
    }
  }

  /** The state tables now hold every commit up to `seq`. */
  confirm(seq: number): void {
    this.pages.confirm(seq);
    this.namespaces.confirm(seq);
    this.keys.confirm(seq);
  }

  // ---- handles ----

  addHandle(handle: HandleState): void {
    const handles = this.#handles.get(handle.keyId);
    if (handles === undefined) this.#handles.set(handle.keyId, new Set([handle]));
    else handles.add(handle);
  }

  removeHandle(handle: HandleState): void {
    handle.dead = true;
    const handles = this.#handles.get(handle.keyId);
    if (handles?.delete(handle) && handles.size === 0) this.#handles.delete(handle.keyId);
  }

  /** Those of one key; of all without one. */
  #killHandles(keyId?: string): void {
    const killed = keyId === undefined ? this.#handles.values() : [this.#handles.get(keyId) ?? []];
    for (const handles of killed) {
      for (const handle of handles) {
        handle.dead = true;
        handle.onDead(handle.number);
      }
    }
    if (keyId === undefined) this.#handles.clear();
    else this.#handles.delete(keyId);
  }

  /** The tenure has ended: nothing of it is used again, and nothing that is still being read lands. */
  drop(): void {
    this.#killHandles();
    this.pages.drop();
    this.namespaces.drop();
    this.keys.drop();
    this.usage.drop();
  }
}
