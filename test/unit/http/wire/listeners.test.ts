// The sockets on which new connections come: many connections are taken soon, and an address is one process's alone.

import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { listenFirst, listenFurther } from '../../../../src/http/wire/listeners.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const HOST = '127.0.0.1';
const CONNECTIONS = 64;

async function openListeners(t: TestContext) {
  const taken: Socket[] = [];
  const take = (socket: Socket): void => {
    socket.on('error', () => {});
    taken.push(socket);
  };
  const server = createServer({ allowHalfOpen: true }, take);
  assert.ok(await listenFirst(server, { host: HOST, port: 0 }), 'this system shares addresses');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { port } = address;
  const further = await listenFurther({ host: HOST, port }, take);
  t.after(async () => {
    for (const socket of taken) socket.destroy();
    server.close();
    await further.close();
  });
  return { taken, server, further, port };
}

async function openClients(t: TestContext, port: number): Promise<readonly Socket[]> {
  const clients = Array.from({ length: CONNECTIONS }, () => connect({ host: HOST, port }));
  t.after(() => {
    for (const client of clients) client.destroy();
  });
  await Promise.all(clients.map((client) => new Promise((resolve) => client.once('connect', resolve))));
  return clients;
}

test('a turn of the event loop takes several new connections', async (t) => {
  const { taken, port } = await openListeners(t);
  let turns = 0;
  let before = 0;
  let most = 0;
  const look = (): void => {
    turns += 1;
    most = Math.max(most, taken.length - before);
    before = taken.length;
    if (taken.length < CONNECTIONS) setImmediate(look);
  };
  look();
  await openClients(t, port);
  await waitFor('all connections', () => taken.length === CONNECTIONS);
  assert.ok(most > 1, `${CONNECTIONS} connections took ${turns} turns, one of them in each`);
});

test('an address that is listened on is refused, and free again once all sockets are closed', async (t) => {
  const { server, further, port } = await openListeners(t);
  await assert.rejects(listenFirst(createServer(), { host: HOST, port }), { code: 'EADDRINUSE' });
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(listenFirst(createServer(), { host: HOST, port }), { code: 'EADDRINUSE' });
  await further.close();
  const next = createServer();
  await listenFirst(next, { host: HOST, port });
  await new Promise((resolve) => next.close(resolve));
});

test('closing waits for the connections that further sockets have taken', async (t) => {
  const { taken, server, further, port } = await openListeners(t);
  await openClients(t, port);
  await waitFor('all connections', () => taken.length === CONNECTIONS);
  server.close();
  const endedByThen = further.close().then(() => taken.filter(({ destroyed }) => destroyed).length);
  setImmediate(() => {
    for (const socket of taken) socket.destroy();
  });
  assert.equal(await endedByThen, CONNECTIONS);
});
