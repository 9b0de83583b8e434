// The connections of the public interface: their number, their peers, their age, their bytes in memory, and the
// response to bytes that are not a request at all. Invariant: such a response is a problem document too, is written
// only when no other response to that client is in flight, and ends the connection.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, jitteredMs, type Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { clientNetwork } from '../../core/text/addresses.ts';
import { type Connection, createConnection } from './connection.ts';
import { HELD_UNCOUNTED_BYTES_MAX } from './limits.ts';
import { type Peer, Peers } from './peers.ts';
import { clientRequestIdLine } from './response-text.ts';

/** Bytes of a whole HTTP response that reports `error` and closes the connection. `lines`: further header lines. */
export type RawProblem = (error: GrantdError, lines: string) => string;

const lateRequest = (): GrantdError =>
  new GrantdError('request-timeout', 'The request did not arrive completely in time.');

/** Maps Node's name for an error of its parser to the error that the client gets. */
function refusalOf(error: NodeJS.ErrnoException): GrantdError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new GrantdError('header-fields-too-large', 'The request line and header exceed 16 KiB.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new GrantdError('payload-too-large', 'The chunk extensions of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return lateRequest();
    case 'HPE_INVALID_EOF_STATE':
      return new GrantdError('invalid-request', 'The connection was ended in the middle of a request.');
    default:
      return new GrantdError('invalid-request', 'The bytes received are not a well-formed HTTP/1.1 request.');
  }
}

/** Errors of a peer that has disconnected and reads no response. */
const DISCONNECTED = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

export type DropReason = 'full' | 'idle' | 'held-bytes';

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly ageMaxMs: number;
  readonly connectionsMax: number;
  readonly refusedConnectionsMax: number;
  /** How long a connection is idle before it may give way to another of the same client. */
  readonly idleDisplaceableMs: number;
  /** Bytes of all connections that wait in memory. */
  readonly heldBytesMax: number;
  readonly rawProblem: RawProblem;
  /** Whether many clients may share the address, so that the number of its connections means nothing. */
  readonly isShared: (address: string) => boolean;
  readonly onDropped: (reason: DropReason) => void;
}

/** Connections examined to find the idlest of a peer: its oldest ones, in tens of microseconds. */
const CANDIDATES_MAX = 1024;

/**
 * The fraction of the bound that still waits once connections have been dropped, so that not every further byte drops
 * another one.
 */
const HELD_LEFT = 7 / 8;

/**
 * Which of two connections gives way first: one that never sent anything, then one that is idle, then the one idle
 * longest.
 */
function givesWayBefore(left: Connection, right: Connection): boolean {
  const rank = ({ busy, socket }: Connection): number => (busy ? 2 : socket.bytesRead > 0 ? 1 : 0);
  const difference = rank(left) - rank(right);
  return difference === 0 ? left.activeAtMs < right.activeAtMs : difference < 0;
}

/** The idlest of those opened first. */
function idlestOf(peer: Peer): Connection | undefined {
  let idlest: Connection | undefined;
  let count = 0;
  for (const connection of peer.connections) {
    if (idlest === undefined || givesWayBefore(connection, idlest)) idlest = connection;
    count += 1;
    if (count === CANDIDATES_MAX) break;
  }
  return idlest;
}

export class Connections {
  readonly #connections = new Map<Duplex, Connection>();
  readonly #options: ConnectionsOptions;
  readonly #peers = new Peers();
  #surplus = 0;
  #heldBytes = 0;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#onClientError(error, socket));
    server.on('connect', ({ headers }, socket) => {
      const refusal = new GrantdError('invalid-request', 'The method CONNECT is not supported.');
      this.#end(socket, refusal, clientRequestIdLine(headers['x-request-id']));
    });
  }

  get count(): number {
    return this.#connections.size;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Adds a connection that has just been opened. If the limit is reached, it replaces an idle connection of the peer
   * with the most. If it cannot, its first request will be refused, or it is dropped at once: undefined.
   */
  add(socket: Socket): Connection | undefined {
    const { clock, random, ageMaxMs, connectionsMax, refusedConnectionsMax, isShared } = this.#options;
    const address = socket.remoteAddress ?? '';
    const peerName = isShared(address) ? undefined : clientNetwork(address);
    const nowMs = clock.monotonicMs();
    const full = this.#connections.size - this.#surplus >= connectionsMax;
    const surplus = full && !this.#makeCapacity(peerName, nowMs);
    if (surplus && this.#surplus >= refusedConnectionsMax) {
      this.#drop(socket, 'full');
      return undefined;
    }
    const connection = createConnection(socket, {
      nowMs,
      oldAtMs: nowMs + jitteredMs(random, ageMaxMs),
      surplus,
      // Clients behind one proxy have nothing in common.
      turnKey: `address ${peerName ?? `${address} ${socket.remotePort}`}`,
    });
    this.#connections.set(socket, connection);
    if (surplus) this.#surplus += 1;
    const peer = surplus || peerName === undefined ? undefined : this.#peers.add(peerName, connection);
    socket.once('close', () => this.#remove(connection, peer));
    return connection;
  }

  #remove(connection: Connection, peer: Peer | undefined): void {
    this.hold(connection, 0);
    if (peer !== undefined) this.#peers.remove(peer, connection);
    if (this.#connections.delete(connection.socket) && connection.surplus) this.#surplus -= 1;
  }

  #drop(socket: Socket, reason: DropReason): void {
    this.#options.onDropped(reason);
    socket.on('error', () => {});
    socket.destroy();
  }

  /** Drops a connection in favour of that peer, which may have none yet; false: no peer has enough more. */
  #makeCapacity(peerName: string | undefined, nowMs: number): boolean {
    const most = this.#peers.most();
    if (most === undefined) return false;
    const own = peerName === undefined ? undefined : this.#peers.of(peerName);
    const ownCount = own?.connections.size ?? 0;
    // By more than one, so that two peers do not take a place from each other in turn.
    const larger = most.connections.size > ownCount + 1;
    const idlest = idlestOf(larger ? most : (own ?? most));
    if (idlest === undefined) return false;
    if (!larger && (idlest.busy || own === undefined || nowMs - idlest.activeAtMs < this.#options.idleDisplaceableMs)) {
      return false;
    }
    this.#drop(idlest.socket, 'idle');
    // Its place is free now, not only when the end of the socket is reported.
    this.#peers.remove(larger ? most : (own ?? most), idlest);
    this.#connections.delete(idlest.socket);
    return true;
  }

  /**
   * Records how many bytes of a connection wait in memory. If their sum is too large, the peers with the most lose
   * connections.
   */
  hold(connection: Connection, bytes: number): void {
    const counted = bytes > HELD_UNCOUNTED_BYTES_MAX ? bytes : 0;
    if (counted === connection.heldBytes) return;
    this.#heldBytes += counted - connection.heldBytes;
    connection.heldBytes = counted;
    const { heldBytesMax } = this.#options;
    if (this.#heldBytes > heldBytesMax) this.#dropLargestHolders(heldBytesMax * HELD_LEFT);
  }

  #dropLargestHolders(bytesLeft: number): void {
    const { isShared } = this.#options;
    const byPeer = Map.groupBy(
      [...this.#connections.values()].filter(({ heldBytes }) => heldBytes > 0),
      (connection) => {
        const address = connection.socket.remoteAddress ?? '';
        return isShared(address) ? connection : clientNetwork(address);
      },
    );
    const sumOf = (held: readonly Connection[]): number => held.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    const holders = [...byPeer.values()].map((held) => ({ held, sum: sumOf(held) }));
    holders.sort((left, right) => right.sum - left.sum);
    for (const { held } of holders) {
      held.sort((left, right) => right.heldBytes - left.heldBytes);
      for (const connection of held) {
        if (this.#heldBytes <= bytesLeft) return;
        this.hold(connection, 0);
        this.#drop(connection.socket, 'held-bytes');
      }
    }
  }

  /** Undefined once the connection is closed. */
  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket);
  }

  /**
   * Closes connections without a request, which Node's server does not close. A client that opens connections in
   * advance would otherwise delay the shutdown.
   */
  closeIdle(): void {
    for (const { socket, endIfIdle } of this.#connections.values()) {
      if (socket.bytesRead === 0) socket.destroy();
      else endIfIdle?.();
    }
  }

  closeAll(): void {
    for (const { socket } of this.#connections.values()) socket.destroy();
  }

  /**
   * Sends a problem to a client that sent no request in time, and ends its connection. No response may be in flight.
   */
  expire({ socket }: Connection): void {
    this.#end(socket, lateRequest());
  }

  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable || (error.code !== undefined && DISCONNECTED.has(error.code))) {
      socket.destroy();
      return;
    }
    if (connection.failure !== undefined) return;
    const refusal = refusalOf(error);
    connection.failure = refusal;
    if (connection.failBody?.(refusal) === true) return;
    // A response to an earlier request may be in flight: this one must not overtake it, nor land inside it.
    const { lastResponse } = connection;
    if (lastResponse === undefined || lastResponse.closed) this.#end(socket, refusal);
    else lastResponse.once('close', () => this.#end(socket, refusal));
  }

  #end(socket: Duplex, refusal: GrantdError, lines = ''): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.on('error', () => socket.destroy());
    socket.end(this.#options.rawProblem(refusal, lines), () => socket.destroy());
  }
}
