// The role `console`: the operator's API over the shards that discovery finds. It has no state and no store.

import { hostname } from 'node:os';
import type { ConsoleConfig } from '../config/settings.ts';
import { delay } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { openOperatorApi } from './open/apis.ts';
import { openFront } from './open/front.ts';
import { openProcess, type RoleDependencies } from './open/process.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { NO_SHARD } from './process/readiness.ts';

/**
 * Resolves when it listens. It is ready while it reaches any shard: operators need it most while slots have no owner.
 */
export async function startConsole(
  dependencies: RoleDependencies,
  options: { readonly config: ConsoleConfig; readonly version: string },
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const self = { role: 'console', instance: hostname(), version } as const;
  const { metrics, readiness, ops, tracing } = await openProcess(dependencies, config, self, parts);
  const front = openFront(
    { clock, random, log, metrics },
    config,
    { name: hostname(), peer: 'console', version },
    parts,
  );
  const server = await openOperatorApi(
    { operator: front.operator, ids: new IdFactory(clock, random), clock, random, log, metrics, tracing },
    config,
    {
      plans: config.plans ?? BUILT_IN_PLANS,
      version,
      // A rule of the settings guarantees that one of the two is set.
      errorsBase: config.errorsBase ?? `${config.baseUrl}/errors`,
    },
  );
  parts.defer(() => server.close());
  parts.defer(async () => {
    readiness.stop();
    await delay(clock, config.drainSeconds * 1000);
  });
  readiness.warnings = () => front.cluster.warnings();
  readiness.serve(() => front.cluster.problem() ?? (front.reachesShards() ? undefined : NO_SHARD));
  log.info({ url: server.url, ops: ops.url }, 'listening');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
