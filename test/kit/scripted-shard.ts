// Shards whose ownership and failures a test scripts. One real shard over a store in memory decides every call. Each
// scripted shard is a view of it: it serves the slots that the test gives it, counts its calls, and delays them, fails
// them or answers them otherwise on demand.

import { createApiKey, hashApiKey } from '../../src/core/api-keys.ts';
import { IdFactory, type TenantId } from '../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plan } from '../../src/core/plans.ts';
import { ALL_SCOPES } from '../../src/core/scopes.ts';
import { slotOfTenant } from '../../src/core/slots.ts';
import { type Tenant, tenantMatches } from '../../src/core/tenants.ts';
import { isRelation, type Tuple } from '../../src/core/tuples.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import type { ServedPeer } from '../../src/rpc/calls/define-call.ts';
import type { NamedTuple } from '../../src/rules/questions.ts';
import {
  type AnswerOf,
  type Attempt,
  type CallerOf,
  type CallName,
  type CheckAnswer,
  type ClusterMember,
  type FrontReport,
  type HandleRight,
  type KeyCredentials,
  type Load,
  type LogPositions,
  type MemberAddress,
  type NewKey,
  type RequestOf,
  type Shard,
  ShardFailure,
  type SlotOwner,
  type TenantChange,
  type TenantConnection,
  type TenantSettings,
} from '../../src/shard/shard.ts';
import { HARNESS_META, type RunningShard, ShardHarness } from './shard-harness.ts';
import { type Answers, callOn } from './shard-methods.ts';

const ids = new IdFactory(systemClock, systemRandom);
const TENANTS_MAX = 1000;
/** The plan of a tenant that may have only these. */
export const TWO_NAMESPACES: Plan = {
  name: 'two-namespaces',
  requests: undefined,
  windowSeconds: 1,
  namespacesMax: 2,
  keysMax: 1000,
  grantsMax: undefined,
  streamsMax: 10,
  readers: 0,
  readersMax: 4,
};
const PLANS = new Map([...BUILT_IN_PLANS, [TWO_NAMESPACES.name, TWO_NAMESPACES] as const]);

/** The state that all shards of a cluster share, and an operator's access to it, which does not count as calls. */
export class ShardWorld {
  readonly slots: number;
  /** The current owner of each slot; an empty incarnation: the slot is released. */
  readonly owners = new Map<number, SlotOwner>();
  readonly members = new Map<string, ClusterMember>();
  /** Calls of `readChanges` in progress. */
  followers = 0;
  readonly #harness: ShardHarness;
  readonly #running: RunningShard;
  readonly #time: { aheadMs: number };

  private constructor(slots: number, harness: ShardHarness, running: RunningShard, time: { aheadMs: number }) {
    this.slots = slots;
    this.#harness = harness;
    this.#running = running;
    this.#time = time;
  }

  static async start(slots = 4): Promise<ShardWorld> {
    const time = { aheadMs: 0 };
    const meta = { ...HARNESS_META, slots };
    const clocks = { aheadMs: () => time.aheadMs, wallMs: () => Date.now() + time.aheadMs };
    const harness = new ShardHarness({ meta, plans: PLANS, ...clocks });
    return new ShardWorld(slots, harness, await harness.start(), time);
  }

  /** To be called after the servers and fronts that use it have ended. */
  stop(): void {
    this.#harness.killAll();
  }

  /** Lets time pass for the shards alone, which forget operations that are too old. */
  pass(ms: number): void {
    this.#time.aheadMs += ms;
  }

  get node(): RunningShard['node'] {
    return this.#running.node;
  }

  get operator(): RunningShard['operator'] {
    return this.#running.operator;
  }

  slotOf(tenantId: string): number {
    return slotOfTenant(tenantId, this.slots);
  }

  #attempt(): Attempt {
    return { requestId: ids.create('req'), expiresAtMs: this.node.monotonicMs() + 10_000 };
  }

  /** A tenant whose slot is among the given ones; undefined: any. */
  async createTenant(slots?: readonly number[], { name = 'test', plan = 'free' } = {}): Promise<TenantId> {
    let tenantId = ids.create('ten');
    while (slots?.includes(this.slotOf(tenantId)) === false) tenantId = ids.create('ten');
    await this.operator.createTenant(this.#attempt(), { tenantId, name, plan, operator: 'test' });
    return tenantId;
  }

  update(tenantId: TenantId, change: Partial<TenantChange>): Promise<Tenant> {
    return this.operator.updateTenant(this.#attempt(), { tenantId, operator: 'test', ...change });
  }

  async tenants(): Promise<readonly Tenant[]> {
    return this.operator.listTenants({ after: undefined, limit: TENANTS_MAX });
  }

  /** The text of a new key. */
  async createKey(tenantId: TenantId, change: Partial<NewKey> = {}): Promise<string> {
    const keyId = ids.create('key');
    const text = createApiKey({ tenantId, keyId }, systemRandom);
    const key = { keyId, name: '', scopes: ALL_SCOPES, expiresAtMs: undefined, hash: hashApiKey(text), ...change };
    await this.#running.connection.createKey(await this.#handle(tenantId), this.#attempt(), key);
    return text;
  }

  async revokeKey(tenantId: TenantId, keyId: string): Promise<void> {
    await this.#running.connection.revokeKey(await this.#handle(tenantId), this.#attempt(), keyId);
  }

  /** Each `subject relation object`, all in one call. */
  async grant(tenantId: TenantId, ...texts: readonly string[]): Promise<void> {
    await this.#write(tenantId, texts, false);
  }

  async revoke(tenantId: TenantId, ...texts: readonly string[]): Promise<void> {
    await this.#write(tenantId, texts, true);
  }

  async #write(tenantId: TenantId, texts: readonly string[], revoke: boolean): Promise<void> {
    const writes = texts.map((text) => ({ ...tupleOf(text), revoke }));
    await this.#running.connection.writeGrants(await this.#handle(tenantId), this.#attempt(), writes);
  }

  async isGranted(tenantId: TenantId, text: string): Promise<boolean> {
    const { subject, relation, object } = tupleOf(text);
    const query = { of: { subject }, relation, limit: TENANTS_MAX, cursor: undefined };
    const { items } = await this.#running.connection.listGrants(await this.#handle(tenantId), query);
    return items.some((grant) => grant.object === object);
  }

  /** The operator's handle. */
  #handle(tenantId: TenantId): Promise<number> {
    return this.#harness.open(this.#running, tenantId);
  }
}

function tupleOf(text: string): Tuple {
  const [subject = '', relation = '', object = ''] = text.split(' ');
  if (!isRelation(relation)) throw new Error(`"${relation}" is not a relation.`);
  return { subject, relation, object };
}

export class ScriptedShard implements Shard {
  readonly world: ShardWorld;
  readonly name: string;
  readonly incarnation: string;
  readonly epochs = new Map<number, number>();
  readonly connections = new Set<ScriptedConnection>();
  readonly #watchers = new Set<() => void>();
  leaseLeftMs: number | undefined = 2500;
  load: Load = { checksPerSecond: 0, failuresPerSecond: 0, p99Ms: undefined };
  /** Names that one page of a search examines. */
  searchedMax = 1000;
  /** Of fronts, newest last. */
  readonly reports: FrontReport[] = [];
  /** Of what it was asked last. */
  positions: LogPositions | undefined;
  /** The other shards that it names to fronts. */
  members: readonly MemberAddress[] = [];
  welcomeSlots: number | undefined;
  /** How often each call was made. */
  readonly counts = new Map<string, number>();
  /** Scripts the next checks: an error fails, a promise is slow, undefined leaves the answer to the real shard. */
  onCheck: ((subject: string, object: string) => boolean | Promise<boolean> | undefined) | undefined;
  /** Runs before every call; what it throws fails the call, before anything is done. */
  onCall: ((name: CallName) => void | Promise<void>) | undefined;
  /** Runs after a write was done; what it throws is the answer. */
  afterWrite: (() => void | Promise<void>) | undefined;
  lastAttempt: Attempt | undefined;
  /** A view has no tables of tenants, slots and members of its own: these stand in for those of a shard. */
  readonly answers: Answers = {
    listTenants: (query) => this.#tenantsAfter(query.after, query.limit),
    findTenants: async ({ after, name, limit }) => {
      const searched = await this.#tenantsAfter(after, this.searchedMax);
      const matches = searched.filter((tenant) => tenantMatches(tenant, name));
      const tenants = matches.slice(0, limit);
      const last = matches.length > limit ? tenants.at(-1) : searched[this.searchedMax - 1];
      return { tenants, scannedTo: last?.tenantId };
    },
    listLogEnds: async (request, real) => {
      const ends = await real(request);
      return { ...ends, ranges: ends.ranges.filter(({ slot }) => this.epochs.has(slot)) };
    },
    listSlots: async () => ({
      incarnation: this.incarnation,
      shardName: this.name,
      leaseLeftMs: this.leaseLeftMs,
      owned: [...this.epochs].map(([slot, epoch]) => {
        return { slot, epoch, state: 'serving' as const, logEnd: 7, checkpoint: 5, tenants: 1 };
      }),
      owners: [...this.world.owners.values()].map(({ slot, epoch, incarnation }) => {
        return { slot, epoch, incarnation: incarnation === '' ? undefined : incarnation };
      }),
      readers: [],
    }),
    listMembers: async () => [...this.world.members.values()],
    readLoad: async () => ({ ...this.load, shardName: this.name }),
  };

  constructor(world: ShardWorld, name = 'shard-0') {
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

  async #tenantsAfter(after: string | undefined, limit: number): Promise<readonly Tenant[]> {
    const tenants = await this.world.operator.listTenants({ after, limit: TENANTS_MAX });
    return tenants.filter(({ tenantId }) => this.epochs.has(this.world.slotOf(tenantId))).slice(0, limit);
  }

  count(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  countOne(name: string): void {
    this.counts.set(name, this.count(name) + 1);
  }

  /** Takes slots over, each in its next epoch. */
  own(slots: Iterable<number>, address = ''): void {
    for (const slot of slots) {
      const epoch = (this.world.owners.get(slot)?.epoch ?? 0) + 1;
      this.world.owners.set(slot, { slot, epoch, incarnation: this.incarnation, address });
      this.epochs.set(slot, epoch);
    }
    this.changed();
  }

  /** Stops serving slots. `silently`: without an announcement. */
  release(slots: Iterable<number>, silently = false): void {
    for (const slot of slots) this.epochs.delete(slot);
    if (!silently) this.changed();
  }

  /** The epoch in which it serves the slot. */
  demandOwner(slot: number): number {
    const epoch = this.epochs.get(slot);
    if (epoch === undefined) throw new ShardFailure('wrong-owner', 'Not mine.', this.world.owners.get(slot));
    return epoch;
  }

  changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  welcome() {
    const { incarnation, name: shardName } = this;
    return { ...this.world.node.welcome(), incarnation, shardName, slots: this.welcomeSlots ?? this.world.slots };
  }

  monotonicMs(): number {
    return this.world.node.monotonicMs();
  }

  connect(): ScriptedConnection {
    return this.#connect({ tenant: this.world.node.connect() });
  }

  connectConsole() {
    const connection = this.#connect(this.world.node.connectConsole());
    return { tenant: connection, operator: connection };
  }

  connectShard() {
    const connection = this.#connect(this.world.node.connectShard());
    return { tenant: connection, shard: connection };
  }

  #connect(real: ServedPeer): ScriptedConnection {
    const connection = new ScriptedConnection(this, real);
    this.connections.add(connection);
    return connection;
  }

  routes() {
    return { epochs: this.epochs, members: this.members };
  }

  watchRoutes(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }
}

/** All parts of a connection; only a console gets the operator's, and only a shard those of a reader. */
class ScriptedConnection implements TenantConnection {
  readonly #shard: ScriptedShard;
  readonly #real: ServedPeer;
  /** In which slot and epoch each handle was issued. */
  readonly #tenures = new Map<number, { readonly slot: number; readonly epoch: number }>();

  constructor(shard: ScriptedShard, real: ServedPeer) {
    this.#shard = shard;
    this.#real = real;
  }

  /** The real shard decides about a handle that it did not issue. */
  #demandTenure(handle: number): void {
    const tenure = this.#tenures.get(handle);
    if (tenure === undefined || this.#shard.demandOwner(tenure.slot) === tenure.epoch) return;
    throw new ShardFailure('handle-unknown', 'Of an earlier tenure.');
  }

  answerAt(positions: LogPositions): void {
    this.#shard.positions = positions;
    this.#real.tenant.answerAt(positions);
  }

  check(handle: number, subject: string, relation: number, object: string): CheckAnswer | Promise<CheckAnswer> {
    this.#shard.countOne('check');
    this.#demandTenure(handle);
    return this.#shard.onCheck?.(subject, object) ?? this.#real.tenant.check(handle, subject, relation, object);
  }

  checkKnown(handle: number, check: NamedTuple): CheckAnswer | undefined {
    this.#demandTenure(handle);
    return this.#real.tenant.checkKnown(handle, check);
  }

  unknownNamespaces(handle: number, namespaces: readonly string[]): readonly string[] {
    return this.#real.tenant.unknownNamespaces(handle, namespaces);
  }

  async call<Name extends CallName>(
    name: Name,
    caller: CallerOf<Name>,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const shard = this.#shard;
    shard.countOne(name);
    await shard.onCall?.(name);
    if ('handle' in caller && typeof caller.handle === 'number') this.#demandTenure(caller.handle);
    // A reader has the state of the owner here: both are views of one shard.
    if (name === 'authenticateAtReader') return callOn(this.#real, 'authenticate', {}, request as KeyCredentials);
    const slot = this.#slotOf(request);
    const epoch = slot === undefined ? undefined : shard.demandOwner(slot);
    const isWrite = 'attempt' in caller && caller.attempt !== undefined;
    if (isWrite) shard.lastAttempt = caller.attempt as Attempt;

    const real = (made: RequestOf<Name>) => this.#whileOwner(name, caller, callOn(this.#real, name, caller, made));
    const scripted = shard.answers[name];
    const answer = await (scripted === undefined ? real(request) : scripted(request, real));
    if (isWrite) await shard.afterWrite?.();
    const issued: unknown = name === 'authenticate' || name === 'authenticateOperator' ? answer : undefined;
    if (slot !== undefined && epoch !== undefined && isHandle(issued)) {
      this.#tenures.set(issued.handle, { slot, epoch });
    }
    return answer;
  }

  /** A call that waits for changes ends with the tenure. */
  async #whileOwner<Answer>(name: CallName, caller: object, answer: Promise<Answer>): Promise<Answer> {
    if (name !== 'readChanges' || !('handle' in caller) || typeof caller.handle !== 'number') return answer;
    const { handle } = caller;
    const lost = Promise.withResolvers<never>();
    const unwatch = this.#shard.watchRoutes(() => {
      try {
        this.#demandTenure(handle);
      } catch (error) {
        lost.reject(error);
      }
    });
    this.#shard.world.followers += 1;
    try {
      return await Promise.race([answer, lost.promise]);
    } finally {
      this.#shard.world.followers -= 1;
      unwatch();
    }
  }

  /** The slot that a request names itself. */
  #slotOf(request: unknown): number | undefined {
    if (typeof request !== 'object' || request === null) return undefined;
    if ('slot' in request && typeof request.slot === 'number') return request.slot;
    if ('tenantId' in request && typeof request.tenantId === 'string')
      return this.#shard.world.slotOf(request.tenantId);
    return undefined;
  }

  watchSettings(onChange: () => void): void {
    this.#real.tenant.watchSettings(onChange);
  }

  takeSettings(countMax: number): readonly TenantSettings[] {
    return this.#real.tenant.takeSettings(countMax);
  }

  settingsOf(handle: number): TenantSettings | undefined {
    return this.#real.tenant.settingsOf(handle);
  }

  tenantOf(handle: number): string {
    return this.#real.tenant.tenantOf(handle);
  }

  serves(tenantId: string): boolean {
    return this.#real.tenant.serves(tenantId);
  }

  demandRight(handle: number, right: HandleRight): void {
    this.#real.tenant.demandRight(handle, right);
  }

  endWaits(): void {
    this.#real.tenant.endWaits();
  }

  report(report: FrontReport): void {
    this.#shard.reports.push(report);
    this.#real.tenant.report(report);
  }

  close(): void {
    this.#shard.countOne('close');
    this.#shard.connections.delete(this);
    this.#real.tenant.close();
  }
}

const isHandle = (answer: unknown): answer is { readonly handle: number } =>
  typeof answer === 'object' && answer !== null && 'handle' in answer && typeof answer.handle === 'number';
