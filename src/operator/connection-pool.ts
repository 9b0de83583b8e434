// The connections of a server for few clients, such as the console and the ops port. Invariant: there are never more
// than the bound. At the bound, a new connection replaces the one that has been idle longest, but never one whose
// request is being served. So a client that connects and does nothing keeps no other client out.

import type { Server, Socket } from 'node:net';
import type { Metrics } from '../telemetry/metrics.ts';

export type DropReason = 'idle' | 'full' | 'pipelined' | 'stalled';

interface PoolOptions<Visit> {
  /** The label in the metrics. */
  readonly name: 'console' | 'ops';
  readonly connectionsMax: number;
  /** Called for a new connection. */
  readonly open: (socket: Socket) => Visit;
  /** Whether a request on it is being served. A connection that waits for its client to send or read is not. */
  readonly isServed: (visit: Visit) => boolean;
}

export class ConnectionPool<Visit> {
  readonly #metrics: Metrics;
  readonly #options: PoolOptions<Visit>;
  /** In the order of the last activity: the idlest comes first. */
  readonly #visits = new Map<Socket, Visit>();

  /** Watches every connection of the server. */
  constructor(dependencies: { readonly server: Server; readonly metrics: Metrics }, options: PoolOptions<Visit>) {
    this.#metrics = dependencies.metrics;
    this.#options = options;
    dependencies.server.on('connection', (socket: Socket) => this.#enter(socket));
  }

  /** Undefined once it was dropped or closed. */
  of(socket: Socket): Visit | undefined {
    return socket.destroyed ? undefined : this.#visits.get(socket);
  }

  /** Marks it as active. */
  touch(socket: Socket): void {
    const visit = this.#visits.get(socket);
    if (visit === undefined) return;
    this.#visits.delete(socket);
    this.#visits.set(socket, visit);
  }

  drop(socket: Socket, reason: DropReason): void {
    if (socket.destroyed) return;
    this.#metrics.connectionsDropped.inc({ server: this.#options.name, reason });
    this.#visits.delete(socket);
    socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#visits.keys()) socket.destroy();
  }

  #enter(socket: Socket): void {
    if (this.#visits.size >= this.#options.connectionsMax && !this.#makeCapacity()) {
      this.drop(socket, 'full');
      return;
    }
    this.#visits.set(socket, this.#options.open(socket));
    socket.once('close', () => this.#visits.delete(socket));
  }

  #makeCapacity(): boolean {
    for (const [socket, visit] of this.#visits) {
      if (this.#options.isServed(visit)) continue;
      this.drop(socket, 'idle');
      return true;
    }
    return false;
  }
}
