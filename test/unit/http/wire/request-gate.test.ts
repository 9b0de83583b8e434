// The gate before the parser of Node's server: what comes through is what that server alone would have read, one
// request after another, however many come at once and wherever the bytes are cut.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { type Connection, createConnection } from '../../../../src/http/wire/connection.ts';
import { takeConnections } from '../../../../src/http/wire/fast-path/connection.ts';
import { RequestGate } from '../../../../src/http/wire/request-gate.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { parseResponses, RawConnection } from '../../../kit/http-raw.ts';
import { waitFor } from '../../../kit/wait-for.ts';

/**
 * A server that answers with what it has read, behind a gate or not; at /later once a test lets it, at /large with
 * much.
 */
class EchoServer {
  readonly #server: Server;
  readonly sockets: Socket[] = [];
  readonly connections: Connection[] = [];
  readonly later: (() => void)[] = [];
  /** Requests of each connection that have been begun and not been answered to the last byte. */
  readonly #inFlight = new Map<Socket, number>();
  /** The most that one connection has had at once. */
  inFlightMax = 0;
  begun = 0;
  heldMax = 0;

  get inFlight(): number {
    return [...this.#inFlight.values()].reduce((sum, count) => sum + count, 0);
  }

  constructor(gated: boolean) {
    const turns = new FairTurns(systemClock);
    const gates = new Map<Socket, RequestGate>();
    const open = new Map<Duplex, number>();
    this.#server = createServer({ requireHostHeader: false }, (request, response) => {
      const { socket } = request;
      open.set(socket, (open.get(socket) ?? 0) + 1);
      response.prependOnceListener('close', () => open.set(socket, (open.get(socket) ?? 0) - 1));
      const gate = gates.get(request.socket);
      if (gate === undefined) this.#serve(request, response, undefined);
      else gate.admit(request, response, () => this.#serve(request, response, gate));
    });
    // As the service does: what came before is answered first.
    this.#server.on('clientError', (_error, socket) => {
      const connection = this.connections.find((each) => each.socket === socket);
      if (connection !== undefined) connection.failure = new GrantdError('invalid-request', 'It is broken.');
      const refuse = (): void => {
        if ((open.get(socket) ?? 0) > 0) setImmediate(refuse);
        else if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      };
      refuse();
    });
    const attach = takeConnections(this.#server, (socket) => {
      this.sockets.push(socket);
      if (!gated) {
        attach(socket);
        return;
      }
      const connection = createConnection(socket, { nowMs: 0, oldAtMs: Number.POSITIVE_INFINITY });
      this.connections.push(connection);
      const hold = (_connection: Connection, bytes: number): void => {
        this.heldMax = Math.max(this.heldMax, bytes);
      };
      gates.set(socket, new RequestGate(connection, { attach, hold, nowMs: () => 0, turns }));
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse, gate: RequestGate | undefined): void {
    this.begun += 1;
    const count = (by: 1 | -1): number => {
      const inFlight = (this.#inFlight.get(request.socket) ?? 0) + by;
      this.#inFlight.set(request.socket, inFlight);
      return inFlight;
    };
    this.inFlightMax = Math.max(this.inFlightMax, count(1));
    // Before the gate's own listener.
    response.prependOnceListener('close', () => count(-1));
    const answer = (text: string): void => {
      response.writeHead(200, { 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    };
    const { method, url = '' } = request;
    if (url.startsWith('/unread')) {
      answer(`${method} ${url}`);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = `${method} ${url} ${JSON.stringify(Buffer.concat(chunks).toString('latin1'))}`;
      if (url.startsWith('/later')) this.later.push(() => answer(text));
      else answer(url.startsWith('/large') ? 'x'.repeat(1024 * 1024) : text);
    });
    gate?.readBody();
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

const withServers =
  (test: (gated: EchoServer, url: string, plainUrl: string) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const [gated, plain] = [new EchoServer(true), new EchoServer(false)];
    try {
      await test(gated, await gated.listen(), await plain.listen());
    } finally {
      await gated.close();
      await plain.close();
    }
  };

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${
    body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  }0\r\n\r\n`;
const LAST = 'GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

describe('a connection behind the gate', () => {
  it(
    'has one request in flight, however many come at once',
    withServers(async (gated, url) => {
      for (const request of [get('/later'), post('/later', 'a\r\n\r\nb'), chunked('/later', 'c\n\n')]) {
        gated.begun = 0;
        const client = await RawConnection.open(url);
        client.send(request.repeat(50));
        for (let answered = 0; answered < 50; answered += 1) {
          await waitFor('the next request', () => gated.later.length > 0);
          assert.equal(gated.begun, answered + 1);
          gated.later.shift()?.();
          await client.readResponses(answered + 1);
        }
        client.destroy();
      }
      assert.equal(gated.inFlightMax, 1);
    }),
  );

  it(
    'has one request in flight where the shortest that there can be come at once, too',
    withServers(async (gated, url) => {
      for (const request of [
        'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
        'GET / HTTP/1.1\r\n\r\n',
        '\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\n\r\n',
      ]) {
        const client = await RawConnection.open(url);
        client.send(request.repeat(300));
        await client.readResponses(300);
        client.destroy();
      }
      assert.equal(gated.inFlightMax, 1);
    }),
  );

  it(
    'is not answered further while its client takes nothing, and has little in memory',
    withServers(async (gated, url) => {
      const { hostname, port } = new URL(url);
      const client = connect({ host: hostname, port: Number(port) });
      await once(client, 'connect');
      client.pause();
      client.write(get('/large').repeat(2000));
      // The kernel takes some answers before one stays: only then is no other request begun.
      let begun = 0;
      await waitFor('an answer that stays', async () => {
        begun = gated.begun;
        for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        return gated.begun === begun && (gated.sockets[0]?.writableLength ?? 0) > 0;
      });
      assert.ok(begun < 100, `${begun} requests were begun`);
      assert.equal(gated.inFlight, 1);
      assert.ok((gated.sockets[0]?.writableLength ?? 0) < 2 * 1024 * 1024);
      assert.ok(gated.heldMax > 0 && gated.heldMax <= 128 * 1024, `${gated.heldMax} bytes were held`);
      let length = 0;
      client.on('data', (bytes: Buffer) => {
        length += bytes.length;
      });
      client.resume();
      await waitFor('further answers', () => gated.begun > begun + 10);
      assert.ok(length > 0);
      client.destroy();
    }),
  );

  it(
    'goes on behind an unwanted body',
    withServers(async (_gated, url) => {
      const client = await RawConnection.open(url);
      client.send(post('/unread/1', '\r\n\r\n'.repeat(20_000)) + chunked('/unread/2', '\n\n'.repeat(5000)) + get('/3'));
      assert.deepEqual(
        (await client.readResponses(3)).map(({ body }) => body),
        ['POST /unread/1', 'POST /unread/2', 'GET /3 ""'],
      );
      client.destroy();
    }),
  );

  it(
    'reads what Node’s server reads, wherever the bytes are cut',
    withServers(async (gated, url, plainUrl) => {
      const body = fc.string({
        unit: fc.constantFrom('a', '\r', '\n', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '0\r\n\r\n'),
        maxLength: 12,
      });
      const request = fc.oneof(
        fc.constantFrom(get('/a'), 'GET /b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', `\r\n\n\r\n${get('/c')}`),
        fc.constantFrom(
          'GET /d HTTP/1.1\nHost: x\n\n',
          'garbage\r\n\r\n',
          'GET /e HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
          'POST /f HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
        ),
        body.map((text) => post('/p', text)),
        body.map((text) => chunked('/q', text)),
        body.map((text) => post('/unread', text)),
        body.map((text) => chunked('/unread/q', text)),
      );
      await fc.assert(
        fc.asyncProperty(
          fc.array(request, { minLength: 1, maxLength: 6 }),
          fc.array(fc.nat(), { maxLength: 4 }),
          async (requests, cuts) => {
            const bytes = `${requests.join('')}${LAST}`;
            const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((left, right) => left - right);
            const [expected, ...seen] = await Promise.all(
              [
                { at: plainUrl, pieces: [bytes] },
                { at: url, pieces: [bytes] },
                { at: url, pieces: ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end)) },
              ].map(async ({ at, pieces }) => {
                const client = await RawConnection.open(at);
                for (const piece of pieces) {
                  client.send(piece);
                  await new Promise((resolve) => setImmediate(resolve));
                }
                return parseResponses(await client.readToEnd()).map(({ status, body: text }) => `${status} ${text}`);
              }),
            );
            for (const responses of seen) assert.deepEqual(responses, expected, JSON.stringify(bytes));
          },
        ),
        { numRuns: 150 },
      );
      assert.equal(gated.inFlightMax, 1);
    }),
  );
});
