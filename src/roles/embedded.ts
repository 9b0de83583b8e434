// A shard for commands that try a model without a service.

import type { EmbeddedShard } from '../../packages/cli/src/embedded-tenant.ts';
import type { Clock, Random } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { createLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { DEADLINE_MS } from './open/store.ts';
import { openTemporaryShard } from './open/temporary-shard.ts';
import { openTurns } from './process/prepare-process.ts';

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
  const { node } = await openTemporaryShard(
    { clock, random, log, metrics, turns: openTurns({ clock, metrics }) },
    { shardName: 'embedded', address: 'in-process:1' },
    starting,
  );
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
