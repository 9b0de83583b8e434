// The fast path of plain requests before a server of Node, with clients and the server's end of their connections, for
// tests of what is answered in the fast path and what leaves it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Connection, createConnection } from '../../../../../src/http/wire/connection.ts';
import { FastPath, type FastPathOptions, takeConnections } from '../../../../../src/http/wire/fast-path/connection.ts';
import type { Incoming } from '../../../../../src/http/wire/incoming.ts';
import { RawConnection } from '../../../../kit/http-raw.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';
import { waitFor } from '../../../../kit/wait-for.ts';
import { HeldTurns } from '../../../support/held-turns.ts';

/** So long that nothing here waits for it. */
export const NEVER_MS = 60_000;
/** Of an answer: more than the buffers of both ends hold. */
export const LONG = 24 * 1024 * 1024;

export const until = (what: string, condition: () => boolean): Promise<void> => waitFor(what, condition);

export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
export const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
/** What only Node reads. */
export const chunked = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const describeBody = (text: string): string => (text.length > 100 ? String(text.length) : text);

/**
 * The fast path before a server of Node. Either answers who it is, and what it has read; at /later/…, once a test lets
 * it.
 */
export class FastPathServer {
  readonly clock = new VirtualClock();
  /** Work runs at once, until a test holds it. */
  readonly turns = new HeldTurns();
  readonly sockets: Socket[] = [];
  readonly connections: Connection[] = [];
  readonly left: Socket[] = [];
  readonly expired: Connection[] = [];
  readonly served: Incoming[] = [];
  readonly inFlight: Incoming[] = [];
  readonly closed: string[] = [];
  /** Of the connections that are opened from now on. */
  oldAtMs = Number.POSITIVE_INFINITY;
  /** Whether connections that are opened from now on are Node's from the beginning. */
  withoutFastPath = false;
  readonly #server: Server;
  #accepted = 0;

  constructor(options: Partial<FastPathOptions> = {}) {
    this.turns.holding = false;
    this.turns.readsHeads = false;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = `node ${request.url} ${describeBody(Buffer.concat(chunks).toString())}`;
        response.writeHead(200, { 'Content-Length': body.length });
        response.end(body);
      });
    });
    const letNodeHave = takeConnections(this.#server, (socket) => {
      const connection = createConnection(socket, { nowMs: this.clock.monotonicMs(), oldAtMs: this.oldAtMs });
      this.sockets.push(socket);
      this.connections.push(connection);
      if (this.withoutFastPath) letNodeHave(socket);
      else fastPath.enter(connection);
    });
    const fastPath = new FastPath({
      clock: this.clock,
      turns: this.turns,
      serve: (incoming) => this.#serve(incoming),
      leave: ({ socket }) => {
        this.left.push(socket);
        letNodeHave(socket);
      },
      expire: (connection) => {
        this.expired.push(connection);
        connection.socket.destroy();
      },
      hold: (connection, bytes) => {
        connection.heldBytes = bytes;
      },
      headersTimeoutMs: NEVER_MS,
      keepAliveTimeoutMs: NEVER_MS,
      stallTimeoutMs: NEVER_MS,
      discardBytesMax: 1024 * 1024,
      ...options,
    });
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** A client, and the server's end of its connection. */
  async open(): Promise<{ client: RawConnection; connection: Connection; socket: Socket }> {
    const client = await RawConnection.open(`http://127.0.0.1:${this.port}`);
    return { client, ...(await this.#acceptedLast()) };
  }

  /** A client that reads only when the test says so. */
  async openUnread(): Promise<{ client: Socket; connection: Connection; socket: Socket }> {
    const client = connect({ host: '127.0.0.1', port: this.port });
    client.on('error', () => {});
    await once(client, 'connect');
    return { client, ...(await this.#acceptedLast()) };
  }

  /** The one opened last, which is to be the only one that is being opened. */
  async #acceptedLast(): Promise<{ connection: Connection; socket: Socket }> {
    await until('the connection', () => this.connections.length > this.#accepted);
    this.#accepted = this.connections.length;
    const connection = this.connections.at(-1);
    assert.ok(connection !== undefined);
    return { connection, socket: connection.socket };
  }

  #serve(incoming: Incoming): boolean {
    if (incoming.url.startsWith('/node')) return false;
    this.served.push(incoming);
    incoming.onceClosed(() => this.closed.push(incoming.url));
    if (incoming.url.startsWith('/later')) this.inFlight.push(incoming);
    else this.#answer(incoming);
    return true;
  }

  #answer(incoming: Incoming, last = false): void {
    const [, kind, argument] = incoming.url.split('/');
    const status = kind === 'refused' ? 404 : 200;
    const send = (text: string): void => {
      const length = Number(argument);
      const body = length >= LONG ? 'x'.repeat(length) : `fast path ${incoming.url} ${describeBody(text)}`;
      incoming.send({ status, head: `Content-Length: ${body.length}\r\n`, body, last, reservation: undefined });
    };
    if (incoming.method === 'GET') send('');
    else incoming.readBody(1024 * 1024, 'ten_x', (_error, text) => send(text));
  }

  /** Answers the request that has been in flight for longest, once it has come. */
  async release(last = false): Promise<void> {
    await until('a request in flight', () => this.inFlight.length > 0);
    const incoming = this.inFlight.shift();
    assert.ok(incoming !== undefined);
    this.#answer(incoming, last);
  }

  /** Whatever has been sent to the server by now has come there. */
  async settle(): Promise<void> {
    const { client } = await this.open();
    for (let count = 1; count <= 20; count += 1) {
      client.send(get('/settle'));
      await client.readResponses(count);
    }
    client.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** Runs with a server that is closed afterwards. */
export const withServer =
  (options: Partial<FastPathOptions>, test: (server: FastPathServer) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const server = new FastPathServer(options);
    await server.listen();
    try {
      await test(server);
    } finally {
      await server.close();
    }
  };
