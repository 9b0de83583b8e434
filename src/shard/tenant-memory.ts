// Tenant memory: what a tenure holds in memory of one tenant: its record, the pages of its subjects, its namespaces and
// keys, the handles given out. Every commit passes through `commit` here, in log order, in one synchronous step, and
// from that step on every answer shows it.

import type { ApiKeyRecord } from '../core/api-keys.ts';
import { assert, assertNever } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import type { KeyId, TenantId } from '../core/ids.ts';
import type { Tenant } from '../core/tenants.ts';
import { TextMap } from '../core/text-map.ts';
import { relationNumber, relationOf } from '../core/tuples.ts';
import type { Stamp, StateStore } from '../store/store.ts';
import type { Change } from './changes.ts';
import { GrantCount } from './grant-count.ts';
import { LazyTable } from './lazy-table.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { TenantDeletion } from './shard.ts';
import { readFromStore, storeDeadline } from './store-calls.ts';
import { type SubjectDelta, SubjectDeltas } from './subject-deltas.ts';
import { type GrantFacts, SubjectPage } from './subject-page.ts';
import { TenantUsage } from './tenant-usage.ts';

export interface TenantMemoryDependencies {
  readonly store: StateStore;
  readonly clock: Clock;
  readonly budget: MemoryBudget;
  /** Rows of a subject up to which its page is held whole. */
  readonly subjectRowsMax: number;
}

/** A handle as its owner keeps it. Dead ones are refused at their next use. */
export interface HandleState {
  readonly keyId: string;
  dead: boolean;
}

/** When a key was last used and when that was last written; wall clock, ms. */
export interface KeyUse {
  usedAtMs: number;
  writtenAtMs: number;
}

interface PageLoad {
  readonly done: Promise<SubjectPage>;
  pins: number;
}

/** A string of a request may share the memory of the whole message it came in, which a page must not keep. */
const copyOf = (text: string): string => Buffer.from(text).toString();

export class TenantMemory {
  readonly tenantId: TenantId;
  tenant: Tenant;
  readonly pages = new TextMap<SubjectPage>();
  readonly namespaces: LazyTable<{ readonly createdAtMs: number }>;
  readonly keys: LazyTable<ApiKeyRecord>;
  readonly keyUses = new Map<KeyId, KeyUse>();
  readonly usage: TenantUsage;
  readonly grantCount = new GrantCount();
  /** Of a tenant that is being deleted, once the removal of what is no newer than the stamp has begun. */
  removal: (TenantDeletion & { readonly stamp: Stamp }) | undefined;
  readonly #deltas = new SubjectDeltas();
  readonly #loads = new Map<string, PageLoad>();
  /** Pages that have outgrown their bound while they were relied upon. */
  readonly #detached = new Map<string, Set<SubjectPage>>();
  readonly #tupleReads = new Map<string, Promise<void>>();
  readonly #handles = new Set<HandleState>();
  readonly #dependencies: TenantMemoryDependencies;
  /** One for all pages: there may be millions. */
  readonly #forget = (page: SubjectPage): void => {
    this.pages.delete(page.subject);
  };
  #dropped = false;

  constructor(tenant: Tenant, dependencies: TenantMemoryDependencies) {
    const { store, clock, budget } = dependencies;
    this.tenantId = tenant.tenantId;
    this.tenant = tenant;
    this.#dependencies = dependencies;
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

  // ---- pages ----

  /** The page of a subject, pinned, where it is in memory. */
  pinLoaded(subject: string): SubjectPage | undefined {
    const page = this.pages.get(subject);
    if (page !== undefined) {
      page.pins += 1;
      page.referenced = true;
    }
    return page;
  }

  /** The page of a subject, pinned; read once however many wait for it. */
  async pinPage(subject: string): Promise<SubjectPage> {
    const loaded = this.pinLoaded(subject);
    if (loaded !== undefined) return loaded;
    let load = this.#loads.get(subject);
    if (load === undefined) {
      const kept = copyOf(subject);
      load = { done: this.#loadPage(kept), pins: 0 };
      this.#loads.set(kept, load);
    }
    load.pins += 1;
    return load.done;
  }

  unpinPage(page: SubjectPage): void {
    page.pins -= 1;
    assert(page.pins >= 0, 'every unpin has its pin');
    if (page.pins > 0) return;
    const { budget, subjectRowsMax } = this.#dependencies;
    const detached = this.#detached.get(page.subject);
    if (detached?.delete(page)) {
      if (detached.size === 0) this.#detached.delete(page.subject);
      budget.remove(page);
    } else if (!page.whole) {
      page.trim(subjectRowsMax);
      budget.resize(page, page.estimate);
    } else if (page.tuples > subjectRowsMax) {
      this.#dropPage(page);
    }
  }

  /** Makes a pinned page know the tuple. */
  async learn(page: SubjectPage, relation: number, object: string): Promise<void> {
    while (page.holds(relation, object) === undefined) {
      const unconfirmed = this.#deltas.find(page.subject, relation, object);
      if (unconfirmed !== undefined) {
        page.set(relation, copyOf(object), unconfirmed.facts);
        this.#resize(page);
        return;
      }
      const key = `${page.subject} ${relation} ${object}`;
      let read = this.#tupleReads.get(key);
      if (read === undefined) {
        read = this.#readTuple(page, relation, copyOf(object), key);
        this.#tupleReads.set(key, read);
      }
      await read;
    }
  }

  openDelta(subject: string): SubjectDelta {
    return this.#deltas.open(subject);
  }

  closeDelta(delta: SubjectDelta): void {
    this.#deltas.close(delta);
  }

  unconfirmedSubjects(): ReadonlySet<string> {
    return this.#deltas.subjects();
  }

  async #loadPage(subject: string): Promise<SubjectPage> {
    const { store, clock, budget, subjectRowsMax } = this.#dependencies;
    const delta = this.#deltas.open(subject);
    try {
      const { grants, next } = await readFromStore(
        store.listGrants({ tenantId: this.tenantId, subject, limit: subjectRowsMax }, storeDeadline(clock)),
      );
      const page = this.#createPage(subject, next === undefined);
      if (page.whole) {
        for (const { relation, object, grantId, createdAtMs } of grants) {
          page.set(relationNumber(relation) ?? 0, object, { grantId, createdAtMs });
        }
      }
      for (const { relation, object, facts } of delta.changes()) page.set(relation, object, facts);
      page.pins = this.#loads.get(subject)?.pins ?? 0;
      if (!this.#dropped) {
        this.pages.set(subject, page);
        budget.add(page, page.estimate);
      }
      return page;
    } finally {
      this.#loads.delete(subject);
      this.#deltas.close(delta);
    }
  }

  /** Its delta is the page itself: while it is pinned, every commit to the subject is told to it. */
  async #readTuple(page: SubjectPage, relation: number, object: string, key: string): Promise<void> {
    const { store, clock } = this.#dependencies;
    try {
      const name = relationOf(relation);
      assert(name !== undefined, 'a relation has a wire number');
      const row = await readFromStore(store.readGrant(this.tenantId, page.subject, name, object, storeDeadline(clock)));
      // A commit that came meanwhile is newer than the row.
      if (page.holds(relation, object) !== undefined) return;
      page.set(relation, object, row === undefined ? null : { grantId: row.grantId, createdAtMs: row.createdAtMs });
      this.#resize(page);
    } finally {
      this.#tupleReads.delete(key);
    }
  }

  #createPage(subject: string, whole: boolean): SubjectPage {
    return new SubjectPage(subject, whole, this.#forget);
  }

  /**
   * A page has changed. One that outgrows its bound while somebody always relies on it is detached: it is kept current for
   * those who hold it and ends with the last of them, and an empty sparse page takes its place.
   */
  #resize(page: SubjectPage): void {
    const { budget, subjectRowsMax } = this.#dependencies;
    budget.resize(page, page.estimate);
    if (page.pins === 0 || page.tuples <= 2 * subjectRowsMax || this.pages.get(page.subject) !== page) return;
    const detached = this.#detached.get(page.subject);
    if (detached === undefined) this.#detached.set(page.subject, new Set([page]));
    else detached.add(page);
    const sparse = this.#createPage(page.subject, false);
    this.pages.set(page.subject, sparse);
    budget.add(sparse, sparse.estimate);
  }

  // ---- commits ----

  /** Takes in a committed change. Synchronous: no answer is given between its parts. */
  commit(change: Change, seq: number): void {
    switch (change.kind) {
      case 'grant-created':
      case 'grant-revoked': {
        const { subject, relation, object, grantId, createdAtMs } = change.grant;
        this.#commitGrant(
          subject,
          relationNumber(relation) ?? 0,
          object,
          change.kind === 'grant-created' ? { grantId, createdAtMs } : null,
          seq,
        );
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
        this.#killHandles((handle) => handle.keyId === change.key.keyId);
        return;
      case 'tenant-created':
      case 'tenant-updated':
        this.tenant = change.tenant;
        this.#killHandles(() => true);
        return;
      default:
        assertNever(change);
    }
  }

  #commitGrant(subject: string, relation: number, object: string, facts: GrantFacts | null, seq: number): void {
    this.#deltas.commit(subject, { relation, object, facts }, seq);
    // The detached first: the current one may be detached by the very change.
    for (const page of this.#detached.get(subject) ?? []) {
      page.set(relation, object, facts);
      this.#resize(page);
    }
    const page = this.pages.get(subject);
    if (page === undefined) return;
    page.set(relation, object, facts);
    this.#resize(page);
  }

  /** Grown beyond what is held whole: it is read again, sparse, when it is asked for. */
  #dropPage(page: SubjectPage): void {
    if (this.pages.get(page.subject) !== page) return;
    this.pages.delete(page.subject);
    this.#dependencies.budget.remove(page);
  }

  /** The state tables now hold every commit up to `seq`. */
  confirm(seq: number): void {
    this.#deltas.confirm(seq);
    this.namespaces.confirm(seq);
    this.keys.confirm(seq);
  }

  // ---- handles ----

  addHandle(handle: HandleState): void {
    this.#handles.add(handle);
  }

  removeHandle(handle: HandleState): void {
    handle.dead = true;
    this.#handles.delete(handle);
  }

  #killHandles(which: (handle: HandleState) => boolean): void {
    for (const handle of this.#handles) if (which(handle)) this.removeHandle(handle);
  }

  /** The tenure has ended: nothing of it is used again, and nothing that is still being read lands. */
  drop(): void {
    this.#dropped = true;
    this.#killHandles(() => true);
    for (const page of this.pages.values()) this.#dependencies.budget.remove(page);
    this.pages.clear();
    for (const detached of this.#detached.values()) for (const page of detached) this.#dependencies.budget.remove(page);
    this.#detached.clear();
    this.namespaces.drop();
    this.keys.drop();
    this.usage.drop();
  }
}
