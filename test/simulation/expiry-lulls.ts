// Lulls: now and then clients ask for seconds about one grant alone, close to its expiry, so that nothing but their
// answers moves the log of its slot on. As soon as one of them is told that the grant has expired, the owner of the
// slot dies. Whatever the wall clock of the next owner says, it has to tell them the same.

import type { ExpiringGrants, ExpiryClient } from './expiring-grants.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningShard, SimulatedCluster } from './simulated-cluster.ts';

const TOLD_MS_MAX = 4000;
const POLL_MS = 10;

export interface LullPorts {
  readonly cluster: SimulatedCluster;
  /** That of the tenant whose grants expire. */
  readonly slot: number;
  readonly grants: ExpiringGrants;
  readonly client: ExpiryClient;
  readonly random: SeededRandom;
  readonly kill: (shard: RunningShard) => void;
}

export async function keepLulling(ports: LullPorts, endMs: number): Promise<void> {
  const { cluster, slot, grants, client, random } = ports;
  const { scheduler } = cluster;
  while (true) {
    await scheduler.sleep(random.between(500, 3000));
    if (scheduler.nowMs >= endMs) return;
    const owner = cluster.ownerOf(slot);
    if (owner === undefined) continue;
    const expiresAtMs = Math.round(owner.process.clock.wallMs() + random.between(300, 1200));
    const life = await client.make(expiresAtMs);
    if (life === undefined) continue;
    grants.lull = life;
    const untilMs = scheduler.nowMs + TOLD_MS_MAX;
    while (life.endedAt === undefined && scheduler.nowMs < untilMs) await scheduler.sleep(POLL_MS);
    const last = cluster.ownerOf(slot);
    if (life.endedAt !== undefined && last !== undefined) ports.kill(last);
    // Until the next owner has been asked, as a rule.
    await scheduler.sleep(random.between(1500, 6000));
    grants.lull = undefined;
  }
}
