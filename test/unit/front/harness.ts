// A front before scripted shards, over real gRPC on loopback.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TestContext } from 'node:test';
import type { Clock } from '../../../src/core/async/clock.ts';
import { IdFactory, type TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plan } from '../../../src/core/plans.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront, type FrontOptions } from '../../../src/front/create-front.ts';
import type { Front, RequestContext, TenantSession } from '../../../src/front/front.ts';
import type { FailureLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { listenHttp } from '../../../src/http/server.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { listenShardServer, type ShardServer } from '../../../src/rpc/serving/server.ts';
import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';
import { createLog, type Log } from '../../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts';
import { ScriptedShard, ShardWorld } from '../../kit/scripted-shard.ts';
import { VirtualClock } from '../../kit/virtual-clock.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { FakeFailureLimiter, FakeRateLimiter } from '../http/http-in-process.ts';

export const silentLog: Log = createLog({ level: 'silent', pretty: false });
export const ids = new IdFactory(systemClock, systemRandom);

/** Fronts report at whole two seconds of their wall clock; by this one that is always in 50 ms. */
export const reportingClock: Clock = {
  ...systemClock,
  wallMs: () => Math.floor(Date.now() / 2000) * 2000 + 1950,
};

/** A clock that stands still until a test moves it: turns of the event loop pass, pauses do not end. */
export function createStillClock(): VirtualClock {
  const clock = new VirtualClock();
  clock.setImmediate = (run) => {
    setImmediate(run);
  };
  return clock;
}

/** Resolves once the condition holds; fails after a bound. */
export const until = (condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> =>
  waitFor(what, condition);

/** So long that no request here ends by it, however busy the machine. */
const PATIENCE_MS = 20_000;

/** `clock`: that of the front, where it has one of its own. */
export function contextFor(limitMs = PATIENCE_MS, clock: Clock = systemClock): RequestContext {
  return { requestId: ids.create('key').replace('key_', 'req_'), deadlineMs: clock.monotonicMs() + limitMs };
}

export async function serve(
  t: TestContext,
  shard: ScriptedShard,
  address = '127.0.0.1:0',
  metrics = createMetrics(),
): Promise<ShardServer> {
  const server = await listenShardServer(
    { shard: () => shard, clock: systemClock, log: silentLog, metrics },
    { address, version: 'test', unprovenPeers: true },
  );
  t.after(() => server.close());
  return server;
}

/** The public interface over a front, on a free port; returns its URL. */
export async function listenApi(
  t: TestContext,
  front: Front,
  { plans = BUILT_IN_PLANS, clock = systemClock, failureLimiter = new FakeFailureLimiter() }: ApiOptions = {},
): Promise<string> {
  const rateLimiter = new FakeRateLimiter();
  const parts = { ids, random: systemRandom, log: silentLog, metrics: createMetrics() };
  const server = await listenHttp(
    { ...parts, front, rateLimiter, failureLimiter, clock },
    { address: '127.0.0.1:0', baseUrl: undefined, errorsBase: undefined, plans, trustedProxies: [] },
  );
  t.after(() => server.close());
  return server.url;
}

export interface ApiOptions {
  readonly plans?: ReadonlyMap<string, Plan>;
  readonly clock?: Clock;
  readonly failureLimiter?: FailureLimiter;
}

export interface Stage {
  readonly world: ShardWorld;
  readonly shards: readonly ScriptedShard[];
  readonly servers: readonly ShardServer[];
  readonly shard: ScriptedShard;
  readonly tenantId: TenantId;
  readonly key: string;
  readonly front: ReturnType<typeof createFront>;
  readonly metrics: Metrics;
  /** Of all shards. */
  readonly shardMetrics: Metrics;
  session(): Promise<TenantSession>;
}

export interface StageOptions {
  readonly shards?: number;
  readonly slots?: number;
  /** Instead of the shards' own addresses. */
  readonly addresses?: (servers: readonly ShardServer[]) => readonly string[];
  readonly clock?: Clock;
  readonly front?: Partial<FrontOptions>;
  readonly openStream?: OpenStream;
  readonly ready?: boolean;
}

/** Shards that share the slots evenly, one tenant on the first of them, a key of it, and a ready front. */
export async function setStage(t: TestContext, options: StageOptions = {}): Promise<Stage> {
  const { shards: count = 1, slots = 4, clock = systemClock, ready = true } = options;
  const world = await ShardWorld.start(slots);
  const shards = Array.from({ length: count }, (_, index) => new ScriptedShard(world, `shard-${index}`));
  const [shard] = shards;
  if (shard === undefined) throw new Error('A stage has a shard.');
  const shardMetrics = createMetrics();
  const servers = await Promise.all(shards.map((each) => serve(t, each, undefined, shardMetrics)));
  for (const [index, each] of shards.entries()) {
    const mine = Array.from({ length: slots }, (_, slot) => slot).filter((slot) => slot % count === index);
    each.own(mine, servers[index]?.address);
  }
  const tenantId = await world.createTenant([...shard.epochs.keys()]);
  const key = await world.createKey(tenantId);
  const metrics = createMetrics();
  const addresses = options.addresses?.(servers) ?? servers.map(({ address }) => address);
  const front = createFront(
    {
      discovery: createStaticDiscovery(addresses),
      clock,
      random: systemRandom,
      log: silentLog,
      metrics,
      openStream: options.openStream ?? createGrpcTransport(),
    },
    { name: 'test', peer: 'front', ...options.front },
  );
  t.after(() => front.close());
  t.after(() => world.stop());
  if (ready) await until(() => front.ready(), 'the front');
  return {
    world,
    shards,
    servers,
    shard,
    tenantId,
    key,
    front,
    metrics,
    shardMetrics,
    session: async () => front.authenticate(contextFor(PATIENCE_MS, clock), key),
  };
}

/**
 * For how long this process had no processor at a time, twice the worst: a request takes several turns of the event
 * loop. To be added to bounds of time, which then say something about the front and not about its neighbours on the
 * machine.
 */
export function watchStalls(t: TestContext): () => number {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  t.after(() => delays.disable());
  return () => (2 * delays.max) / 1e6;
}
