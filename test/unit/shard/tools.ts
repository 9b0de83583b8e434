// One slot over a store in memory, opened without a node around it: its tenure, a console's connection and the store's
// switches. Opening it again claims it from its owner, which is how these tests make an earlier owner.

import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import { hashApiKey } from '../../../src/core/api-keys.ts';
import type { Random } from '../../../src/core/async/clock.ts';
import { FairTurns } from '../../../src/core/async/turns.ts';
import { IdFactory, type KeyId, type TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plans } from '../../../src/core/plans.ts';
import { ALL_SCOPES } from '../../../src/core/scopes.ts';
import type { Tenant } from '../../../src/core/tenants.ts';
import { type BuiltInTuple, columnsBy, relationNumber, type Tuple } from '../../../src/core/tuples.ts';
import { GrantCollection } from '../../../src/shard/log/grant-collection.ts';
import { Lookups, type PreloadOutcome } from '../../../src/shard/log/hot-pages.ts';
import { SlotPromises } from '../../../src/shard/log/quiet-promises.ts';
import { claimSlot } from '../../../src/shard/log/recovery.ts';
import type { MaintenancePorts } from '../../../src/shard/log/row-removal.ts';
import { Tenure } from '../../../src/shard/log/tenure.ts';
import { PAGE_LIMITS, type PageLimits, READER_LIMITS } from '../../../src/shard/memory/limits.ts';
import { MemoryBudget } from '../../../src/shard/memory/memory-budget.ts';
import type { WriteKind } from '../../../src/shard/memory/write-memory.ts';
import { Peers } from '../../../src/shard/peers/peers.ts';
import { noReadIndexes } from '../../../src/shard/readers/follow-tenant.ts';
import { ReaderChoice } from '../../../src/shard/readers/reader-choice.ts';
import type {
  Attempt,
  AuditLogPage,
  AuditLogQuery,
  ConsoleConnection,
  GrantResult,
  ShardConnection,
  TenantChange,
} from '../../../src/shard/shard.ts';
import type { SlotRow } from '../../../src/store/store.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createProcessClock, type ProcessClock } from '../../kit/process-clock.ts';
import { consoleMethods, type OperatorMethods, type TenantMethods, tenantMethods } from '../../kit/shard-methods.ts';
import { delayedStore, type FaultControls, type StoreHooks } from '../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../kit/store/memory-store.ts';
import { readAll } from '../../kit/store/read-all.ts';
import { META } from '../../kit/store/store-fixtures.ts';
import { waitFor as waitForWhat } from '../../kit/wait-for.ts';

export const random: Random = { bytes: (length) => randomBytes(length) };
export const real = createProcessClock();
export const ids = new IdFactory(real, random);
export const SLOT = 0;
/** Entries per segment of the log. */
export const SEGMENT_SIZE = META.segmentSize;
export const SECRETS = [randomBytes(32)] as const;
const log = createLog({ level: 'silent', pretty: false });

/** Resolves once the condition holds; rejects when it does not for long. */
export const waitFor = (condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> =>
  waitForWhat(what, condition);

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise is settled after a few turns. */
export async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const note = () => {
    done = true;
  };
  promise.then(note, note);
  await turns(5);
  return done;
}

/** In `wait` ms from now. */
export const soon = (wait = 5000): number => performance.now() + wait;

export const attempt = (expiresInMs = 10_000): Attempt => ({
  requestId: ids.create('req'),
  expiresAtMs: performance.now() + expiresInMs,
});

export async function createMemoryStore(): Promise<MemoryStore> {
  const store = new MemoryStore({ clock: real });
  await store.initializeMeta({ ...META, slots: 1 }, soon());
  return store;
}

export interface SlotOptions {
  readonly owner?: string;
  readonly hooks?: StoreHooks;
  readonly wallMs?: () => number;
  /** How far time has passed for its monotonic clock, besides that of the test. */
  readonly aheadMs?: () => number;
  readonly pageLimits?: Partial<PageLimits>;
  readonly cacheBytesMax?: number;
  /** Of the process, where it has other slots. */
  readonly budget?: MemoryBudget;
  readonly operationsKeptMs?: number;
  readonly plans?: Plans;
  /** Of the process, where it had the slot before. */
  readonly promises?: SlotPromises;
  /** Of a request. */
  readonly deadlineMs?: number;
}

/** A check of any subject that is not in memory reads the store. */
export const WITHOUT_FILTER = { readsBeforeScan: Number.POSITIVE_INFINITY };

/** A release that finishes everything. */
export const RELEASE = { limitMs: 5000, flush: true };

export class OpenSlot {
  readonly memory: MemoryStore;
  readonly store: ReturnType<typeof delayedStore>['store'];
  readonly faults: FaultControls;
  readonly clock: ProcessClock;
  readonly tenure: Tenure;
  readonly console: ConsoleConnection;
  /** The calls of the console. */
  readonly connection: TenantMethods;
  readonly operator: OperatorMethods;
  readonly front: TenantMethods;
  /** The connection of another shard. */
  readonly reader: ShardConnection;
  readonly budget: MemoryBudget;
  readonly lost: string[] = [];
  /** What writes had to wait for. */
  readonly waits: WriteKind[] = [];
  readonly preloads: PreloadOutcome[] = [];
  /** The lease of the owner, as it reads it. */
  leaseValid = true;
  leaseLeftMs = Number.POSITIVE_INFINITY;
  readonly promises: SlotPromises;
  /** Operations of each committed append. */
  readonly batches: number[] = [];
  /** Expiries that each of them reported. */
  readonly expired: number[] = [];
  /** Answers to readers. */
  readonly readIndexes = noReadIndexes();
  /** Of the owner's time, by tenants whose calls wait. */
  shares: ReadonlyMap<string, number> = new Map();
  readonly readerChoice: ReaderChoice;
  readonly #collection: GrantCollection;

  private constructor(memory: MemoryStore, parts: Pick<OpenSlot, 'store' | 'faults' | 'clock'>, options: SlotOptions) {
    const { store, clock } = parts;
    // A test that fails leaves its slot running; its timers would keep the process alive. Only the clock is kept until
    // then: some tests open hundreds of slots.
    after(() => clock.kill());
    this.memory = memory;
    this.store = store;
    this.faults = parts.faults;
    this.clock = clock;
    this.promises = options.promises ?? new SlotPromises(clock);
    this.budget = options.budget ?? new MemoryBudget(options.cacheBytesMax ?? 100_000_000, new FairTurns(clock));
    const row = OpenSlot.#claimed;
    if (row === undefined) throw new Error('The slot was claimed.');
    this.tenure = new Tenure(row, row.owner ?? '', {
      store,
      clock,
      ids,
      budget: this.budget,
      pageLimits: { ...PAGE_LIMITS, ...options.pageLimits },
      readerLimits: READER_LIMITS,
      segmentSize: SEGMENT_SIZE,
      operationsKeptMs: options.operationsKeptMs ?? 20_000,
      leaseValid: () => this.leaseValid,
      leaseLeftMs: () => this.leaseLeftMs,
      promises: this.promises,
      observeAppend: ({ outcome, operations, expired }) => {
        if (outcome !== 'committed') return;
        this.batches.push(operations);
        this.expired.push(expired);
      },
      observeState: () => {},
      observePreload: (outcome) => this.preloads.push(outcome),
      observeWait: (_, kind) => this.waits.push(kind),
      onLost: (reason) => this.lost.push(reason),
    });
    this.#collection = new GrantCollection({ store, clock, log, createRequestId: () => ids.create('req') });
    this.readerChoice = new ReaderChoice({
      clock,
      plans: options.plans ?? BUILT_IN_PLANS,
      crowding: { shares: () => this.shares },
      others: () => 0,
      memoryOf: (tenantId) => this.tenure.tenants.get(tenantId),
    });
    const peers = new Peers({
      store,
      clock,
      ids,
      plans: options.plans ?? BUILT_IN_PLANS,
      secrets: SECRETS,
      slots: 1,
      segmentSize: SEGMENT_SIZE,
      tenureOf: () => {
        this.tenure.assertServing();
        return this.tenure;
      },
      tenures: () => new Map([[SLOT, this.tenure]]),
      members: () => store.listMembers(soon()),
      report: () => ({ incarnation: this.tenure.owner, shardName: 'shard-1', leaseLeftMs: undefined, rows: [] }),
      readers: { open: () => Promise.reject(new Error('There is no other shard.')), list: () => [] },
      readIndexes: this.readIndexes,
      lookups: new Lookups(),
      deadlineMs: options.deadlineMs ?? META.deadlineMs,
      busiest: () => undefined,
      readersOf: (tenant) => this.readerChoice.of(tenant),
      onRefused: () => {},
    });
    this.console = peers.connectConsole();
    ({ tenant: this.connection, operator: this.operator } = consoleMethods(this.console));
    this.front = tenantMethods(peers.connect());
    this.reader = peers.connectShard();
  }

  static #claimed: SlotRow | undefined;

  /** Claims the slot from any owner, without opening it. */
  static async claim(memory: MemoryStore, options: SlotOptions = {}): Promise<OpenSlot> {
    const clock = createProcessClock(options.wallMs, options.aheadMs);
    const { store, faults } = delayedStore(memory, clock, options.hooks);
    const owner = options.owner ?? ids.create('inc');
    const known = await memory.readSlot(SLOT, soon());
    OpenSlot.#claimed = (await claimSlot({ store, clock }, { slot: SLOT, owner, known }, async () => true)).row;
    return new OpenSlot(memory, { store, faults, clock }, options);
  }

  /** Claims the slot from any owner, and opens it. */
  static async open(memory: MemoryStore, options: SlotOptions = {}): Promise<OpenSlot> {
    const slot = await OpenSlot.claim(memory, options);
    await slot.tenure.open();
    return slot;
  }

  /** One round of the collection of expired grants. */
  async collect(): Promise<void> {
    await this.#collection.round([this.tenure]);
  }

  /** As `kill -9`. */
  kill(): void {
    this.clock.kill();
  }

  /** Kills this owner and opens the slot again. */
  async restart(options: SlotOptions = {}): Promise<OpenSlot> {
    this.kill();
    return OpenSlot.open(this.memory, options);
  }

  /** As `attempt`, on this owner's clock. */
  attempt(): Attempt {
    return { ...attempt(), expiresAtMs: this.clock.monotonicMs() + 10_000 };
  }

  /** What is held to answer calls: pages, reads of the store, tuples of calls. */
  get readBytes(): number {
    const { pageBytes, loads, calls } = this.budget;
    return pageBytes + loads.bytes + calls.bytes;
  }

  async createTenant(plan = 'unlimited'): Promise<TenantId> {
    const tenantId = ids.create('ten');
    await this.operator.createTenant(this.attempt(), { tenantId, name: 'test', plan, operator: 'test' });
    return tenantId;
  }

  /** By the operator "test", unless the change names another. */
  update(change: Omit<TenantChange, 'operator'> & Partial<TenantChange>): Promise<Tenant> {
    return this.operator.updateTenant(this.attempt(), { operator: 'test', ...change });
  }

  /** The operator's handle. */
  async handle(tenantId: TenantId): Promise<number> {
    return (await this.operator.authenticateOperator({ tenantId, operator: 'test' })).handle;
  }

  async grant(handle: number, tuple: Tuple, by = this.attempt()): Promise<GrantResult> {
    return this.#write(handle, tuple, by, false);
  }

  async revoke(handle: number, tuple: Tuple, by = this.attempt()): Promise<GrantResult> {
    return this.#write(handle, tuple, by, true);
  }

  /** Grants or revokes them, as many in a call as one takes. */
  async writeAll(handle: number, tuples: readonly Tuple[], revoke = false): Promise<void> {
    for (let start = 0; start < tuples.length; start += 1000) {
      const writes = tuples.slice(start, start + 1000).map((each) => ({ ...each, revoke }));
      await this.connection.writeGrants(handle, this.attempt(), writes);
    }
  }

  async #write(handle: number, tuple: Tuple, by: Attempt, revoke: boolean): Promise<GrantResult> {
    const [result] = await this.connection.writeGrants(handle, by, [{ ...tuple, revoke }]);
    if (result === undefined) throw new Error('a write has a result');
    return result;
  }

  /** Calls that are decided in one entry, in this order: the append of `ahead` is in flight until all of them wait. */
  async inOneEntry<const Calls extends readonly (() => Promise<unknown>)[]>(
    ahead: () => Promise<unknown>,
    ...calls: Calls
  ): Promise<{ readonly [Index in keyof Calls]: ReturnType<Calls[Index]> }> {
    this.faults.turn('hold', ['append']);
    const first = ahead();
    await waitFor(() => this.faults.heldCalls() === 1, 'the append to be held');
    this.batches.length = 0;
    const answers: Promise<unknown>[] = [];
    for (const call of calls) {
      const waiting = this.tenure.queueLength;
      const answer = call();
      answer.catch(() => {});
      answers.push(answer);
      await waitFor(() => this.tenure.queueLength > waiting, 'the call to be queued');
    }
    this.faults.restore(['append']);
    await first;
    return answers as { readonly [Index in keyof Calls]: ReturnType<Calls[Index]> };
  }

  async check(handle: number, tuple: Tuple): Promise<boolean> {
    const columns = columnsBy([tuple], (relation) => relationNumber(relation) ?? 0);
    return (await this.connection.checkBulk(handle, columns)).authorized[0] === true;
  }

  /** All objects of which the subject is a viewer. */
  async list(handle: number, subject: string): Promise<readonly string[]> {
    return readAll((cursor) =>
      this.connection.listObjects(handle, { subject, relation: 'viewer', namespace: undefined, limit: 100, cursor }),
    );
  }

  /** A key, with what authenticates it. */
  async createKey(
    handle: number,
    tenantId: TenantId,
    expiresAtMs?: number,
    scopes = ALL_SCOPES,
  ): Promise<{ tenantId: TenantId; keyId: KeyId; key: string; hash: string }> {
    const keyId = ids.create('key');
    const key = `the text of ${keyId}`;
    const hash = hashApiKey(key);
    await this.connection.createKey(handle, this.attempt(), { keyId, name: 'test', scopes, expiresAtMs, hash });
    return { tenantId, keyId, key, hash };
  }

  /** State holds everything. */
  async applied(): Promise<void> {
    await this.tenure.applied();
  }
}

export const tuple = (subject: string, object: string): BuiltInTuple => ({ subject, relation: 'viewer', object });

/** A slot of its own with one tenant, and the handle of an operator on it. */
export async function openSlot(options: SlotOptions = {}) {
  const memory = await createMemoryStore();
  const slot = await OpenSlot.open(memory, options);
  const tenantId = await slot.createTenant();
  return { memory, slot, tenantId, handle: await slot.handle(tenantId) };
}

/** A page of the audit log: of 100 entries, oldest first, unless the query says otherwise. */
export const auditLogPage = (
  slot: OpenSlot,
  tenantId: TenantId,
  query: Partial<AuditLogQuery> = {},
): Promise<AuditLogPage> => slot.operator.listAuditLog({ limit: 100, cursor: undefined, ...query, tenantId });

/** All of it, page by page. */
export const wholeAuditLog = (slot: OpenSlot, tenantId: TenantId, query: Partial<AuditLogQuery> = {}) =>
  readAll((cursor) => auditLogPage(slot, tenantId, { ...query, cursor }));

/** A slot that opens with so many tenants in its tables. */
export async function openWithTenants(count: number) {
  const memory = await createMemoryStore();
  const names = ['Acme', 'ÄRZTE e. V.', 'Bolt', 'acme west', 'Zeta'];
  const tenants = Array.from({ length: count }, (_, index): Tenant => {
    const name = `${names[index % names.length]} ${index}`;
    return { tenantId: ids.create('ten'), name, plan: 'free', state: 'active', createdAtMs: 1_700_000_000_000 };
  });
  const writes = tenants.map((tenant, index) => ({ kind: 'tenant', slot: SLOT, tenant, stamp: 1000 + index }) as const);
  await memory.writeState(writes, soon());
  return { slot: await OpenSlot.open(memory), ids: tenants.map(({ tenantId }) => tenantId).sort(), tenants };
}

/** Names in the order of their bytes. */
export const numbered = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}`);

/** What a shard with this slot alone reports to its metrics. */
export const reportedParts = (slot: OpenSlot) => ({
  lookups: { hits: 0, misses: 0 },
  readIndexes: slot.readIndexes,
  tenures: [slot.tenure],
  leaseLeftMs: Number.POSITIVE_INFINITY,
});

/** What maintenance of a slot works on. */
export const portsOf = (slot: OpenSlot, logRetentionMs = 3_600_000): MaintenancePorts => ({
  store: slot.store,
  clock: slot.clock,
  segmentSize: SEGMENT_SIZE,
  logRetentionMs,
  createRequestId: () => ids.create('req'),
});
