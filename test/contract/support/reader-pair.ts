// Two shards on one store: one owns a tenant, the other reads for it. What either asks of the store, a test may hold.

import type { TestContext } from 'node:test';
import { createApiKey, hashApiKey } from '../../../src/core/api-keys.ts';
import { FairTurns } from '../../../src/core/async/turns.ts';
import { IdFactory, type TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { ALL_SCOPES, type ScopeMask } from '../../../src/core/scopes.ts';
import { rankShards, slotOfTenant } from '../../../src/core/slots.ts';
import type { Tuple } from '../../../src/core/tuples.ts';
import { systemRandom } from '../../../src/roles/process/system.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../src/rules/rules-text.ts';
import { MemoryBudget } from '../../../src/shard/memory/memory-budget.ts';
import { retireMembers } from '../../../src/shard/ownership/membership.ts';
import type { OwnerPort } from '../../../src/shard/readers/follow-tenant.ts';
import type { Attempt, IssuedHandle, KeyCredentials } from '../../../src/shard/shard.ts';
import { createShardNode, type ShardNode } from '../../../src/shard/shard-node.ts';
import type { Store } from '../../../src/store/store.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createProcessClock } from '../../kit/process-clock.ts';
import { HARNESS_META } from '../../kit/shard-harness.ts';
import { consoleMethods, type OperatorMethods, type TenantMethods } from '../../kit/shard-methods.ts';
import { delayedStore, type FaultControls } from '../../kit/store/faulty-store.ts';
import { soon } from '../../kit/store/store-fixtures.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { silentLog } from '../../unit/rpc/harness.ts';

const PAGE_CACHE_BYTES = 16 * 1024 * 1024;
const OWNER = 'owner';
const READER = 'reader';
/** Slots of the store. */
export const PAIR_META = HARNESS_META;
const PLANS = new Map(Array.from(BUILT_IN_PLANS, ([name, plan]) => [name, { ...plan, readers: 1 }]));

const clock = createProcessClock();
const ids = new IdFactory(clock, systemRandom);

interface Side {
  readonly node: ShardNode;
  readonly faults: FaultControls;
  /** A console's connection. */
  readonly connection: TenantMethods;
  readonly operator: OperatorMethods;
}

function createSide(shardName: string, base: Store, follow: OwnerPort['follow']): Side {
  const { store, faults } = delayedStore(base, clock);
  const budget = new MemoryBudget(PAGE_CACHE_BYTES, new FairTurns(clock));
  const owners = { follow, expect: takesNothing, take: takesNothing };
  const dependencies = { store, clock, random: systemRandom, log: silentLog, metrics: createMetrics(), budget, owners };
  // Only what a test asks is in memory: nothing is read ahead.
  const pageLimits = { readsBeforeScan: Number.POSITIVE_INFINITY };
  const options = { shardName, address: `${shardName}:1`, meta: PAIR_META, plans: PLANS, pageLimits };
  const node = createShardNode(dependencies, { ...options, exclusive: true });
  const { tenant: connection, operator } = consoleMethods(node.connectConsole());
  return { node, faults, connection, operator };
}

const followsNobody = () => Promise.reject(new Error('The owner reads for nobody.'));
const takesNothing = () => Promise.reject(new Error('There is no successor.'));

export class ReaderPair {
  readonly store: Store;
  readonly owner: Side;
  readonly reader: Side;
  readonly tenantId: TenantId;
  /** The operator's, at the owner. */
  #handle = 0;

  /** `reach`: the way of the reader to its owner. */
  static async start(
    t: TestContext,
    store: Store,
    reach: (owner: ShardNode) => OwnerPort | Promise<OwnerPort>,
  ): Promise<ReaderPair> {
    await store.initializeMeta(PAIR_META, soon());
    await retireMembers(store, clock);
    const owner = createSide(OWNER, store, followsNobody);
    const port = await reach(owner.node);
    const reader = createSide(READER, store, (address, request) => port.follow(address, request));
    const nodes = [owner.node, reader.node];
    t.after(() => Promise.all(nodes.map((node) => node.stop())));
    for (const node of nodes) await node.join();
    await Promise.all(nodes.map((node) => node.start()));
    const pair = new ReaderPair(store, owner, reader);
    await pair.#createTenant();
    return pair;
  }

  private constructor(store: Store, owner: Side, reader: Side) {
    this.store = store;
    this.owner = owner;
    this.reader = reader;
    let tenantId = ids.create('ten');
    const isOwned = (): boolean => rankShards([OWNER, READER], slotOfTenant(tenantId, PAIR_META.slots))[0] === OWNER;
    while (!isOwned()) tenantId = ids.create('ten');
    this.tenantId = tenantId;
  }

  attempt(): Attempt {
    return { requestId: ids.create('req'), expiresAtMs: soon() };
  }

  async #createTenant(): Promise<void> {
    const { tenantId, owner } = this;
    const by = { tenantId, operator: 'test' };
    await owner.operator.createTenant(this.attempt(), { ...by, name: 'test', plan: 'unlimited' });
    await owner.operator.updateTenant(this.attempt(), { ...by, readers: 1 });
    this.#handle = (await owner.operator.authenticateOperator(by)).handle;
  }

  async createKey(scopes: ScopeMask = ALL_SCOPES): Promise<KeyCredentials> {
    const keyId = ids.create('key');
    const { tenantId } = this;
    const key = createApiKey({ tenantId, keyId }, systemRandom);
    const record = { keyId, name: 'test', scopes, expiresAtMs: undefined, hash: hashApiKey(key) };
    await this.owner.connection.createKey(this.#handle, this.attempt(), record);
    return { tenantId, keyId, key };
  }

  async revokeKey({ keyId }: KeyCredentials): Promise<void> {
    await this.owner.connection.revokeKey(this.#handle, this.attempt(), keyId);
  }

  /** Resolves once the reader knows its owner. */
  async read(credentials: KeyCredentials): Promise<number> {
    let issued: IssuedHandle | undefined;
    await waitFor('a handle at the reader', async () => {
      issued = await this.reader.connection.authenticateAtReader(credentials).catch(() => undefined);
      return issued !== undefined;
    });
    return issued?.handle ?? 0;
  }

  /** All at one moment of the owner. */
  async write({ grants = [], revocations = [] }: { grants?: readonly Tuple[]; revocations?: readonly Tuple[] }) {
    const write = { grants, revocations, preconditions: [] };
    await this.owner.connection.writeBulk(this.#handle, this.attempt(), write);
  }

  async writeRules(...rules: readonly object[]): Promise<void> {
    const request = { rules: RulesText.of(parseRuleSet({ rules })), ifMatch: undefined };
    await this.owner.connection.writeRules(this.#handle, this.attempt(), request);
  }

  /** Resolves once the state tables hold the grant, or no longer. */
  async stored({ subject, relation, object }: Tuple, exists: boolean): Promise<void> {
    await waitFor('the state tables', async () => {
      const grant = await this.store.readGrant(this.tenantId, subject, relation, object, soon());
      return (grant !== undefined) === exists;
    });
  }
}
