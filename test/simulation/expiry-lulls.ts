// Lulls: now and then clients ask for seconds about one grant alone, close to its expiry, so that nothing but their
// answers moves the log of its slot on. Two kinds:
//   - `deaths`: as soon as one of them is told that the grant has expired, the owner of the slot dies. Whatever the
//     wall clock of the next owner says, it has to tell them the same.
//   - `promises`: the owner itself is asked as well. As soon as it says that the grant has expired, no front may be
//     told by a reader that it holds, whatever the owner has promised before; nor where the owner's clock leaps to that
//     time.

import type { ExpiringGrants, ExpiryClient } from './expiring-grants.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningShard, SimulatedCluster } from './simulated-cluster.ts';

export type LullKind = 'deaths' | 'promises';

const TOLD_MS_MAX = 4000;
const POLL_MS = 10;
/** Longer than a tenant that has just written waits for long promises. */
const RESTED_MS = 350;

export interface LullPorts {
  readonly cluster: SimulatedCluster;
  /** That of the tenant whose grants expire. */
  readonly slot: number;
  readonly grants: ExpiringGrants;
  readonly client: ExpiryClient;
  readonly random: SeededRandom;
  readonly kill: (shard: RunningShard) => void;
  /** How long owners promise readers that nothing is shown, at most. */
  readonly quietMs: number;
}

export async function keepLulling(kind: LullKind, ports: LullPorts, endMs: number): Promise<void> {
  const { cluster, slot, grants, random } = ports;
  const { scheduler } = cluster;
  while (true) {
    await scheduler.sleep(kind === 'deaths' ? random.between(500, 3000) : random.between(50, 400));
    if (scheduler.nowMs >= endMs) return;
    const owner = cluster.ownerOf(slot);
    if (owner === undefined) continue;
    await (kind === 'deaths' ? lullToDeath(owner, ports) : lullUnderPromises(owner, ports));
    grants.lull = undefined;
  }
}

async function lullToDeath(owner: RunningShard, ports: LullPorts): Promise<void> {
  const { cluster, slot, grants, client, random } = ports;
  const { scheduler } = cluster;
  const life = await client.make(Math.round(owner.process.clock.wallMs() + random.between(300, 1200)));
  if (life === undefined) return;
  grants.lull = life;
  const untilMs = scheduler.nowMs + TOLD_MS_MAX;
  while (life.endedAt === undefined && scheduler.nowMs < untilMs) await scheduler.sleep(POLL_MS);
  const last = cluster.ownerOf(slot);
  if (life.endedAt !== undefined && last !== undefined) ports.kill(last);
  // Until the next owner has been asked, as a rule.
  await scheduler.sleep(random.between(1500, 6000));
}

async function lullUnderPromises({ process }: RunningShard, ports: LullPorts): Promise<void> {
  const { cluster, grants, client, random, quietMs } = ports;
  const { scheduler } = cluster;
  const { clock } = process;
  const leaps = random.chance(0.5);
  // It is made once a promise is over; where its time comes by a leap, promises are given that end before.
  const inMs =
    quietMs * random.between(0, 1) + RESTED_MS + random.between(50, 1000) + (leaps ? quietMs + RESTED_MS : 0);
  const life = await client.make(Math.round(clock.wallMs() + inMs));
  if (life === undefined) return;
  grants.lull = life;
  if (leaps) {
    await scheduler.sleep(RESTED_MS + random.between(0, 0.5) * quietMs);
    process.jumpWall(Math.max(0, Math.round(life.expiresAtMs - clock.wallMs() + random.between(1, 300))));
  }
  const untilMs = scheduler.nowMs + TOLD_MS_MAX;
  while (life.endedAt === undefined && scheduler.nowMs < untilMs) await client.checkAtOwner(life);
  await scheduler.sleep(random.between(0.2, 1) * quietMs);
}
