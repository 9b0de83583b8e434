// The role `shard`: one shard on a shared store. It is alive from its first moment and reports what it waits for (the
// store, its schema, its share of the slots). Once ready it stays ready, whatever happens to the store, because its
// lease says whether it may answer. When it stops, it first hands its slots over, and for a while still tells callers
// where they went.

import { describeConfig } from '../config/read-config.ts';
import type { ShardConfig } from '../config/settings.ts';
import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { listenShardServer } from '../rpc/serving/server.ts';
import { createMemoryBudget } from '../shard/memory/memory-budget.ts';
import { createShardNode, type ShardNode } from '../shard/shard-node.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { openOps } from './open/ops.ts';
import { openRpcTls, serverAccess } from './open/rpc-tls.ts';
import { openStore } from './open/store.ts';
import { openTracing } from './open/tracing.ts';
import { openTurns } from './open/turns.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { prepareProcess } from './process/prepare-process.ts';
import { Readiness } from './process/readiness.ts';
import { loopBackAddress, loopBackTransport, openLoopBack } from './process/self-probe.ts';
import { resolveAdvertised, resolveShardName } from './process/shard-identity.ts';
import { readPlace } from './process/shard-place.ts';
import { listenOn } from './process/start-error.ts';
import { untilAborted } from './process/waiting.ts';

const MS_PER_HOUR = 3_600_000;

interface ShardRoleDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Resolves when it serves its share of the slots. If `signal` aborts, the start ends and hands over the slots that it
 * had.
 */
export async function startShard(
  dependencies: ShardRoleDependencies,
  options: { readonly config: ShardConfig; readonly version: string },
  signal: AbortSignal,
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  prepareProcess(log);
  const shardName = resolveShardName(config);
  log.info({ role: 'shard', version, shardName, settings: describeConfig(config) }, 'starting');
  const metrics = createMetrics();
  const readiness = new Readiness(log);

  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const ops = await openOps({ metrics, clock, log, notReady: () => readiness.reasons() }, config);
  parts.defer(() => ops.close());
  const identity = { serviceName: 'grantd-shard', instance: shardName, version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
  const tls = openRpcTls(config, dependencies);
  parts.defer(() => tls?.close());
  const turns = openTurns({ clock, metrics });
  let node: ShardNode | undefined;
  const server = await listenOn('GRANTD_RPC_ADDRESS', config.rpcAddress, () =>
    listenShardServer(
      { shard: () => node, clock, turns, log, tracing },
      { address: config.rpcAddress, version, ...serverAccess(config, tls, config.rpcAddress, { log }) },
    ),
  );
  parts.defer(() => server.close());
  const address = resolveAdvertised(config, server.address);

  const { store, meta } = await openStore(dependencies, config, {
    traced: tracing !== undefined,
    parts,
    signal,
    onWaiting: (what, reason) => readiness.wait(`waiting for ${what}: ${reason}`),
  });

  readiness.wait('joining the cluster');
  const loopBack = openLoopBack(
    { clock, random, openStream: loopBackTransport(tls) },
    { address: loopBackAddress(server.address), name: `${shardName} itself`, version, slots: meta.slots },
  );
  parts.defer(() => loopBack.close());
  const shard = createShardNode(
    { store, clock, random, log, metrics, budget: createMemoryBudget(metrics, turns, config.pageCacheBytes) },
    {
      shardName,
      address,
      place: readPlace(server.address),
      meta,
      plans: config.plans ?? BUILT_IN_PLANS,
      loopBackHealthy: () => loopBack.healthy,
      logRetentionMs: config.logRetentionHours * MS_PER_HOUR,
    },
  );
  node = shard;
  parts.defer(async () => {
    readiness.stop();
    await shard.stop();
    loopBack.close();
    // A front that does not know of the handover yet learns it from its next request.
    await delay(clock, config.drainSeconds * 1000);
    await server.close();
  });
  await untilAborted(shard.join(), signal);
  readiness.wait('waiting for its slots');
  await untilAborted(shard.start(), signal);
  readiness.serve(() => {
    const part = shard.unhealthyPart;
    if (part !== undefined) return `unhealthy (${part}): other shards take its slots`;
    return shard.ready ? undefined : 'waiting for its slots';
  });
  log.info({ shardName, incarnation: shard.incarnation, address, ops: ops.url }, 'serving');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
