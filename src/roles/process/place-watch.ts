// Watches whether a process serves at the place of a shard (shard-identity.ts), and proves when none does any more.
//
//            connected                connection broke, or refused                port held
//   vacant ─────────────▶ inhabited ────────────────────────────────▶ in doubt ─────────────▶ proven ──▶ vacant
//                             ▲                                           │ connected again
//                             └───────────────────────────────────────────┘
//
// Invariant: only this process' own socket, which listens at the very address of the place, proves that no shard is
// there. A broken connection only raises the doubt. The kernel lets one socket listen at an address: the watch sets no
// SO_REUSEPORT, and both sockets would need it. What follows, case by case:
//   - A process that is paused, stopped by SIGSTOP, swapped out or writing its core keeps its sockets: the address is
//     taken, whatever its connections do. It frees the address with the end of its last thread.
//   - A shard that closes its listener still answers what is in flight. But it does so only once its session has ended
//     (roles/shard.ts stops the node first): it holds no lease then, and has outlasted what it promised.
//   - A shard that has not bound yet has no row among the members, since it listens from before it is a member.
//   - TIME_WAIT of old connections does not take the address (SO_REUSEADDR), nor does it matter if it did: an address
//     that is taken proves nothing, whoever has it. If another program takes it, this watch watches that one, and the
//     leases decide.
//   - The address of the place is bound as it is written, a wildcard as that wildcard, so that it is the same address
//     as that of the shard; one that names a host may be another one tomorrow, and is no place (`readPlace`).
// While the watch holds the address, it accepts nobody. It lets go as soon as it knows who was there.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Clock, delay } from '../../core/async/clock.ts';
import { splitAddress } from '../../core/text/addresses.ts';
import type { HeldPlace } from '../../shard/ownership/predecessors.ts';
import { loopBackAddress } from './shard-identity.ts';

/** A connection that says nothing is closed by the shard after 10 s; each is replaced before. */
const CONNECTION_MS = 4000;
/** A shard that is paused accepts no more once its backlog is full. */
const CONNECT_MS_MAX = 1000;
/** While nobody is there. */
const VACANT_POLL_MS = 100;
/** From the end of a connection to that of the last thread. */
const DOUBT_POLL_MS = 10;
/** The store does not respond: a shard that starts is not held up for longer. */
const HELD_MS_MAX = 1500;
const RETRY_MS = 1000;
/** A watch for one process alone tries for so long. Soon after that, the lease has decided. */
const RETRIES_MAX_ABANDONED = 5;

export interface PlaceWatchOptions {
  /** host:port at which the shard listens, as in its settings. */
  readonly address: string;
  /** Ends the watch, with a last look: a supervisor may stop everything because the shard has died. */
  readonly signal: AbortSignal;
  /**
   * Whether the process that the watch is for has ended: the watch then ends with the first proof, or once another
   * process has the place. Absent: it watches whoever comes next.
   */
  readonly isAbandoned?: (() => boolean) | undefined;
  /** The place is held. False: try again, if it is still vacant. */
  readonly onVacant: (held: HeldPlace) => Promise<boolean>;
}

/** Resolves once the signal aborts, or the watch is abandoned. */
export async function watchPlace(clock: Clock, options: PlaceWatchOptions): Promise<void> {
  const { address, signal, isAbandoned = () => false } = options;
  const at = splitAddress(loopBackAddress(address));
  let found: Socket | undefined;
  while (!signal.aborted) {
    if (found === undefined) found = await inhabitant(at);
    else {
      await untilInDoubt(clock, at, found, signal);
      found = await whenInDoubt(clock, options, at);
    }
    if (isAbandoned()) break;
    if (found === undefined) await pause(clock, VACANT_POLL_MS, signal);
  }
  found?.destroy();
}

/** Undefined: nobody is there. */
async function inhabitant(at: Address): Promise<Socket | undefined> {
  const found = await dial(at);
  return typeof found === 'object' ? found : undefined;
}

/** Resolves once it is proven that nobody was there, or to a connection to whoever is there. Looks once at least. */
async function whenInDoubt(
  clock: Clock,
  { address, signal, isAbandoned = () => false, onVacant }: PlaceWatchOptions,
  at: Address,
): Promise<Socket | undefined> {
  let failures = 0;
  do {
    // Before the attempt: only then does an address that is taken belong to another process.
    const abandoned = isAbandoned();
    const server = await hold(address);
    if (server === undefined) {
      const found = await inhabitant(at);
      if (found !== undefined || abandoned) return found;
      await pause(clock, DOUBT_POLL_MS, signal);
    } else {
      if (await prove(clock, server, onVacant)) return undefined;
      failures += 1;
      if (abandoned && failures > RETRIES_MAX_ABANDONED) return undefined;
      await pause(clock, RETRY_MS, signal);
    }
  } while (!signal.aborted);
  return undefined;
}

const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  delay(clock, ms, signal).catch(() => {});

type Address = ReturnType<typeof splitAddress>;

/** Resolves once the last connection broke, a new one is refused, or the signal aborts. Leaves no connection. */
async function untilInDoubt(clock: Clock, at: Address, first: Socket, signal: AbortSignal): Promise<void> {
  let connection = first;
  while (!signal.aborted) {
    await untilClosed(clock, connection, signal);
    if (connection.closed || signal.aborted) break;
    const next = await dial(at);
    if (next === 'refused') break;
    if (next === 'silent') continue;
    connection.destroy();
    connection = next;
  }
  connection.destroy();
}

/** Resolves after CONNECTION_MS at the latest. */
async function untilClosed(clock: Clock, connection: Socket, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const end = (): void => over.abort();
  connection.once('close', end);
  if (!connection.closed) await pause(clock, CONNECTION_MS, AbortSignal.any([over.signal, signal]));
  connection.off('close', end);
}

/** A connection that carries nothing. */
async function dial(at: Address): Promise<Socket | 'refused' | 'silent'> {
  const socket = connect(at);
  const timeout = setTimeout(() => socket.destroy(new Error('silent')), CONNECT_MS_MAX);
  try {
    await once(socket, 'connect');
  } catch (error) {
    return error instanceof Error && error.message === 'silent' ? 'silent' : 'refused';
  } finally {
    clearTimeout(timeout);
  }
  socket.on('error', () => {});
  socket.resume();
  // Nobody listens, and the kernel has picked the port that was dialled for this end.
  if (socket.localPort === socket.remotePort && socket.localAddress === socket.remoteAddress) {
    socket.destroy();
    return 'refused';
  }
  return socket;
}

/** Listens at the address. Undefined: it is taken. */
async function hold(address: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  server.maxConnections = 0;
  try {
    server.listen({ ...splitAddress(address), exclusive: true });
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}

async function prove(clock: Clock, server: Server, onVacant: PlaceWatchOptions['onVacant']): Promise<boolean> {
  const release = (): void => {
    if (server.listening) server.close();
  };
  const timer = clock.setTimer(release, HELD_MS_MAX);
  try {
    return await onVacant({ isHeld: () => server.listening, release });
  } finally {
    timer.cancel();
    release();
  }
}
