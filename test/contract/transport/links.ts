// What the links of a front, and those of a shard to owners, are made of.

import type { TestContext } from 'node:test';
import { FairTurns } from '../../../src/core/async/turns.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { OwnerLinks } from '../../../src/rpc/links/owner-links.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createTestCluster } from '../../kit/test-cluster.ts';
import { silentLog } from '../../unit/rpc/harness.ts';

const SLOTS = 4;

export const linkDependencies = (openStream: OpenStream) => ({
  clock: systemClock,
  random: systemRandom,
  turns: new FairTurns(systemClock),
  log: silentLog,
  metrics: createMetrics(),
  openStream,
  cluster: createTestCluster(),
});

export function openOwnerLinks(t: TestContext, openStream: OpenStream): OwnerLinks {
  const links = new OwnerLinks(linkDependencies(openStream), { name: 'contract', version: '0', slots: SLOTS });
  t.after(() => links.close());
  return links;
}
