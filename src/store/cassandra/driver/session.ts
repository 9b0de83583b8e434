// One client of the driver, from its connection to its end, and whether it can still reach a node. A client that has
// lost every node is never used again: the driver then rebuilds its list of nodes while other parts of it still use the
// previous one, and may end up with a node that it considers up but never connects to.

import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { Client, Host } from 'cassandra-driver';
import cassandra from 'cassandra-driver';
import type { Clock, Timer } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { causeOf, reasonOf, wrongSettingOf } from './errors.ts';
import type { CassandraOptions } from './options.ts';
import {
  createReconnection,
  LOCAL,
  RECONNECTION_DELAY_MS,
  ReadSpeculation,
  WatchfulLoadBalancing,
} from './policies.ts';

/** The driver's own timeouts usually end it earlier, unless a node accepts a connection and then stays silent. */
const OPEN_TIMEOUT_MS = 15_000;
/** By then, the work that the driver had in progress at its shutdown has either failed or opened its connections. */
const LATE_CONNECTIONS_MS = 30_000;

export interface SessionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly isDoubtful: (address: string) => boolean;
}

export interface Session {
  readonly client: Client;
  readonly loadBalancing: WatchfulLoadBalancing;
  /** Nodes of the local datacenter. */
  readonly hosts: () => readonly Host[];
  /** False for good once every node of the local datacenter was lost. */
  readonly isUsable: () => boolean;
  /** Ends every connection, those that open later included. */
  readonly end: () => Promise<void>;
}

/** Settles like `promise`, or with the result of `late` when the time is up. */
export function within<Value>(
  clock: Clock,
  ms: number,
  promise: Promise<Value>,
  late: () => Promise<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => late().then(resolve, reject), ms);
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** The driver does this to the pools of known nodes when it shuts down, but not to other pools. */
function endPool(host: Host): void {
  const shutdown: unknown = Reflect.get(host, 'shutdown');
  if (typeof shutdown === 'function') Reflect.apply(shutdown, host, [false])?.catch(() => {});
}

const endPools = (client: Client): void => {
  for (const host of client.hosts?.values() ?? []) endPool(host);
};

/**
 * Ends a client that has not connected, or that connects only later. The driver's own shutdown does nothing for it, and
 * the pools that it has opened would keep reconnecting for the life of the process.
 */
async function abandon(client: Client, connecting: Promise<void>): Promise<void> {
  await connecting.catch(() => {});
  await client.shutdown().catch(() => {});
  endPools(client);
}

async function connect(clock: Clock, client: Client, options: CassandraOptions): Promise<void> {
  const places = options.contactPoints.join(', ');
  const connecting = client.connect();
  try {
    await within(clock, OPEN_TIMEOUT_MS, connecting, () =>
      Promise.reject(new GrantdError('unavailable', `Cassandra at ${places} does not respond.`)),
    );
  } catch (error) {
    void abandon(client, connecting);
    if (error instanceof GrantdError) throw error;
    const wrongSetting = wrongSettingOf(error);
    if (wrongSetting !== undefined) throw new StoreRefusal(`Cassandra at ${places}: ${wrongSetting}`);
    throw new GrantdError('unavailable', `Cassandra at ${places}: ${reasonOf(error)}.`, {
      cause: causeOf(error),
    });
  }
}

/** Rejects with `unavailable` without a node or a role that is accepted, with StoreRefusal for wrong settings. */
export async function openSession(ports: SessionPorts, options: CassandraOptions): Promise<Session> {
  const { clock, log } = ports;
  const loadBalancing = new WatchfulLoadBalancing(options.localDatacenter, ports.isDoubtful);
  const client = createClient(options, loadBalancing);
  client.on('log', (level: string, part: string, message: string) => {
    if (level !== 'verbose') log.debug({ part }, message);
  });
  const isLocal = (host: Host): boolean => host.datacenter === options.localDatacenter;
  const hosts = (): readonly Host[] => client.hosts?.values().filter(isLocal) ?? [];
  let wasLost = false;
  client.on('hostRemove', (host: Host) => {
    // Otherwise the driver would reconnect forever to a node that left the list, even if only briefly during startup.
    endPool(host);
    // The driver has lost every node and built its list again.
    if (client.hosts?.get(host.address) !== undefined) wasLost = true;
  });
  await connect(clock, client, options);
  client.on('hostDown', (host: Host) => {
    log.warn({ node: host.address }, 'Cassandra node is down');
    if (!hosts().some((each) => each.isUp())) wasLost = true;
  });
  client.on('hostUp', (host: Host) => log.info({ node: host.address }, 'Cassandra node is up again'));
  return {
    client,
    loadBalancing,
    hosts,
    isUsable: () => {
      wasLost ||= !client.getState().getConnectedHosts().some(isLocal);
      return !wasLost;
    },
    end: async () => {
      clock.setTimer(() => endPools(client), LATE_CONNECTIONS_MS);
      await client.shutdown();
    },
  };
}

// ---- the configured driver ----
//
// The configured driver: short timeouts, so that a lost node is noticed soon; reconnection at a constant interval; no
// retry of statements that are not safe to repeat; verified certificates.

const PORT = 9042;
const CONNECT_TIMEOUT_MS = 2000;
/** For the driver's own requests: heartbeats, preparations, the nodes of the cluster. */
const READ_TIMEOUT_MS = 3000;
/** An idle connection is probed at this interval. */
const HEARTBEAT_INTERVAL_MS = 2000;
/** Overdue responses on one connection before the driver replaces the connection. */
const OVERDUE_MAX = 32;
/** Per node: an entry of 1 MiB delays everything sent after it on the same connection. */
const CONNECTIONS_PER_NODE = 2;
const REQUESTS_PER_CONNECTION_MAX = 2048;

/** The host of a contact point, without its port. */
function hostOf(contactPoint: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(contactPoint);
  if (bracketed?.[1] !== undefined) return bracketed[1];
  const [host = contactPoint, ...rest] = contactPoint.split(':');
  return rest.length === 1 ? host : contactPoint;
}

/**
 * A node's certificate must name the dialled address or one of the configured names of the cluster: the driver dials
 * addresses, and certificates of nodes often do not contain them.
 */
function createTlsOptions(options: CassandraOptions): ConnectionOptions | undefined {
  if (options.tls === undefined) return undefined;
  const names = options.contactPoints.map(hostOf);
  const { ca, cert, key } = options.tls;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    checkServerIdentity: (address: string, certificate: PeerCertificate) => {
      const failure = checkServerIdentity(address, certificate);
      if (failure === undefined || names.some((name) => checkServerIdentity(name, certificate) === undefined)) {
        return undefined;
      }
      return failure;
    },
  };
}

/** Not yet connected. */
export function createClient(options: CassandraOptions, loadBalancing: WatchfulLoadBalancing): Client {
  const sslOptions = createTlsOptions(options);
  return new cassandra.Client({
    contactPoints: [...options.contactPoints],
    localDataCenter: options.localDatacenter,
    ...(options.credentials === undefined ? {} : { credentials: { ...options.credentials } }),
    ...(sslOptions === undefined ? {} : { sslOptions }),
    applicationName: 'grantd',
    // The code that changes the schema also waits for agreement on it.
    protocolOptions: { port: PORT, maxVersion: cassandra.types.protocolVersion.v4, maxSchemaAgreementWaitSeconds: 0 },
    pooling: {
      coreConnectionsPerHost: { [LOCAL]: CONNECTIONS_PER_NODE },
      maxRequestsPerConnection: REQUESTS_PER_CONNECTION_MAX,
      heartBeatInterval: HEARTBEAT_INTERVAL_MS,
    },
    socketOptions: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      readTimeout: READ_TIMEOUT_MS,
      defunctReadTimeoutThreshold: OVERDUE_MAX,
      keepAlive: true,
      tcpNoDelay: true,
    },
    encoding: { useBigIntAsLong: true },
    policies: {
      loadBalancing,
      reconnection: createReconnection(),
      speculativeExecution: new ReadSpeculation(),
    },
    // Otherwise a paused node would delay the first use of each statement. A node that does not know a statement
    // requests it.
    prepareOnAllHosts: false,
    monitorReporting: { enabled: false },
  });
}

// ---- reconnection ----

/** The interval at which the session is checked. */
const LOOK_INTERVAL_MS = 250;

export interface KeptSession {
  readonly isUsable: () => boolean;
  readonly end: () => Promise<void>;
}

export interface ReconnectionPorts<Session extends KeptSession> {
  readonly clock: Clock;
  readonly log: Log;
  readonly open: () => Promise<Session>;
}

/**
 * Keeps one usable session: as soon as the current one has lost every node, ends it and opens others until one works.
 */
export class Reconnection<Session extends KeptSession> {
  readonly #ports: ReconnectionPorts<Session>;
  #current: Session;
  #timer: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(ports: ReconnectionPorts<Session>, first: Session) {
    this.#ports = ports;
    this.#current = first;
    this.#lookAfter(LOOK_INTERVAL_MS);
  }

  /** While nothing can be reached, this is an ended session, and its calls fail at once. */
  get current(): Session {
    return this.#current;
  }

  /** Resolves when the current session has ended. A session that is still opening ends as soon as it is open. */
  close(): Promise<void> {
    this.#timer?.cancel();
    this.#closing ??= this.#current.end();
    return this.#closing;
  }

  #lookAfter(delayMs: number): void {
    this.#timer = this.#ports.clock.setTimer(() => {
      if (this.#current.isUsable()) this.#lookAfter(LOOK_INTERVAL_MS);
      else this.#replace();
    }, delayMs);
  }

  #replace(): void {
    this.#ports.log.warn('every connection to Cassandra was lost; opening new ones');
    this.#current.end().catch(() => {});
    void this.#open();
  }

  async #open(): Promise<void> {
    const { clock, log, open } = this.#ports;
    try {
      const opened = await open();
      if (this.#closing !== undefined) {
        opened.end().catch(() => {});
        return;
      }
      this.#current = opened;
      log.info('Cassandra can be reached again');
      this.#lookAfter(LOOK_INTERVAL_MS);
    } catch (error) {
      if (this.#closing !== undefined) return;
      log.debug({ reason: reasonOf(error) }, 'no new connection to Cassandra yet');
      this.#timer = clock.setTimer(() => void this.#open(), RECONNECTION_DELAY_MS);
    }
  }
}
