// Tenant memory: what a tenure holds in memory of one tenant: its record, the pages of its subjects, its namespaces and
// keys, the handles given out. Every commit passes through `commit` here, in log order, in one synchronous step, and
// from that step on every answer shows it. Of a tenant that nobody asks about there is only the record and the count of
// its grants; the rest is made at the first use. Both count in the memory budget.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { assertNever } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { attributesOf } from '../../core/grant-attributes.ts';
import type { KeyId, TenantId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenants.ts';
import { relationNumber } from '../../core/tuples.ts';
import type { Stamp, StateStore } from '../../store/store.ts';
import type { Change } from '../log-changes.ts';
import type { TenantDeletion } from '../shard.ts';
import { readFromStore, storeDeadline, yieldTurn } from '../store-calls.ts';
import { GrantCount } from './grant-count.ts';
import { GrantPages, type GrantPagesDependencies } from './grant-pages.ts';
import { LazyTable } from './lazy-table.ts';
import { OBJECT_SIDE, SUBJECT_SIDE } from './page-side.ts';
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

/** A walk through the keys of a tenant. */
export interface KeySweep {
  /** Those revoked by then go; undefined: it has not begun. */
  readonly stamp: Stamp | undefined;
  readonly after: KeyId | undefined;
}

/** Rows of keys read at once: those of all tenants but few. */
const KEY_ROWS_PER_READ = 1000;
/** So many revocations are worth a walk, before a later load has to read past more of them. */
const REVOKED_KEYS_PER_SWEEP = 1000;
/** Subjects without a grant that are remembered. The others are found again. */
const EMPTY_SUBJECTS_MAX = 1000;

/**
 * What each tenant takes besides the texts of its record, and what one that has been asked about takes more (measured).
 */
const TENANT_BYTES = 420;
const USED_BYTES = 2600;

/** Made at the first use. */
interface UsedMemory {
  readonly pages: GrantPages;
  readonly objectPages: GrantPages;
  readonly namespaces: LazyTable<{ readonly createdAtMs: number }>;
  readonly keys: LazyTable<ApiKeyRecord>;
  readonly keyUses: Map<KeyId, KeyUse>;
  readonly usage: TenantUsage;
  /** By key. */
  readonly handles: Map<string, Set<HandleState>>;
}

export class TenantMemory {
  readonly tenantId: TenantId;
  tenant: Tenant;
  readonly grantCount = new GrantCount();
  /** Of a tenant that is being deleted, once the removal of what is no newer than the stamp has begun. */
  removal: (TenantDeletion & { readonly stamp: Stamp }) | undefined;
  /** Where the removal of revoked keys goes on; undefined: it is not worth while. */
  keySweep: KeySweep | undefined;
  /** Subjects that are listed and were found without a grant; undefined: none. */
  emptySubjects: Set<string> | undefined;
  #revokedKeys = 0;
  readonly #dependencies: GrantPagesDependencies;
  #used: UsedMemory | undefined;
  #heldBytes = 0;
  #dropped = false;

  constructor(tenant: Tenant, dependencies: GrantPagesDependencies) {
    this.tenantId = tenant.tenantId;
    this.tenant = tenant;
    this.#dependencies = dependencies;
    this.#hold(TENANT_BYTES + 2 * (tenant.name.length + tenant.plan.length));
  }

  // ---- what is made at the first use ----

  /** Whether the tenant has been asked about, or changed, in this tenure. */
  get isUsed(): boolean {
    return this.#used !== undefined;
  }

  get pages(): GrantPages {
    return (this.#used ?? this.#use()).pages;
  }

  /** Of grants by their objects. */
  get objectPages(): GrantPages {
    return (this.#used ?? this.#use()).objectPages;
  }

  get namespaces(): UsedMemory['namespaces'] {
    return (this.#used ?? this.#use()).namespaces;
  }

  get keys(): UsedMemory['keys'] {
    return (this.#used ?? this.#use()).keys;
  }

  get keyUses(): UsedMemory['keyUses'] {
    return (this.#used ?? this.#use()).keyUses;
  }

  get usage(): TenantUsage {
    return (this.#used ?? this.#use()).usage;
  }

  #use(): UsedMemory {
    const { tenantId } = this;
    const { store, clock, budget } = this.#dependencies;
    const used: UsedMemory = {
      pages: new GrantPages(tenantId, SUBJECT_SIDE, this.#dependencies),
      objectPages: new GrantPages(tenantId, OBJECT_SIDE, this.#dependencies),
      namespaces: new LazyTable(budget, async () => {
        const rows = await readFromStore(store.listNamespaces(tenantId, storeDeadline(clock)));
        return new Map(rows.map(({ name, createdAtMs }) => [name, { createdAtMs }]));
      }),
      keys: new LazyTable(budget, (onLong) => this.#readKeys(store, clock, onLong)),
      keyUses: new Map(),
      usage: new TenantUsage(budget),
      handles: new Map(),
    };
    this.#used = used;
    // A call that was waiting when the tenure ended finds it ended.
    if (this.#dropped) dropUsed(used);
    else this.#hold(USED_BYTES);
    return used;
  }

  /** Live ones are few; revoked ones, which are read past, may be any number until they are removed. */
  async #readKeys(store: StateStore, clock: Clock, onLong: () => void): Promise<ReadonlyMap<string, ApiKeyRecord>> {
    const rows = new Map<string, ApiKeyRecord>();
    let after: KeyId | undefined;
    do {
      const query = { tenantId: this.tenantId, limit: KEY_ROWS_PER_READ, ...(after === undefined ? {} : { after }) };
      const page = await readFromStore(store.listKeys(query, storeDeadline(clock)));
      for (const key of page.keys) rows.set(key.keyId, key);
      if (page.revoked.length > 0) this.keySweep ??= { stamp: undefined, after: undefined };
      after = page.next;
      if (after === undefined) break;
      onLong();
      await yieldTurn(clock);
    } while (!this.#dropped);
    return rows;
  }

  /** Gives `take` a key of the tenant, as it is at that moment; it must not wait for anything. */
  withKey<Result>(keyId: KeyId, take: (key: ApiKeyRecord | undefined) => Result): Promise<Result> {
    const { store, clock } = this.#dependencies;
    const readKey = () => readFromStore(store.readKey(this.tenantId, keyId, storeDeadline(clock)));
    return this.keys.withRow(keyId, readKey, take);
  }

  /** The subject is listed and has no grant: its row can go, if that is still so when it is looked at. */
  noteEmpty(subject: string): void {
    this.emptySubjects ??= new Set();
    if (this.emptySubjects.size < EMPTY_SUBJECTS_MAX) this.emptySubjects.add(subject);
  }

  /** Bytes in the budget that are never evicted. */
  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#dependencies.budget.hold(bytes);
  }

  // ---- commits ----

  /** Takes in a committed change. Synchronous: no answer is given between its parts. */
  commit(change: Change, seq: number): void {
    switch (change.kind) {
      case 'grant-created':
      case 'grant-revoked': {
        const { subject, relation, object } = change.grant;
        const facts = change.kind === 'grant-created' ? attributesOf(change.grant) : null;
        const number = relationNumber(relation) ?? 0;
        this.pages.commit(subject, number, object, facts, seq);
        this.objectPages.commit(object, number, subject, facts, seq);
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
        this.#used?.keyUses.delete(change.key.keyId);
        this.#killHandles(change.key.keyId);
        this.#revokedKeys += 1;
        if (this.#revokedKeys % REVOKED_KEYS_PER_SWEEP === 0) this.keySweep ??= { stamp: undefined, after: undefined };
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
    this.#used?.pages.confirm(seq);
    this.#used?.objectPages.confirm(seq);
    this.#used?.namespaces.confirm(seq);
    this.#used?.keys.confirm(seq);
  }

  // ---- handles ----

  addHandle(handle: HandleState): void {
    const { handles: byKey } = this.#used ?? this.#use();
    const handles = byKey.get(handle.keyId);
    if (handles === undefined) byKey.set(handle.keyId, new Set([handle]));
    else handles.add(handle);
  }

  removeHandle(handle: HandleState): void {
    handle.dead = true;
    const byKey = this.#used?.handles;
    const handles = byKey?.get(handle.keyId);
    if (handles?.delete(handle) && handles.size === 0) byKey?.delete(handle.keyId);
  }

  /** Those of one key; of all without one. */
  #killHandles(keyId?: string): void {
    const byKey = this.#used?.handles;
    if (byKey === undefined) return;
    const killed = keyId === undefined ? byKey.values() : [byKey.get(keyId) ?? []];
    for (const handles of killed) {
      for (const handle of handles) {
        handle.dead = true;
        handle.onDead(handle.number);
      }
    }
    if (keyId === undefined) byKey.clear();
    else byKey.delete(keyId);
  }

  /** The tenure has ended: nothing of it is used again, and nothing that is still being read lands. */
  drop(): void {
    this.#dropped = true;
    this.#killHandles();
    if (this.#used !== undefined) dropUsed(this.#used);
    this.#hold(-this.#heldBytes);
  }
}

function dropUsed({ pages, objectPages, namespaces, keys, usage }: UsedMemory): void {
  pages.drop();
  objectPages.drop();
  namespaces.drop();
  keys.drop();
  usage.drop();
}
