// The connections to the port of a shard: their number, and those that say nothing. gRPC bounds neither: a connection
// without TLS, without HTTP/2, without a call or whose call says no hello would stay for ever. Invariants: there are
// never more than the bound; at the bound, a new connection takes the place of the silent one that came first, so those
// that say nothing keep no peer out; none is silent for longer than the time that a peer has for its hello.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Published for each socket that a server here accepts (https://nodejs.org/api/diagnostics_channel.html). */
const SOCKET_ACCEPTED = 'net.server.socket';

/** Each front, console and other shard has one: several times those of the largest cluster. */
const CONNECTIONS_MAX = 4096;
/** From the connection to the hello: a peer gives up much sooner. */
export const HELLO_MS_MAX = 10_000;

interface SilentConnection {
  readonly socket: Socket;
  readonly timer: Timer;
}

export interface PeerConnections {
  /** `peer`: address and port from which a hello has come. */
  heard(peer: string): void;
  /** Watches no further ones, and ends those that have said no hello: nobody else would. */
  close(): void;
}

/** Watches every connection that is accepted at the port from now on. */
export function watchPeerConnections(
  dependencies: { readonly clock: Clock; readonly metrics: Pick<Metrics, 'connectionsDropped'> },
  options: { readonly port: number; readonly connectionsMax?: number | undefined },
): PeerConnections {
  const { clock, metrics } = dependencies;
  const { port, connectionsMax = CONNECTIONS_MAX } = options;
  /** In the order in which they came. */
  const silent = new Map<string, SilentConnection>();
  let connections = 0;

  function forget(peer: string): void {
    silent.get(peer)?.timer.cancel();
    silent.delete(peer);
  }

  function drop(socket: Socket, reason: 'idle' | 'full' | 'stalled'): void {
    metrics.connectionsDropped.inc({ server: 'shard', reason });
    socket.destroy();
  }

  /** False: every connection has said its hello. */
  function makeCapacity(): boolean {
    for (const [peer, { socket }] of silent) {
      forget(peer);
      drop(socket, 'idle');
      return true;
    }
    return false;
  }

  function accept(message: unknown): void {
    const { socket } = message as { readonly socket: Socket };
    if (socket.localPort !== port || socket.remoteAddress === undefined) return;
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
      if (silent.get(peer)?.socket === socket) forget(peer);
    });
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    if (connections > connectionsMax && !makeCapacity()) {
      drop(socket, 'full');
      return;
    }
    const timer = clock.setTimer(() => {
      silent.delete(peer);
      drop(socket, 'stalled');
    }, HELLO_MS_MAX);
    silent.set(peer, { socket, timer });
  }

  subscribe(SOCKET_ACCEPTED, accept);
  return {
    heard: forget,
    close() {
      unsubscribe(SOCKET_ACCEPTED, accept);
      for (const { socket, timer } of silent.values()) {
        timer.cancel();
        socket.destroy();
      }
      silent.clear();
    },
  };
}
