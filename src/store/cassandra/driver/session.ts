// One client of the driver, from its connection to its end, and whether it can still reach a node. A client that has
// lost every node is never used again: the driver then rebuilds its list of nodes while other parts of it still use the
// previous one, and may end up with a node that it considers up but never connects to.

import type { Client, Host } from 'cassandra-driver';
import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { createClient } from './client.ts';
import { causeOf, reasonOf, wrongSettingOf } from './errors.ts';
import type { CassandraOptions } from './options.ts';
import { WatchfulLoadBalancing } from './policies.ts';

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

/**
 * Rejects as `unavailable` if no node can be reached or the role is refused, and with StoreRefusal if the settings are
 * wrong.
 */
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
