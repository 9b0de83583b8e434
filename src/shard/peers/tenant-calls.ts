// The calls of tenants on one connection: checks, grants, listings, namespaces, keys; and the reports of the peer. It
// keeps: a call is validated when it arrives and again after its last await, so that an ended tenure never answers.

import { type ApiKeyRecord, hashApiKey } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { type KeyId, parseKeyId, parseTenantId } from '../../core/ids.ts';
import { BULK_CHECKS_MAX, WRITES_PER_CALL_MAX } from '../../core/limits.ts';
import type { ScopeMask } from '../../core/scopes.ts';
import { isLeaving } from '../../core/tenants.ts';
import { columnsOf, type Grant, type Namespace, type TupleColumns } from '../../core/tuples.ts';
import { appendTraced } from '../log/append-spans.ts';
import { decideBulk, sizeOfBulk, tuplesOf } from '../log/bulk-decision.ts';
import { decideRevocation, RangeOutdated, sizeOfRevocation } from '../log/revocation-decision.ts';
import type { Tenure } from '../log/tenure.ts';
import {
  type Decide,
  type DecideContext,
  decideGrant,
  decideKey,
  decideKeyRevocation,
  decideNamespace,
  type OperationResult,
} from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import {
  type Attempt,
  type BulkWrite,
  type BulkWriteResult,
  type FrontReport,
  type GrantFilter,
  type GrantRequest,
  type GrantResult,
  type GrantsQuery,
  type HandleRight,
  type HoldersQuery,
  type IssuedHandle,
  type ListedKey,
  type ObjectsQuery,
  type PageQuery,
  type ResultPage,
  type RevokeResult,
  ShardFailure,
  type TenantConnection,
} from '../shard.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import { CHECK_READ, type Handle, type HandleTable, sameHash, unauthorized } from './handles.ts';
import { listGrants, listHolders, listObjects, pageOf } from './listings.ts';
import { LoadWindow } from './load.ts';
import { withMatching } from './revocations.ts';

export interface TenantCallsDependencies extends HandleCallsDependencies, DecideContext {
  readonly tenures: () => Iterable<Tenure>;
  readonly lookups: { hits: number; misses: number };
}

/**
 * A write that was queued before its key was revoked, or its tenant suspended, must not follow that change in the log.
 * Once the change is acknowledged, nothing more happens under the key.
 */
function under(handle: Handle, decide: Decide): Decide {
  const { use, memory, keyId } = handle;
  // An operator handle has no key.
  if (use === undefined) return decide;
  return (draft) => {
    if (handle.dead || draft.revokes(memory.tenantId, keyId) || draft.tenant(memory).state === 'suspended') {
      throw new ShardFailure('handle-unknown', "The handle ended before the write's turn came.");
    }
    return decide(draft);
  };
}

export class TenantCalls implements TenantConnection {
  /** The load from this peer. */
  readonly load = new LoadWindow();
  readonly #dependencies: TenantCallsDependencies;
  readonly #calls: HandleCalls;
  readonly #handles: HandleTable;
  readonly #onClose: () => void;

  constructor(dependencies: TenantCallsDependencies, calls: HandleCalls, onClose: () => void) {
    this.#dependencies = dependencies;
    this.#calls = calls;
    this.#handles = calls.handles;
    this.#onClose = onClose;
  }

  close(): void {
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

  check(number: number, subject: string, relation: number, object: string): boolean | Promise<boolean> {
    const handle = this.#handles.use(number, CHECK_READ);
    const page = handle.memory.pages.get(subject);
    if (page !== undefined) {
      const authorized = page.holds(relation, object);
      if (authorized !== undefined) {
        page.referenced = true;
        this.#dependencies.lookups.hits += 1;
        return authorized;
      }
    }
    return this.#checkSlowly(handle, subject, relation, object);
  }

  async #checkSlowly(handle: Handle, subject: string, relation: number, object: string): Promise<boolean> {
    this.#dependencies.lookups.misses += 1;
    using held = await handle.memory.pages.hold(subject, relation, object);
    this.#handles.assertGood(handle);
    return answersOf(held.tuples)[0] === true;
  }

  async checkBulk(
    number: number,
    checks: TupleColumns,
  ): Promise<{ authorized: readonly boolean[]; checkedAtMs: number }> {
    assert(checks.subjects.length <= BULK_CHECKS_MAX, 'a bulk call carries at most 100 checks');
    const handle = this.#handles.use(number);
    const authorized = this.#decide(handle.memory, checks);
    if (authorized !== undefined) return { authorized, checkedAtMs: this.#dependencies.clock.wallMs() };
    this.#countLookups(handle.memory, checks);
    using held = await handle.memory.pages.holdAll(checks);
    this.#handles.assertGood(handle);
    // From here to the reply there is no await: one moment of the tenant's history.
    return { authorized: answersOf(held.tuples), checkedAtMs: this.#dependencies.clock.wallMs() };
  }

  /** All results from pages in memory, or undefined if one of them is unknown there. */
  #decide({ pages }: TenantMemory, { subjects, relations, objects }: TupleColumns): boolean[] | undefined {
    const found = pages.getMany(subjects);
    for (const page of found) {
      if (page === undefined) return undefined;
      page.referenced = true;
    }
    const authorized: boolean[] = [];
    for (let index = 0; index < subjects.length; index += 1) {
      const holds = found[index]?.holds(relations[index] ?? 0, objects[index] ?? '');
      if (holds === undefined) return undefined;
      authorized.push(holds);
    }
    this.#dependencies.lookups.hits += subjects.length;
    return authorized;
  }

  #countLookups({ pages }: TenantMemory, { subjects }: TupleColumns): void {
    const { lookups } = this.#dependencies;
    for (const subject of new Set(subjects)) {
      if (pages.get(subject) === undefined) lookups.misses += 1;
      else lookups.hits += 1;
    }
  }

  // ---- grants ----

  async writeGrants(
    number: number,
    attempt: Attempt,
    writes: readonly GrantRequest[],
  ): Promise<readonly GrantResult[]> {
    assert(writes.length <= WRITES_PER_CALL_MAX, 'a call carries at most 1,000 writes');
    const handle = this.#handles.use(number);
    const { memory } = handle;
    const columns = columnsOf(writes);
    this.#countLookups(memory, columns);
    using held = await memory.pages.holdAll(columns);
    using _namespaces = await memory.namespaces.pin();
    this.#handles.assertGood(handle);
    const enqueue = () =>
      writes.map((write, index) => {
        const tuple = held.tuples[index];
        assert(tuple !== undefined, 'the tuple of every write is known');
        const length = write.subject.length + write.object.length;
        const decide = under(handle, decideGrant(this.#dependencies, memory, tuple, write));
        return this.#calls.enqueue(handle, attempt, index, length, decide);
      });
    const results = await appendTraced(writes.length, () => settleAll(enqueue()));
    return results.map((result) => {
      assert(result.kind === 'grant', 'a grant operation has a grant result');
      return result.grant;
    });
  }

  async writeBulk(number: number, attempt: Attempt, write: BulkWrite): Promise<BulkWriteResult> {
    const handle = this.#handles.use(number);
    const { memory } = handle;
    const columns = columnsOf(tuplesOf(write));
    this.#countLookups(memory, columns);
    using held = await memory.pages.holdAll(columns);
    using _namespaces = await memory.namespaces.pin();
    this.#handles.assertGood(handle);
    const decide = under(handle, decideBulk(this.#dependencies, memory, held.tuples, write));
    const result = await this.#calls.submitSized(handle, attempt, sizeOfBulk(write), decide);
    assert(result.kind === 'bulk', 'a bulk write has a result of its own');
    return result.bulk;
  }

  async revokeGrants(number: number, attempt: Attempt, filter: GrantFilter): Promise<RevokeResult> {
    const handle = this.#handles.use(number);
    const { memory } = handle;
    return withMatching(this.#dependencies, this.#calls.listing(handle), filter, async (range, matching) => {
      this.#handles.assertGood(handle);
      const size = sizeOfRevocation(range, matching);
      const decide = under(handle, decideRevocation(memory, filter, range, size));
      try {
        const result = await this.#calls.submitSized(handle, attempt, size, decide);
        assert(result.kind === 'revocation', 'a revocation by a filter has a result of its own');
        return { revoked: result.revoked, complete: result.complete };
      } catch (error) {
        if (error instanceof RangeOutdated) return undefined;
        throw error;
      }
    });
  }

  async listObjects(number: number, query: ObjectsQuery): Promise<ResultPage<string>> {
    return this.#calls.read(number, (listing) => listObjects(this.#dependencies, listing, query));
  }

  async listHolders(number: number, query: HoldersQuery): Promise<ResultPage<string>> {
    return this.#calls.read(number, (listing) => listHolders(this.#dependencies, listing, query));
  }

  async listGrants(number: number, query: GrantsQuery): Promise<ResultPage<Grant>> {
    return this.#calls.read(number, (listing) => listGrants(this.#dependencies, listing, query));
  }

  // ---- namespaces and keys ----

  async listNamespaces(number: number): Promise<readonly Namespace[]> {
    return this.#calls.read(number, async ({ memory }) => {
      using _namespaces = await memory.namespaces.pin();
      const names = [...memory.namespaces.rows].map(([name, { createdAtMs }]) => ({ name, createdAtMs }));
      return names.sort((left, right) => (left.name < right.name ? -1 : 1));
    });
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

  async createKey(
    number: number,
    attempt: Attempt,
    key: { keyId: string; name: string; scopes: ScopeMask; expiresAtMs: number | undefined; hash: string },
  ): Promise<ListedKey> {
    const keyId = parseKeyId(key.keyId);
    assert(keyId !== undefined, 'a front creates well-formed key ids');
    const result = await this.#writeKeys(number, attempt, key.name.length, (memory) =>
      decideKey(this.#dependencies, memory, { ...key, keyId }),
    );
    assert(result.kind === 'key', 'a key operation has a key result');
    return listedKey(result.key, undefined);
  }

  async revokeKey(number: number, attempt: Attempt, keyId: string): Promise<void> {
    // The log records the name of the revoked key again: up to 256 code points, two characters each.
    await this.#writeKeys(number, attempt, 512, (memory) => decideKeyRevocation(memory, keyId));
  }

  async #writeKeys(
    number: number,
    attempt: Attempt,
    characters: number,
    decide: (memory: TenantMemory) => Decide,
  ): Promise<OperationResult> {
    const handle = this.#handles.use(number);
    const { memory } = handle;
    using _keys = await memory.keys.pin();
    this.#handles.assertGood(handle);
    return await this.#calls.submit(handle, attempt, characters, under(handle, decide(memory)));
  }

  async listKeys(number: number, query: PageQuery): Promise<ResultPage<ListedKey>> {
    return this.#calls.read(number, async ({ memory }) => {
      using _keys = await memory.keys.pin();
      const keys = [...memory.keys.rows.values()].sort((left, right) => (left.keyId < right.keyId ? -1 : 1));
      const page = pageOf(this.#dependencies, ['keys', memory.tenantId], query, keys, ({ keyId }) => keyId);
      const stored = await this.#keyUses(memory, page.items);
      const items = page.items.map((key) => {
        const usedAtMs = memory.keyUses.get(key.keyId)?.usedAtMs ?? stored.get(key.keyId);
        return listedKey(key, usedAtMs);
      });
      return { ...page, items };
    });
  }

  async #keyUses(memory: TenantMemory, keys: readonly ApiKeyRecord[]): Promise<ReadonlyMap<KeyId, number>> {
    const { store, clock } = this.#dependencies;
    const keyIds = keys.map(({ keyId }) => keyId);
    return readFromStore(store.listKeyUses(memory.tenantId, keyIds, storeDeadline(clock)));
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
      if (tenantId !== undefined) bySlot.get(each.slot)?.tenants.get(tenantId)?.usage.add(each, nowMs);
    }
  }
}

function answersOf(tuples: readonly WatchedTuple[]): boolean[] {
  return tuples.map(({ facts }) => {
    assert(facts !== undefined, 'a held tuple is known');
    return facts !== null;
  });
}

/**
 * All results, or the first failure once every promise is settled, so that nothing is decided after the reply. If some
 * operations of a call succeeded and others failed, for whatever reason, the call is undecided. A failure that reports
 * "no change" would be wrong; a repeat finds what was applied and does the rest.
 */
async function settleAll<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  for (const settled of await Promise.allSettled(promises)) {
    if (settled.status === 'fulfilled') results.push(settled.value);
    else failures.push(settled.reason);
  }
  if (failures.length === 0) return results;
  if (results.length > 0) throw new ShardFailure('undecided', 'Only some writes of the call were applied.');
  throw failures.find((failure) => failure instanceof ShardFailure && failure.kind === 'undecided') ?? failures[0];
}

function listedKey(key: ApiKeyRecord, lastUsedAtMs: number | undefined): ListedKey {
  const { keyId, name, scopes, createdAtMs, expiresAtMs } = key;
  return { keyId, name, scopes, createdAtMs, expiresAtMs, lastUsedAtMs };
}
