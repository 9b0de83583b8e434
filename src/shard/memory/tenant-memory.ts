// The memory of one tenant at the owner of its slot: its record, the pages of its subjects, its namespaces and keys,
// the handles issued to fronts. Invariant: every commit passes through `commit`, in log order, in one synchronous step,
// and every later reply reflects it. An unused tenant has only its record and the count of its grants; the rest is
// created at its first use. Both count towards the memory budget.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { turnOf } from '../../core/async/turns.ts';
import type { FeedPlace } from '../../core/change-feed.ts';
import { attributesOf } from '../../core/grant-attributes.ts';
import { type KeyId, keyIdBefore, type TenantId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenants.ts';
import { columnsBy, EVERY_SUBJECT, namespaceOf, type Relation, type Tuple } from '../../core/tuples.ts';
import type { Stamp, StateReads } from '../../store/store.ts';
import {
  type Change,
  type ChangeOrigin,
  endsGrant,
  type GrantChange,
  isGrantChange,
  type StateSetting,
  settingsOf,
} from '../log-changes.ts';
import type { TenantDeletion } from '../shard.ts';
import { readFromStore, storeDeadline, yieldTurn } from '../store-calls.ts';
import { AnswerCache } from './answer-cache.ts';
import { GrantCount } from './grant-count.ts';
import { type EntityFilter, GrantPages, type GrantPagesDependencies, type HeldTuples } from './grant-pages.ts';
import { LazyTable } from './lazy-table.ts';
import type { ReaderLimits } from './limits.ts';
import { OBJECT_SIDE, type PageSide, SUBJECT_SIDE } from './page-side.ts';
import { RecentChanges, RecentCommits } from './recent-items.ts';
import { RelationNumbers } from './relation-numbers.ts';
import { SubjectFilter } from './subject-filter.ts';
import { SubjectNamespaces } from './subject-namespaces.ts';
import { TenantProblems } from './tenant-problems.ts';
import { TenantRules } from './tenant-rules.ts';
import { TenantUsage } from './tenant-usage.ts';
import { TouchedRelations } from './touched-relations.ts';

/** When a key was last used; and when that was last written at its owner, or the use that a reader has told; ms. */
export interface KeyUse {
  usedAtMs: number;
  writtenAtMs: number;
  /** Whether `DueTenants.usedKeys` has its tenant because of this key. */
  listed: boolean;
}

/**
 * The tenants of a tenure that its maintenance or the metrics have to visit, among very many that they do not. The
 * memory of a tenant enters them itself.
 */
export class DueTenants {
  readonly deleting = new Set<TenantMemory>();
  /** With keys that were used since their use was last written. */
  readonly usedKeys = new Set<TenantMemory>();
  /** With reported usage that was not stored when they entered. */
  readonly reportedUsage = new Set<TenantMemory>();
  /** With rows of keys or subjects that may be removed. */
  readonly obsoleteRows = new Set<TenantMemory>();
  /** Whose changes or commits were followed, and are kept. */
  readonly followed = new Set<TenantMemory>();
  readonly #all = [this.deleting, this.usedKeys, this.reportedUsage, this.obsoleteRows, this.followed];

  delete(memory: TenantMemory): void {
    for (const tenants of this.#all) tenants.delete(memory);
  }
}

/** Whether a watched grant has changed. */
export interface GrantWatch extends Disposable {
  readonly changed: boolean;
}

/** A walk through the keys of a tenant. */
export interface KeySweep {
  /** Removes keys revoked up to this stamp; undefined: the walk has not begun. */
  readonly stamp: Stamp | undefined;
  readonly after: KeyId | undefined;
}

/** Rows of keys per read: all keys of almost every tenant. */
const KEY_ROWS_PER_READ = 1000;
/** After this many revocations a walk is worth its cost: a later load then has fewer rows to skip. */
const REVOKED_KEYS_PER_SWEEP = 1000;
/** Subjects without a grant that are remembered. Others are found again. */
const EMPTY_SUBJECTS_MAX = 1000;

/** Bytes of every tenant without the strings of its record, and additional bytes of a tenant in use (measured). */
const TENANT_BYTES = 444;
const USED_BYTES = 2100;
/** Additional bytes of the pages of its objects, without the pages themselves. */
const OBJECT_PAGES_BYTES = 1600;
/** What the compilation of a condition may take. */
const COMPILE_MS = 10;
/** Additional bytes of the object that holds its rules, without the rules themselves (measured). */
const RULES_BYTES = 1300;
/** Estimated bytes of a grant in memory, and the divisor of the budget for a tenant that is read whole. */
const GRANT_BYTES = 400;
const WHOLE_TENANT_SHARE = 16;
/** Additional bytes of the filter of its subjects, without its bits. */
const FILTER_BYTES = 700;

/** Additional bytes of the cache of its answers under rules, without the answers. */
const ANSWERS_BYTES = 700;
/** Of the problems, without those that it remembers. */
const PROBLEMS_BYTES = 300;
/** Of what was touched, and of the namespaces of subjects, without what they have. */
const TOUCHED_BYTES = 300;
const NAMESPACES_BYTES = 300;

export interface TenantMemoryDependencies extends GrantPagesDependencies {
  /** Resolves when the state tables contain every commit so far. */
  readonly applied: () => Promise<void>;
  /** Undefined: nobody maintains the tenant here. */
  readonly due?: DueTenants | undefined;
  /** Default: `READER_LIMITS`. */
  readonly readerLimits?: ReaderLimits | undefined;
}

/** Created at the first use. */
interface UsedMemory {
  /** For a part that grows. */
  readonly holdMore: (bytes: number) => void;
  readonly relations: RelationNumbers;
  readonly pages: GrantPages;
  /** Created at the first commit or listing by object: most tenants are only checked. */
  objectPages: GrantPages | undefined;
  readonly namespaces: LazyTable<{ readonly createdAtMs: number }>;
  readonly keys: LazyTable<ApiKeyRecord>;
  /** Created at their first use: most tenants have none. */
  rules: TenantRules | undefined;
  /** The same. */
  subjects: SubjectFilter | undefined;
  /** The same. */
  answers: AnswerCache | undefined;
  /** The same. */
  touched: TouchedRelations | undefined;
  /** The same. */
  subjectNamespaces: SubjectNamespaces | undefined;
  /** Set while the change feed has followers. */
  recentChanges: RecentChanges | undefined;
  /** Set while the tenant has readers. */
  recentCommits: RecentCommits | undefined;
  readonly keyUses: Map<KeyId, KeyUse>;
  readonly usage: TenantUsage;
  /** Created at the first problem: no request of most tenants meets one. */
  problems: TenantProblems | undefined;
  readonly handles: IssuedHandles;
}

export class TenantMemory implements EntityFilter {
  readonly tenantId: TenantId;
  /** Whether the tenant has rules, and the pages of its subjects: what each check reads is here, in one object. */
  #isRuled: boolean;
  #pages: GrantPages | undefined;
  #tenant: Tenant;
  readonly grantCount = new GrantCount();
  /** Set on a tenant that is being deleted, once the removal of rows up to the stamp has begun. */
  removal: (TenantDeletion & { readonly stamp: Stamp }) | undefined;
  /** Listed subjects that were found without a grant; undefined: none. */
  emptySubjects: Set<string> | undefined;
  /**
   * The earliest expiry of a grant that is not collected; only collection moves it on. Undefined: no grant of the
   * tenant ever had an expiry.
   */
  nextExpiryMs: number | undefined;
  /** The same for the grants that collection is working on. */
  collectingMs = Number.POSITIVE_INFINITY;
  /** No live key ends before this. Undefined: nobody has looked (log/time-repair.ts). */
  keysEndMs: number | undefined;
  #keySweep: KeySweep | undefined;
  #revokedKeys = 0;
  #committedSeq = 0;
  /** By evaluations that take several steps. */
  #watches: Set<(change?: GrantChange) => void> | undefined;
  readonly #dependencies: TenantMemoryDependencies;
  readonly #isNew: boolean;
  #used: UsedMemory | undefined;
  #heldBytes = 0;
  #dropped = false;

  /** `isNew`: it has had no grant so far. */
  constructor(tenant: Tenant, isNew: boolean, dependencies: TenantMemoryDependencies) {
    this.tenantId = tenant.tenantId;
    this.#tenant = tenant;
    this.#isRuled = tenant.rulesRevision !== undefined;
    this.#isNew = isNew;
    this.#dependencies = dependencies;
    if (tenant.state === 'deleting') dependencies.due?.deleting.add(this);
    this.#hold(TENANT_BYTES + 2 * (tenant.name.length + tenant.plan.length));
  }

  get tenant(): Tenant {
    return this.#tenant;
  }

  get isRuled(): boolean {
    return this.#isRuled;
  }

  // ---- created at the first use ----

  /** Whether this tenure has had a request for the tenant, or a change by it. */
  get isUsed(): boolean {
    return this.#used !== undefined;
  }

  get pages(): GrantPages {
    return this.#pages ?? this.#use().pages;
  }

  get relations(): RelationNumbers {
    return (this.#used ?? this.#use()).relations;
  }

  /** The pages of its objects. */
  get objectPages(): GrantPages {
    const used = this.#used ?? this.#use();
    used.objectPages ??= this.#created(
      new GrantPages(this.tenantId, OBJECT_SIDE, used.relations, this.#dependencies),
      OBJECT_PAGES_BYTES,
    );
    return used.objectPages;
  }

  /** The pages of both sides that there are. */
  get sidesInUse(): readonly (readonly [PageSide['name'], GrantPages])[] {
    const { pages, objectPages } = this.#used ?? {};
    return [
      ...(pages ? [['subject', pages] as const] : []),
      ...(objectPages ? [['object', objectPages] as const] : []),
    ];
  }

  pagesOf(side: PageSide['name']): GrantPages {
    return side === 'subject' ? this.pages : this.objectPages;
  }

  /**
   * Loads the tuples of a write, in their order, and keeps them current until they are disposed of: of states by their
   * objects, since all of them have the same subject. Their relations must be declared. Rejects with `overloaded`.
   */
  async holdGrants(tuples: readonly Tuple[]): Promise<HeldTuples> {
    const numberOf = (relation: Relation): number => this.relations.of(relation);
    const isOfState = ({ subject }: Tuple): boolean => subject === EVERY_SUBJECT;
    const states = tuples.filter(isOfState);
    if (states.length === 0) return this.pages.holdAll(columnsBy(tuples, numberOf));
    using held = new DisposableStack();
    const others = columnsBy(
      tuples.filter((tuple) => !isOfState(tuple)),
      numberOf,
    );
    const ofOthers = held.use(await this.pages.holdAll(others)).tuples.values();
    const { subjects, relations, objects } = columnsBy(states, numberOf);
    const byObject = { subjects: objects, relations, objects: subjects };
    const ofStates = held.use(await this.objectPages.holdAll(byObject)).tuples.values();
    const aligned = tuples.flatMap((tuple) => (isOfState(tuple) ? ofStates : ofOthers).next().value ?? []);
    return Object.assign(held.move(), { tuples: aligned });
  }

  get namespaces(): UsedMemory['namespaces'] {
    return (this.#used ?? this.#use()).namespaces;
  }

  get keys(): UsedMemory['keys'] {
    return (this.#used ?? this.#use()).keys;
  }

  /** Reads what calls need first ahead of them: its keys, and its rules if it has any. Never rejects. */
  async loadSettings(): Promise<void> {
    const pins = await Promise.allSettled([this.keys.pin(), this.isRuled ? this.rules.pin() : undefined]);
    for (const pin of pins) if (pin.status === 'fulfilled') pin.value?.[Symbol.dispose]();
  }

  /** Its rules. A tenant whose record names no revision has none. */
  get rules(): TenantRules {
    const used = this.#used ?? this.#use();
    if (used.rules === undefined) {
      const { tenantId } = this;
      const { store, clock, budget } = this.#dependencies;
      const readText = () =>
        readFromStore(store.readRules(tenantId, this.tenant.rulesVersion ?? 0, storeDeadline(clock)));
      const revision = () => this.tenant.rulesRevision;
      const numberOf = (relation: Relation) => used.relations.of(relation);
      const turn = () => turnOf(budget.turns, tenantId, COMPILE_MS);
      used.rules = this.#created(new TenantRules(budget, revision, readText, numberOf, turn), RULES_BYTES);
    }
    return used.rules;
  }

  /** Which subjects may have grants. */
  get subjects(): SubjectFilter {
    const used = this.#used ?? this.#use();
    used.subjects ??= this.#created(
      new SubjectFilter(this.tenantId, this.#isNew, (some) => this.#preload(some), this.#dependencies),
      FILTER_BYTES,
    );
    return used.subjects;
  }

  /** A tenant that is small enough is read whole, ahead of calls: 40,000 grants with a budget of 256 MiB. */
  async #preload(subjects: readonly string[]): Promise<void> {
    const { bytesMax } = this.#dependencies.budget;
    if (this.grantCount.grants * GRANT_BYTES > bytesMax / WHOLE_TENANT_SHARE) return;
    await this.pages.preload(subjects);
  }

  lacks(subject: string): boolean {
    return this.#used?.subjects?.mayHave(subject) === false;
  }

  countRead(): void {
    this.subjects.countRead(this.grantCount.grants);
  }

  /** Answers under its rules, as of the last commit. */
  get answers(): AnswerCache {
    const used = this.#used ?? this.#use();
    used.answers ??= this.#created(new AnswerCache(this.#dependencies.budget), ANSWERS_BYTES);
    return used.answers;
  }

  /** What commits have touched. `begunSeq`: of the entry with which this memory began. */
  touchedFrom(begunSeq: number): TouchedRelations {
    const used = this.#used ?? this.#use();
    const floor = Math.max(begunSeq, this.#committedSeq);
    used.touched ??= this.#created(new TouchedRelations(floor, used.holdMore), TOUCHED_BYTES);
    return used.touched;
  }

  /** Which namespaces the subjects of its grants have. */
  get subjectNamespaces(): SubjectNamespaces {
    const used = this.#used ?? this.#use();
    used.subjectNamespaces ??= this.#created(
      new SubjectNamespaces(this.tenantId, used.holdMore, this.#dependencies),
      NAMESPACES_BYTES,
    );
    return used.subjectNamespaces;
  }

  get keyUses(): UsedMemory['keyUses'] {
    return (this.#used ?? this.#use()).keyUses;
  }

  /** A call has used the key then. */
  noteUse(keyId: KeyId, usedAtMs: number): KeyUse {
    const { keyUses } = this;
    let use = keyUses.get(keyId);
    if (use === undefined) {
      use = { usedAtMs, writtenAtMs: 0, listed: false };
      keyUses.set(keyId, use);
    }
    use.usedAtMs = Math.max(use.usedAtMs, usedAtMs);
    if (!use.listed) this.listUse(use);
    return use;
  }

  /** A key was used whose use is not listed. */
  listUse(use: KeyUse): void {
    use.listed = true;
    this.#dependencies.due?.usedKeys.add(this);
  }

  /** A front has reported requests. `nowMs`: wall clock. */
  addUsage(report: Parameters<TenantUsage['add']>[0], nowMs: number): void {
    this.usage.add(report, nowMs, this.tenant.plan, this.#dependencies.clock.monotonicMs());
    this.#dependencies.due?.reportedUsage.add(this);
  }

  /** A front has reported names that were asked about. `nowMs`: wall clock. */
  addAsked(names: readonly string[], nowMs: number): void {
    // Without rules, there are no names but the built-in relations.
    if (this.tenant.rulesRevision === undefined) return;
    this.usage.noteAsked(names, nowMs, this.rules.ready?.names, this.#dependencies.clock.monotonicMs());
    this.#dependencies.due?.reportedUsage.add(this);
  }

  get usage(): TenantUsage {
    return (this.#used ?? this.#use()).usage;
  }

  /** Undefined: none is known. */
  get knownProblems(): TenantProblems | undefined {
    return this.#used?.problems;
  }

  get problems(): TenantProblems {
    const used = this.#used ?? this.#use();
    used.problems ??= this.#created(new TenantProblems(this.#dependencies.budget), PROBLEMS_BYTES);
    return used.problems;
  }

  /** Counts a new part. A call that was waiting when the tenure ended gets it dropped. */
  #created<Part extends { drop(): void }>(part: Part, bytes: number): Part {
    if (this.#dropped) part.drop();
    else this.#hold(bytes);
    return part;
  }

  #use(): UsedMemory {
    const { tenantId } = this;
    const { store, clock, budget } = this.#dependencies;
    const holdMore = (bytes: number): void => {
      if (!this.#dropped) this.#hold(bytes);
    };
    const relations = new RelationNumbers(holdMore);
    const used: UsedMemory = {
      holdMore,
      relations,
      pages: new GrantPages(tenantId, SUBJECT_SIDE, relations, this.#dependencies, this),
      objectPages: undefined,
      namespaces: new LazyTable(budget, async () => {
        const rows = await readFromStore(store.listNamespaces(tenantId, storeDeadline(clock)));
        return new Map(rows.map(({ name, createdAtMs }) => [name, { createdAtMs }]));
      }),
      keys: new LazyTable(budget, (onLong) => this.#readKeys(store, clock, onLong)),
      rules: undefined,
      subjects: undefined,
      answers: undefined,
      touched: undefined,
      subjectNamespaces: undefined,
      recentChanges: undefined,
      recentCommits: undefined,
      keyUses: new Map(),
      usage: new TenantUsage(budget),
      problems: undefined,
      handles: new IssuedHandles(),
    };
    this.#used = used;
    this.#pages = used.pages;
    if (this.#dropped) dropUsed(used);
    else this.#hold(USED_BYTES);
    return used;
  }

  /** Live keys are few; revoked ones have to be skipped and may be any number until they are removed. */
  async #readKeys(store: StateReads, clock: Clock, onLong: () => void): Promise<ReadonlyMap<string, ApiKeyRecord>> {
    const rows = new Map<string, ApiKeyRecord>();
    let after: KeyId | undefined;
    do {
      const query = { tenantId: this.tenantId, limit: KEY_ROWS_PER_READ, ...(after === undefined ? {} : { after }) };
      const page = await readFromStore(store.listKeys(query, storeDeadline(clock)));
      for (const key of page.keys) rows.set(key.keyId, key);
      if (page.revoked.length > 0) this.#sweepKeys();
      after = page.next;
      if (after === undefined) break;
      onLong();
      await yieldTurn(clock);
    } while (!this.#dropped);
    return rows;
  }

  get recentChanges(): RecentChanges | undefined {
    return this.#used?.recentChanges;
  }

  /** The changes from now on, for a call that follows them. `seq`: of the last entry of the log. */
  followChanges(seq: number): RecentChanges {
    const used = this.#used ?? this.#use();
    if (used.recentChanges === undefined) {
      const { budget, clock, readerLimits } = this.#dependencies;
      used.recentChanges = this.#created(new RecentChanges(budget, clock, seq, readerLimits), 0);
      this.#dependencies.due?.followed.add(this);
    }
    used.recentChanges.asked();
    return used.recentChanges;
  }

  /** What fronts keep of the tenant with its handles has changed. */
  settingsChanged(): void {
    this.#used?.handles.tell();
  }

  /** Its tenure has ended, or all of its data was removed. */
  get dropped(): boolean {
    return this.#dropped;
  }

  /** Whether other shards read for the tenant. */
  get followed(): boolean {
    return this.#used?.recentCommits?.followed === true;
  }

  /** The commits from now on, for readers. `seq`: of the last entry of the log. */
  keepCommits(seq: number): RecentCommits {
    const used = this.#used ?? this.#use();
    const { budget, clock, readerLimits } = this.#dependencies;
    if (used.recentCommits === undefined) {
      used.recentCommits = this.#created(new RecentCommits(budget, clock, seq, readerLimits), 0);
      this.#dependencies.due?.followed.add(this);
    }
    return used.recentCommits;
  }

  /** Calls `take` with a key of the tenant, current at that moment; `take` must be synchronous. */
  withKey<Result>(keyId: KeyId, take: (key: ApiKeyRecord | undefined) => Result): Promise<Result> {
    const { store, clock } = this.#dependencies;
    const readKey = () => readFromStore(store.readKey(this.tenantId, keyId, storeDeadline(clock)));
    return this.keys.withRow(keyId, readKey, take);
  }

  /** Whether state has the row of a key as revoked. Such rows are removed once the log no longer needs them. */
  async hasRevoked(keyId: KeyId): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const query = { tenantId: this.tenantId, after: keyIdBefore(keyId), limit: 1 };
    const { revoked } = await readFromStore(store.listKeys(query, storeDeadline(clock)));
    return revoked.includes(keyId);
  }

  /** The subject is listed but has no grant: its row can be removed, if that is still true then. */
  noteEmpty(subject: string): void {
    this.emptySubjects ??= new Set();
    this.#dependencies.due?.obsoleteRows.add(this);
    if (this.emptySubjects.size < EMPTY_SUBJECTS_MAX) this.emptySubjects.add(subject);
  }

  /** Where the removal of revoked keys continues; undefined: it is not worthwhile. */
  get keySweep(): KeySweep | undefined {
    return this.#keySweep;
  }

  set keySweep(sweep: KeySweep | undefined) {
    this.#keySweep = sweep;
    if (sweep !== undefined) this.#dependencies.due?.obsoleteRows.add(this);
  }

  #sweepKeys(): void {
    this.keySweep ??= { stamp: undefined, after: undefined };
  }

  /** Bytes in the budget that are never evicted. */
  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#dependencies.budget.hold(bytes);
  }

  /** Watches the commits from now on. `restsOn`: whether a grant of the subject on the object is relevant. */
  watchGrants(restsOn: (subject: string, object: string) => boolean): GrantWatch {
    let changed = false;
    // Other rules change everything.
    const following = this.#follow((change) => {
      changed ||= change === undefined || restsOn(change.grant.subject, change.grant.object);
    });
    return {
      get changed() {
        return changed;
      },
      [Symbol.dispose]: () => following[Symbol.dispose](),
    };
  }

  /** Calls back with every change of a grant that is committed from now on. */
  followGrants(follow: (change: GrantChange) => void): Disposable {
    return this.#follow((change) => {
      if (change !== undefined) follow(change);
    });
  }

  /** Without a change: the rules have changed. */
  #follow(watch: (change?: GrantChange) => void): Disposable {
    const watches = this.#watches ?? new Set();
    this.#watches = watches.add(watch);
    return { [Symbol.dispose]: () => void watches.delete(watch) };
  }

  // ---- commits ----

  /** No expired grant has waited since before this to be collected. */
  get uncollectedMs(): number {
    return Math.min(this.nextExpiryMs ?? Number.POSITIVE_INFINITY, this.collectingMs);
  }

  /** A grant may expire at this time. */
  expect(expiresAtMs: number): void {
    this.nextExpiryMs = Math.min(this.nextExpiryMs ?? expiresAtMs, expiresAtMs);
  }

  /**
   * Applies a committed change. Synchronous: no request is answered between its parts. Returns whether the row of the
   * count must be written with the entry.
   */
  commit(change: Change, seq: number): boolean {
    assert(seq >= this.#committedSeq, 'the commits of a tenant are applied in the order of the log, each once');
    this.#committedSeq = seq;
    if (isGrantChange(change)) {
      this.#commitGrant(change, seq);
      return this.grantCount.commit(change, seq);
    }
    const before = this.tenant;
    for (const setting of settingsOf(change)) this.#set(setting, seq);
    if (change.kind === 'tenant-updated') this.#tellUpdate(before);
    return change.kind === 'tenant-created';
  }

  #tellUpdate(before: Tenant): void {
    const { state, plan, readers } = this.tenant;
    // No request is served under a handle that was issued before the tenant was suspended or deleted.
    if (state !== before.state) this.#used?.handles.kill();
    else if (plan !== before.plan || readers !== before.readers) this.settingsChanged();
  }

  #commitGrant(change: GrantChange, seq: number): void {
    const { subject, relation, object } = change.grant;
    const facts = endsGrant(change) ? null : attributesOf(change.grant);
    const number = this.relations.of(relation);
    this.pages.commit(subject, number, object, facts, seq);
    if (facts !== null) {
      (this.#isNew ? this.subjects : this.#used?.subjects)?.add(subject);
      this.#used?.subjectNamespaces?.add(subject);
    }
    this.objectPages.commit(object, number, subject, facts, seq);
    this.#used?.answers?.commit(subject, number, object);
    this.#used?.touched?.commit(namespaceOf(object), relation, seq);
    if (facts?.expiresAtMs !== undefined) this.expect(facts.expiresAtMs);
    for (const watch of this.#watches ?? []) watch(change);
  }

  #set(setting: StateSetting, seq: number): void {
    switch (setting.kind) {
      case 'namespace':
        this.namespaces.commit(setting.name, { createdAtMs: setting.createdAtMs }, seq);
        break;
      case 'key':
        this.#setKey(setting.key, setting.tombstone, seq);
        break;
      case 'tenant':
        this.#tenant = setting.tenant;
        this.#isRuled = setting.tenant.rulesRevision !== undefined;
        if (this.tenant.state === 'deleting') this.#dependencies.due?.deleting.add(this);
        break;
      case 'rules':
        this.rules.commit(setting.rules, seq);
        this.#used?.answers?.clear();
        for (const watch of this.#watches ?? []) watch();
        break;
    }
  }

  /** Invalidates the handles of the key, since fronts have cached its end with them. */
  #setKey(key: ApiKeyRecord, revoked: boolean, seq: number): void {
    const { keyId, expiresAtMs = Number.POSITIVE_INFINITY } = key;
    this.keys.commit(keyId, revoked ? null : key, seq);
    this.#used?.handles.kill(keyId);
    if (!revoked) {
      if (this.keysEndMs !== undefined) this.keysEndMs = Math.min(this.keysEndMs, expiresAtMs);
      return;
    }
    this.#used?.keyUses.delete(keyId);
    this.#revokedKeys += 1;
    if (this.#revokedKeys % REVOKED_KEYS_PER_SWEEP === 0) this.#sweepKeys();
  }

  /** Publishes an operation to the followers of the change feed, once all of its entry is committed. */
  publish(changes: readonly Change[], origin: ChangeOrigin, place: FeedPlace & { readonly timeMs: number }): void {
    const used = this.#used;
    const { recentChanges, recentCommits } = used ?? {};
    if (used === undefined || (recentChanges === undefined && recentCommits === undefined)) return;
    if (recentChanges?.followed === true) recentChanges.commit(changes, origin, place);
    else {
      recentChanges?.drop();
      used.recentChanges = undefined;
    }
    if (recentCommits?.followed === true) recentCommits.commit(changes, place.seq);
    else {
      recentCommits?.drop();
      used.recentCommits = undefined;
    }
    if (used.recentChanges === undefined && used.recentCommits === undefined)
      this.#dependencies.due?.followed.delete(this);
  }

  /** The state tables now contain every commit up to `seq`. */
  confirm(seq: number): void {
    this.#used?.pages.confirm(seq);
    this.#used?.objectPages?.confirm(seq);
    this.#used?.namespaces.confirm(seq);
    this.#used?.keys.confirm(seq);
    this.#used?.rules?.confirm(seq);
  }

  // ---- handles ----

  addHandle(handle: HandleState): void {
    (this.#used ?? this.#use()).handles.add(handle);
  }

  removeHandle(handle: HandleState): void {
    handle.dead = true;
    this.#used?.handles.remove(handle);
  }

  /** The tenure has ended: its memory is not used again, and results of pending reads are discarded. */
  drop(): void {
    this.#dropped = true;
    this.#dependencies.due?.delete(this);
    this.#used?.handles.kill();
    if (this.#used !== undefined) dropUsed(this.#used);
    this.#hold(-this.#heldBytes);
  }
}

function dropUsed(used: UsedMemory): void {
  for (const each of [used.pages, used.objectPages, used.namespaces, used.keys]) each?.drop();
  const { rules, subjects, subjectNamespaces, answers, touched, recentChanges, recentCommits, usage, problems } = used;
  for (const each of [rules, subjects, subjectNamespaces, answers, touched]) each?.drop();
  for (const each of [recentChanges, recentCommits, usage, problems]) each?.drop();
}

// ---- handles ----

/** A handle as its owner keeps it. */
export interface HandleState {
  readonly keyId: string;
  /** On its connection. */
  readonly id: number;
  dead: boolean;
  readonly issuer: HandleIssuer;
}

/** The connection of a handle. */
export interface HandleIssuer {
  /** The handle died: the connection retains nothing of the tenant. */
  ended(id: number): void;
  /** What the peer keeps of the tenant beside the handle has changed. */
  settingsChanged(id: number): void;
}

/** The handles of one tenant that its owner has issued to fronts, by key. */
export class IssuedHandles {
  readonly #byKey = new Map<string, Set<HandleState>>();

  add(handle: HandleState): void {
    const handles = this.#byKey.get(handle.keyId);
    if (handles === undefined) this.#byKey.set(handle.keyId, new Set([handle]));
    else handles.add(handle);
  }

  remove(handle: HandleState): void {
    const handles = this.#byKey.get(handle.keyId);
    if (handles?.delete(handle) && handles.size === 0) this.#byKey.delete(handle.keyId);
  }

  /** The settings of the tenant have changed. */
  tell(): void {
    for (const handles of this.#byKey.values()) for (const { issuer, id } of handles) issuer.settingsChanged(id);
  }

  /** Kills the handles of one key, or all handles. */
  kill(keyId?: string): void {
    const killed = keyId === undefined ? this.#byKey.values() : [this.#byKey.get(keyId) ?? []];
    for (const handles of killed) {
      for (const handle of handles) {
        handle.dead = true;
        handle.issuer.ended(handle.id);
      }
    }
    if (keyId === undefined) this.#byKey.clear();
    else this.#byKey.delete(keyId);
  }
}
