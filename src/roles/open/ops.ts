// Opens the ops port, the first thing in every role: alive at once, ready when the role says so.

import type { Clock } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { listenOps, type OpsServer } from '../process/ops-server.ts';
import { listenOn } from '../process/start-error.ts';

export function openOps(
  dependencies: {
    readonly metrics: Metrics;
    readonly clock: Clock;
    readonly log: Log;
    readonly notReady: () => readonly string[];
  },
  config: { readonly opsAddress: string },
): Promise<OpsServer> {
  return listenOn('GRANTD_OPS_ADDRESS', config.opsAddress, () =>
    listenOps(dependencies, { address: config.opsAddress }),
  );
}
