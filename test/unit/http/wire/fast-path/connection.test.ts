// Connections in the fast path: what is answered there and in what order, what leaves it for Node's
// server, and how a connection in it ends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { parseResponses, type RawResponse } from '../../../../kit/http-raw.ts';
import { chunked, get, LONG, post, until, withServer } from './fast-path-server.ts';

/** On the clock of the server. */
const WAIT_MS = 5000;

const bodiesOf = (responses: readonly RawResponse[]): readonly string[] => responses.map(({ body }) => body.trim());

describe('the order of answers on a connection in the fast path', () => {
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
          count % 2 === 0 ? `fast path /a/${count} ` : `fast path /later/${count} body ${count}`,
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
        await until('the first piece', () => socket.bytesRead === cut);
        client.send(text.slice(cut));
        const answers = bodiesOf(await client.readResponses(5)).map((body) => body.replace(/^(node|fast path) /, ''));
        assert.deepEqual(answers, ['/a one', '/b', '/c two', '/node three', '/e four']);
        client.destroy();
      }
    }),
  );

  it(
    'is kept where further requests come, in any pieces, while one is in flight',
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
      await until('the first request', () => server.inFlight.length === 1);
      for (const piece of pieces) {
        const readBefore = socket.bytesRead;
        client.send(piece);
        await until('the piece', () => socket.bytesRead === readBefore + piece.length);
      }
      await server.settle();
      assert.equal(client.received, '');
      await server.release();
      assert.deepEqual(bodiesOf(await client.readResponses(2)), ['fast path /later/1', 'fast path /a']);
      await server.release();
      assert.deepEqual(bodiesOf(await client.readResponses(7)).slice(2), [
        'fast path /later/2 two',
        'fast path /b three',
        'node /c four',
        'node /d',
        'node /e six',
      ]);
      assert.deepEqual(server.left, [socket]);
    }),
  );

  it(
    'is kept for megabytes behind a request in flight, of which few are read until its answer',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      const COUNT = 200;
      for (let count = 0; count < COUNT; count += 1) client.send(post(`/a/${count}`, 'x'.repeat(64 * 1024)));
      let before = -1;
      while (socket.bytesRead !== before) {
        before = socket.bytesRead;
        await server.settle();
      }
      assert.ok(before < 512 * 1024, `${before} bytes were read`);
      await server.release();
      const answers = bodiesOf(await client.readResponses(COUNT + 1)).map((body) =>
        body.replace(/^(node|fast path) /, ''),
      );
      assert.deepEqual(answers, ['/later', ...Array.from({ length: COUNT }, (_, count) => `/a/${count} 65536`)]);
    }),
  );
});

describe('a client of the fast path that goes', () => {
  it(
    'reaches a response that stays open, also one that begins only then',
    withServer({}, async (server) => {
      const heard: string[] = [];
      const listener = { taken: () => {}, closed: () => heard.push('closed') };
      for (const left of ['afterwards', 'before', 'and cut'] as const) {
        const { client, socket } = await server.open();
        client.send(get('/later'));
        await until('the request', () => server.inFlight.length === 1);
        const incoming = server.inFlight.shift();
        if (left === 'afterwards') incoming?.openStream('', listener);
        if (left === 'and cut') socket.destroy();
        client.destroy();
        await until('the end', () => (left === 'before' ? socket.readableEnded : socket.closed));
        if (left !== 'afterwards') incoming?.openStream('', listener);
        await until('its end', () => socket.closed);
        await server.settle();
      }
      assert.deepEqual(heard, ['closed', 'closed', 'closed']);
    }),
  );

  it(
    'after it has ended its side gets the answer in flight, then the end',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      client.endSending();
      await until('the end of its side', () => socket.readableEnded);
      await server.release();
      const [response, ...more] = parseResponses(await client.readToEnd());
      assert.equal(response?.body.trim(), 'fast path /later');
      assert.equal(response?.headers.connection, 'close');
      assert.deepEqual(more, []);
    }),
  );

  it(
    'after garbage and its end gets the answer in flight, then a refusal, then the end',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      const readBefore = socket.bytesRead;
      client.send('garbage\r\n\r\n');
      client.endSending();
      await until('the garbage', () => socket.bytesRead > readBefore);
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
      await until('the request', () => server.inFlight.length === 1);
      for (const piece of [get('/a'), get('/later/2'), get('/later/3')]) {
        const readBefore = socket.bytesRead;
        client.send(piece);
        await until('the next request', () => socket.bytesRead > readBefore);
      }
      client.endSending();
      await server.settle();
      for (let count = 1; count <= 3; count += 1) await server.release();
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ body, headers }) => [body.trim(), headers.connection]),
        [
          ['fast path /later/1', 'keep-alive'],
          ['fast path /a', 'keep-alive'],
          ['fast path /later/2', 'keep-alive'],
          ['fast path /later/3', 'close'],
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
      assert.deepEqual(bodiesOf(parseResponses(await client.readToEnd())), ['fast path /a', 'fast path /b']);
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
      await until('the end of the sockets', () => used.socket.destroyed && unused.socket.destroyed);
    }),
  );

  it(
    'with a reset while its request is in flight is given up, and the late answer is dropped',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.write(get('/later/reset'));
      await until('the request', () => server.inFlight.length === 1);
      assert.deepEqual(server.closed, []);
      client.resetAndDestroy();
      await until('word of it', () => server.closed.length > 0);
      assert.deepEqual(server.closed, ['/later/reset']);
      assert.ok(socket.destroyed);
      await server.release();
      await server.settle();
      assert.equal(socket.bytesWritten, 0);
      assert.deepEqual(server.closed, ['/later/reset']);
    }),
  );

  it(
    'without a word is noticed with the answer at the latest',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      client.destroy();
      await until('the end of its side', () => socket.readableEnded);
      await server.release();
      await until('the end of the connection', () => socket.destroyed);
    }),
  );

  it(
    'is not reported when no request is in flight',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.resume();
      client.write(get('/a'));
      await until('the request', () => server.served.length === 1);
      client.resetAndDestroy();
      await until('the end of the connection', () => socket.destroyed);
      assert.deepEqual(server.closed, []);
    }),
  );
});

describe('a client of the fast path that takes no answers', () => {
  it(
    'is not read any further, and gets all of them in order once it takes them',
    withServer({}, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until('the first request', () => server.served.length === 1);
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
      await until('the last answer', () => tail.includes(`/b/${COUNT - 1} 65536`));
      assert.ok(length > LONG);
      const answers = [...tail.matchAll(/\r\n\r\n(?:fast path|node) (\S+) /g)].map(([, url]) => url);
      assert.deepEqual(answers, ['/a', ...Array.from({ length: COUNT }, (_, count) => `/b/${count}`)]);
      client.destroy();
    }),
  );

  it(
    'goes on in the fast path, and may be idle there again, once it has taken them',
    withServer({ stallTimeoutMs: 20_000 }, async (server) => {
      const { client, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until('the request', () => server.served.length === 1);
      assert.equal(socket.timeout, 20_000);
      client.resume();
      await until('the answer taken', () => socket.writableLength === 0);
      await until('the end of the wait for the client', () => socket.timeout === 0);
      client.write(get('/a'));
      await until('the next request', () => server.served.length === 2);
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
      await until('the request', () => server.served.length === 1);
      await until('the end of the connection', () => socket.destroyed);
      assert.ok(performance.now() - startedAtMs > 190);
      assert.deepEqual(server.expired, []);
      client.destroy();
    }),
  );
});

describe('a client of the fast path that sends no request', () => {
  it(
    'from the beginning gets a problem when the time for a header is over, while a request in flight is left alone',
    withServer({ headersTimeoutMs: WAIT_MS }, async (server) => {
      const busy = await server.open();
      busy.client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      const silent = await server.open();
      await server.clock.advance(WAIT_MS);
      assert.deepEqual(server.expired, []);
      await server.clock.advance(2000);
      assert.deepEqual(server.expired, [silent.connection]);
      await silent.client.readToEnd();
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(1))[0]?.body.trim(), 'fast path /later');
    }),
  );

  it(
    'after an answer is closed soon after the announced time, while a request in flight is left alone',
    withServer({ headersTimeoutMs: 1, keepAliveTimeoutMs: WAIT_MS }, async (server) => {
      const [busy, idle] = [await server.open(), await server.open()];
      busy.client.send(get('/a'));
      await busy.client.readResponses(1);
      busy.client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      idle.client.send(get('/a'));
      await idle.client.readResponses(1);
      await server.clock.advance(WAIT_MS + 1000);
      assert.ok(!idle.socket.destroyed);
      await server.clock.advance(2000);
      assert.equal(parseResponses(await idle.client.readToEnd()).length, 1);
      // For the older one, the time begins with its answer.
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(2))[1]?.body.trim(), 'fast path /later');
      await server.clock.advance(WAIT_MS + 1000);
      assert.ok(!busy.socket.destroyed);
      await server.clock.advance(2000);
      await busy.client.readToEnd();
      assert.deepEqual(server.expired, []);
    }),
  );
});

describe('the end of a connection in the fast path', () => {
  it(
    'comes when it is old, with a success as with a refusal',
    withServer({}, async (server) => {
      for (const [last, status] of [
        ['/last', 200],
        ['/refused', 404],
      ] as const) {
        server.oldAtMs = server.clock.monotonicMs() + 100;
        const { client } = await server.open();
        client.send(get('/later'));
        await until('the request', () => server.inFlight.length === 1);
        server.clock.stall(200);
        await server.release();
        await client.readResponses(1);
        client.send(get(last));
        const responses = parseResponses(await client.readToEnd());
        assert.deepEqual(
          responses.map((response) => [response.status, response.headers.connection]),
          [
            [200, 'keep-alive'],
            [status, 'close'],
          ],
        );
      }
    }),
  );

  it(
    'does not come when a further request waits',
    withServer({}, async (server) => {
      server.oldAtMs = server.clock.monotonicMs() - 1;
      const { client, socket } = await server.open();
      server.oldAtMs = Number.POSITIVE_INFINITY;
      client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      const readBefore = socket.bytesRead;
      client.send(get('/last'));
      await until('the next request', () => socket.bytesRead > readBefore);
      await server.settle();
      await server.release();
      const responses = parseResponses(await client.readToEnd());
      assert.deepEqual(
        responses.map(({ headers, body }) => [body.trim(), headers.connection]),
        [
          ['fast path /later', 'keep-alive'],
          ['fast path /last', 'close'],
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
      assert.equal(response?.body, 'fast path /later text');
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
        await until('the bytes behind it', () => socket.bytesRead > readBefore || socket.destroyed);
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
      await until('what is thrown away', () => socket.bytesRead > 200 * 1024);
      await server.settle();
      assert.ok(!socket.destroyed);
      client.write('x'.repeat(100 * 1024));
      await until('the end of the connection', () => socket.destroyed);
      assert.deepEqual(server.left, []);
      client.destroy();
    }),
  );

  it(
    'comes at once when no request is in flight',
    withServer({}, async (server) => {
      const idle = await server.open();
      idle.client.send(get('/a'));
      await idle.client.readResponses(1);
      const busy = await server.open();
      busy.client.send(get('/later'));
      await until('the request', () => server.inFlight.length === 1);
      for (const { connection } of [idle, busy]) connection.endIfIdle?.();
      await until('the end of the idle one', () => idle.socket.destroyed);
      assert.ok(!busy.socket.destroyed);
      await server.release();
      assert.equal((await busy.client.readResponses(1))[0]?.status, 200);
    }),
  );

  it(
    'comes after an answer that is still being taken',
    withServer({}, async (server) => {
      const { client, connection, socket } = await server.openUnread();
      client.pause();
      client.write(get(`/long/${LONG}`));
      await until('the request', () => server.served.length === 1);
      connection.endIfIdle?.();
      assert.ok(!socket.destroyed);
      let length = 0;
      client.on('data', (data: Buffer) => {
        length += data.length;
      });
      client.resume();
      await until('the end of the connection', () => client.destroyed);
      assert.ok(length > LONG, `${length} bytes came`);
    }),
  );

  it(
    'is in the hands of Node alone once it has left',
    withServer({ headersTimeoutMs: WAIT_MS }, async (server) => {
      const left = await server.open();
      assert.ok(left.connection.endIfIdle !== undefined);
      left.client.send('GET /half HTTP/1.1\r\nHost: x\r\n');
      await until('the connection to leave', () => server.left.length === 1);
      assert.equal(left.connection.endIfIdle, undefined);
      const silent = await server.open();
      await server.clock.advance(WAIT_MS + 2000);
      await silent.client.readToEnd();
      assert.ok(!left.socket.destroyed);
      left.client.send('\r\n');
      assert.equal((await left.client.readResponses(1))[0]?.body, 'node /half ');

      server.withoutFastPath = true;
      const never = await server.open();
      never.client.send(get('/half'));
      await never.client.readResponses(1);
      for (const event of ['data', 'drain', 'end', 'error', 'close', 'timeout']) {
        assert.equal(left.socket.listenerCount(event), never.socket.listenerCount(event), event);
      }
    }),
  );
});
