// A front and a shard in this process, with HTTP before them, gRPC between them and a store in memory behind them, each
// of the two with a tracing of its own, as if they were two processes.

import { FairTurns } from '../../../src/core/async/turns.ts';
import { IdFactory, type TenantId } from '../../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { ALL_SCOPES } from '../../../src/core/scopes.ts';
import type { Tuple } from '../../../src/core/tuples.ts';
import { createStaticDiscovery } from '../../../src/discovery/discovery.ts';
import { createFront } from '../../../src/front/create-front.ts';
import { createFailureLimiter } from '../../../src/front/limits/failure-limiter.ts';
import { createMemoryRateLimiter } from '../../../src/front/limits/memory-rate-limiter.ts';
import { listenHttp } from '../../../src/http/server.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { listenShardServer } from '../../../src/rpc/serving/server.ts';
import { createMemoryBudget } from '../../../src/shard/memory/memory-budget.ts';
import { createShardNode, type ShardNode } from '../../../src/shard/shard-node.ts';
import type { Meta } from '../../../src/store/store.ts';
import { traceStore } from '../../../src/store/store-decorators.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { TraceSpan, Tracing } from '../../../src/telemetry/spans.ts';
import { directOwners } from '../../kit/direct-owners.ts';
import { type Answer, type CallOptions, call } from '../../kit/http-client.ts';
import { MemoryStore, type MemoryStoreOptions } from '../../kit/store/memory-store.ts';
import { META } from '../../kit/store/store-fixtures.ts';
import { waitFor } from '../../kit/wait-for.ts';

const DEADLINE_MS = 10_000;
const SERVICE_META: Meta = { ...META, slots: 4, segmentSize: 256 };

export interface TracedService {
  readonly url: string;
  readonly tenantId: TenantId;
  /** Of that tenant, with all scopes. */
  readonly key: string;
  readonly keyId: string;
  send(options: CallOptions): Promise<Answer>;
  /** Checks that the front is asked in one turn, one for each span (undefined: untraced). */
  checkTogether(tuple: Tuple, spans: readonly (TraceSpan | undefined)[]): Promise<void>;
  /** Suspends the tenant for a moment: its handles end. */
  endHandles(): Promise<void>;
  close(): Promise<void>;
}

/** `delay`: of the calls to the store. */
export async function startTracedService(
  tracing: { readonly front?: Tracing | undefined; readonly shard?: Tracing | undefined },
  options: Pick<MemoryStoreOptions, 'delay'> = {},
): Promise<TracedService> {
  const clock = systemClock;
  const random = systemRandom;
  const log = createLog({ level: 'silent', pretty: false });
  const metrics = createMetrics();
  const ids = new IdFactory(clock, random);
  await using parts = new AsyncDisposableStack();

  const store = new MemoryStore({ clock, ...options });
  await store.initializeMeta(SERVICE_META, clock.monotonicMs() + DEADLINE_MS);
  let node: ShardNode | undefined;
  const server = await listenShardServer(
    { shard: () => node, clock, log, metrics, tracing: tracing.shard },
    { address: '127.0.0.1:0', unprovenPeers: true },
  );
  parts.defer(() => server.close());
  const traced = traceStore(store, { system: 'cassandra', namespace: 'grantd' });
  const shard = createShardNode(
    {
      store: traced,
      clock,
      random,
      log,
      metrics,
      budget: createMemoryBudget(metrics, new FairTurns(clock), 16 * 1024 * 1024),
      owners: directOwners(clock),
    },
    {
      shardName: 'shard-1',
      address: server.address,
      meta: SERVICE_META,
      plans: BUILT_IN_PLANS,
      exclusive: true,
      // A subject without grants has to be read, too.
      pageLimits: { readsBeforeScan: Number.POSITIVE_INFINITY },
    },
  );
  parts.defer(() => shard.stop());
  await shard.join();
  node = shard;
  await shard.start();

  const discovery = createStaticDiscovery([server.address]);
  const front = createFront({ discovery, clock, random, log, metrics }, { name: 'test', peer: 'front' });
  parts.defer(() => front.close());
  const operator = createFront({ discovery, clock, random, log, metrics }, { name: 'test', peer: 'console' });
  parts.defer(() => operator.close());
  await waitFor('the shard to serve every slot', () => front.ready() && operator.ready());

  const http = await listenHttp(
    {
      front,
      rateLimiter: createMemoryRateLimiter({ clock }),
      failureLimiter: createFailureLimiter({ clock }),
      ids,
      clock,
      random,
      log,
      metrics,
      tracing: tracing.front,
    },
    { address: '127.0.0.1:0', baseUrl: undefined, errorsBase: undefined, plans: BUILT_IN_PLANS, trustedProxies: [] },
  );
  parts.defer(() => http.close());

  const context = () => ({ requestId: ids.create('req'), deadlineMs: clock.monotonicMs() + DEADLINE_MS });
  const tenant = { name: 'traced', plan: 'unlimited', operator: 'test' };
  const { tenantId } = await operator.operator.createTenant(context(), tenant);
  const session = await operator.operator.tenant(context(), tenantId, 'test');
  const { record, text } = await session.createKey(context(), {
    name: 'key',
    scopes: ALL_SCOPES,
    expiresAtMs: undefined,
  });
  const running = parts.move();
  return {
    url: http.url,
    tenantId,
    key: text,
    keyId: record.keyId,
    async checkTogether(tuple, spans) {
      const opened = await front.authenticate(context(), text);
      await Promise.all(spans.map((span) => opened.check({ ...context(), span }, tuple)));
    },
    async endHandles() {
      for (const state of ['suspended', 'active'] as const) {
        await operator.operator.call('updateTenant', context(), { tenantId, state, operator: 'test' });
      }
    },
    send: (options) => call(http.url, options),
    close: () => running.disposeAsync(),
  };
}
