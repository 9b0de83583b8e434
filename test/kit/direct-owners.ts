// The way of a shard to the other shards of its test: without a network between. `doors`: where those are; without any,
// the shard is alone.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../src/core/async/clock.ts';
import { FairTurns } from '../../src/core/async/turns.ts';
import { OwnerLinks } from '../../src/rpc/links/owner-links.ts';
import { createDirectTransport } from '../../src/rpc/transport/direct-transport.ts';
import type { AcceptStream } from '../../src/rpc/transport/transport.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { createTestCluster } from './test-cluster.ts';

const log = createLog({ level: 'silent', pretty: false });

export function directOwners(clock: Clock, doors: ReadonlyMap<string, AcceptStream> = new Map()): OwnerLinks {
  const random = { bytes: (length: number) => randomBytes(length) };
  const turns = new FairTurns(clock);
  return new OwnerLinks(
    {
      clock,
      turns,
      random,
      log,
      metrics: createMetrics(),
      openStream: createDirectTransport(doors),
      cluster: createTestCluster(),
    },
    { name: 'test', version: '', slots: 0 },
  );
}
