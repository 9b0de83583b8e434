// A shard in this process, over a store in a temporary directory that `parts` removes. It listens on nothing. It is the
// real shard, so that it answers as the service does.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { BUILT_IN_PLANS } from '../../core/plans.ts';
import { createMemoryBudget } from '../../shard/memory/memory-budget.ts';
import { ShardFailure } from '../../shard/shard.ts';
import { createShardNode, type ShardNode } from '../../shard/shard-node.ts';
import type { Meta } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { createSqliteAdapter } from './store.ts';

const PAGE_CACHE_BYTES = 256 * 1024 * 1024;

export async function openTemporaryShard(
  dependencies: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly metrics: Metrics;
    readonly turns: Turns;
  },
  options: { readonly shardName: string; readonly address: string },
  parts: AsyncDisposableStack,
): Promise<{ readonly node: ShardNode; readonly meta: Meta }> {
  const { metrics, turns } = dependencies;
  const directory = await mkdtemp(join(tmpdir(), 'grantd-'));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const adapter = createSqliteAdapter(dependencies, { dataDirectory: directory, slots: 1 });
  const { store, awaitMeta } = await adapter.open();
  parts.defer(() => store.close());
  const meta = await awaitMeta({ signal: new AbortController().signal, onWaiting() {} });
  const budget = createMemoryBudget(metrics, turns, PAGE_CACHE_BYTES);
  // It is alone, so it owns every slot.
  const refuse = () => Promise.reject(new ShardFailure('not-serving', 'There is no other shard.'));
  const owners = { follow: refuse, expect: refuse, take: refuse };
  const node = createShardNode(
    { ...dependencies, store, budget, owners },
    { ...options, meta, plans: BUILT_IN_PLANS, exclusive: true },
  );
  parts.defer(() => node.stop());
  await node.join();
  await node.start();
  return { node, meta };
}
