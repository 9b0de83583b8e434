// The role `dev`: the whole service in one process on the embedded store. It wires the same parts as a cluster in the
// same way, except that fronts and shards exchange their messages directly instead of over gRPC; it listens for gRPC
// only if configured. Further threads of the process may answer reads beside this one (dev-thread.ts). It is ready only
// when everything serves. A start that fails at any step releases all that it has acquired.

import { resolve } from 'node:path';
import { createLogInCode } from '../../packages/console/src/log-in-code.ts';
import { cacheOfThread } from '../config/page-cache-memory.ts';
import { OPERATOR_NAME_DEFAULT } from '../config/parsers.ts';
import { describeConfig } from '../config/read-config.ts';
import { Secret } from '../config/secret.ts';
import type { DevConfig } from '../config/settings.ts';
import { assert } from '../core/assert.ts';
import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { type ClusterId, IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS, type Plans } from '../core/plans.ts';
import { isLoopbackHost, splitAddress } from '../core/text/addresses.ts';
import { MS_PER_HOUR } from '../core/text/timestamps.ts';
import { createStaticDiscovery } from '../discovery/discovery.ts';
import { createFront } from '../front/create-front.ts';
import { countsHere, createMemoryCounts } from '../front/limits/memory-counts.ts';
import { OwnerLinks } from '../rpc/links/owner-links.ts';
import { listenShardServer, type ShardServer } from '../rpc/serving/server.ts';
import { createStreamHost, type StreamHostDependencies } from '../rpc/serving/stream-host.ts';
import { ClusterIdentity } from '../rpc/transport/cluster-identity.ts';
import { createDirectTransport } from '../rpc/transport/direct-transport.ts';
import { commitCountsMemory, createCommitCounts } from '../shard/log/commit-counts.ts';
import { createMemoryBudget } from '../shard/memory/memory-budget.ts';
import { retireMembers } from '../shard/ownership/membership.ts';
import { UnopenedSlots } from '../shard/ownership/store-sharing.ts';
import { createShardNode, type ShardNode } from '../shard/shard-node.ts';
import { describeDamage, describeUnreadable } from '../store/sqlite/sqlite-store.ts';
import type { Meta, Store } from '../store/store.ts';
import type { StoreDamage } from '../store/store-adapter.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { renderBanner } from './dev/banner.ts';
import { ensureDemoTenant } from './dev/demo.ts';
import { devFilePath, readDevFile, writeDevFile } from './dev/dev-file.ts';
import type { ThreadSettings } from './dev/thread-messages.ts';
import { startThreads, type Threads } from './dev/threads.ts';
import { openOperatorApi, openPublicApi } from './open/apis.ts';
import { openRateLimits } from './open/rate-limits.ts';
import { serverAccess } from './open/rpc-tls.ts';
import { DEADLINE_MS, openStore, type StoreInUse } from './open/store.ts';
import { openDecisionLog, openTracing } from './open/telemetry.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openOps } from './process/ops-server.ts';
import { countDroppedLines, openTurns, prepareProcess } from './process/prepare-process.ts';
import { listenOn, StartError } from './process/start-error.ts';

const OPERATOR_TOKEN_LENGTH = 32;
/** Fronts find serving shards within milliseconds; longer means that they cannot. */
const FRONT_READY_MS_MAX = 15_000;
const FRONT_READY_POLL_MS = 10;
/** Nothing catches this, so it ends the process. */
function endProcess(error: Error): never {
  throw error;
}

const NOT_SHARED =
  'This system does not let several threads listen on one address (SO_REUSEPORT). Start with --threads 1.';
/** Replaces the host for shards that only this process reaches. */
const IN_PROCESS_HOST = 'in-process';

interface DevDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly print: (text: string) => void;
}

interface DevOptions {
  readonly config: DevConfig;
  /** The data directory is a restored copy: its cluster gets a new id. */
  readonly newClusterId: boolean;
  /** 1 to 16. */
  readonly shards: number;
  /** Whether the store may go on although acknowledged writes are missing. */
  readonly acceptLoss?: boolean | undefined;
  /** That answer requests, with this one; and what the others start with. */
  readonly threads: { readonly count: number } & Pick<ThreadSettings, 'environment' | 'log'>;
  readonly version: string;
  /** Whether a person reads the banner: only then does it show the demo key and a link that logs in to the console. */
  readonly terminal: boolean;
  /** The version of the machine's own Node, if it is another one. */
  readonly machineNode: string | undefined;
}

const toBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Host and port of the shard at `index`: consecutive ports, or port 0 for all if the port is 0. */
function shardAddress(address: string, index: number): string {
  const { port } = splitAddress(address);
  const host = address.slice(0, address.lastIndexOf(':'));
  return port === 0 ? address : `${host}:${port + index}`;
}

/**
 * The entry for the streams of one shard: from this process, and over gRPC if an address is set. Without one, the shard
 * has a name that cannot be dialled.
 */
async function openShardDoor(
  dependencies: StreamHostDependencies,
  config: DevConfig,
  index: number,
): Promise<ShardServer> {
  if (config.rpcAddress === undefined) {
    const { accept, finish } = createStreamHost(dependencies);
    return { address: `${IN_PROCESS_HOST}:${index + 1}`, accept, close: async () => finish() };
  }
  const address = shardAddress(config.rpcAddress, index);
  return listenOn('GRANTD_RPC_ADDRESS', address, () =>
    listenShardServer(dependencies, { address, ...serverAccess({}, undefined, address, dependencies) }),
  );
}

async function renewCluster(
  { store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Log },
  found: Meta,
  clusterId: ClusterId,
): Promise<Meta> {
  await store.replaceClusterId(found.clusterId, clusterId, clock.monotonicMs() + DEADLINE_MS);
  log.warn({ clusterId, before: found.clusterId }, 'the cluster has a new ID');
  return { ...found, clusterId };
}

async function waitFor(condition: () => boolean, clock: Clock, signal: AbortSignal, what: string): Promise<void> {
  const giveUpMs = clock.monotonicMs() + FRONT_READY_MS_MAX;
  while (!condition()) {
    signal.throwIfAborted();
    if (clock.monotonicMs() > giveUpMs) throw new StartError(`${what} within ${FRONT_READY_MS_MAX / 1000} s.`);
    await delay(clock, FRONT_READY_POLL_MS);
  }
}

/** Why the files of the embedded store have stopped the start, if they have. */
function explainStart(error: unknown, directory: string, damage: StoreDamage | undefined): unknown {
  if (error instanceof StartError) return error;
  if (damage?.reason !== undefined) return new StartError(describeDamage(directory, damage.reason), { cause: error });
  return error instanceof UnopenedSlots
    ? new StartError(describeUnreadable(directory, error), { cause: error })
    : error;
}

/** Resolves when everything serves and the banner is printed. If `signal` aborts, the start ends. */
export async function startDev(
  dependencies: DevDependencies,
  options: DevOptions,
  signal: AbortSignal,
): Promise<RunningRole> {
  let opened: StoreInUse | undefined;
  try {
    return await startParts(dependencies, options, signal, (store) => {
      opened = store;
    });
  } catch (error) {
    throw explainStart(error, resolve(options.config.dataDirectory), opened?.damage);
  }
}

async function startParts(
  dependencies: DevDependencies,
  options: DevOptions,
  signal: AbortSignal,
  onOpened: (store: StoreInUse) => void,
): Promise<RunningRole> {
  const { clock, random, log, print } = dependencies;
  const { config, threads } = options;
  prepareProcess(log);
  const plans: Plans = config.plans ?? BUILT_IN_PLANS;
  const metrics = createMetrics();
  countDroppedLines(metrics);
  const turns = openTurns({ clock, metrics });
  const ids = new IdFactory(clock, random);
  const newContext = () => ({ requestId: ids.create('req'), deadlineMs: clock.monotonicMs() + DEADLINE_MS });
  log.info({ settings: describeConfig(config), shards: options.shards, threads: threads.count }, 'starting');

  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  let frontReady = () => false;
  let inUse: StoreInUse | undefined;

  const ops = await openOps(
    {
      metrics,
      clock,
      log,
      notReady: () => {
        const damage = inUse?.damage?.reason;
        if (damage !== undefined) return [`the data directory is damaged: ${damage}`];
        if (phase !== 'serving') return [phase];
        return frontReady() ? [] : ['some slots have no reachable owner'];
      },
      warnings: () => inUse?.warnings() ?? [],
    },
    config,
  );
  parts.defer(() => ops.close());
  const identity = { serviceName: 'grantd', instance: config.shardName, version: options.version };
  const tracing = await openTracing({ log, metrics }, config, identity, parts);
  const decisions = await openDecisionLog({ clock, random, log, metrics }, config, identity, parts);

  const known = readDevFile(config.dataDirectory);
  const operatorToken =
    config.operatorToken ?? new Secret(known?.operator_token ?? toBase64url(random.bytes(OPERATOR_TOKEN_LENGTH)));

  inUse = await openStore(dependencies, config, {
    traced: tracing !== undefined,
    parts,
    metrics,
    acceptLoss: options.acceptLoss ?? false,
    signal,
    onWaiting: (what, reason) => log.info({ what, reason }, 'waiting'),
  });
  onOpened(inUse);
  const { store, meta: found, damage } = inUse;
  assert(damage !== undefined, 'the embedded store is on this machine');
  // Only this process uses the store, so members from an earlier run are dead.
  await retireMembers(store, clock);
  const meta = options.newClusterId ? await renewCluster({ store, clock, log }, found, ids.create('clu')) : found;

  const nodes: (ShardNode | undefined)[] = [];
  const servers: ShardServer[] = [];
  for (let index = 0; index < options.shards; index += 1) {
    const server = await openShardDoor(
      { shard: () => nodes[index], clock, turns, log, metrics, tracing },
      config,
      index,
    );
    parts.defer(() => server.close());
    servers.push(server);
  }
  const shards = new Map(servers.map(({ address, accept }) => [address, accept]));
  const openStream = createDirectTransport(shards);
  const pageCacheBytes = cacheOfThread(config.pageCacheBytes, threads.count);
  const commitMemory = threads.count === 1 ? undefined : commitCountsMemory(meta.slots);
  const commitCounts = commitMemory && createCommitCounts(commitMemory);
  const { clusterId } = meta;
  const cluster = new ClusterIdentity({ clock, log, metrics }, clusterId);
  const owners = new OwnerLinks(
    { clock, turns, random, log, metrics, openStream, cluster },
    { name: 'dev', version: options.version, slots: meta.slots },
  );
  parts.defer(() => owners.close());
  parts.defer(async () => {
    const outcomes = await Promise.allSettled(nodes.map((node) => node?.stop()));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  });
  const budget = createMemoryBudget(metrics, turns, pageCacheBytes);
  for (const [index, { address }] of servers.entries()) {
    const node = createShardNode(
      { store, clock, random, log, metrics, budget, owners, commitCounts },
      {
        shardName: `${config.shardName}-${index + 1}`,
        address,
        meta,
        plans,
        exclusive: true,
        logRetentionMs: config.logRetentionHours * MS_PER_HOUR,
        clockSkewMsMax: config.clockSkewMaxSeconds * 1000,
      },
    );
    await node.join();
    nodes[index] = node;
  }
  signal.throwIfAborted();
  // Each claims its share of the slots among all that have joined.
  await Promise.all(nodes.map((node) => node?.start()));

  const discovery = createStaticDiscovery(servers.map(({ address }) => address));
  const front = createFront(
    { discovery, clock, turns, random, log, metrics, openStream },
    { name: 'dev', peer: 'front', clusterId },
  );
  parts.defer(() => front.close());
  const consoleFront = createFront(
    { discovery, clock, turns, random, log, metrics, openStream },
    { name: 'dev', peer: 'console', clusterId },
  );
  parts.defer(() => consoleFront.close());
  await waitFor(() => front.ready() && consoleFront.ready(), clock, signal, 'The front could not reach every shard');
  frontReady = () => front.ready() && consoleFront.ready();

  const takeCount = createMemoryCounts(clock);
  const counts = threads.count === 1 ? undefined : countsHere(takeCount, threads.count);
  const rateLimiter = await openRateLimits({ clock, random, log, metrics }, config, parts, counts);
  const http = await openPublicApi(
    { front, rateLimiter, ids, clock, turns, random, log, metrics, tracing, decisions },
    config,
    {
      plans,
      deadlineMs: meta.deadlineMs,
    },
  );
  const baseUrl = config.baseUrl ?? http.url;
  let closeConsole = async (): Promise<void> => {};
  // The public API closes before the console, although the console starts after it (it links to the API's error pages).
  parts.defer(async () => {
    await http.close();
    await closeConsole();
  });
  let others: Threads | undefined;
  if (commitMemory !== undefined) {
    if (!http.sharesAddress) throw new StartError(NOT_SHARED);
    const common = {
      ...threads,
      threads: threads.count,
      version: options.version,
      httpAddress: `${config.httpAddress.slice(0, config.httpAddress.lastIndexOf(':'))}:${http.port}`,
      baseUrl,
      meta,
      damage: damage.memory,
      shardAddresses: [...shards.keys()],
      commitCounts: commitMemory,
      pageCacheBytes,
    };
    const settings = Array.from({ length: threads.count - 1 }, (_, index) => ({ ...common, number: index + 2 }));
    others = await startThreads({ shards, takeCount, metrics, onLost: endProcess }, settings, parts);
  }
  // The link is only for the person who reads the banner, on this machine.
  const logInCode =
    options.terminal && isLoopbackHost(splitAddress(config.consoleAddress).host)
      ? createLogInCode({ clock, random }, { token: operatorToken.reveal() })
      : undefined;
  const consoleServer = await openOperatorApi(
    { operator: consoleFront.operator, ids, clock, turns, random, log, metrics, tracing, logInCode },
    { ...config, operatorToken },
    { plans, errorsBase: config.errorsBase ?? `${baseUrl}/errors`, version: options.version },
  );
  closeConsole = () => consoleServer.close();

  const demo = config.demo
    ? await ensureDemoTenant(
        { front, operator: consoleFront.operator, newContext },
        { tenantId: known?.tenant_id, key: known?.key },
        { operatorName: OPERATOR_NAME_DEFAULT },
      )
    : undefined;
  const tenantId = demo?.tenantId ?? known?.tenant_id;
  writeDevFile(config.dataDirectory, {
    base_url: baseUrl,
    ops_url: ops.url,
    console_url: consoleServer.url,
    operator_token: operatorToken.reveal(),
    ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
    ...(demo === undefined ? {} : { key: demo.key }),
  });
  signal.throwIfAborted();

  phase = 'serving';
  parts.defer(async () => {
    phase = 'stopping';
    http.drain();
    others?.drain();
    await delay(clock, config.drainSeconds * 1000);
  });
  print(
    renderBanner({
      version: options.version,
      baseUrl,
      opsUrl: ops.url,
      consoleUrl: consoleServer.url,
      devFilePath: resolve(devFilePath(config.dataDirectory)),
      demo,
      terminal: options.terminal,
      logInLink: logInCode === undefined ? undefined : `${consoleServer.url}${logInCode.path}`,
      machineNode: options.machineNode,
      threads: threads.count,
    }),
  );
  log.info({ url: baseUrl, ops: ops.url, console: consoleServer.url }, 'serving');
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
