// One shard over a store in memory, which can be stopped, killed and started again on the same store, with switches for
// the store's faults. For tests of what a shard decides, below gRPC.

import { randomBytes } from 'node:crypto';
import { createApiKey, hashApiKey } from '../../src/core/api-keys.ts';
import type { Random } from '../../src/core/async/clock.ts';
import { FairTurns } from '../../src/core/async/turns.ts';
import { IdFactory, type TenantId } from '../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../src/core/plans.ts';
import type { Tuple } from '../../src/core/tuples.ts';
import { createStreamHost, type StreamHost } from '../../src/rpc/serving/stream-host.ts';
import type { AcceptStream } from '../../src/rpc/transport/transport.ts';
import type { CommitCounts } from '../../src/shard/log/commit-counts.ts';
import { MemoryBudget } from '../../src/shard/memory/memory-budget.ts';
import { retireMembers } from '../../src/shard/ownership/membership.ts';
import type { GrantResult, IssuedHandle } from '../../src/shard/shard.ts';
import { createShardNode, type ShardNode, type ShardNodeOptions } from '../../src/shard/shard-node.ts';
import type { Meta } from '../../src/store/store.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { directOwners } from './direct-owners.ts';
import { createProcessClock, type ProcessClock } from './process-clock.ts';
import { consoleMethods, type OperatorMethods, type TenantMethods } from './shard-methods.ts';
import { delayedStore, type FaultControls, type StoreHooks } from './store/faulty-store.ts';
import { MemoryStore } from './store/memory-store.ts';
import { META } from './store/store-fixtures.ts';

const random: Random = { bytes: (length) => randomBytes(length) };

const PAGE_CACHE_BYTES_MAX = 16 * 1024 * 1024;

/** Few slots, so that a shard has them all at once. */
export const HARNESS_META: Meta = { ...META, slots: 4 };

export interface RunningShard {
  readonly node: ShardNode;
  /** Where the other shards of the harness reach it. */
  readonly address: string;
  readonly host: StreamHost;
  readonly clock: ProcessClock;
  readonly faults: FaultControls;
  /** A console's connection. */
  readonly connection: TenantMethods;
  readonly operator: OperatorMethods;
}

export interface HarnessOptions extends Partial<ShardNodeOptions> {
  readonly pageCacheBytesMax?: number;
  readonly commitCounts?: CommitCounts;
  /** How far time has passed for the shards' monotonic clocks, besides that of the test. */
  readonly aheadMs?: () => number;
  readonly wallMs?: () => number;
}

export class ShardHarness {
  readonly store: MemoryStore;
  readonly ids: IdFactory;
  readonly #options: HarnessOptions;
  readonly #running = new Set<RunningShard>();
  readonly #doors = new Map<string, AcceptStream>();

  constructor(options: HarnessOptions = {}) {
    const clock = createProcessClock();
    this.store = new MemoryStore({ clock });
    this.ids = new IdFactory(clock, random);
    this.#options = options;
  }

  async start(shardName = 'shard-1', hooks: StoreHooks = {}): Promise<RunningShard> {
    const { pageCacheBytesMax = PAGE_CACHE_BYTES_MAX, aheadMs, wallMs, commitCounts, ...rest } = this.#options;
    const options = { shardName, address: `${shardName}:1`, meta: HARNESS_META, plans: BUILT_IN_PLANS, ...rest };
    const clock = createProcessClock(wallMs, aheadMs);
    const { store, faults } = delayedStore(this.store, clock, hooks);
    const log = createLog({ level: 'silent', pretty: false });
    const budget = new MemoryBudget(pageCacheBytesMax, new FairTurns(clock));
    const owners = directOwners(clock, this.#doors);
    const metrics = createMetrics();
    const node = createShardNode(
      { store, clock, random, log, metrics, budget, owners, commitCounts },
      { exclusive: true, ...options },
    );
    const host = createStreamHost({ shard: () => node, clock, log, metrics });
    this.#doors.set(options.address, host.accept);
    await store.initializeMeta(HARNESS_META, clock.monotonicMs() + 1000);
    await retireMembers(store, clock);
    await node.join();
    await node.start();
    const { tenant: connection, operator } = consoleMethods(node.connectConsole());
    const running = { node, address: options.address, host, clock, faults, connection, operator };
    this.#running.add(running);
    return running;
  }

  /** As `kill -9`: nothing of it runs on. */
  kill(running: RunningShard): void {
    running.clock.kill();
    running.host.finish();
    if (this.#doors.get(running.address) === running.host.accept) this.#doors.delete(running.address);
    this.#running.delete(running);
  }

  async stop(running: RunningShard): Promise<void> {
    await running.node.stop();
    this.kill(running);
  }

  killAll(): void {
    for (const running of this.#running) this.kill(running);
  }

  attempt(expiresInMs = 10_000) {
    return { requestId: this.ids.create('req'), expiresAtMs: performance.now() + expiresInMs };
  }

  async createTenant({ operator }: RunningShard, plan = 'unlimited'): Promise<TenantId> {
    const tenantId = this.ids.create('ten');
    await operator.createTenant(this.attempt(), { tenantId, name: 'test', plan, operator: 'test' });
    return tenantId;
  }

  /** The operator's handle. */
  async open({ operator }: RunningShard, tenantId: TenantId): Promise<number> {
    return (await operator.authenticateOperator({ tenantId, operator: 'test' })).handle;
  }

  /** A new key with its text, made by the operator. */
  async createKey(running: RunningShard, tenantId: TenantId, scopes = 7, expiresAtMs?: number) {
    const keyId = this.ids.create('key');
    const text = createApiKey({ tenantId, keyId }, random);
    const hash = hashApiKey(text);
    const handle = await this.open(running, tenantId);
    const key = { keyId, name: 'test', scopes, expiresAtMs, hash };
    await running.connection.createKey(handle, this.attempt(), key);
    const authenticate = (connection: TenantMethods): Promise<IssuedHandle> =>
      connection.authenticate({ tenantId, keyId, key: text });
    return { keyId, hash, text, authenticate };
  }

  async write(running: RunningShard, handle: number, tuple: Tuple, revoke = false): Promise<GrantResult> {
    const [result] = await running.connection.writeGrants(handle, this.attempt(), [{ ...tuple, revoke }]);
    if (result === undefined) throw new Error('a write has a result');
    return result;
  }
}
