// The identity of a process of the cluster that tests share.

import type { Clock } from '../../src/core/async/clock.ts';
import type { ClusterId } from '../../src/core/ids.ts';
import { systemClock } from '../../src/roles/process/system.ts';
import { ClusterIdentity } from '../../src/rpc/transport/cluster-identity.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { CLUSTER_ID } from './store/store-fixtures.ts';

/** `id`: undefined if it must be learned. */
export const createTestCluster = (id: ClusterId | undefined = CLUSTER_ID, clock: Clock = systemClock) =>
  new ClusterIdentity({ clock, log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() }, id);
