// The connections of the public interface: how many there are, how old they grow, and what a client is told when its bytes are not a
// request at all. Every such answer is a problem document too, is written only when no other answer is on its way to
// that client, and ends the connection.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock, Random } from '../core/clock.ts';
import { GrantdError } from '../core/errors.ts';

export interface Connection {
  readonly socket: Socket;
  /** Beyond the number that is served: its first request is refused and the connection closed. */
  readonly surplus: boolean;
  /** On the monotonic clock: the answer to a request that comes later ends it. */
  readonly oldAtMs: number;
  /** The answer to the newest request on it. */
  lastResponse: ServerResponse | undefined;
  /** Set while a body is being read: answers that request with the error, in its turn; false where the body is whole. */
  failBody: ((error: GrantdError) => boolean) | undefined;
  /** Why nothing more can be read from it. */
  failure: GrantdError | undefined;
  /** Ends it unless a request is under way; undefined: Node's server does that, or nobody. */
  endIfIdle: (() => void) | undefined;
}

/**
 * Whether a connection is to end for its age with the answer to a request. A refusal keeps it: it may be written before a
 * further request that has come with it is read.
 */
export const ageEnds = ({ oldAtMs }: Connection, startedAtMs: number, status: number): boolean =>
  startedAtMs > oldAtMs && status < 300;

/** Bytes of a whole HTTP response that says `error` and closes the connection. */
export type RawProblem = (error: GrantdError) => string;

const lateRequest = (): GrantdError => new GrantdError('request-timeout', 'The request did not arrive whole in time.');

/** Node's name for what its parser met → what the client is told. */
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

/** Errors of a peer that is gone: there is nobody to tell. */
const GONE = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly ageMaxMs: number;
  readonly connectionsMax: number;
  readonly refusedConnectionsMax: number;
  readonly rawProblem: RawProblem;
}

export class Connections {
  readonly #connections = new Map<Duplex, Connection>();
  readonly #options: ConnectionsOptions;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.maxConnections = options.connectionsMax + options.refusedConnectionsMax;
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => this.#onClientError(error, socket));
    server.on('connect', (_request, socket) => {
      this.#end(socket, new GrantdError('invalid-request', 'The method CONNECT is not supported.'));
    });
  }

  /** One that has just been opened. */
  add(socket: Socket): Connection {
    const { clock, random, ageMaxMs, connectionsMax } = this.#options;
    const [byte = 0] = random.bytes(1);
    const connection: Connection = {
      socket,
      surplus: this.#connections.size >= connectionsMax,
      oldAtMs: clock.monotonicMs() + ageMaxMs * (0.5 + byte / 510),
      lastResponse: undefined,
      failBody: undefined,
      failure: undefined,
      endIfIdle: undefined,
    };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  /** Undefined once it is closed. */
  of(socket: Duplex): Connection | undefined {
    return this.#connections.get(socket);
  }

  /**
   * Closes those on which nothing is asked, of which Node's server does not know; a client that opens connections in advance
   * would hold up the end.
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

  /** Tells a client that has asked nothing in time, and ends its connection. No answer may be under way on it. */
  expire({ socket }: Connection): void {
    this.#end(socket, lateRequest());
  }

  #onClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || !socket.writable || (error.code !== undefined && GONE.has(error.code))) {
      socket.destroy();
      return;
    }
    if (connection.failure !== undefined) return;
    const refusal = refusalOf(error);
    connection.failure = refusal;
    if (connection.failBody?.(refusal) === true) return;
    // An answer to an earlier request may be on its way: this one must not overtake it, nor land inside it.
    const { lastResponse } = connection;
    if (lastResponse === undefined || lastResponse.closed) this.#end(socket, refusal);
    else lastResponse.once('close', () => this.#end(socket, refusal));
  }

  #end(socket: Duplex, refusal: GrantdError): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.on('error', () => socket.destroy());
    socket.end(this.#options.rawProblem(refusal), () => socket.destroy());
  }
}
