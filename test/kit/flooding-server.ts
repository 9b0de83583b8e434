// A server on loopback whose responses do not end: one floods its client for as long as it reads, one sends a byte now
// and then. It counts what it could send, and which connections are open.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

const CHUNK = Buffer.alloc(64 * 1024, ' ');
const TRICKLE_MS = 20;
/** Of a compressed body: a thousandth of it goes over the wire. */
const COMPRESSED = gzipSync(Buffer.alloc(256 * 1024 * 1024, ' '));

export type Endless = 'flood' | 'trickle' | 'compressed';

export interface FloodingServer extends AsyncDisposable {
  readonly url: string;
  /** How the next responses are. */
  kind: Endless;
  status: number;
  /** Paths with a response that ends. */
  readonly answers: Map<string, string>;
  /** Bytes that clients took. */
  readonly sent: number;
  readonly requests: number;
  /** Responses whose client has neither ended nor cut the connection. */
  readonly open: number;
}

export async function startFlooding(): Promise<FloodingServer> {
  const open = new Set<ServerResponse>();
  let [sent, requests] = [0, 0];

  function flood(response: ServerResponse): void {
    while (open.has(response)) {
      sent += CHUNK.length;
      if (response.write(CHUNK)) continue;
      response.once('drain', () => flood(response));
      return;
    }
  }

  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    const answer = flooding.answers.get(request.url ?? '');
    if (answer !== undefined) {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
      return;
    }
    open.add(response);
    const { kind, status } = flooding;
    const compressed = kind === 'compressed' ? { 'Content-Encoding': 'gzip' } : {};
    response.writeHead(status, { 'Content-Type': 'application/json', ...compressed });
    if (kind === 'flood') flood(response);
    if (kind === 'compressed') response.write(COMPRESSED);
    const timer = kind === 'trickle' ? setInterval(() => response.write(' '), TRICKLE_MS) : undefined;
    response.on('error', () => {});
    response.on('close', () => {
      clearInterval(timer);
      open.delete(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const flooding: FloodingServer = {
    // The server's address is one of TCP.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    kind: 'flood',
    status: 200,
    answers: new Map(),
    get sent() {
      return sent;
    },
    get requests() {
      return requests;
    },
    get open() {
      return open.size;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return flooding;
}
