// A further thread of `grantd dev --threads`: a front on the same address as that of the main thread, and a shard that
// reads for its tenants. Reads of a tenant are answered here; everything else goes to the owners in the main thread,
// over streams between the threads.

import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { readConfig } from '../config/read-config.ts';
import { assert } from '../core/assert.ts';
import { delay } from '../core/async/clock.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS } from '../core/plans.ts';
import { createStaticDiscovery } from '../discovery/discovery.ts';
import { createFront } from '../front/create-front.ts';
import type { SharedCounts, WindowCount } from '../front/limits/shared-rate-limiter.ts';
import { OwnerLinks } from '../rpc/links/owner-links.ts';
import { createStreamHost } from '../rpc/serving/stream-host.ts';
import { ClusterIdentity } from '../rpc/transport/cluster-identity.ts';
import { createDirectTransport } from '../rpc/transport/direct-transport.ts';
import { createPortTransport } from '../rpc/transport/port-transport.ts';
import { createCommitCounts } from '../shard/log/commit-counts.ts';
import { createMemoryBudget } from '../shard/memory/memory-budget.ts';
import { createReaderShard } from '../shard/reader-shard.ts';
import { openSqliteReads } from '../store/sqlite/sqlite-store.ts';
import { traceStore } from '../store/store-decorators.ts';
import { openLog } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { PendingAnswers } from './dev/pending.ts';
import type { FromThread, ThreadSettings, ToThread } from './dev/thread-messages.ts';
import { openPublicApi } from './open/apis.ts';
import { openRateLimits } from './open/rate-limits.ts';
import { openDecisionLog, openTracing } from './open/telemetry.ts';
import { countDroppedLines, openTurns } from './process/prepare-process.ts';
import { StartError } from './process/start-error.ts';
import { systemClock as clock, systemRandom as random } from './process/system.ts';

/** The shard of this thread. */
const READER_ADDRESS = 'this-thread:1';
const READY_POLL_MS = 5;

interface ThreadLine {
  readonly send: (message: FromThread, transfer?: MessagePort[]) => void;
  readonly counts: SharedCounts;
}

async function start(settings: ThreadSettings, { send, counts }: ThreadLine, parts: AsyncDisposableStack) {
  const { number, meta, version, shardAddresses } = settings;
  const config = readConfig('dev', settings.environment);
  const plans = config.plans ?? BUILT_IN_PLANS;
  const log = (await openLog(settings.log)).child({ thread: number });
  const metrics = createMetrics({ isThread: true });
  countDroppedLines(metrics);
  const turns = openTurns({ clock, metrics });
  const shardName = `${config.shardName}-thread-${number}`;
  const identity = { serviceName: 'grantd', instance: config.shardName, version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
  const decisions = await openDecisionLog({ clock, random, log, metrics }, config, identity, parts);

  const store = await openSqliteReads(
    { directory: config.dataDirectory, slots: meta.slots, clock, log },
    { meta, damage: settings.damage },
  );
  parts.defer(() => store.close());
  const dialMain = createPortTransport(
    () => new MessageChannel(),
    (address, port) => send({ kind: 'dial', address, port }, [port]),
  );
  const { clusterId } = meta;
  const cluster = new ClusterIdentity({ clock, log, metrics }, clusterId);
  const owners = new OwnerLinks(
    { clock, turns, random, log, metrics, openStream: dialMain, cluster },
    { name: shardName, version, slots: meta.slots },
  );
  parts.defer(() => owners.close());
  const reader = createReaderShard(
    {
      store: tracing === undefined ? store : traceStore(store, { system: 'sqlite' }),
      clock,
      random,
      metrics,
      budget: createMemoryBudget(metrics, turns, settings.pageCacheBytes),
      owners,
      commitCounts: createCommitCounts(settings.commitCounts),
    },
    { shardName, meta, plans, ownerAddress: shardAddresses[0] ?? '' },
  );
  parts.defer(() => reader.close());
  const { accept, finish } = createStreamHost({ shard: () => reader, clock, turns, log, metrics, tracing });
  parts.defer(finish);

  const dialHere = createDirectTransport(new Map([[READER_ADDRESS, accept]]));
  const front = createFront(
    {
      discovery: createStaticDiscovery([READER_ADDRESS, ...shardAddresses]),
      clock,
      turns,
      random,
      log,
      metrics,
      openStream: (address, handlers) => (address === READER_ADDRESS ? dialHere : dialMain)(address, handlers),
    },
    { name: shardName, peer: 'front', version, clusterId, localReader: shardName },
  );
  parts.defer(() => front.close());
  while (!front.ready()) await delay(clock, READY_POLL_MS);
  const rateLimiter = await openRateLimits({ clock, random, log, metrics }, config, parts, counts);
  const http = await openPublicApi(
    { front, rateLimiter, ids: new IdFactory(clock, random), clock, turns, random, log, metrics, tracing, decisions },
    { ...config, httpAddress: settings.httpAddress, baseUrl: settings.baseUrl },
    { plans, deadlineMs: meta.deadlineMs, joins: true },
  );
  parts.defer(() => http.close());
  return { metrics, http };
}

async function run(port: MessagePort, settings: ThreadSettings): Promise<void> {
  const parts = new AsyncDisposableStack();
  const counted = new PendingAnswers<WindowCount>();
  const send: ThreadLine['send'] = (message, transfer = []) => port.postMessage(message, transfer);
  const counts: SharedCounts = {
    reachable: true,
    fronts: settings.threads,
    take: (key, limit, points, which) => counted.ask((id) => send({ kind: 'count', id, key, limit, points, which })),
  };
  const starting = start(settings, { send, counts }, parts);
  const stop = async (): Promise<never> => {
    await starting.catch(() => {});
    await parts.disposeAsync();
    // Ends this thread only.
    process.exit(0);
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'counted') counted.answer(message.id, message.count);
    else if (message.kind === 'stop') void stop();
    else if (message.kind === 'drain') void starting.then(({ http }) => http.drain());
    else {
      const { id } = message;
      void starting.then(({ metrics }) => metrics.snapshot()).then((metrics) => send({ kind: 'metrics', id, metrics }));
    }
  });
  try {
    await starting;
    send({ kind: 'ready' });
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    send({ kind: 'refused', message: error.message });
  }
}

assert(parentPort !== null, 'this file runs as a thread');
await run(parentPort, workerData as ThreadSettings);
