// A shard in this process, over a store in a temporary directory, for commands that try a model without a service. It
// listens on nothing. It is the real shard, so that it answers as the service does.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedShard } from '../cli/embedded-tenant.ts';
import type { Clock, Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { createMemoryBudget } from '../shard/memory/memory-budget.ts';
import { ShardFailure } from '../shard/shard.ts';
import { createShardNode } from '../shard/shard-node.ts';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createSqliteAdapter, DEADLINE_MS } from './open/store.ts';
import { openTurns } from './process/prepare-process.ts';

const PAGE_CACHE_BYTES = 256 * 1024 * 1024;
const OPERATOR = 'model test';

export async function openEmbeddedShard({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: Random;
}): Promise<EmbeddedShard> {
  const log = createLog({ level: 'silent', pretty: false });
  const metrics = createMetrics();
  const ids = new IdFactory(clock, random);
  await using starting = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'grantd-model-'));
  starting.defer(() => rm(directory, { recursive: true, force: true }));
  const adapter = createSqliteAdapter({ clock, random, log }, { dataDirectory: directory, slots: 1 });
  const { store, awaitMeta } = await adapter.open();
  starting.defer(() => store.close());
  const meta = await awaitMeta({ signal: new AbortController().signal, onWaiting() {} });
  const budget = createMemoryBudget(metrics, openTurns({ clock, metrics }), PAGE_CACHE_BYTES);
  // It is alone, so it owns every slot.
  const owners = { follow: () => Promise.reject(new ShardFailure('not-serving', 'There is no other shard.')) };
  const node = createShardNode(
    { store, clock, random, log, metrics, budget, owners },
    { shardName: 'embedded', address: 'in-process:1', meta, plans: BUILT_IN_PLANS, exclusive: true },
  );
  starting.defer(() => node.stop());
  await node.join();
  await node.start();
  const parts = starting.move();
  const connection = node.connectConsole();
  const attempt = () => ({ requestId: ids.create('req'), expiresAtMs: node.monotonicMs() + DEADLINE_MS });
  return {
    connection,
    attempt,
    async openTenant() {
      const tenantId = ids.create('ten');
      const tenant = { tenantId, name: OPERATOR, plan: 'unlimited', operator: OPERATOR };
      await connection.operator.call('createTenant', { attempt: attempt() }, tenant);
      return (await connection.operator.call('authenticateOperator', {}, { tenantId, operator: OPERATOR })).handle;
    },
    close: () => parts.disposeAsync(),
  };
}
