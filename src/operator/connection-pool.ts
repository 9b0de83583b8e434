// The connections of a server for few callers, as the console and the ops port are. It keeps: there are never more of
// them than the bound, and once there are as many, the one that has been idle longest is dropped for the newcomer,
// never one whose request is being answered: whoever connects and does nothing keeps nobody out.

import type { Server, Socket } from 'node:net';
import type { Metrics } from '../telemetry/metrics.ts';

export type DropReason = 'idle' | 'full' | 'pipelined' | 'stalled';

interface PoolOptions<Visit> {
  /** In the metrics. */
  readonly name: 'console' | 'ops';
  readonly connectionsMax: number;
  /** Of a connection that has just been opened. */
  readonly open: (socket: Socket) => Visit;
  /**
   * Whether a request on it is being answered. A client that still has to send or take something is not served but
   * waited for.
   */
  readonly isServed: (visit: Visit) => boolean;
}

export class ConnectionPool<Visit> {
  readonly #metrics: Metrics;
  readonly #options: PoolOptions<Visit>;
  /** In the order in which something was last asked or answered: the idlest stands first. */
  readonly #visits = new Map<Socket, Visit>();

  /** Takes part in every connection of the server. */
  constructor(dependencies: { readonly server: Server; readonly metrics: Metrics }, options: PoolOptions<Visit>) {
    this.#metrics = dependencies.metrics;
    this.#options = options;
    dependencies.server.on('connection', (socket: Socket) => this.#enter(socket));
  }

  /** Undefined once it is dropped or closed. */
  of(socket: Socket): Visit | undefined {
    return socket.destroyed ? undefined : this.#visits.get(socket);
  }

  /** Something was asked or answered on it. */
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
