// Composes a front: the links to the shards that discovery names, the routing table, the sessions of API keys and, for
// the console, the operator's calls. Invariant: the front uses no shard of another cluster, and none whose number of
// slots or deadline contradicts its own.

import type { ChannelCredentials } from '@grpc/grpc-js';
import { apiKeyFault, parseApiKey } from '../core/api-keys.ts';
import type { Clock, Random } from '../core/async/clock.ts';
import { FairTurns, type Turns } from '../core/async/turns.ts';
import { GrantdError } from '../core/errors.ts';
import { type ClusterId, IdFactory } from '../core/ids.ts';
import { SLOTS_MAX } from '../core/slots.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { CALLS } from '../rpc/calls/table.ts';
import type { MessageSpacing } from '../rpc/links/gathering.ts';
import type { TryFailure } from '../rpc/links/stream-link.ts';
import { Peer, type ReceivedWelcome } from '../rpc/messages.ts';
import { ClusterIdentity } from '../rpc/transport/cluster-identity.ts';
import { createGrpcTransport } from '../rpc/transport/grpc-transport.ts';
import type { OpenStream } from '../rpc/transport/transport.ts';
import { ShardFailure } from '../shard/shard.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Feeds } from './feeds/feeds.ts';
import type { Front, OperatorApi, RequestContext, TenantSession } from './front.ts';
import { AwaitedSlots } from './links/awaited-slots.ts';
import { Reporter, UsageLedger } from './links/reporter.ts';
import { RetryGate, RoutingTable } from './links/routing-table.ts';
import { ShardLink, ShardLinks } from './links/shard-link.ts';
import { FrontOperator } from './operator/operator.ts';
import { type FlightControl, FlightTable } from './requests/flights.ts';
import { LapsedKeys } from './requests/lapsed-keys.ts';
import { POSITION_LIMITS, type PositionLimits, ReadPositions } from './requests/read-positions.ts';
import { noReads } from './requests/reader-reads.ts';
import { SessionCache, TenantSessions } from './requests/session-cache.ts';

/** Requests in flight in one front. More would only wait for shards that cannot keep up. */
const FLIGHTS_MAX_DEFAULT = 10_000;
/** About 650 bytes each. */
const SESSIONS_MAX_DEFAULT = 100_000;
const OPERATOR_SESSIONS_MAX = 1000;

export interface FrontDependencies {
  readonly discovery: Discovery;
  readonly clock: Clock;
  /** Shared with everything else on this event loop. Undefined: nothing else runs there. */
  readonly turns?: Turns | undefined;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How to reach shards. Default: gRPC, with the credentials of the options. */
  readonly openStream?: OpenStream;
  /** For shards in other processes. Default: none. */
  readonly spacing?: MessageSpacing | undefined;
}

export interface FrontOptions {
  /** Name of this process, for the logs of shards. */
  readonly name: string;
  /** Only a console may make operator calls; shards refuse them from a front. */
  readonly peer: 'front' | 'console';
  readonly version?: string;
  /** The cluster whose shards are used. Undefined: it is learned from them. */
  readonly clusterId?: ClusterId | undefined;
  /** The name of a shard in this thread that reads for every tenant: reads go there, whatever readers a tenant has. */
  readonly localReader?: string | undefined;
  /** Credentials for the connections to shards, read at every dial. Default: no TLS. */
  readonly credentials?: (address: string) => ChannelCredentials;
  /** Deadline of every request of this front, in ms. A shard whose cluster has a shorter deadline is not used. */
  readonly deadlineMs?: number;
  readonly flightsMax?: number;
  readonly sessionsMax?: number;
  /** Overrides of `POSITION_LIMITS`. */
  readonly positionLimits?: Partial<PositionLimits>;
}

export interface ComposedFront extends Front {
  readonly operator: OperatorApi;
  /** Whether any shard is reachable now. */
  reachesShards(): boolean;
  readonly cluster: Pick<ClusterIdentity, 'id' | 'problem' | 'warnings'>;
}

export function createFront(dependencies: FrontDependencies, options: FrontOptions): ComposedFront {
  const { discovery, clock, turns = new FairTurns(clock), random, log, metrics } = dependencies;
  const { sessionsMax = SESSIONS_MAX_DEFAULT, flightsMax = FLIGHTS_MAX_DEFAULT } = options;
  const openStream = dependencies.openStream ?? createGrpcTransport({ credentials: options.credentials });
  const ids = new IdFactory(clock, random);
  const retries = new RetryGate({ clock, random });
  const awaited = new AwaitedSlots(clock, (slots) => {
    for (const link of links.ready()) link.report({ awaited: slots });
  });
  const routing = new RoutingTable(clock, retries, awaited);
  const tenants = new TenantSessions();
  // Before the first connection, the series would be missing, and an alert on it would see nothing.
  metrics.frontShardConnections.inc({ state: 'ready' }, 0);
  const cluster = new ClusterIdentity({ clock, log, metrics }, options.clusterId);
  const flights = new FlightTable({ clock, metrics }, flightsMax);

  const hello = () => ({
    version: options.version ?? '',
    name: options.name,
    peer: options.peer === 'console' ? Peer.PEER_CONSOLE : Peer.PEER_FRONT,
    slots: routing.slots,
  });

  function onWelcome(link: ShardLink, welcome: ReceivedWelcome): boolean {
    const { slots, deadlineMs, shardName } = welcome;
    const { address } = link;
    if (slots < 1 || slots > SLOTS_MAX || (routing.slots !== 0 && routing.slots !== slots)) {
      log.error({ address, shardName, slots, expected: routing.slots }, 'shard ignored: its number of slots differs');
      return false;
    }
    // An owner knows the operations of a write for twice the cluster's deadline. A front must not repeat it for longer.
    if (options.deadlineMs !== undefined && deadlineMs < options.deadlineMs) {
      log.error(
        { address, shardName, deadlineMs, expected: options.deadlineMs },
        'shard ignored: its deadline is too short',
      );
      return false;
    }
    if (routing.slots === 0) routing.setSlots(slots);
    return true;
  }

  // Discovery may name addresses while `links` is being composed; events of those links come later.
  const createLink = (address: string): ShardLink =>
    new ShardLink(
      address,
      {
        onWelcome,
        onRoutes: (link, routes) => {
          routing.update(link, routes);
          if (routes.members !== undefined) links.announce(link, routes.members);
        },
        onSettings: (link, settings) => {
          for (const each of settings) if (routing.leadsTo(each.tenantId, link)) tenants.update(each);
        },
        onLost: (link) => {
          routing.drop(link);
          links.onLost(link);
        },
      },
      { clock, turns, random, log, metrics, openStream, cluster },
      { hello, spacing: dependencies.spacing },
    );
  const seeds: Discovery = {
    watch: (onChange) =>
      discovery.watch((addresses) => {
        cluster.expect(addresses);
        onChange(addresses);
      }),
  };
  const links: ShardLinks = new ShardLinks({ discovery: seeds, createLink, clock, log });

  function redirect(link: ShardLink, failure: TryFailure): void {
    if (!(failure instanceof ShardFailure) || failure.kind !== 'wrong-owner' || failure.owner === undefined) return;
    const { address } = failure.owner;
    const ownerLink = address === '' ? undefined : links.named(address);
    routing.learn(link, failure.owner, ownerLink?.ready === true ? ownerLink : undefined);
  }

  const { localReader } = options;
  const reads = noReads();
  const positions = new ReadPositions(turns, { ...POSITION_LIMITS, ...options.positionLimits });
  const control: FlightControl = {
    positions,
    clock,
    random,
    metrics,
    flights,
    reads,
    routing,
    retries,
    redirect,
    localReader,
  };
  const ledger = new UsageLedger();
  const feeds = new Feeds({ clock, turns, random });
  const stopReporting = metrics.onRender(() => {
    for (const [result, count] of Object.entries(reads)) metrics.readerReads.inc({ result }, count);
    Object.assign(reads, noReads());
    metrics.changeTails.inc(feeds.tails);
    metrics.changeTailBytes.inc(feeds.heldBytes);
  });
  const forSessions = { control, clock, random, ids, ledger, feeds, planNames: new Map<string, string>() };
  const lapsedKeys = new LapsedKeys(clock);
  const sessions = new SessionCache(forSessions, sessionsMax, { tenants, onLapsed: (key) => lapsedKeys.add(key) });
  const operator = new FrontOperator({
    control,
    ids,
    sessions: new SessionCache(forSessions, OPERATOR_SESSIONS_MAX),
    readyLinks: () => links.ready(),
  });
  // Requests of an operator count neither as a tenant's usage nor as load.
  const reporter =
    options.peer === 'front' ? new Reporter({ clock, routing, ledger, readyLinks: () => links.ready() }) : undefined;

  function authenticate<Context extends RequestContext>(
    context: Context,
    apiKey: string,
    admit?: (context: Context, apiKey: string) => void,
  ): TenantSession | Promise<TenantSession> {
    const session = sessions.get(apiKey);
    if (session !== undefined) return session;
    const parts = parseApiKey(apiKey);
    if (parts === undefined) throw new GrantdError('unauthorized', apiKeyFault(apiKey));
    if (!sessions.isOpening(apiKey) && !lapsedKeys.mayAskAgain(apiKey)) admit?.(context, apiKey);
    const { tenantId, keyId } = parts;
    return sessions.open(context, apiKey, () => ({
      tenantId,
      keyId,
      authentication: CALLS.authenticate.toWire({ tenantId, keyId, key: apiKey }),
      authenticationAtReader: CALLS.authenticateAtReader.toWire({ tenantId, keyId, key: apiKey }),
      operator: false,
    }));
  }

  return {
    operator,
    authenticate,
    ready: () => routing.complete,
    reachesShards: () => links.ready().length > 0,
    cluster,
    async close() {
      reporter?.close();
      feeds.close();
      stopReporting();
      flights.close();
      awaited.close();
      links.close();
      cluster.close();
    },
  };
}
