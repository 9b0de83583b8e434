// The calls of tenants on one connection: checks, grants, listings, namespaces, keys; and the reports of the peer. It
// keeps: a call is validated when it arrives and again after its last await, so that an ended tenure never answers.

import { hashApiKey } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { parseKeyId, parseTenantId } from '../../core/ids.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { isLeaving } from '../../core/tenants.ts';
import type { Namespace, TupleColumns } from '../../core/tuples.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import type { Tenure } from '../log/tenure.ts';
import { type DecideContext, decideNamespace } from '../log/write-decisions.ts';
import type { Lookups } from '../memory/lookups.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import type {
  Attempt,
  BulkAnswer,
  BulkWrite,
  BulkWriteResult,
  CheckAnswer,
  FeedPage,
  FeedQuery,
  FrontReport,
  GrantFilter,
  GrantRequest,
  GrantResult,
  GrantsPage,
  GrantsQuery,
  HandleRight,
  HoldersQuery,
  IssuedHandle,
  ListedKey,
  NamedAnswer,
  NamedChecks,
  NamesQuery,
  NewKey,
  ObjectsQuery,
  PageQuery,
  ResultPage,
  RevokeResult,
  RulesPreview,
  RulesRequest,
  TenantConnection,
} from '../shard.ts';
import { readChanges, withFeedCursor } from './change-feed.ts';
import { answersOf, timed, timedAnswer } from './check-answers.ts';
import { FeedWaits } from './feed-waits.ts';
import { countLookups, GrantWrites, under } from './grant-writes.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import { CHECK_READ, type Handle, type HandleTable, sameHash, unauthorized } from './handles.ts';
import { KeptAuditLog } from './kept-audit-log.ts';
import { KeyCalls } from './key-calls.ts';
import { listGrants, listHolders, listObjects } from './listings.ts';
import { LoadWindow } from './load.ts';
import { RuledChecks } from './ruled-checks.ts';
import { previewRules, readRules, unknownNamespaces, writeRules } from './rules.ts';

export interface TenantCallsDependencies extends HandleCallsDependencies, DecideContext {
  readonly tenures: () => Iterable<Tenure>;
  readonly lookups: Lookups;
}

export class TenantCalls implements TenantConnection {
  /** The load from this peer. */
  readonly load = new LoadWindow();
  readonly #dependencies: TenantCallsDependencies;
  readonly #calls: HandleCalls;
  readonly #handles: HandleTable;
  readonly #writes: GrantWrites;
  readonly #keys: KeyCalls;
  readonly #ruled: RuledChecks;
  readonly #waits: FeedWaits;
  readonly #kept: KeptAuditLog;
  readonly #onClose: () => void;

  constructor(dependencies: TenantCallsDependencies, calls: HandleCalls, onClose: () => void) {
    this.#dependencies = dependencies;
    this.#calls = calls;
    this.#handles = calls.handles;
    this.#writes = new GrantWrites(dependencies, calls);
    this.#keys = new KeyCalls(dependencies, calls);
    this.#ruled = new RuledChecks(dependencies, calls);
    this.#waits = new FeedWaits(dependencies.clock);
    this.#kept = new KeptAuditLog(dependencies);
    this.#onClose = onClose;
  }

  close(): void {
    this.#waits.end();
    this.#handles.close();
    this.#onClose();
  }

  async authenticate(claim: { tenantId: string; keyId: string; key: string }): Promise<IssuedHandle> {
    const tenantId = parseTenantId(claim.tenantId);
    const keyId = parseKeyId(claim.keyId);
    if (tenantId === undefined || keyId === undefined) throw unauthorized();
    const tenure = this.#calls.tenureOf(tenantId);
    const memory = tenure.tenants.get(tenantId);
    if (memory === undefined || isLeaving(memory.tenant)) throw unauthorized();
    return memory.withKey(keyId, (key) => {
      tenure.assertServing();
      // The tenant may have been deleted while its key was read.
      if (isLeaving(memory.tenant)) throw unauthorized();
      const nowMs = this.#dependencies.clock.wallMs();
      if (key === undefined || !sameHash(key.hash, hashApiKey(claim.key))) throw unauthorized();
      if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) throw unauthorized();
      let use = memory.keyUses.get(keyId);
      if (use === undefined) {
        use = { usedAtMs: nowMs, writtenAtMs: 0 };
        memory.keyUses.set(keyId, use);
      }
      use.usedAtMs = nowMs;
      const { scopes, expiresAtMs } = key;
      return this.#handles.issue({ tenure, memory, keyId, actor: keyId, use, expiresAtMs }, scopes);
    });
  }

  tenantOf(handle: number): string {
    return this.#handles.tenantOf(handle);
  }

  demandRight(handle: number, right: HandleRight): void {
    this.#handles.demandRight(handle, right);
  }

  async confirm(handle: number): Promise<void> {
    this.#handles.use(handle);
  }

  // ---- checks ----

  check(number: number, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer> {
    const handle = this.#handles.use(number, CHECK_READ);
    if (handle.memory.tenant.rulesRevision !== undefined) return this.#ruled.check(handle, subject, relation, object);
    const page = handle.memory.pages.get(subject);
    if (page !== undefined) {
      const authorized = page.holds(relation, object);
      if (authorized !== undefined) {
        this.#dependencies.lookups.hit(handle, page);
        // If grants of the tenant expire, a denial may be due to that.
        return authorized || handle.memory.nextExpiryMs === undefined ? authorized : timed(handle.tenure, authorized);
      }
      if (page.expiring) {
        const answer = timedAnswer(handle.tenure, page.find(relation, object));
        if (answer !== undefined) {
          this.#dependencies.lookups.hit(handle, page);
          return answer;
        }
      }
    }
    return this.#checkSlowly(handle, subject, relation, object);
  }

  async #checkSlowly(handle: Handle, subject: string, relation: number, object: string): Promise<CheckAnswer> {
    this.#dependencies.lookups.misses += 1;
    using held = await handle.memory.pages.hold(subject, relation, object);
    const { authorized, checkedAtMs } = await this.#answer(handle, held.tuples);
    // The tenant got its first rules in the meantime: grants alone no longer make an answer.
    if (handle.memory.tenant.rulesRevision !== undefined) return this.#ruled.check(handle, subject, relation, object);
    const [tuple] = held.tuples;
    if (tuple?.facts?.expiresAtMs === undefined && handle.memory.nextExpiryMs === undefined)
      return authorized[0] === true;
    return { authorized: authorized[0] === true, checkedAtMs };
  }

  /** Answers held tuples at one moment. From there to the reply there is no await. */
  async #answer(handle: Handle, tuples: readonly WatchedTuple[]): Promise<BulkAnswer> {
    const { tenure } = handle;
    this.#handles.assertGood(handle);
    const nowMs = tenure.slotTime.nowMs;
    const authorized = answersOf(tuples, tenure, nowMs);
    if (authorized !== undefined) return { authorized, checkedAtMs: nowMs };
    await tenure.advance();
    this.#handles.assertGood(handle);
    // The log itself leaves nothing open at its own time.
    const { loggedMs } = tenure.slotTime;
    const settled = answersOf(tuples, tenure, loggedMs);
    assert(settled !== undefined, 'the log has reached its own time');
    return { authorized: settled, checkedAtMs: loggedMs };
  }

  async checkBulk(number: number, checks: TupleColumns): Promise<BulkAnswer> {
    assert(checks.subjects.length <= BULK_CHECKS_MAX, 'a bulk call carries at most 100 checks');
    const handle = this.#handles.use(number);
    if (handle.memory.tenant.rulesRevision !== undefined) return this.#ruled.checkBulk(handle, checks);
    const nowMs = handle.tenure.slotTime.nowMs;
    const authorized = this.#decide(handle, checks, nowMs);
    if (authorized !== undefined) return { authorized, checkedAtMs: nowMs };
    countLookups(this.#dependencies, handle.memory, checks);
    using held = await handle.memory.pages.holdAll(checks);
    const answer = await this.#answer(handle, held.tuples);
    return handle.memory.tenant.rulesRevision === undefined ? answer : await this.#ruled.checkBulk(handle, checks);
  }

  async checkNamed(number: number, checks: NamedChecks): Promise<NamedAnswer> {
    return this.#ruled.checkNamed(this.#handles.use(number), checks);
  }

  async listNames(number: number, query: NamesQuery): Promise<ResultPage<string>> {
    return this.#ruled.listNames(this.#handles.use(number), query);
  }

  /** All results from pages in memory, or undefined if one of them cannot be decided there now. */
  #decide(handle: Handle, { subjects, relations, objects }: TupleColumns, nowMs: number): boolean[] | undefined {
    const { tenure, memory } = handle;
    const found = memory.pages.getMany(subjects);
    for (const page of found) {
      if (page === undefined) return undefined;
      page.referenced = true;
    }
    const authorized: boolean[] = [];
    for (let index = 0; index < subjects.length; index += 1) {
      const page = found[index];
      const relation = relations[index] ?? 0;
      const object = objects[index] ?? '';
      let holds = page?.holds(relation, object);
      if (holds === undefined && page?.expiring === true) {
        const facts = page.find(relation, object);
        holds = facts === undefined ? undefined : tenure.slotTime.holds(facts, nowMs);
      }
      if (holds === undefined) return undefined;
      authorized.push(holds);
    }
    this.#dependencies.lookups.hitMany(handle, subjects.length, (index) => found[index]?.entity);
    return authorized;
  }

  // ---- grants ----

  async writeGrants(
    number: number,
    attempt: Attempt,
    writes: readonly GrantRequest[],
  ): Promise<readonly GrantResult[]> {
    return this.#writes.writeGrants(this.#handles.use(number), attempt, writes);
  }

  async writeBulk(number: number, attempt: Attempt, write: BulkWrite): Promise<BulkWriteResult> {
    return this.#writes.writeBulk(this.#handles.use(number), attempt, write);
  }

  async revokeGrants(number: number, attempt: Attempt, filter: GrantFilter): Promise<RevokeResult> {
    return this.#writes.revokeGrants(this.#handles.use(number), attempt, filter);
  }

  async listObjects(number: number, query: ObjectsQuery): Promise<ResultPage<string>> {
    return this.#calls.read(number, (listing) => listObjects(this.#dependencies, listing, query));
  }

  async listHolders(number: number, query: HoldersQuery): Promise<ResultPage<string>> {
    return this.#calls.read(number, (listing) => listHolders(this.#dependencies, listing, query));
  }

  async listGrants(number: number, query: GrantsQuery): Promise<GrantsPage> {
    return this.#calls.read(number, (listing) =>
      withFeedCursor(this.#dependencies, listing, () => listGrants(this.#dependencies, listing, query)),
    );
  }

  // ---- namespaces and keys ----

  async listNamespaces(number: number): Promise<readonly Namespace[]> {
    return this.#calls.read(number, async ({ memory }) => {
      using _namespaces = await memory.namespaces.pin();
      const names = [...memory.namespaces.rows].map(([name, { createdAtMs }]) => ({ name, createdAtMs }));
      return names.sort((left, right) => (left.name < right.name ? -1 : 1));
    });
  }

  async unknownNamespaces(number: number, namespaces: readonly string[]): Promise<readonly string[]> {
    return this.#calls.read(number, (listing) => unknownNamespaces(listing, namespaces));
  }

  async createNamespace(
    number: number,
    attempt: Attempt,
    name: string,
  ): Promise<{ created: boolean; namespace: Namespace }> {
    const handle = this.#handles.use(number);
    const { memory } = handle;
    using _namespaces = await memory.namespaces.pin();
    this.#handles.assertGood(handle);
    const decide = under(handle, decideNamespace(this.#dependencies, memory, name));
    const result = await this.#calls.submit(handle, attempt, name.length, decide);
    assert(result.kind === 'namespace', 'a namespace operation has a namespace result');
    return { created: result.created, namespace: result.namespace };
  }

  async createKey(number: number, attempt: Attempt, key: NewKey): Promise<ListedKey> {
    return this.#keys.create(number, attempt, key);
  }

  async revokeKey(number: number, attempt: Attempt, keyId: string): Promise<void> {
    await this.#keys.revoke(number, attempt, keyId);
  }

  async listKeys(number: number, query: PageQuery): Promise<ResultPage<ListedKey>> {
    return this.#keys.list(number, query);
  }

  // ---- rules ----

  async readRules(number: number): Promise<RuleSet> {
    return this.#calls.read(number, readRules);
  }

  async writeRules(number: number, attempt: Attempt, request: RulesRequest): Promise<void> {
    await writeRules(this.#calls, number, attempt, request);
  }

  async previewRules(number: number, request: RulesRequest): Promise<RulesPreview> {
    return this.#calls.read(number, (listing) => previewRules(this.#dependencies, listing, request));
  }

  // ---- changes ----

  async readChanges(number: number, query: FeedQuery): Promise<FeedPage> {
    const context = { ...this.#dependencies, handles: this.#handles, waits: this.#waits, kept: this.#kept };
    return readChanges(context, number, query);
  }

  endWaits(): void {
    this.#waits.end();
  }

  // ---- reports ----

  report({ load, usage }: FrontReport): void {
    const { clock, tenures } = this.#dependencies;
    if (load !== undefined) this.load.add(load, clock.monotonicMs());
    if (usage.length === 0) return;
    const bySlot = new Map(Array.from(tenures(), (tenure) => [tenure.slot, tenure]));
    const nowMs = clock.wallMs();
    for (const each of usage) {
      // A tenant is only kept under its own slot. So a report with a wrong slot, or of a tenant that is not here, finds
      // nothing.
      const tenantId = parseTenantId(each.tenantId);
      const memory = tenantId === undefined ? undefined : bySlot.get(each.slot)?.tenants.get(tenantId);
      memory?.usage.add(each, nowMs, memory.tenant.plan);
    }
  }
}
