// A request that Node's server has read: whatever HTTP/1.1 allows, body in pieces, and what becomes of a body that the client
// is still sending when its answer is known.

import type { Request, Response } from 'express';
import type { Clock } from '../core/clock.ts';
import { ageEnds, type Connection } from './connections.ts';
import {
  type Answer,
  type BodyDone,
  type Incoming,
  NO_PARAMETERS,
  type PathParameters,
  type RequestHeaders,
} from './incoming.ts';
import { readBody } from './request-body.ts';
import { headersOf } from './response-text.ts';

export interface DiscardBounds {
  readonly clock: Clock;
  readonly discardBytesMax: number;
  readonly discardTimeoutMs: number;
}

export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly request: Request;
  readonly response: Response;
  readonly connection: Connection;
  readonly startedAtMs: number;
  readonly #bounds: DiscardBounds;

  constructor(request: Request, response: Response, connection: Connection, bounds: DiscardBounds) {
    this.method = request.method;
    this.url = request.url;
    this.headers = request.headers;
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.#bounds = bounds;
    this.startedAtMs = bounds.clock.monotonicMs();
    connection.lastResponse = response;
  }

  get httpVersion(): string {
    return this.request.httpVersion;
  }

  get socket() {
    return this.request.socket;
  }

  get pathParameters(): PathParameters {
    // Undefined where no router has looked for them.
    return this.request.params ?? NO_PARAMETERS;
  }

  readBody(bytesMax: number, done: BodyDone): void {
    readBody(this, bytesMax, done);
  }

  send({ status, head, body, last }: Answer): void {
    const { request, response, connection } = this;
    const broken = connection.failure !== undefined && !request.complete;
    const longRest = !broken && this.#hasLongRest();
    // A further request that waits for its answer keeps it.
    const newest = connection.lastResponse === response;
    const old = newest && ageEnds(connection, this.startedAtMs, status);
    const headers = headersOf(head);
    if (longRest || broken || last || connection.surplus || old) headers.push('Connection', 'close');
    response.writeHead(status, headers);
    if (longRest) this.#endAfterDiscarding(body);
    else response.end(body);
  }

  onceGone(listener: () => void): void {
    this.response.once('close', listener);
  }

  /** Whether so much of a body may still come that reading it to its end, to keep the connection, is not worth it. */
  #hasLongRest(): boolean {
    const { complete, headers } = this.request;
    if (complete) return false;
    if (headers['transfer-encoding'] !== undefined) return true;
    return Number(headers['content-length'] ?? 0) > this.#bounds.discardBytesMax;
  }

  /**
   * Sends the whole answer, then reads and drops what the client is still sending, within bounds, before the connection
   * is closed: closing at once would reset it, and the client would lose the answer with it.
   */
  #endAfterDiscarding(body: string): void {
    const { request, response } = this;
    const { clock, discardBytesMax, discardTimeoutMs } = this.#bounds;
    let discarded = 0;
    const end = (): void => {
      timer.cancel();
      request.removeAllListeners('data');
      response.end();
    };
    const timer = clock.setTimer(end, discardTimeoutMs);
    request.on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > discardBytesMax) end();
    });
    request.once('end', end);
    request.once('close', end);
    request.resume();
    response.write(body);
  }
}
