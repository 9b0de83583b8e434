// One connection to a cluster: the session of the driver, which is replaced when it has lost every node, the watch over
// its nodes, and the executor on top of both. Opened and closed as a whole.

import type { Client, Host } from 'cassandra-driver';
import type { Clock } from '../../../core/async/clock.ts';
import type { Log } from '../../../telemetry/log.ts';
import { Executor } from './executor.ts';
import { HostWatch } from './host-watch.ts';
import type { CassandraOptions } from './options.ts';
import { openSession, Reconnection, type Session, within } from './session.ts';

const PROBE = "SELECT key FROM system.local WHERE key = 'local'";
/** Longer than a node may be silent before it is given up; then the next probe starts. */
const PROBE_TIMEOUT_MS = 2000;
const CLOSE_TIMEOUT_MS = 3000;

export interface ConnectionPorts {
  readonly clock: Clock;
  readonly log: Log;
}

export interface Connection {
  /** The current one; replaced after all nodes were lost. */
  readonly client: Client;
  readonly executor: Executor;
  /** Nodes of the local datacenter. */
  readonly hosts: () => readonly Host[];
  readonly isNodeSilent: () => boolean;
  close(): Promise<void>;
}

/** Rejects with `unavailable` without a node or a role that is accepted, with StoreRefusal for wrong settings. */
export async function openConnection({ clock, log }: ConnectionPorts, options: CassandraOptions): Promise<Connection> {
  // Sessions and the watch need each other; neither is used before both exist.
  const parts: { watch?: HostWatch } = {};
  const isDoubtful = (address: string): boolean => parts.watch?.isDoubtful(address) ?? false;
  const open = (): Promise<Session> => openSession({ clock, log, isDoubtful }, options);
  const sessions = new Reconnection({ clock, log, open }, await open());
  const hosts = (): readonly Host[] => sessions.current.hosts();
  const isAnotherWell = (address: string): boolean =>
    hosts().some((host) => host.address !== address && host.isUp() && !watch.isDoubtful(host.address));
  const executor = new Executor(
    {
      clock,
      log,
      get driver() {
        return sessions.current.client;
      },
      listen: (call, onHost) => sessions.current.loadBalancing.listen(call, onHost),
      onTimeout: (address) => watch.penalize(address),
    },
    options.serialLevel,
  );
  const watch = new HostWatch({
    clock,
    hosts: () => hosts().flatMap((host) => (host.isUp() ? [host.address] : [])),
    probe: async (address) => {
      const host = hosts().find((each) => each.address === address);
      if (host === undefined) return;
      await sessions.current.client.execute(PROBE, [], { host, readTimeout: PROBE_TIMEOUT_MS });
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
  watch.start();

  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    watch.stop();
    executor.close();
    await within(clock, CLOSE_TIMEOUT_MS, sessions.close(), async () => {});
  };
  return {
    get client() {
      return sessions.current.client;
    },
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
