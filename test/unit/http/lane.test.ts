// Connections in the lane of plain requests: what is answered there and in what order, what leaves it for Node's server, and how a
// connection in it ends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Connection } from '../../../src/http/connections.ts';
import type { Incoming } from '../../../src/http/incoming.ts';
import { Lane, type LaneOptions } from '../../../src/http/plain/lane.ts';
import { type HttpInProcess, startHttp } from '../../support/http-in-process.ts';
import { assertRawProblem, parseResponses, RawConnection, type RawResponse } from '../../support/http-raw.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const WAIT_MS_MAX = 10_000;
/** So long that nothing here waits for it. */
const NEVER_MS = 60_000;
/** Of an answer: more than the buffers of both ends hold. */
const LONG = 24 * 1024 * 1024;

async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX;
  while (!condition()) {
    assert.ok(performance.now() < endMs, `waited in vain for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
/** What only Node reads. */
const chunked = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** The lane before a server of Node. Either answers who it is, and what it has read; at /later/…, once a test lets it. */
class LaneServer {
  readonly clock = new VirtualClock();
  readonly sockets: Socket[] = [];
  readonly connections: Connection[] = [];
  readonly left: Socket[] = [];
  readonly expired: Connection[] = [];
  readonly served: Incoming[] = [];
  readonly underWay: Incoming[] = [];
  readonly gone: string[] = [];
  /** Of the connections that are opened from now on. */
  oldAtMs = Number.POSITIVE_INFINITY;
  /** Whether connections that are opened from now on are Node's from the beginning. */
  withoutLane = false;
  readonly #server: Server;
  #accepted = 0;

  constructor(options: Partial<LaneOptions> = {}) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = `node ${request.url} ${describeBody(Buffer.concat(chunks).toString())}`;
        response.writeHead(200, { 'Content-Length': body.length });
        response.end(body);
      });
    });
    const listeners = this.#server.listeners('connection');
    this.#server.removeAllListeners('connection');
    const letNodeHave = (socket: Socket): void => {
      for (const listener of listeners) listener.call(this.#server, socket);
    };
    const lane = new Lane({
      clock: this.clock,
      serve: (incoming) => this.#serve(incoming),
      leave: (socket) => {
        this.left.push(socket);
        letNodeHave(socket);
      },
      expire: (connection) => {
        this.expired.push(connection);
        connection.socket.destroy();
      },
      headersTimeoutMs: NEVER_MS,
      keepAliveTimeoutMs: NEVER_MS,
      stallTimeoutMs: NEVER_MS,
      discardBytesMax: 1024 * 1024,
      ...options,
    });
    this.#server.on('connection', (socket: Socket) => {
      const connection: Connection = {
        socket,
        surplus: false,
        oldAtMs: this.oldAtMs,
        lastResponse: undefined,
        failBody: undefined,
        failure: undefined,
        endIfIdle: undefined,
      };
      this.sockets.push(socket);
      this.connections.push(connection);
      if (this.withoutLane) letNodeHave(socket);
      else lane.enter(connection);
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

  /** A client that reads only when it is told to. */
  async openUnread(): Promise<{ client: Socket; connection: Connection; socket: Socket }> {
    const client = connect({ host: '127.0.0.1', port: this.port });
    client.on('error', () => {});
    await once(client, 'connect');
    return { client, ...(await this.#acceptedLast()) };
  }

  /** The one opened last, which is to be the only one that is being opened. */
  async #acceptedLast(): Promise<{ connection: Connection; socket: Socket }> {
    await until(() => this.connections.length > this.#accepted, 'the connection');
    this.#accepted = this.connections.length;
    const connection = this.connections.at(-1);
    assert.ok(connection !== undefined);
    return { connection, socket: connection.socket };
  }

  #serve(incoming: Incoming): boolean {
    if (incoming.url.startsWith('/node')) return false;
    this.served.push(incoming);
    incoming.onceGone(() => this.gone.push(incoming.url));
    if (incoming.url.startsWith('/later')) this.underWay.push(incoming);
    else this.#answer(incoming);
    return true;
  }

  #answer(incoming: Incoming, last = false): void {
    const [, kind, argument] = incoming.url.split('/');
    const status = kind === 'refused' ? 404 : 200;
    const send = (text: string): void => {
      const length = Number(argument);
      const body = length >= LONG ? 'x'.repeat(length) : `lane ${incoming.url} ${describeBody(text)}`;
      incoming.send({ status, headers: ['Content-Length', String(body.length)], body, last });
    };
    if (incoming.method === 'GET') send('');
    else incoming.readBody(1024 * 1024, (_error, text) => send(text));
  }

  /** Answers the request that has been under way for longest, once it has come. */
  async release(last = false): Promise<void> {
    await until(() => this.underWay.length > 0, 'a request under way');
    const incoming = this.underWay.shift();
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

const describeBody = (text: string): string => (text.length > 100 ? String(text.length) : text);
const bodiesOf = (responses: readonly RawResponse[]): readonly string[] => responses.map(({ body }) => body.trim());

/** Runs with a server that is closed afterwards. */
const withServer =
  (options: Partial<LaneOptions>, test: (server: LaneServer) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const server = new LaneServer(options);
    await server.listen();
    try {
      await test(server);
    } finally {
      await server.close();
    }
  };

describe('the order of answers on a connection in the lane', { timeout: 60_000 }, () => {
  it(
    'is that of its plain requests, none of which leaves it',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      for (let count = 1; count <= 50; count += 1) {
        client.send(count % 2 === 0 ? get(`/a/${count}`) : post(`/later/${count}`, `body ${count}`));
        if (count % 2 === 1) await server.release();
        const responses = await client.readResponses(count);
        assert.equal(responses.at(-1)?.status, 200);
        assert.equal(
          responses.at(-1)?.body,
          count % 2 === 0 ? `lane /a/${count} ` : `lane /later/${count} body ${count}`,
        );
      }
      assert.equal(server.left.length, 0);
      assert.equal(server.served.length, 50);
      for (const [at, incoming] of server.served.entries()) {
        assert.equal(incoming.method, at % 2 === 0 ? 'POST' : 'GET');
        assert.equal(incoming.httpVersion, '1.1');
        assert.equal(incoming.socket, socket);
        assert.deepEqual(incoming.pathParameters, {});
      }
    }),
  );

  for (const [what, bytes, answer] of [
    ['a request to a path that is not served', get('/node/1'), 'node /node/1'],
    ['bytes that are no plain request', chunked('/a', 'text'), 'node /a text'],
    ['two requests in one piece', `${get('/a/1')}${get('/a/2')}`, 'node /a/1'],
  ] as const) {
    it(
      `is kept where it leaves, once, for ${what}`,
      withServer({}, async (server) => {
        const { client, socket } = await server.open();
        client.send(get('/first'));
        await client.readResponses(1);
        client.send(bytes);
        const [, second] = await client.readResponses(2);
        assert.equal(second?.body.trim(), answer);
        client.send(post('/last', 'text'));
        await client.readUntil('node /last text');
        assert.equal(bodiesOf(parseResponses(client.received)).at(-1), 'node /last text');
        assert.deepEqual(server.left, [socket]);
        assert.equal(server.served.length, 1);
      }),
    );
  }

  it(
    'is kept wherever the bytes are cut, and nothing is lost or doubled',
    withServer({}, async (server) => {
      const text = post('/a', 'one') + get('/b') + chunked('/c', 'two') + post('/node', 'three') + post('/e', 'four');
      for (let cut = 1; cut < text.length; cut += 1) {
        const { client, socket } = await server.open();
        client.send(text.slice(0, cut));
        await until(() => socket.bytesRead === cut, 'the first piece');
        client.send(text.slice(cut));
        const answers = bodiesOf(await client.readResponses(5)).map((body) => body.replace(/^(node|lane) /, ''));
        assert.deepEqual(answers, ['/a one', '/b', '/c two', '/node three', '/e four']);
        client.destroy();
      }
    }),
  );

  it(
    'is kept where further requests come, in any pieces, while one is under way',
    withServer({}, async (server) => {
      const pieces = [
        get('/a'),
        post('/later/2', 'two'),
        post('/b', 'three'),
        chunked('/c', 'four') + get('/d'),
        'POST /e HTTP/1.1\r\nHost: x\r\nContent-Le',
        'ngth: 3\r\n\r\nsi',
        'x',
      ];
      const { client, socket } = await server.open();
      client.send(get('/later/1'));
      await until(() => server.underWay.length === 1, 'the first request');
      for (const piece of pieces) {
        const readBefore = socket.bytesRead;
        client.send(piece);
        await until(() => socket.bytesRead === readBefore + piece.length, 'the piece');
      }
      await server.settle();
      assert.equal(client.received, '');
      await server.release();
      assert.deepEqual(bodiesOf(await client.readResponses(2)), ['lane /later/1', 'lane /a']);
      await server.release();
      assert.deepEqual(bodiesOf(await client.readResponses(7)).slice(2), [
        'lane /later/2 two',
        'lane /b three',
        'node /c four',
        'node /d',
        'node /e six',
      ]);
      assert.deepEqual(server.left, [socket]);
    }),
  );

  it(
    'is kept for megabytes behind a request under way, of which few are read until its answer',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      const COUNT = 200;
      for (let count = 0; count < COUNT; count += 1) client.send(post(`/a/${count}`, 'x'.repeat(64 * 1024)));
      let before = -1;
      while (socket.bytesRead !== before) {
        before = socket.bytesRead;
        await server.settle();
      }
      assert.ok(before < 512 * 1024, `${before} bytes were read`);
      await server.release();
      const answers = bodiesOf(await client.readResponses(COUNT + 1)).map((body) => body.replace(/^(node|lane) /, ''));
      assert.deepEqual(answers, ['/later', ...Array.from({ length: COUNT }, (_, count) => `/a/${count} 65536`)]);
    }),
  );
});

describe('a client of the lane that goes', { timeout: 30_000 }, () => {
  it(
    'after it has ended its side gets the answer under way, then the end',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      client.endSending();
      await until(() => socket.readableEnded, 'the end of its side');
      await server.release();
      const [response, ...more] = parseResponses(await client.readToEnd());
      assert.equal(response?.body.trim(), 'lane /later');
      assert.equal(response?.headers.connection, 'close');
      assert.deepEqual(more, []);
    }),
  );

  it(
    'after garbage and its end gets the answer under way, then a refusal, then the end',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      const readBefore = socket.bytesRead;
      client.send('garbage\r\n\r\n');
      client.endSending();
      await until(() => socket.bytesRead > readBefore, 'the garbage');
      await server.settle();
      await server.release();
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 400],
      );
      assert.deepEqual(server.left, [socket]);
    }),
  );

  it(
    'after further requests and its end gets all answers in order, then the end',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later/1'));
      await until(() => server.underWay.length === 1, 'the request');
      for (const piece of [get('/a'), get('/later/2'), get('/later/3')]) {
        const readBefore = socket.bytesRead;
        client.send(piece);
        await until(() => socket.bytesRead > readBefore, 'the next request');
      }
      client.endSending();
      await server.settle();
      for (let count = 1; count <= 3; count += 1) await server.release();
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ body, headers }) => [body.trim(), headers.connection]),
        [
          ['lane /later/1', 'keep-alive'],
          ['lane /a', 'keep-alive'],
          ['lane /later/2', 'keep-alive'],
          ['lane /later/3', 'close'],
        ],
      );
    }),
  );

  it(
    'with its end right behind its requests gets all answers, then the end',
    withServer({}, async (server) => {
      const { client } = await server.open();
      client.send(get('/a'));
      await client.readResponses(1);
      client.send(get('/b'));
      client.endSending();
      assert.deepEqual(bodiesOf(parseResponses(await client.readToEnd())), ['lane /a', 'lane /b']);
    }),
  );

  it(
    'with its end alone gets the end',
    withServer({}, async (server) => {
      const unused = await server.open();
      unused.client.endSending();
      assert.equal(await unused.client.readToEnd(), '');
      const used = await server.open();
      used.client.send(get('/a'));
      await used.client.readResponses(1);
      used.client.endSending();
      assert.equal(parseResponses(await used.client.readToEnd()).length, 1);
      await until(() => used.socket.destroyed && unused.socket.destroyed, 'the end of the sockets');
    }),
  );

  it(
    'with a reset while its request is under way is given up, and the late answer is dropped',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.write(get('/later/reset'));
      await until(() => server.underWay.length === 1, 'the request');
      assert.deepEqual(server.gone, []);
      client.resetAndDestroy();
      await until(() => server.gone.length > 0, 'word of it');
      assert.deepEqual(server.gone, ['/later/reset']);
      assert.ok(socket.destroyed);
      await server.release();
      await server.settle();
      assert.equal(socket.bytesWritten, 0);
      assert.deepEqual(server.gone, ['/later/reset']);
    }),
  );

  it(
    'without a word is noticed with the answer at the latest',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      client.destroy();
      await until(() => socket.readableEnded, 'the end of its side');
      await server.release();
      await until(() => socket.destroyed, 'the end of the connection');
    }),
  );

  it(
    'is not told of when no request is under way',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.resume();
      client.write(get('/a'));
      await until(() => server.served.length === 1, 'the request');
      client.resetAndDestroy();
      await until(() => socket.destroyed, 'the end of the connection');
      assert.deepEqual(server.gone, []);
    }),
  );
});

describe('a client of the lane that takes no answers', { timeout: 30_000 }, () => {
  it(
    'is not read any further, and gets all of them in order once it takes them',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until(() => server.served.length === 1, 'the first request');
      client.write(get('/a'));
      await server.settle();
      const COUNT = 100;
      for (let count = 0; count < COUNT; count += 1) client.write(post(`/b/${count}`, 'x'.repeat(64 * 1024)));
      await server.settle();
      await server.settle();
      assert.equal(server.served.filter(({ url }) => !url.startsWith('/settle')).length, 1);
      assert.equal(server.left.length, 0);
      assert.ok(socket.bytesRead < 512 * 1024, `${socket.bytesRead} bytes were read`);
      assert.ok(socket.writableLength > 0);

      let length = 0;
      let tail = '';
      client.on('data', (bytes: Buffer) => {
        length += bytes.length;
        tail = (tail + bytes.toString('latin1')).slice(-64 * 1024);
      });
      client.resume();
      await until(() => tail.includes(`/b/${COUNT - 1} 65536`), 'the last answer');
      assert.ok(length > LONG);
      const answers = [...tail.matchAll(/\r\n\r\n(?:lane|node) (\S+) /g)].map(([, url]) => url);
      assert.deepEqual(answers, ['/a', ...Array.from({ length: COUNT }, (_, count) => `/b/${count}`)]);
      client.destroy();
    }),
  );

  it(
    'goes on in the lane, and may be idle there again, once it has taken them',
    withServer({ stallTimeoutMs: 20_000 }, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until(() => server.served.length === 1, 'the request');
      assert.equal(socket.timeout, 20_000);
      client.resume();
      await until(() => socket.writableLength === 0, 'the answer taken');
      assert.equal(socket.timeout, NEVER_MS + 1000);
      client.write(get('/a'));
      await until(() => server.served.length === 2, 'the next request');
      assert.equal(server.left.length, 0);
      client.destroy();
    }),
  );

  it(
    'is cut after the bound of a stall',
    withServer({ stallTimeoutMs: 200 }, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      const startedAtMs = performance.now();
      client.write(get(`/long/${LONG}`));
      await until(() => server.served.length === 1, 'the request');
      await until(() => socket.destroyed, 'the end of the connection');
      assert.ok(performance.now() - startedAtMs > 190);
      assert.deepEqual(server.expired, []);
      client.destroy();
    }),
  );
});

describe('a client of the lane that asks nothing', { timeout: 30_000 }, () => {
  it(
    'from the beginning is told so when the time for a header is over, while a request under way is left alone',
    withServer({ headersTimeoutMs: 200 }, async (server) => {
      const busy = await server.open();
      busy.client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      const startedAtMs = performance.now();
      const silent = await server.open();
      await silent.client.readToEnd();
      assert.ok(performance.now() - startedAtMs > 190);
      assert.deepEqual(server.expired, [silent.connection]);
      // The timer of the older connection ran out before.
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(1))[0]?.body.trim(), 'lane /later');
    }),
  );

  it(
    'after an answer is closed one second after the time that it was told, while a request under way is left alone',
    withServer({ headersTimeoutMs: 40, keepAliveTimeoutMs: 50 }, async (server) => {
      const [busy, idle] = [await server.open(), await server.open()];
      busy.client.send(get('/a'));
      await busy.client.readResponses(1);
      busy.client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      const startedAtMs = performance.now();
      idle.client.send(get('/a'));
      await idle.client.readResponses(1);
      assert.equal(parseResponses(await idle.client.readToEnd()).length, 1);
      assert.ok(performance.now() - startedAtMs > 1040);
      // The timer of the older one ran out before, and runs anew from its answer on.
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(2))[1]?.body.trim(), 'lane /later');
      const answeredAtMs = performance.now();
      await busy.client.readToEnd();
      assert.ok(performance.now() - answeredAtMs > 1030);
      assert.deepEqual(server.expired, []);
    }),
  );
});

describe('the end of a connection in the lane', { timeout: 30_000 }, () => {
  it(
    'comes with a success when it is old, and not with a refusal',
    withServer({}, async (server) => {
      server.oldAtMs = server.clock.monotonicMs() + 100;
      const { client } = await server.open();
      client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      server.clock.stall(200);
      await server.release();
      await client.readResponses(1);
      client.send(get('/refused'));
      await client.readResponses(2);
      client.send(get('/last'));
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ status, headers }) => [status, headers.connection]),
        [
          [200, 'keep-alive'],
          [404, 'keep-alive'],
          [200, 'close'],
        ],
      );
    }),
  );

  it(
    'does not come when a further request waits',
    withServer({}, async (server) => {
      server.oldAtMs = server.clock.monotonicMs() - 1;
      const { client, socket } = await server.open();
      server.oldAtMs = Number.POSITIVE_INFINITY;
      client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      const readBefore = socket.bytesRead;
      client.send(get('/last'));
      await until(() => socket.bytesRead > readBefore, 'the next request');
      await server.settle();
      await server.release();
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ headers, body }) => [body.trim(), headers.connection]),
        [
          ['lane /later', 'keep-alive'],
          ['lane /last', 'close'],
        ],
      );
    }),
  );

  it(
    'comes with an answer that is the last, and with all of it',
    withServer({}, async (server) => {
      const { client } = await server.open();
      client.send(post('/later', 'text'));
      await server.release(true);
      const [response] = parseResponses(await client.readToEnd());
      assert.equal(response?.body, 'lane /later text');
      assert.equal(response?.headers.connection, 'close');
      assert.equal(response?.headers['keep-alive'], undefined);
    }),
  );

  // RFC 9112 section 9.6: no request behind an answer that says close may be processed.
  for (const [what, bytes] of [
    ['a request', get('/behind')],
    ['garbage', 'garbage\r\n\r\n'],
  ] as const) {
    it(
      `comes with an answer that is the last, and ${what} behind it neither is looked at nor cuts it`,
      withServer({}, async (server) => {
        const { client, socket } = await server.openUnread();
        client.pause();
        client.write(get(`/later/${LONG}`));
        await server.release(true);
        const readBefore = socket.bytesRead;
        client.write(bytes);
        await until(() => socket.bytesRead > readBefore || socket.destroyed, 'the bytes behind it');
        await server.settle();
        let length = 0;
        client.on('data', (data: Buffer) => {
          length += data.length;
        });
        client.resume();
        await once(client, 'close');
        assert.ok(length > LONG, `${length} bytes came`);
        assert.deepEqual(
          server.served.map(({ url }) => url).filter((url) => url !== '/settle'),
          [`/later/${LONG}`],
        );
        assert.deepEqual(server.left, []);
      }),
    );
  }

  it(
    'cuts the last answer of a client that sends too much behind it',
    withServer({ discardBytesMax: 256 * 1024 }, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/later/${LONG}`));
      await server.release(true);
      client.write('x'.repeat(200 * 1024));
      await until(() => socket.bytesRead > 200 * 1024, 'what is thrown away');
      await server.settle();
      assert.ok(!socket.destroyed);
      client.write('x'.repeat(100 * 1024));
      await until(() => socket.destroyed, 'the end of the connection');
      assert.deepEqual(server.left, []);
      client.destroy();
    }),
  );

  it(
    'comes when it is asked for and no request is under way',
    withServer({}, async (server) => {
      const idle = await server.open();
      idle.client.send(get('/a'));
      await idle.client.readResponses(1);
      const busy = await server.open();
      busy.client.send(get('/later'));
      await until(() => server.underWay.length === 1, 'the request');
      for (const { connection } of [idle, busy]) connection.endIfIdle?.();
      await until(() => idle.socket.destroyed, 'the end of the idle one');
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(1))[0]?.status, 200);
    }),
  );

  it(
    'comes, where it is asked for while an answer is being taken, once it is taken',
    withServer({}, async (server) => {
      const { client, connection, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until(() => server.served.length === 1, 'the request');
      connection.endIfIdle?.();
      assert.ok(!socket.destroyed);
      let length = 0;
      client.on('data', (data: Buffer) => {
        length += data.length;
      });
      client.resume();
      await until(() => client.destroyed, 'the end of the connection');
      assert.ok(length > LONG, `${length} bytes came`);
    }),
  );

  it(
    'is in the hands of Node alone once it has left',
    withServer({ headersTimeoutMs: 150 }, async (server) => {
      const left = await server.open();
      assert.ok(left.connection.endIfIdle !== undefined);
      left.client.send('GET /half HTTP/1.1\r\nHost: x\r\n');
      await until(() => server.left.length === 1, 'the connection to leave');
      assert.equal(left.connection.endIfIdle, undefined);
      // The timer of the older connection would have run out before.
      const silent = await server.open();
      await silent.client.readToEnd();
      assert.ok(!left.socket.destroyed);
      left.client.send('\r\n');
      assert.equal((await left.client.readResponses(1))[0]?.body, 'node /half ');

      server.withoutLane = true;
      const never = await server.open();
      never.client.send(get('/half'));
      await never.client.readResponses(1);
      for (const event of ['data', 'drain', 'end', 'error', 'close', 'timeout']) {
        assert.equal(left.socket.listenerCount(event), never.socket.listenerCount(event), event);
      }
    }),
  );
});

type NodeWay = 'chunked' | 'odd';

describe('the public interface with the lane before Node', { timeout: 60_000 }, () => {
  let http: HttpInProcess;
  let keys: { readonly unlimited: string; readonly tiny: string };
  before(async () => {
    // So long that a test which has to wait for it fails.
    http = await startHttp({ closeTimeoutMs: NEVER_MS });
    const [unlimited, tiny] = [await http.front.createTenant('unlimited'), await http.front.createTenant('tiny')];
    keys = { unlimited: unlimited.key, tiny: tiny.key };
  });
  after(() => http.close());

  const tuple = (subject: string): string => JSON.stringify({ subject, relation: 'viewer', object: 'doc:1' });
  /** In the way that the lane takes, or in one that only Node takes: in chunks, or with a header that is ignored. */
  const ask = (way: 'plain' | NodeWay, method: string, path: string, body = '', key = keys.unlimited): string => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const odd = way === 'odd' ? 'Upgrade: x\r\n' : '';
    if (method === 'GET') return `${head}${odd}\r\n`;
    const typed = `${head}${odd}Content-Type: application/json\r\n`;
    const length = Buffer.byteLength(body);
    return way === 'chunked'
      ? `${typed}Transfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      : `${typed}Content-Length: ${length}\r\n\r\n${body}`;
  };

  async function exchange(bytes: string, url = http.url): Promise<{ text: string; response: RawResponse }> {
    const connection = await RawConnection.open(url);
    connection.send(bytes);
    const [response] = await connection.readResponses(1);
    connection.destroy();
    assert.ok(response !== undefined);
    return { text: connection.received, response };
  }

  /** Status line and names, and the values that are the same for every answer of a kind. */
  const shapeOf = (text: string): readonly string[] => {
    const [head = ''] = text.split('\r\n\r\n', 1);
    return head.split('\r\n').map((line) => line.replace(/^((?:Date|X-Service-[A-Za-z-]+|Content-Length): ).*/, '$1'));
  };

  const ANSWERS: readonly (readonly [string, number, NodeWay, string, string, string])[] = [
    ['a check', 200, 'chunked', 'POST', '/v1/check', tuple('user:a')],
    ['a list', 200, 'odd', 'GET', '/v1/namespaces', ''],
    ['a body that is no JSON', 400, 'chunked', 'POST', '/v1/check', '{"subject'],
    ['a body that is not valid', 400, 'chunked', 'POST', '/v1/check', '{"subject":"?"}'],
    ['an empty body', 400, 'odd', 'POST', '/v1/check', ''],
    ['a query that is not valid', 400, 'odd', 'GET', '/v1/objects?limit=x', ''],
    ['a grant that there is not', 404, 'chunked', 'DELETE', '/v1/grants', tuple('user:unknown')],
    ['a method that the path does not take', 405, 'odd', 'GET', '/v1/check', ''],
  ];
  for (const [what, status, way, method, path, body] of ANSWERS) {
    it(`answers ${status} to ${what} with the headers of Node's server in their order`, async () => {
      const [lane, node] = [
        await exchange(ask('plain', method, path, body)),
        await exchange(ask(way, method, path, body)),
      ];
      assert.equal(lane.response.status, status);
      assert.deepEqual(shapeOf(lane.text), shapeOf(node.text));
    });
  }

  it('answers 401 to an unknown key so, too', async () => {
    const [lane, node] = [
      await exchange(ask('plain', 'POST', '/v1/check', tuple('user:a'), 'none')),
      await exchange(ask('odd', 'POST', '/v1/check', tuple('user:a'), 'none')),
    ];
    assert.equal(lane.response.status, 401);
    assert.deepEqual(shapeOf(lane.text), shapeOf(node.text));
  });

  it('answers 201 and 204 so, too', async () => {
    const names = ['way-a', 'way-b'];
    const created = await Promise.all(
      (['plain', 'chunked'] as const).map((way, at) =>
        exchange(ask(way, 'POST', '/v1/namespaces', JSON.stringify({ name: names[at] }))),
      ),
    );
    const removed = [];
    for (const way of ['plain', 'chunked'] as const) {
      await exchange(ask('plain', 'POST', '/v1/grants', tuple('user:removed')));
      removed.push(await exchange(ask(way, 'DELETE', '/v1/grants', tuple('user:removed'))));
    }
    for (const [status, answers] of [
      [201, created],
      [204, removed],
    ] as const) {
      assert.deepEqual(
        answers.map(({ response }) => response.status),
        [status, status],
      );
      assert.deepEqual(shapeOf(answers[0]?.text ?? ''), shapeOf(answers[1]?.text ?? ''));
    }
  });

  it('answers so, too, with the state of a limit', async () => {
    const tiny = (way: 'plain' | NodeWay) => exchange(ask(way, 'POST', '/v1/check', tuple('user:a'), keys.tiny));
    for (const status of [200, 429]) {
      const [lane, node] = [await tiny('plain'), await tiny('odd')];
      assert.equal(lane.response.status, status);
      assert.ok(lane.text.includes('X-Service-RateLimit-Remaining: '));
      assert.deepEqual(shapeOf(lane.text), shapeOf(node.text));
    }
  });

  it('answers so, too, where the answer is the last, as every one is once it drains', async () => {
    const draining = await startHttp();
    try {
      const { key } = await draining.front.createTenant('unlimited');
      assert.ok('drain' in draining && typeof draining.drain === 'function');
      draining.drain();
      for (const [method, path, body] of [
        ['POST', '/v1/check', tuple('user:a')],
        ['POST', '/v1/check', '{}'],
        ['GET', '/v1/namespaces', ''],
      ] as const) {
        const texts = [];
        for (const way of ['plain', 'odd'] as const) {
          const connection = await RawConnection.open(draining.url);
          connection.send(ask(way, method, path, body, key));
          texts.push(await connection.readToEnd());
        }
        const [lane = '', node = ''] = texts;
        assert.equal(parseResponses(lane)[0]?.headers.connection, 'close');
        assert.deepEqual(shapeOf(lane), shapeOf(node));
      }
    } finally {
      await draining.close();
    }
  });

  it('says the date of the answer', async () => {
    const fromMs = Math.floor(Date.now() / 1000) * 1000;
    const { response } = await exchange(ask('plain', 'GET', '/v1/namespaces'));
    const dateMs = Date.parse(String(response.headers.date));
    assert.ok(dateMs >= fromMs && dateMs <= Date.now());
    assert.equal(new Date(dateMs).toUTCString(), response.headers.date);
  });

  it('sends text beyond ASCII whole, and the next answer right behind it', async () => {
    const subject = 'user:Zoë-日本-𝄞';
    const connection = await RawConnection.open(http.url);
    connection.send(ask('plain', 'POST', '/v1/grants', tuple(subject)));
    const [first] = await connection.readResponses(1);
    connection.send(ask('plain', 'GET', '/v1/namespaces'));
    const [, second] = await connection.readResponses(2);
    connection.destroy();
    assert.equal(first?.status, 201);
    assert.equal(first?.headers['content-length'], String(Buffer.byteLength(first?.body)));
    assert.equal(JSON.parse(first?.body).subject, subject);
    assert.equal(second?.status, 200);
    assert.ok(Array.isArray(JSON.parse(String(second?.body)).namespaces));
  });

  it('serves what is plain, what is not, and what is nothing here, on one connection', async () => {
    const connection = await RawConnection.open(http.url);
    const asks: readonly (readonly [number, string])[] = [
      [200, ask('plain', 'POST', '/v1/check', tuple('user:a'))],
      [200, ask('plain', 'GET', '/v1/namespaces')],
      [404, ask('plain', 'GET', '/v1/nothing')],
      [200, ask('chunked', 'POST', '/v1/check', tuple('user:a'))],
      [200, ask('plain', 'POST', '/v1/check', tuple('user:a'))],
    ];
    for (const [count, [status, bytes]] of asks.entries()) {
      connection.send(bytes);
      assert.equal((await connection.readResponses(count + 1)).at(-1)?.status, status);
    }
    connection.send('garbage\r\n\r\n');
    const responses = parseResponses(await connection.readToEnd());
    assert.equal(responses.length, asks.length + 1);
    assertRawProblem(responses.at(-1), 400, 'invalid-request', `${http.url}/errors`);
  });

  it('ends what is idle at once when it closes, and what is under way with its answer', async () => {
    const closing = await startHttp({ closeTimeoutMs: NEVER_MS });
    const { key } = await closing.front.createTenant('unlimited');
    const check = (way: 'plain' | 'chunked'): string => ask(way, 'POST', '/v1/check', tuple('user:a'), key);
    const [inLane, left, busy] = await Promise.all([1, 2, 3].map(() => RawConnection.open(closing.url)));
    assert.ok(inLane !== undefined && left !== undefined && busy !== undefined);
    inLane.send(check('plain'));
    left.send(check('chunked'));
    busy.send(check('plain'));
    for (const connection of [inLane, left, busy]) {
      assert.equal((await connection.readResponses(1))[0]?.headers.connection, 'keep-alive');
    }
    const gate = Promise.withResolvers<void>();
    closing.front.gate = gate.promise;
    busy.send(check('plain'));
    const other = await RawConnection.open(closing.url);
    // Its answer says that the request before it, on the other connection, has come, too.
    other.send(get('/nothing'));
    assert.equal((await other.readResponses(1))[0]?.status, 404);
    const closed = closing.close();
    for (const connection of [inLane, left, other]) {
      assert.equal(parseResponses(await connection.readToEnd()).length, 1);
    }
    gate.resolve();
    const responses = parseResponses(await busy.readToEnd());
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.connection]),
      [
        [200, 'keep-alive'],
        [200, 'close'],
      ],
    );
    await closed;
  });
});
