// One connection to a cluster: the driver, the watch over its nodes, and the session on top of both. Opened and closed
// as a whole.

import type { Client, Host } from 'cassandra-driver';
import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { Log } from '../../../telemetry/log.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { createClient } from './client.ts';
import { causeOf, reasonOf, wrongSettingOf } from './errors.ts';
import { Executor } from './executor.ts';
import { HostWatch } from './host-watch.ts';
import type { CassandraOptions } from './options.ts';
import { WatchfulLoadBalancing } from './policies.ts';

const PROBE = "SELECT key FROM system.local WHERE key = 'local'";
/** Longer than a node may be silent before it is given up; then the next probe starts. */
const PROBE_TIMEOUT_MS = 2000;
/** The driver's own timeouts usually end it earlier, unless a node accepts a connection and then says nothing. */
const OPEN_TIMEOUT_MS = 15_000;
const CLOSE_TIMEOUT_MS = 3000;

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly log: Log;
}

export interface Connection {
  readonly client: Client;
  readonly executor: Executor;
  /** Nodes of the local datacenter. */
  readonly hosts: () => readonly Host[];
  readonly isNodeSilent: () => boolean;
  close(): Promise<void>;
}

/** Settles like `promise`, or with the result of `late` when the time is up. */
function within<Value>(clock: Clock, ms: number, promise: Promise<Value>, late: () => Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => late().then(resolve, reject), ms);
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}

/**
 * Ends a client that has not connected, or that connects only later. The driver's own shutdown does nothing for it, and
 * the pools that it has opened would keep reconnecting for the life of the process.
 */
async function abandon(client: Client, connecting: Promise<void>): Promise<void> {
  await connecting.catch(() => {});
  await client.shutdown().catch(() => {});
  for (const host of client.hosts?.values() ?? []) endPool(host);
}

/** The driver does this to the pools of known nodes when it shuts down, but not to other pools. */
function endPool(host: Host): void {
  const shutdown: unknown = Reflect.get(host, 'shutdown');
  if (typeof shutdown === 'function') Reflect.apply(shutdown, host, [false])?.catch(() => {});
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
export async function openConnection({ clock, log }: ConnectionPorts, options: CassandraOptions): Promise<Connection> {
  // Each of the three needs the others; none is used before all exist.
  const parts: { watch?: HostWatch } = {};
  const loadBalancing = new WatchfulLoadBalancing(
    options.localDatacenter,
    (address) => parts.watch?.isDoubtful(address) ?? false,
  );
  const client = createClient(options, loadBalancing);
  client.on('log', (level: string, part: string, message: string) => {
    if (level !== 'verbose') log.debug({ part }, message);
  });
  // Otherwise the driver would reconnect forever to a node that left the list, even if only briefly during startup.
  client.on('hostRemove', endPool);
  const hosts = (): readonly Host[] =>
    client.hosts?.values().filter((host) => host.datacenter === options.localDatacenter) ?? [];
  const isAnotherWell = (address: string): boolean =>
    hosts().some((host) => host.address !== address && host.isUp() && !watch.isDoubtful(host.address));
  const executor = new Executor(
    {
      clock,
      log,
      driver: client,
      listen: (call, onHost) => loadBalancing.listen(call, onHost),
      onTimeout: (address) => watch.penalize(address),
    },
    options.serialLevel,
  );
  const watch = new HostWatch({
    clock,
    hosts: () => hosts().flatMap((host) => (host.isUp() ? [host.address] : [])),
    probe: async (address) => {
      const host = hosts().find((each) => each.address === address);
      if (host !== undefined) await client.execute(PROBE, [], { host, readTimeout: PROBE_TIMEOUT_MS });
    },
    // If all nodes are slow, the cause is load, and retrying elsewhere would only add to it.
    onLate: (address) => {
      if (isAnotherWell(address)) executor.leaveHost(address);
    },
    onSilent: (address) => {
      if (isAnotherWell(address)) executor.giveUpHost(address);
    },
  });
  parts.watch = watch;

  await connect(clock, client, options);
  client.on('hostDown', (host: Host) => log.warn({ node: host.address }, 'Cassandra node is down'));
  client.on('hostUp', (host: Host) => log.info({ node: host.address }, 'Cassandra node is up again'));
  watch.start();

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    watch.stop();
    executor.close();
    await within(clock, CLOSE_TIMEOUT_MS, client.shutdown(), async () => {});
  };
  return {
    client,
    executor,
    hosts,
    // If all nodes are slow, the cause is load.
    isNodeSilent: () => watch.isAnyLate && hosts().some((host) => host.isUp() && !watch.isDoubtful(host.address)),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
