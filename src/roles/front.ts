// The role `front`: the public API over the shards that discovery finds. It has no state and no store, so any number of
// fronts may come and go.

import { hostname } from 'node:os';
import type { FrontConfig } from '../config/settings.ts';
import { delay } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { openPublicApi } from './open/apis.ts';
import { openFront } from './open/front.ts';
import { openProcess, type RoleDependencies } from './open/process.ts';
import { openRateLimits } from './open/rate-limits.ts';
import { DEADLINE_MS } from './open/store.ts';
import { openDecisionLog } from './open/telemetry.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openTurns } from './process/prepare-process.ts';
import { watchReach } from './process/readiness.ts';

/** Resolves when it listens; it is ready once it reaches the shards. */
export async function startFront(
  dependencies: RoleDependencies,
  options: { readonly config: FrontConfig; readonly version: string },
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const self = { role: 'front', instance: hostname(), version } as const;
  const { metrics, readiness, ops, identity, tracing } = await openProcess(dependencies, config, self, parts);
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
  readiness.warnings = () => front.cluster.warnings();
  readiness.serve(() => front.cluster.problem() ?? reach.judge());
  log.info({ url: http.url, ops: ops.url }, 'listening');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
