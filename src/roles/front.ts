// The role `front`: the public API over the shards that discovery finds. It has no state and no store, so any number of
// fronts may come and go.

import { hostname } from 'node:os';
import { describeConfig } from '../config/read-config.ts';
import type { FrontConfig } from '../config/settings.ts';
import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { openPublicApi } from './open/apis.ts';
import { openFront } from './open/front.ts';
import { openRateLimits } from './open/rate-limits.ts';
import { DEADLINE_MS } from './open/store.ts';
import { openDecisionLog, openTracing } from './open/telemetry.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openOps } from './process/ops-server.ts';
import { openTurns, prepareProcess } from './process/prepare-process.ts';
import { Readiness, watchReach } from './process/readiness.ts';

interface FrontRoleDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Resolves when it listens; it is ready once it reaches the shards. */
export async function startFront(
  dependencies: FrontRoleDependencies,
  options: { readonly config: FrontConfig; readonly version: string },
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  prepareProcess(log);
  log.info({ role: 'front', version, settings: describeConfig(config) }, 'starting');
  const metrics = createMetrics();
  const readiness = new Readiness(log);

  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const ops = await openOps({ metrics, clock, log, notReady: () => readiness.reasons() }, config);
  parts.defer(() => ops.close());
  const identity = { serviceName: 'grantd-front', instance: hostname(), version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
  const decisions = await openDecisionLog({ clock, random, log, metrics }, config, identity, parts);
  const turns = openTurns({ clock, metrics });
  const front = openFront(
    { clock, turns, random, log, metrics },
    config,
    { name: hostname(), peer: 'front', version },
    parts,
  );
  const reach = watchReach(clock, { complete: () => front.ready(), reachesShards: () => front.reachesShards() });
  parts.defer(() => reach.close());
  const rateLimiter = await openRateLimits({ clock, random, log, metrics }, config, parts);
  const http = await openPublicApi(
    {
      front,
      rateLimiter,
      ids: new IdFactory(clock, random),
      clock,
      turns,
      random,
      log,
      metrics,
      tracing,
      decisions,
    },
    config,
    {
      plans: config.plans ?? BUILT_IN_PLANS,
      deadlineMs: DEADLINE_MS,
    },
  );
  parts.defer(() => http.close());
  parts.defer(async () => {
    readiness.stop();
    http.drain();
    await delay(clock, config.drainSeconds * 1000);
  });
  readiness.serve(() => reach.judge());
  log.info({ url: http.url, ops: ops.url }, 'listening');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
