// The HTTP/1.1 fast path. Every connection begins in it, and leaves it for Node's server with the first bytes that are
// not exactly one request of the common form (parser.ts) to a path served here. It never comes back, since connections
// do not live long. Invariant: nothing is decided here about bytes that could be read in two ways. The fast path saves
// half of what a check would cost: Node's streams, events and objects around each request.
//
// In the fast path a connection has at most one request in flight. What follows it waits in the socket, which is not
// read until the response is sent, nor while a client does not take its responses.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../core/async/clock.ts';
import type { Turns } from '../../../core/async/turns.ts';
import type { Reservation } from '../byte-budget.ts';
import { ageEnds, type Connection } from '../connection.ts';
import {
  type BodyDone,
  type BodyEncoding,
  type Incoming,
  NO_PARAMETERS,
  type RequestHeaders,
  type WireResponse,
} from '../incoming.ts';
import { takeBody } from '../request-body.ts';
import { type ResponseStream, SocketStream, type StreamListener } from '../response-stream.ts';
import { statusLine } from '../response-text.ts';
import { type PlainRequest, readPlainRequest } from './parser.ts';

/** Added to the time that is announced to a client, since its last request may be in flight. */
const KEEP_ALIVE_MARGIN_MS = 1000;
/**
 * Idle connections are looked for this often, so they end up to twice as much later than their time. A timer of each
 * socket would be set back twice a request, which costs several percent of a check.
 */
const SWEEP_MS = 1000;

export interface FastPathOptions {
  readonly clock: Clock;
  readonly turns: Turns;
  /** Answers a request, now or later; false: nothing here serves its path, and Node's server has to read it. */
  readonly serve: (incoming: Incoming) => boolean;
  /** Hands a connection over to Node's server. */
  readonly leave: (connection: Connection) => void;
  /** Sends a problem to a client that sent no request in time, and ends its connection. */
  readonly expire: (connection: Connection) => void;
  /** Reports how many bytes of a connection wait in memory. */
  readonly hold: (connection: Connection, bytes: number) => void;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly stallTimeoutMs: number;
  /** Bytes that a client may send after the last request that is answered. */
  readonly discardBytesMax: number;
}

/** The header `Date` (RFC 9110 section 6.6.1), formatted once a second. */
class DateHeader {
  #second = Number.NaN;
  #text = '';

  at(wallMs: number): string {
    const second = Math.floor(wallMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toUTCString();
    }
    return this.#text;
  }
}

/** Takes new connections in place of Node's server. The returned function hands one over to that server. */
export function takeConnections(server: Server, take: (socket: Socket) => void): (socket: Socket) => void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', take);
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

export class FastPath {
  readonly options: FastPathOptions;
  readonly keepAlive: string;
  readonly #date = new DateHeader();
  readonly #connections = new Set<FastPathConnection>();
  #sweep: Timer | undefined;

  constructor(options: FastPathOptions) {
    this.options = options;
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(options.keepAliveTimeoutMs / 1000)}\r\n\r\n`;
  }

  /** Takes a connection that has just been opened. */
  enter(connection: Connection): void {
    this.#connections.add(new FastPathConnection(this, connection));
    this.#sweepLater();
  }

  /** The connection is closed, or Node's server has it. */
  forget(connection: FastPathConnection): void {
    this.#connections.delete(connection);
  }

  #sweepLater(): void {
    this.#sweep ??= this.options.clock.setTimer(() => {
      this.#sweep = undefined;
      const nowMs = this.options.clock.monotonicMs();
      for (const connection of this.#connections) connection.endIfIdleTooLong(nowMs);
      if (this.#connections.size > 0) this.#sweepLater();
    }, SWEEP_MS);
  }

  get date(): string {
    return this.#date.at(this.options.clock.wallMs());
  }
}

class FastPathConnection {
  readonly #fastPath: FastPath;
  readonly #connection: Connection;
  readonly #socket: Socket;
  #inFlight: PlainIncoming | undefined;
  /** Bytes that wait for their turn to be read: the event loop is saturated. */
  #unread: Buffer | undefined;
  /** The response that stays open, until its end. */
  #stream: SocketStream | undefined;
  /** No further request is answered: bytes that still arrive are discarded. */
  #ending = false;
  #discardedBytes = 0;
  /** Whether bytes have come or gone since the last sweep. */
  #active = true;
  /** On the monotonic clock: the first sweep at which the connection was idle. */
  #idleSinceMs = 0;
  /** How long it may be idle. Infinite while a response is being taken. */
  #idleMsMax: number;

  constructor(fastPath: FastPath, connection: Connection) {
    this.#fastPath = fastPath;
    this.#connection = connection;
    this.#socket = connection.socket;
    this.#idleMsMax = fastPath.options.headersTimeoutMs;
    this.#socket.on('timeout', this.#onTimeout);
    this.#socket.on('data', this.#onData);
    this.#socket.on('drain', this.#onDrain);
    this.#socket.on('end', this.#onEnd);
    this.#socket.on('error', ignore);
    this.#socket.on('close', this.#onClose);
    connection.endIfIdle = this.#endIfIdle;
  }

  send(incoming: PlainIncoming, { status, head, body, last, reservation }: WireResponse): void {
    const socket = this.#socket;
    this.#inFlight = undefined;
    this.#connection.busy = false;
    const more = socket.readableLength > 0;
    const old = ageEnds(this.#connection, incoming.startedAtMs, more);
    const close = last || old || socket.readableEnded;
    // In the order in which Node writes them.
    const end = close
      ? `Connection: close\r\nDate: ${this.#fastPath.date}\r\n\r\n`
      : `Date: ${this.#fastPath.date}\r\n${this.#fastPath.keepAlive}`;
    const { keepAliveTimeoutMs, stallTimeoutMs } = this.#fastPath.options;
    const taken = socket.write(statusLine(status) + head + end + body);
    if (reservation !== undefined) releaseOnceTaken(reservation, socket);
    this.#active = true;
    this.#idleMsMax = taken ? keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS : Number.POSITIVE_INFINITY;
    if (!taken) socket.setTimeout(stallTimeoutMs);
    if (close) this.#end();
    else if (!taken) socket.pause();
    if (!more && this.#connection.heldBytes > 0) this.#fastPath.options.hold(this.#connection, 0);
    if (more && taken) socket.resume();
  }

  /** From now on, bytes from the client are discarded: the connection ends with this response. */
  openStream(incoming: PlainIncoming, head: string, listener: StreamListener): ResponseStream {
    const socket = this.#socket;
    const stream = new SocketStream(socket, true, listener, () => this.#endStream());
    this.#inFlight = undefined;
    this.#stream = stream;
    this.#connection.activeAtMs = incoming.startedAtMs;
    this.#idleMsMax = Number.POSITIVE_INFINITY;
    const date = this.#fastPath.date;
    socket.write(`${statusLine(200)}${head}Connection: close\r\nDate: ${date}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    this.#fastPath.options.hold(this.#connection, 0);
    // A client that has ended its side counts as gone. If it already has, that event has passed.
    if (socket.closed) queueMicrotask(() => stream.closed());
    else if (socket.readableEnded) socket.destroy();
    else socket.resume();
    return stream;
  }

  #endStream(): void {
    this.#stream = undefined;
    this.#connection.busy = false;
    this.#socket.setTimeout(this.#fastPath.options.stallTimeoutMs);
    this.#end();
  }

  /** Called at each sweep. */
  endIfIdleTooLong(nowMs: number): void {
    if (this.#active) {
      this.#active = false;
      this.#idleSinceMs = nowMs;
    } else if (nowMs - this.#idleSinceMs >= this.#idleMsMax) {
      this.#onTimeout();
    }
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#active = true;
    if (this.#ending || this.#stream !== undefined) {
      this.#discardedBytes += bytes.length;
      if (this.#discardedBytes > this.#fastPath.options.discardBytesMax) this.#socket.destroy();
      return;
    }
    const { clock, turns, hold } = this.#fastPath.options;
    if (this.#asked) {
      this.#socket.pause();
      this.#socket.unshift(bytes);
      hold(this.#connection, (this.#inFlight?.heldBytes ?? this.#unread?.length ?? 0) + bytes.length);
      return;
    }
    const nowMs = clock.monotonicMs();
    if (turns.hasTime(nowMs)) {
      this.#read(bytes, nowMs);
      return;
    }
    // Until then nothing more is read, not even an end of the connection: Node's server may have to get all of it.
    this.#socket.pause();
    this.#unread = bytes;
    this.#connection.busy = true;
    this.#connection.activeAtMs = nowMs;
    hold(this.#connection, bytes.length);
    turns.run(this.#connection.turnKey, () => {
      this.#unread = undefined;
      if (this.#ending || this.#socket.destroyed) return false;
      this.#socket.resume();
      this.#read(bytes, nowMs);
      return false;
    });
  };

  /** Whether a request has arrived whose response is not sent yet. */
  get #asked(): boolean {
    return this.#inFlight !== undefined || this.#unread !== undefined || this.#stream !== undefined;
  }

  #read(bytes: Buffer, arrivedAtMs: number): void {
    const request = readPlainRequest(bytes);
    if (request === undefined) {
      this.#leave(bytes);
      return;
    }
    const incoming = new PlainIncoming(this, this.#socket, request, bytes, arrivedAtMs);
    this.#inFlight = incoming;
    this.#connection.busy = true;
    this.#connection.activeAtMs = incoming.startedAtMs;
    if (!this.#fastPath.options.serve(incoming)) this.#leave(bytes);
    else this.#fastPath.options.hold(this.#connection, this.#inFlight === incoming ? incoming.heldBytes : 0);
  }

  readonly #onDrain = (): void => {
    if (this.#ending || this.#stream !== undefined) return;
    this.#socket.setTimeout(0);
    this.#active = true;
    this.#idleMsMax = this.#fastPath.options.keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS;
    this.#socket.resume();
  };

  /** The client sends nothing more; it may still read. */
  readonly #onEnd = (): void => {
    if (this.#stream !== undefined) this.#socket.destroy();
    else if (!this.#asked) this.#socket.end();
  };

  readonly #onTimeout = (): void => {
    if (this.#asked) return;
    if (this.#socket.bytesRead > 0) {
      this.#socket.destroy();
      return;
    }
    this.#ending = true;
    this.#active = true;
    this.#fastPath.options.expire(this.#connection);
  };

  readonly #onClose = (): void => {
    this.#fastPath.forget(this);
    this.#inFlight?.closed();
    this.#stream?.closed();
  };

  readonly #endIfIdle = (): void => {
    if (!this.#asked) this.#end();
  };

  /**
   * Ends once the client has taken what was sent. Reading continues: unread bytes would cut the connection before that.
   */
  #end(): void {
    this.#ending = true;
    this.#socket.destroySoon();
    this.#socket.resume();
  }

  #leave(bytes: Buffer): void {
    const socket = this.#socket;
    this.#connection.endIfIdle = undefined;
    this.#fastPath.forget(this);
    socket.setTimeout(0);
    socket.removeListener('timeout', this.#onTimeout);
    socket.removeListener('data', this.#onData);
    socket.removeListener('drain', this.#onDrain);
    socket.removeListener('end', this.#onEnd);
    socket.removeListener('error', ignore);
    socket.removeListener('close', this.#onClose);
    this.#connection.busy = false;
    this.#fastPath.options.leave(this.#connection);
    socket.unshift(bytes);
  }
}

/** The `close` event follows and does the rest. */
function ignore(): void {}

/** Replaces bytes that have been read, so that a request in flight does not keep them. */
const NO_BYTES = Buffer.alloc(0);

/** Releases the reservation of a response that has just been written, once the client has taken it. */
function releaseOnceTaken(reservation: Reservation, socket: Socket): void {
  if (socket.writableLength === 0 || socket.destroyed) {
    reservation.release();
    return;
  }
  reservation.drop = () => {
    socket.destroy();
    reservation.release();
  };
  // Called once everything before it has been written, or no longer can be.
  socket.write('', () => reservation.release());
}

class PlainIncoming implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly httpVersion = '1.1';
  readonly headers: RequestHeaders;
  readonly socket: Socket;
  readonly pathParameters = NO_PARAMETERS;
  readonly startedAtMs: number;
  readonly #connection: FastPathConnection;
  #bytes: Buffer;
  readonly #bodyStart: number;
  /** Bytes that have arrived and have not been read as a body. */
  heldBytes: number;
  #onClosed: (() => void) | undefined = undefined;

  constructor(
    connection: FastPathConnection,
    socket: Socket,
    { method, url, headers, bodyStart }: PlainRequest,
    bytes: Buffer,
    startedAtMs: number,
  ) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.socket = socket;
    this.startedAtMs = startedAtMs;
    this.#connection = connection;
    this.#bytes = bytes;
    this.#bodyStart = bodyStart;
    this.heldBytes = bytes.length;
  }

  readBody(bytesMax: number, _tenantId: string, done: BodyDone, encoding?: BodyEncoding): void {
    const bytes = this.#bytes;
    this.#bytes = NO_BYTES;
    this.heldBytes = 0;
    takeBody(bytes, this.#bodyStart, bytesMax, done, encoding);
  }

  /** The body was in memory anyway. */
  releaseBody(): void {}

  send(answer: WireResponse): void {
    this.#connection.send(this, answer);
  }

  openStream(head: string, listener: StreamListener): ResponseStream {
    return this.#connection.openStream(this, head, listener);
  }

  onceClosed(listener: () => void): void {
    const before = this.#onClosed;
    this.#onClosed =
      before === undefined
        ? listener
        : () => {
            before();
            listener();
          };
  }

  closed(): void {
    this.#onClosed?.();
  }
}
