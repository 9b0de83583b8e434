// The role `shard`: one shard on a shared store. It is alive from its first moment and reports what it waits for (the
// store, its schema, its share of the slots). Once ready it stays ready, whatever happens to the store, because its
// lease says whether it may answer. When it stops, it first hands its slots over, and for a while still redirects
// callers to the new owners.

import type { ShardConfig } from '../config/settings.ts';
import { delay, untilAborted } from '../core/async/clock.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { MS_PER_HOUR } from '../core/text/timestamps.ts';
import { NeighbourLinks } from '../rpc/links/neighbour-links.ts';
import { OwnerLinks } from '../rpc/links/owner-links.ts';
import { listenShardServer } from '../rpc/serving/server.ts';
import { ClusterIdentity } from '../rpc/transport/cluster-identity.ts';
import { createGrpcTransport } from '../rpc/transport/grpc-transport.ts';
import { createMemoryBudget } from '../shard/memory/memory-budget.ts';
import { createShardNode, type ShardNode } from '../shard/shard-node.ts';
import type { Meta } from '../store/store.ts';
import { openProcess, type RoleDependencies } from './open/process.ts';
import { openRpcTls, serverAccess } from './open/rpc-tls.ts';
import { openStore } from './open/store.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openTurns } from './process/prepare-process.ts';
import { loopBackTransport, openLoopBack } from './process/self-probe.ts';
import { loopBackAddress, readPlace, resolveAdvertised, resolveShardName } from './process/shard-identity.ts';
import { listenOn, listenOnceFree, StartError } from './process/start-error.ts';
import { keepWatched, type StartWatcher } from './process/watcher-process.ts';

function requireCluster({ clusterId }: ShardConfig, meta: Meta): void {
  if (clusterId === undefined || clusterId === meta.clusterId) return;
  throw new StartError(
    `GRANTD_CLUSTER_ID is ${clusterId}, but the store is that of ${meta.clusterId}: the keyspace is another one, or a restored copy.`,
  );
}

/**
 * Resolves when it serves its share of the slots. If `signal` aborts, the start ends and hands over the slots that it
 * had.
 */
export async function startShard(
  dependencies: RoleDependencies,
  options: {
    readonly config: ShardConfig;
    readonly version: string;
    /** Absent: no process of this machine watches the shard, or one beside it does. */
    readonly startWatcher?: StartWatcher | undefined;
    /** Called before it serves its first slot: from then on requests wait for it. */
    readonly onLoaded?: () => void;
  },
  signal: AbortSignal,
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  const shardName = resolveShardName(config);

  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const self = { role: 'shard', instance: shardName, version, logged: { shardName } } as const;
  const { metrics, readiness, ops, tracing } = await openProcess(dependencies, config, self, parts);
  const tls = openRpcTls(config, dependencies, { serverNames: config.rpcTlsShardNames });
  parts.defer(() => tls?.close());
  const turns = openTurns({ clock, metrics });
  let node: ShardNode | undefined;
  const access = serverAccess(config, tls, config.rpcAddress, { log });
  const server = await listenOn('GRANTD_RPC_ADDRESS', config.rpcAddress, () =>
    listenOnceFree(dependencies, config.rpcAddress, () =>
      listenShardServer(
        { shard: () => node, clock, turns, log, metrics, tracing },
        { address: config.rpcAddress, version, ...access },
      ),
    ),
  );
  parts.defer(() => server.close());
  const { startWatcher } = options;
  const watcher = startWatcher && keepWatched(dependencies, () => startWatcher(server.address));
  parts.defer(() => watcher?.close());
  const address = resolveAdvertised(config, server.address);

  const { store, meta, warnings } = await openStore(dependencies, config, {
    traced: tracing !== undefined,
    parts,
    metrics,
    signal,
    onWaiting: (what, reason) => readiness.wait(`waiting for ${what}: ${reason}`),
  });

  requireCluster(config, meta);
  const cluster = new ClusterIdentity({ clock, log, metrics }, meta.clusterId);
  parts.defer(() => cluster.close());
  readiness.warnings = () => [...warnings(), ...cluster.warnings()];
  readiness.wait('joining the cluster');
  const loopBack = openLoopBack(
    { clock, random, openStream: loopBackTransport(tls), cluster },
    { address: loopBackAddress(server.address), name: `${shardName} itself`, version, slots: meta.slots },
  );
  parts.defer(() => loopBack.close());
  const openStream = createGrpcTransport({ credentials: tls?.channelCredentials });
  const owners = new OwnerLinks(
    { clock, turns, random, log, metrics, openStream, cluster },
    { name: shardName, version, slots: meta.slots },
  );
  parts.defer(() => owners.close());
  const budget = createMemoryBudget(metrics, turns, config.pageCacheBytes);
  const shard = createShardNode(
    { store, clock, random, log, metrics, budget, owners },
    {
      shardName,
      address,
      place: readPlace(server.address),
      meta,
      plans: config.plans ?? BUILT_IN_PLANS,
      loopBackHealthy: () => loopBack.healthy,
      logRetentionMs: config.logRetentionHours * MS_PER_HOUR,
      clockSkewMsMax: config.clockSkewMaxSeconds * 1000,
      onClock: (problem) => readiness.wait(problem ?? 'waiting for its slots'),
    },
  );
  node = shard;
  const neighbours = new NeighbourLinks(
    { clock, random, openStream, cluster, onBroken: () => shard.lookAtMembers() },
    { address, name: shardName, version, slots: meta.slots },
  );
  shard.watchRoutes(() => neighbours.update((shard.routes().members ?? []).map((member) => member.address)));
  parts.defer(() => neighbours.close());
  parts.defer(async () => {
    readiness.stop();
    await shard.stop();
    watcher?.close();
    loopBack.close();
    // A front that does not know of the handover yet learns it from its next request.
    await delay(clock, config.drainSeconds * 1000);
    await server.close();
  });
  await untilAborted(shard.join(), signal);
  options.onLoaded?.();
  readiness.wait('waiting for its slots');
  await untilAborted(shard.start(), signal);
  readiness.serve(() => {
    if (shard.clockProblem !== undefined) return `serves nothing: ${shard.clockProblem}`;
    const part = shard.unhealthyPart;
    if (part !== undefined) return `unhealthy (${part}): other shards take its slots`;
    return shard.ready ? undefined : 'waiting for its slots';
  });
  log.info({ shardName, incarnation: shard.incarnation, address, ops: ops.url }, 'serving');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
