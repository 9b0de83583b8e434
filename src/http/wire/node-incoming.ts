// A request that Node's server has read: everything that HTTP/1.1 allows, with the body in pieces. It also handles a
// body that the client is still sending when the response is known.

import type { Request, Response } from 'express';
import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { ambiguityOf } from '../../core/text/header-fields.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { sendChunks } from './chunks.ts';
import { ageEnds, type Connection } from './connection.ts';
import {
  type BodyDone,
  type BodyEncoding,
  type Incoming,
  NO_PARAMETERS,
  type PathParameters,
  type RequestHeaders,
  type WireResponse,
} from './incoming.ts';
import { DISCARD_RESERVATION_BYTES } from './limits.ts';
import { ReadBody } from './request-body.ts';
import { type ResponseStream, SocketStream, type StreamListener } from './response-stream.ts';
import { headersOf } from './response-text.ts';

export interface NodeIncomingOptions {
  readonly clock: Clock;
  readonly bodies: ByteBudget;
  /** Budget of bytes that are read only to be discarded. */
  readonly discards: ByteBudget;
  readonly discardBytesMax: number;
  readonly discardTimeoutMs: number;
  readonly stallTimeoutMs: number;
}

/** The refusal of a request whose headers leave open where it ends; undefined: they do not. */
export function refusalOfAmbiguity(request: Request, response: Response): GrantdError | undefined {
  const ambiguity = ambiguityOf(request.rawHeaders, request.headers['transfer-encoding']);
  if (ambiguity === undefined) return undefined;
  // What follows on this connection may be meant as a part of this request.
  response.shouldKeepAlive = false;
  return new GrantdError('invalid-request', ambiguity);
}

export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly request: Request;
  readonly response: Response;
  readonly connection: Connection;
  readonly startedAtMs: number;
  readonly #options: NodeIncomingOptions;
  #body: ReadBody | undefined;

  constructor(request: Request, response: Response, connection: Connection, options: NodeIncomingOptions) {
    this.method = request.method;
    this.url = request.url;
    this.headers = request.headers;
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.#options = options;
    this.startedAtMs = options.clock.monotonicMs();
  }

  get httpVersion(): string {
    return this.request.httpVersion;
  }

  get socket() {
    return this.request.socket;
  }

  get pathParameters(): PathParameters {
    // Undefined if no router has looked for them.
    return this.request.params ?? NO_PARAMETERS;
  }

  readBody(bytesMax: number, tenantId: string, done: BodyDone, encoding: BodyEncoding = 'utf8'): void {
    this.#body = new ReadBody(this, this.#options.bodies, { bytesMax, tenantId, encoding }, done);
  }

  releaseBody(): void {
    this.#body?.release();
  }

  send({ status, head, body, last, reservation }: WireResponse): void {
    const { request, response, connection } = this;
    const broken = connection.failure !== undefined && !request.complete;
    const longRest = !broken && this.#hasLongRest();
    const old = ageEnds(connection, this.startedAtMs, connection.gate?.hasMore === true);
    const close = longRest || broken || last || connection.surplus || old;
    const headers = headersOf(head);
    if (close) headers.push('Connection', 'close');
    if (reservation !== undefined) this.#releaseOnceTaken(reservation);
    response.writeHead(status, headers);
    // The rest of a body must be read: unread bytes would cut the connection before the client takes the response.
    if (close && !broken && this.#hasRest()) this.#endAfterDiscarding(body);
    else response.end(body);
  }

  #releaseOnceTaken(reservation: Reservation): void {
    const { response, socket } = this;
    reservation.drop = () => {
      socket.destroy();
      reservation.release();
    };
    response.once('close', () => reservation.release());
    // If the client has already disconnected, this event has passed.
    if (response.closed) reservation.release();
  }

  /** Node writes the head; what follows goes to the socket, like the streams of the fast path. */
  openStream(head: string, listener: StreamListener): ResponseStream {
    const { request, response, socket } = this;
    const chunked = request.httpVersionMinor > 0;
    const end = (): void => {
      socket.setTimeout(this.#options.stallTimeoutMs);
      socket.destroySoon();
    };
    const stream = new SocketStream(socket, chunked, listener, end);
    response.once('close', () => stream.closed());
    // If the client has already disconnected, that event has passed.
    if (response.closed) queueMicrotask(() => stream.closed());
    const encoding = chunked ? ['Transfer-Encoding', 'chunked'] : [];
    response.writeHead(200, [...headersOf(head), 'Connection', 'close', ...encoding]);
    response.flushHeaders();
    socket.setTimeout(0);
    this.connection.gate?.discard(this.#options.discardBytesMax);
    return stream;
  }

  sendChunks(head: string, chunks: AsyncIterable<string>): Promise<void> {
    return sendChunks(this.response, headersOf(head), chunks, this.method === 'HEAD');
  }

  onceClosed(listener: () => void): void {
    this.response.once('close', listener);
  }

  /** Whether a part of the body has not arrived. */
  #hasRest(): boolean {
    const { complete, headers } = this.request;
    return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);
  }

  /**
   * Whether the rest of the body may be too long to read just to keep the connection.
   */
  #hasLongRest(): boolean {
    const { request } = this;
    if (request.complete) return false;
    const { headers } = request;
    if (headers['transfer-encoding'] === undefined) {
      return Number(headers['content-length'] ?? 0) > this.#options.discardBytesMax;
    }
    this.connection.gate?.skipBody();
    return !request.complete;
  }

  /**
   * Sends the whole response, then reads and discards what the client is still sending, within bounds, before it closes
   * the connection. Closing at once would reset the connection, and the client would lose the response.
   */
  #endAfterDiscarding(body: string | Buffer): void {
    const { request, response, connection } = this;
    const { clock, discards, discardBytesMax, discardTimeoutMs } = this.#options;
    let discarded = 0;
    let giveUpWaiting: (() => void) | undefined;
    let timer: Timer | undefined;
    let reservation: Reservation | undefined;
    const end = (): void => {
      giveUpWaiting?.();
      timer?.cancel();
      reservation?.release();
      request.removeAllListeners('data');
      response.end();
    };
    const discard = (granted: Reservation): void => {
      reservation = granted;
      timer = clock.setTimer(end, discardTimeoutMs);
      request.on('data', (chunk: Buffer) => {
        discarded += chunk.length;
        if (discarded > discardBytesMax) end();
      });
      request.once('end', end);
      request.resume();
      connection.gate?.discardBody();
    };
    response.write(body);
    request.once('close', end);
    giveUpWaiting = discards.reserve(connection.turnKey, DISCARD_RESERVATION_BYTES, discard, end);
  }
}
