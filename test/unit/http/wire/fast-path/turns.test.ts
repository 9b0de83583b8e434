// A front that has more to do than time: what comes on a connection of the fast path waits for its turn before it is
// read.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunked, get, post, until, withServer } from './fast-path-server.ts';

describe('bytes that wait for their turn', () => {
  it(
    'are not read before it, and are answered then',
    withServer({}, async (server) => {
      const { client, connection } = await server.open();
      server.turns.holding = true;
      client.send(post('/a/1', 'text'));
      await until('the wait', () => server.turns.waiting === 1);
      assert.deepEqual(server.turns.keys, [connection.turnKey]);
      assert.equal(server.served.length, 0);
      assert.ok(connection.busy);
      server.turns.release();
      const [response] = await client.readResponses(1);
      assert.equal(response?.body, 'fast path /a/1 text');
      assert.ok(!connection.busy);
      server.turns.holding = false;
      client.send(get('/a/2'));
      assert.equal((await client.readResponses(2)).at(-1)?.body, 'fast path /a/2 ');
      assert.equal(server.left.length, 0);
    }),
  );

  it(
    'hold back what comes behind them, in order',
    withServer({}, async (server) => {
      const { client } = await server.open();
      server.turns.holding = true;
      client.send(get('/a/1'));
      await until('the wait', () => server.turns.waiting === 1);
      client.send(get('/a/2'));
      client.send(get('/a/3'));
      server.turns.holding = false;
      server.turns.release();
      const bodies = (await client.readResponses(3)).map(({ body }) => body.trim().replace(/^(node|fast path) /, ''));
      assert.deepEqual(bodies, ['/a/1', '/a/2', '/a/3']);
    }),
  );

  it(
    'leave the fast path whole where they are not for it, with the end of what the client sends',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      server.turns.holding = true;
      const request = chunked('/a', 'text');
      client.send(request.slice(0, 60));
      await until('the wait', () => server.turns.waiting === 1);
      client.send(request.slice(60));
      server.turns.holding = false;
      server.turns.release();
      const [response] = await client.readResponses(1);
      assert.equal(response?.body.trim(), 'node /a text');
      assert.deepEqual(server.left, [socket]);
    }),
  );

  it(
    'are let go of where their client is gone',
    withServer({}, async (server) => {
      const { client, socket } = await server.open();
      server.turns.holding = true;
      client.send(get('/a/1'));
      await until('the wait', () => server.turns.waiting === 1);
      client.destroy();
      socket.destroy();
      await until('the end', () => socket.closed);
      server.turns.release();
      assert.equal(server.served.length, 0);
      assert.equal(server.turns.waiting, 0);
    }),
  );

  it(
    'keep their connection, which is not idle',
    withServer({}, async (server) => {
      const { client, connection } = await server.open();
      server.turns.holding = true;
      client.send(get('/a/1'));
      await until('the wait', () => server.turns.waiting === 1);
      connection.endIfIdle?.();
      server.turns.release();
      const [response] = await client.readResponses(1);
      assert.equal(response?.body.trim(), 'fast path /a/1');
    }),
  );
});
