// The connection of a stream that is cancelled before it is established.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { createGrpcTransport } from '../../../src/rpc/transport/grpc-transport.ts';
import type { ClientStream } from '../../../src/rpc/transport/transport.ts';
import { letRun } from '../../kit/wait-for.ts';

/** gRPC tries again a second after a failure, give or take a fifth. */
const RETRY_MS_MAX = 1200;
const transports = [
  ['without TLS', createGrpcTransport()],
  ['by TLS', createGrpcTransport({ credentials: () => credentials.createSsl() })],
] as const;

async function listen(t: TestContext, port: number, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection).listen(port, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

for (const [title, openStream] of transports) {
  /** Resolves once the stream has failed; it is cancelled in that moment, as a dial cancels it. */
  const fail = (port: number): Promise<string> =>
    new Promise((resolve) => {
      const stream: ClientStream = openStream(`127.0.0.1:${port}`, {
        onMessage: () => {},
        onDrain: () => {},
        onEnd: () => {},
        onError: (message) => {
          stream.cancel();
          resolve(message);
        },
      });
      stream.write({ ping: { id: 0 } });
    });

  test(`${title}: a stream that failed and was cancelled does not connect later`, async (t) => {
    const free = await listen(t, 0, () => {});
    const port = portOf(free);
    free.close();
    assert.match(await fail(port), /ECONNREFUSED/);
    let connections = 0;
    await listen(t, port, (socket) => {
      connections += 1;
      socket.destroy();
    });
    await letRun(RETRY_MS_MAX + 300);
    assert.equal(connections, 0);
  });

  test(`${title}: a connection that gets no answer ends with its stream`, async (t) => {
    const accepted = Promise.withResolvers<Socket>();
    const server = await listen(t, 0, (socket) => {
      socket.on('error', () => {}).resume();
      accepted.resolve(socket);
    });
    const stream = openStream(`127.0.0.1:${portOf(server)}`, {
      onMessage: () => {},
      onDrain: () => {},
      onEnd: () => {},
      onError: () => {},
    });
    stream.write({ ping: { id: 0 } });
    const socket = await accepted.promise;
    const closed = once(socket, 'close');
    await once(socket, 'data');
    stream.cancel();
    await closed;
  });
}
