// The role `console`: the operator's API over the shards that discovery finds. It has no state and no store.

import { hostname } from 'node:os';
import { describeConfig } from '../config/read-config.ts';
import type { ConsoleConfig } from '../config/settings.ts';
import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { openOperatorApi } from './open/apis.ts';
import { openFront } from './open/front.ts';
import { openTracing } from './open/telemetry.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openOps } from './process/ops-server.ts';
import { prepareProcess } from './process/prepare-process.ts';
import { NO_SHARD, Readiness } from './process/readiness.ts';

interface ConsoleRoleDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Resolves when it listens. It is ready while it reaches any shard: operators need it most while slots have no owner.
 */
export async function startConsole(
  dependencies: ConsoleRoleDependencies,
  options: { readonly config: ConsoleConfig; readonly version: string },
): Promise<RunningRole> {
  const { clock, random, log } = dependencies;
  const { config, version } = options;
  prepareProcess(log);
  log.info({ role: 'console', version, settings: describeConfig(config) }, 'starting');
  const metrics = createMetrics();
  const readiness = new Readiness(log);

  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const ops = await openOps({ metrics, clock, log, notReady: () => readiness.reasons() }, config);
  parts.defer(() => ops.close());
  const identity = { serviceName: 'grantd-console', instance: hostname(), version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
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
  readiness.serve(() => (front.reachesShards() ? undefined : NO_SHARD));
  log.info({ url: server.url, ops: ops.url }, 'listening');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
