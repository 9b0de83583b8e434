// A shard made of maps, for tests of what talks to shards: it owns the slots it is told to, knows the tenants and keys
// it is given, and fails on demand. Several of them may share one world, as real ones share a store.

import { hashApiKey } from '../../src/core/api-keys.ts';
import { GrantdError } from '../../src/core/errors.ts';
import { parseKeyId, type TenantId } from '../../src/core/ids.ts';
import { ALL_SCOPES } from '../../src/core/scopes.ts';
import { slotOfTenant } from '../../src/core/slots.ts';
import { type Tenant, tenantMatches } from '../../src/core/tenants.ts';
import { type Grant, isRelation, type Namespace, relationOf } from '../../src/core/tuples.ts';
import {
  type AnswerOf,
  type Attempt,
  type CallerOf,
  type CallName,
  type ClusterMember,
  type FrontReport,
  type GrantResult,
  type IssuedHandle,
  type ListedKey,
  type Load,
  type LoggedChange,
  type MemberAddress,
  type RequestOf,
  type ResultPage,
  type Shard,
  ShardFailure,
  type SlotOwner,
  type TenantAuditLogQuery,
  type TenantConnection,
  type TenantDeletion,
  type TenantsQuery,
  type UsageMinute,
} from '../../src/shard/shard.ts';
import { FakeFeed } from './fake-feed.ts';

const FEED_CURSOR = 'now';

export interface FakeKey extends ListedKey {
  readonly hash: string;
}

export interface FakeTenant {
  record: Tenant;
  readonly keys: Map<string, FakeKey>;
  /** By `subject relation object`. */
  readonly grants: Map<string, Grant>;
  readonly namespaces: Map<string, Namespace>;
  readonly feed: FakeFeed;
  usage: readonly UsageMinute[];
  deletion: TenantDeletion | undefined;
}

/** What all shards of a cluster see alike. */
/** The log of a slot, as exports read it. */
export interface FakeLog {
  first: number;
  readonly entries: (readonly LoggedChange[])[];
}

export class FakeWorld {
  readonly tenants = new Map<string, FakeTenant>();
  /** First results by operation id, as the log keeps them. */
  readonly operations = new Map<string, unknown>();
  readonly slots: number;
  /** Who owns a slot now, by slot; an empty incarnation: released. */
  readonly owners = new Map<number, SlotOwner>();
  readonly members = new Map<string, ClusterMember>();
  /** Calls that wait for a change of any feed. */
  readonly waits = new Set<() => void>();

  constructor(slots = 4) {
    this.slots = slots;
  }

  readonly cursorKeys: readonly string[] = [Buffer.alloc(32, 7).toString('base64url')];
  /** Entries that a page of a log has. */
  entriesPerPage = 2;
  readonly #logs = new Map<number, FakeLog>();

  logOf(slot: number): FakeLog {
    const log = this.#logs.get(slot) ?? { first: 1, entries: [] };
    this.#logs.set(slot, log);
    return log;
  }

  /** An entry of the log of the tenant's slot, with so many changes. */
  append(tenantId: TenantId, changes = 1): readonly LoggedChange[] {
    const log = this.logOf(this.slotOf(tenantId));
    const seq = log.first + log.entries.length;
    const entry = Array.from({ length: changes }, (_, index): LoggedChange => {
      const change = JSON.stringify({ action: 'namespace.created', name: `n${seq}.${index}` });
      return { tenantId, seq, index, atMs: seq * 1000, actor: 'operator:ann', requestId: `req_${seq}`, change };
    });
    log.entries.push(entry);
    return entry;
  }

  /** Whoever waits looks again. */
  wake(): void {
    for (const wake of [...this.waits]) wake();
  }

  readonly #slotsOf = new Map<string, number>();

  slotOf(tenantId: string): number {
    let slot = this.#slotsOf.get(tenantId);
    if (slot === undefined) {
      slot = slotOfTenant(tenantId, this.slots);
      this.#slotsOf.set(tenantId, slot);
    }
    return slot;
  }

  addTenant(tenantId: TenantId, plan = 'free'): FakeTenant {
    const tenant: FakeTenant = {
      record: { tenantId, name: `Tenant ${tenantId}`, plan, state: 'active', createdAtMs: 1_700_000_000_000 },
      keys: new Map(),
      grants: new Map(),
      namespaces: new Map(),
      feed: new FakeFeed(),
      usage: [],
      deletion: undefined,
    };
    this.tenants.set(tenantId, tenant);
    return tenant;
  }
}

interface FakeHandle {
  readonly tenantId: string;
  readonly keyId: string;
  readonly slot: number;
  readonly epoch: number;
}

/** Of the calls that tests of fronts make. */
type Handlers = {
  readonly [Name in CallName]?: (caller: CallerOf<Name>, request: RequestOf<Name>) => Promise<AnswerOf<Name>>;
};

export class FakeShard implements Shard {
  readonly world: FakeWorld;
  readonly name: string;
  readonly incarnation: string;
  readonly epochs = new Map<number, number>();
  readonly connections = new Set<FakeConnection>();
  readonly #watchers = new Set<() => void>();
  clockSkewMs = 0;
  leaseLeftMs: number | undefined = 2500;
  load: Load = { checksPerSecond: 0, failuresPerSecond: 0, p99Ms: undefined };
  /** Names that one page of a search looks at. */
  searchedMax = 1000;
  /** Of fronts, newest last. */
  readonly reports: FrontReport[] = [];
  /** The others that it tells fronts of. */
  members: readonly MemberAddress[] = [];
  welcomeSlots: number | undefined;
  /** How often each method was called. */
  readonly counts = new Map<string, number>();
  /** Scripts the next checks: a thrown error fails, a promise is slow, undefined answers from the maps. */
  onCheck: ((subject: string, object: string) => boolean | Promise<boolean> | undefined) | undefined;
  /** Runs before every call; what it throws fails the call, before anything is done. */
  onCall: ((name: CallName) => void | Promise<void>) | undefined;
  /** What was asked of audit logs. */
  readonly auditLogQueries: TenantAuditLogQuery[] = [];
  /** Runs after a write was done; what it throws is the answer. */
  afterWrite: (() => void | Promise<void>) | undefined;
  lastAttempt: Attempt | undefined;

  constructor(world: FakeWorld, name = 'shard-0') {
    this.world = world;
    this.name = name;
    this.incarnation = `inc_${name}`;
    world.members.set(this.incarnation, {
      incarnation: this.incarnation,
      shardName: name,
      address: '127.0.0.1:1',
      state: 'alive',
      heartbeat: 42,
      startedAtMs: 1_700_000_000_000,
    });
  }

  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  countOne(name: string): void {
    this.counts.set(name, this.count(name) + 1);
  }

  /** Takes slots over, one epoch further than before. */
  own(slots: Iterable<number>, address = ''): void {
    for (const slot of slots) {
      const epoch = (this.world.owners.get(slot)?.epoch ?? 0) + 1;
      this.world.owners.set(slot, { slot, epoch, incarnation: this.incarnation, address });
      this.epochs.set(slot, epoch);
    }
    this.changed();
  }

  /** Stops serving slots. `silently`: without telling anyone. */
  release(slots: Iterable<number>, silently = false): void {
    for (const slot of slots) this.epochs.delete(slot);
    if (!silently) this.changed();
  }

  changed(): void {
    for (const watcher of this.#watchers) watcher();
    this.world.wake();
  }

  /** Ends every handle of a tenant, as a changed key does. */
  endHandles(tenantId: string): void {
    for (const connection of this.connections) connection.endHandles(tenantId);
    this.world.wake();
  }

  welcome() {
    return {
      incarnation: this.incarnation,
      shardName: this.name,
      slots: this.welcomeSlots ?? this.world.slots,
      deadlineMs: 10_000,
      leaseMs: 3000,
    };
  }

  monotonicMs(): number {
    return performance.now() + this.clockSkewMs;
  }

  connect(): FakeConnection {
    const connection = new FakeConnection(this);
    this.connections.add(connection);
    return connection;
  }

  connectConsole() {
    const connection = this.connect();
    return { tenant: connection, operator: connection };
  }

  routes() {
    return { epochs: this.epochs, members: this.members };
  }

  watchRoutes(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }
}

/** Both halves of a connection; only a console is given the operator's. */
class FakeConnection implements TenantConnection {
  readonly #shard: FakeShard;
  readonly #handles = new Map<number, FakeHandle>();
  #nextHandle = 1;
  #waitsEnded = false;

  constructor(shard: FakeShard) {
    this.#shard = shard;
  }

  endHandles(tenantId: string): void {
    for (const [handle, { tenantId: of }] of this.#handles) if (of === tenantId) this.#handles.delete(handle);
  }

  #demandOwner(tenantId: string): { slot: number; epoch: number } {
    const { world, epochs } = this.#shard;
    const slot = world.slotOf(tenantId);
    const epoch = epochs.get(slot);
    if (epoch === undefined) throw new ShardFailure('wrong-owner', 'Not mine.', world.owners.get(slot));
    return { slot, epoch };
  }

  #tenantOf(tenantId: string): FakeTenant {
    this.#demandOwner(tenantId);
    const tenant = this.#shard.world.tenants.get(tenantId);
    if (tenant === undefined) throw new GrantdError('tenant-not-found', 'No such tenant.');
    return tenant;
  }

  #resolve(handle: number): FakeTenant {
    const found = this.#handles.get(handle);
    if (found === undefined) throw new ShardFailure('handle-unknown', 'No such handle.');
    const { epoch } = this.#demandOwner(found.tenantId);
    if (epoch !== found.epoch) throw new ShardFailure('handle-unknown', 'Of an earlier tenure.');
    return this.#tenantOf(found.tenantId);
  }

  async call<Name extends CallName>(
    name: Name,
    caller: CallerOf<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    this.#shard.countOne(name);
    await this.#shard.onCall?.(name);
    const handler = this.#handlers[name];
    if (handler === undefined) throw new Error(`The fake does not answer ${name}.`);
    return handler(caller, request);
  }

  async #write<Result>(attempt: Attempt, index: number, run: () => Result): Promise<Result> {
    this.#shard.lastAttempt = attempt;
    if (attempt.expiresAtMs < this.#shard.monotonicMs()) throw new ShardFailure('expired', 'Too late.');
    const { operations } = this.#shard.world;
    const key = `${attempt.requestId} ${index}`;
    const result = operations.has(key) ? (operations.get(key) as Result) : run();
    operations.set(key, result);
    await this.#shard.afterWrite?.();
    return result;
  }

  #grant(tenantId: string, keyId: string, key: FakeKey | undefined): IssuedHandle {
    const { slot, epoch } = this.#demandOwner(tenantId);
    const handle = this.#nextHandle;
    this.#nextHandle += 1;
    this.#handles.set(handle, { tenantId, keyId, slot, epoch });
    const { record } = this.#tenantOf(tenantId);
    return {
      handle,
      tenantId: record.tenantId,
      keyId,
      scopes: key?.scopes ?? ALL_SCOPES,
      expiresAtMs: key?.expiresAtMs,
      plan: record.plan,
      suspended: record.state === 'suspended',
    };
  }

  tenantOf(handle: number): string {
    return this.#handles.get(handle)?.tenantId ?? '';
  }

  /** Keys may do everything. */
  demandRight(): void {}

  check(handle: number, subject: string, relation: number, object: string): boolean | Promise<boolean> {
    this.#shard.countOne('check');
    const tenant = this.#resolve(handle);
    const scripted = this.#shard.onCheck?.(subject, object);
    return scripted ?? tenant.grants.has(`${subject} ${relationOf(relation)} ${object}`);
  }

  #page<Item>(items: readonly Item[], query: { limit: number; cursor: string | undefined }): ResultPage<Item> {
    const from = Number(query.cursor ?? 0);
    const end = from + query.limit;
    return { items: items.slice(from, end), nextCursor: end < items.length ? String(end) : undefined };
  }

  endWaits(): void {
    this.#waitsEnded = true;
    this.#shard.world.wake();
  }

  report(report: FrontReport): void {
    this.#shard.reports.push(report);
  }

  close(): void {
    this.#shard.countOne('close');
    this.#shard.connections.delete(this);
    this.#handles.clear();
  }

  #tenantsAfter(query: TenantsQuery): readonly Tenant[] {
    const { world, epochs } = this.#shard;
    return [...world.tenants.values()]
      .map(({ record }) => record)
      .filter(({ tenantId }) => epochs.has(world.slotOf(tenantId)) && tenantId > (query.after ?? ''))
      .sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1))
      .slice(0, query.limit);
  }

  readonly #handlers: Handlers = {
    authenticate: async (_, claim) => {
      this.#demandOwner(claim.tenantId);
      const key = this.#shard.world.tenants.get(claim.tenantId)?.keys.get(claim.keyId);
      if (key === undefined || key.hash !== hashApiKey(claim.key))
        throw new GrantdError('unauthorized', 'No such key.');
      return this.#grant(claim.tenantId, claim.keyId, key);
    },

    authenticateOperator: async (_, claim) => {
      this.#tenantOf(claim.tenantId);
      return this.#grant(claim.tenantId, `operator:${claim.operator}`, undefined);
    },

    confirm: async ({ handle }) => {
      this.#resolve(handle);
    },

    checkBulk: async ({ handle }, { subjects, relations, objects }) => {
      const { grants } = this.#resolve(handle);
      const authorized = subjects.map((subject, index) =>
        grants.has(`${subject} ${relationOf(relations[index] ?? 0)} ${objects[index]}`),
      );
      return { authorized, checkedAtMs: Date.now() };
    },

    writeGrants: async ({ handle, attempt }, writes) => {
      const { grants } = this.#resolve(handle);
      const results: GrantResult[] = [];
      for (const [index, write] of writes.entries()) {
        results.push(
          await this.#write(attempt, index, (): GrantResult => {
            const { revoke, expiresAtMs: _, condition: __, ...tuple } = write;
            const key = `${tuple.subject} ${tuple.relation} ${tuple.object}`;
            const found = grants.get(key);
            if (revoke) return { kind: grants.delete(key) ? 'revoked' : 'not-found' };
            if (tuple.object.startsWith('full:')) {
              return { kind: 'refused', code: 'namespace-limit-reached', message: 'Full.' };
            }
            if (found !== undefined) return { kind: 'exists', grantId: found.grantId, createdAtMs: found.createdAtMs };
            const grant = { ...tuple, grantId: `grt_${grants.size}`, createdAtMs: 1_700_000_000_000 };
            grants.set(key, grant);
            return { kind: 'created', grantId: grant.grantId, createdAtMs: grant.createdAtMs };
          }),
        );
      }
      return results;
    },

    listObjects: async ({ handle }, query) => {
      const objects = [...this.#resolve(handle).grants.values()]
        .filter(({ subject, relation }) => subject === query.subject && relation === query.relation)
        .map(({ object }) => object);
      return this.#page(objects.sort(), query);
    },

    readChanges: async ({ handle }, query) => {
      const { feed } = this.#resolve(handle);
      const { waits } = this.#shard.world;
      let cursor = query.cursor;
      let late = false;
      while (true) {
        const page = feed.page({ ...query, cursor, ...(cursor === undefined ? {} : { fromNow: false }) });
        if (page.items.length > 0 || !page.atEnd || query.waitMs === 0 || late || this.#waitsEnded) return page;
        cursor = page.nextCursor;
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            waits.delete(wake);
            clearTimeout(timer);
            resolve();
          };
          const timer = setTimeout(() => {
            late = true;
            wake();
          }, query.waitMs);
          waits.add(wake);
        });
        this.#resolve(handle);
      }
    },

    listNamespaces: async ({ handle }) => {
      return [...this.#resolve(handle).namespaces.values()];
    },

    unknownNamespaces: async ({ handle }, namespaces) => {
      return namespaces.filter((name) => !this.#resolve(handle).namespaces.has(name));
    },

    createNamespace: async ({ handle, attempt }, name) => {
      const { namespaces } = this.#resolve(handle);
      return this.#write(attempt, 0, () => {
        const found = namespaces.get(name);
        const namespace = found ?? { name, createdAtMs: 1_700_000_000_000 };
        namespaces.set(name, namespace);
        return { created: found === undefined, namespace };
      });
    },

    createKey: async ({ handle, attempt }, key) => {
      const { keys } = this.#resolve(handle);
      return this.#write(attempt, 0, () => {
        const keyId = parseKeyId(key.keyId);
        if (keyId === undefined) throw new Error('A key id is ill-formed.');
        const stored = { ...key, keyId, createdAtMs: 1_700_000_000_000, lastUsedAtMs: undefined };
        keys.set(keyId, stored);
        return stored;
      });
    },

    listKeys: async ({ handle }, query) => {
      return this.#page([...this.#resolve(handle).keys.values()], query);
    },

    revokeKey: async ({ handle, attempt }, keyId) => {
      const tenant = this.#resolve(handle);
      await this.#write(attempt, 0, () => {
        if (!tenant.keys.delete(keyId)) throw new GrantdError('key-not-found', 'No such key.');
        this.#shard.endHandles(tenant.record.tenantId);
      });
    },

    rotateKey: async ({ handle, attempt }, request) => {
      const { keys } = this.#resolve(handle);
      const [keyId, newKeyId] = [request.keyId, request.newKeyId].map(parseKeyId);
      return this.#write(attempt, 0, () => {
        const present = keyId === undefined ? undefined : keys.get(keyId);
        if (present === undefined || newKeyId === undefined) throw new GrantdError('key-not-found', 'No such key.');
        const key = { ...present, keyId: newKeyId, hash: request.hash };
        const former = { ...present, expiresAtMs: 1_700_000_000_000 + request.graceMs, rotatedTo: newKeyId };
        keys.set(newKeyId, key).set(present.keyId, former);
        return { key, former, revoked: false };
      });
    },

    identifyKey: async ({ handle }, { keyId, hash }) => {
      const key = this.#resolve(handle).keys.get(keyId);
      return key === undefined ? undefined : { key, matches: key.hash === hash };
    },

    createTenant: async ({ attempt }, tenant) => {
      this.#demandOwner(tenant.tenantId);
      return this.#write(attempt, 0, () => {
        const made = this.#shard.world.addTenant(tenant.tenantId as TenantId, tenant.plan);
        made.record = { ...made.record, name: tenant.name };
        return made.record;
      });
    },

    updateTenant: async ({ attempt }, change) => {
      const tenant = this.#tenantOf(change.tenantId);
      return this.#write(attempt, 0, () => {
        const { name, plan, state } = tenant.record;
        tenant.record = {
          ...tenant.record,
          name: change.name ?? name,
          plan: change.plan ?? plan,
          state: change.state ?? state,
        };
        this.#shard.endHandles(change.tenantId);
        return tenant.record;
      });
    },

    readTenant: async (_, { tenantId }) => {
      const { record, deletion } = this.#tenantOf(tenantId);
      return deletion === undefined ? record : { ...record, deletion };
    },

    readUsage: async (_, { tenantId }) => {
      return this.#tenantOf(tenantId).usage;
    },

    findTenants: async (_, query) => {
      const all = this.#tenantsAfter({ after: query.after, limit: this.#shard.searchedMax });
      const matches = all.filter((tenant) => tenantMatches(tenant, query.name));
      const tenants = matches.slice(0, query.limit);
      const last = matches.length > query.limit ? tenants.at(-1) : all[this.#shard.searchedMax - 1];
      return { tenants, scannedTo: last?.tenantId };
    },

    listTenants: async (_, query) => this.#tenantsAfter(query),

    listSubjects: async ({ handle }, query) => {
      const subjects = new Set([...this.#resolve(handle).grants.values()].map(({ subject }) => subject));
      return this.#page([...subjects].sort(), query);
    },

    listGrants: async ({ handle }, { of, relation, ...query }) => {
      const isOf = (grant: Grant) => ('subject' in of ? grant.subject === of.subject : grant.object === of.object);
      const grants = [...this.#resolve(handle).grants.values()].filter(
        (grant) => isOf(grant) && (relation === undefined || grant.relation === relation),
      );
      return { ...this.#page(grants, query), feedCursor: FEED_CURSOR };
    },

    /** A filter changes nothing. */
    listAuditLog: async (_, query) => {
      this.#shard.auditLogQueries.push(query);
      this.#tenantOf(query.tenantId);
      const entry = { atMs: 1_700_000_000_000, actor: 'operator:ann', requestId: 'req_1', change: 'x'.repeat(8192) };
      const rows = Array.from({ length: 1000 }, (_, index) => ({ ...entry, seq: index + 1, index: 0 }));
      return { ...this.#page(rows, query), resumeCursor: 'behind-all', scannedToMs: entry.atMs };
    },

    listLogEnds: async () => {
      const { epochs, world } = this.#shard;
      const ranges = [...epochs.keys()].map((slot) => {
        const { first, entries } = world.logOf(slot);
        return { slot, first, last: first + entries.length - 1 };
      });
      return { ranges, cursorKeys: world.cursorKeys };
    },

    readLog: async (_, { slot, afterSeq, sinceMs }) => {
      const { epochs, world } = this.#shard;
      if (!epochs.has(slot)) throw new ShardFailure('wrong-owner', 'Not mine.', world.owners.get(slot));
      const { first, entries } = world.logOf(slot);
      const last = first + entries.length - 1;
      if (afterSeq > last) throw new GrantdError('invalid-cursor', 'Ahead of the log.');
      if (afterSeq + 1 < first) throw new GrantdError('cursor-too-old', 'Trimmed.');
      const read = entries.slice(afterSeq + 1 - first, afterSeq + 1 - first + world.entriesPerPage);
      const nextSeq = afterSeq + read.length;
      return { items: read.flat().filter(({ atMs }) => atMs >= sinceMs), nextSeq, atEnd: nextSeq === last };
    },

    exportGrants: async ({ handle }, query) => {
      return { ...this.#page([...this.#resolve(handle).grants.values()], query), feedCursor: FEED_CURSOR };
    },

    listSlots: async () => {
      const { incarnation, leaseLeftMs, epochs, world } = this.#shard;
      return {
        incarnation,
        shardName: this.#shard.name,
        leaseLeftMs,
        owned: [...epochs].map(([slot, epoch]) => ({
          slot,
          epoch,
          state: 'serving' as const,
          logEnd: 7,
          checkpoint: 5,
          tenants: 1,
        })),
        owners: [...world.owners.values()].map(({ slot, epoch, incarnation: owner }) => ({
          slot,
          epoch,
          incarnation: owner === '' ? undefined : owner,
        })),
      };
    },

    listMembers: async () => {
      return [...this.#shard.world.members.values()];
    },

    readLoad: async () => {
      return { ...this.#shard.load, shardName: this.#shard.name };
    },
  };
}

/** `subject relation object`, as a grant of the tenant. */
export function addGrant(tenant: FakeTenant, text: string): void {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  if (!isRelation(relation)) throw new Error(`"${relation}" is not a relation.`);
  tenant.grants.set(text, { subject, relation, object, grantId: `grt_${tenant.grants.size}`, createdAtMs: 0 });
}
