// Opens what every process of a cluster has: its log and heap, the metrics, the ops port, traces, and its readiness.

import { describeConfig } from '../../config/read-config.ts';
import type { ConsoleConfig, FrontConfig, ShardConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import { createMetrics } from '../../telemetry/metrics.ts';
import { openOps } from '../process/ops-server.ts';
import { countDroppedLines, prepareProcess } from '../process/prepare-process.ts';
import { Readiness } from '../process/readiness.ts';
import { openTracing, type ProcessIdentity } from './telemetry.ts';

export interface RoleDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** `logged`: of the first line of the log. `parts` closes what this opens. */
export async function openProcess(
  { clock, log }: RoleDependencies,
  config: FrontConfig | ShardConfig | ConsoleConfig,
  {
    role,
    instance,
    version,
    logged = {},
  }: Omit<ProcessIdentity, 'serviceName'> & {
    readonly role: 'front' | 'shard' | 'console';
    readonly logged?: Readonly<Record<string, string>>;
  },
  parts: AsyncDisposableStack,
) {
  prepareProcess(log);
  log.info({ role, version, ...logged, settings: describeConfig(config) }, 'starting');
  const metrics = createMetrics();
  countDroppedLines(metrics);
  const readiness = new Readiness(log);
  const notReady = () => readiness.reasons();
  const ops = await openOps({ metrics, clock, log, notReady, warnings: () => readiness.warnings() }, config);
  parts.defer(() => ops.close());
  const identity = { serviceName: `grantd-${role}`, instance, version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
  return { metrics, readiness, ops, identity, tracing };
}
