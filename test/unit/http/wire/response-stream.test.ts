// A response that stays open on a socket: what is written, when the client has taken it, and how it ends.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { SocketStream, streamPart } from '../../../../src/http/wire/response-stream.ts';
import { waitFor } from '../../../kit/wait-for.ts';

/** More than the buffers of both ends hold. */
const LONG = 'x'.repeat(24 * 1024 * 1024);

interface Ends {
  readonly client: Socket;
  readonly socket: Socket;
  readonly heard: string[];
  received(): string;
  stream(chunked?: boolean): SocketStream;
}

const withSockets = (test: (ends: Ends) => Promise<void>) => async (): Promise<void> => {
  const server = createServer({ allowHalfOpen: true });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const heard: string[] = [];
  let received = '';
  socket.on('error', () => {});
  client.on('error', () => {});
  client.pause();
  client.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  client.pause();
  try {
    await test({
      client,
      socket,
      heard,
      received: () => received,
      stream(chunked = true) {
        const listener = { taken: () => heard.push('taken'), closed: () => heard.push('closed') };
        const stream = new SocketStream(socket, chunked, listener, () => {
          heard.push('ending');
          socket.destroySoon();
        });
        socket.once('close', () => stream.closed());
        return stream;
      },
    });
  } finally {
    client.destroy();
    socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
};

describe('a response that stays open', () => {
  it(
    'is written in chunks whose length is that of their bytes',
    withSockets(async ({ client, received, stream, heard }) => {
      client.resume();
      const response = stream();
      assert.ok(response.send(streamPart('é\n')));
      assert.ok(response.send(streamPart('0123456789abcdef')));
      response.end();
      await once(client, 'close');
      assert.equal(received(), '3\r\né\n\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n');
      assert.deepEqual(heard, ['ending']);
    }),
  );

  it(
    'is written as it is where there are no chunks',
    withSockets(async ({ client, received, stream }) => {
      client.resume();
      const response = stream(false);
      response.send(streamPart('é\n'));
      response.end();
      await once(client, 'close');
      assert.equal(received(), 'é\n');
    }),
  );

  it(
    'says when the client has not taken a part, and when it has',
    withSockets(async ({ client, received, stream, heard }) => {
      const response = stream();
      assert.equal(response.send(streamPart(LONG)), false);
      assert.deepEqual(heard, []);
      client.resume();
      await waitFor('the part', () => heard.length === 1);
      assert.deepEqual(heard, ['taken']);
      assert.ok(response.send(streamPart('more')));
      await waitFor('the rest', () => received().endsWith('4\r\nmore\r\n'));
    }),
  );

  it(
    'says once that the connection has ended, and takes nothing more',
    withSockets(async ({ client, stream, heard }) => {
      const response = stream();
      assert.equal(response.send(streamPart(LONG)), false);
      client.destroy();
      await waitFor('the end', () => heard.length > 0);
      assert.equal(response.send(streamPart('more')), false);
      response.end();
      assert.deepEqual(heard, ['closed']);
    }),
  );

  it(
    'says nothing once it has been cut',
    withSockets(async ({ socket, stream, heard }) => {
      const response = stream();
      response.send(streamPart(LONG));
      response.cut();
      await waitFor('the end', () => socket.closed);
      response.end();
      assert.deepEqual(heard, []);
    }),
  );
});
