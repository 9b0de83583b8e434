// The console's HTTP server: its bounds in time and size, the answers that Node's parser would otherwise write bare, and
// an orderly end.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { httpUrlOf, splitAddress } from '../core/addresses.ts';
import { GrantdError } from '../core/errors.ts';
import type { IdFactory } from '../core/ids.ts';
import { problemOf } from '../core/problem.ts';
import { type ConsoleDependencies, type ConsoleOptions, createConsoleApp } from './app.ts';

/** Operators and their programs, not end users: a few hundred at once is a fault or an attack. */
const CONNECTIONS_MAX = 512;
const HEADER_BYTES_MAX = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
/** A whole request with its body, an import batch of 1 MiB over a slow line included. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the 60 s of common load balancers, so that they and not we end an idle connection. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** A connection on which nothing moves for so long is cut: a client that stopped reading an export, for one. */
const IDLE_TIMEOUT_MS = 120_000;
/** How often Node looks for requests that are too slow. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** What is under way at the end may take so long; then its connections are cut. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface ConsoleServer {
  /** Of the address that was bound, without a slash at the end. */
  readonly url: string;
  /** Takes no new connections, waits for answers under way for a bounded time, cuts the rest. */
  close(): Promise<void>;
}

function parserError(code: unknown): GrantdError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GrantdError('header-fields-too-large', 'The header of the request exceeds 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GrantdError('request-timeout', 'The request did not arrive whole in time.');
  }
  return new GrantdError('invalid-request', 'The request is not well-formed HTTP.');
}

/** Answers what never became a request, or stopped being one, unless an answer has begun on that connection. */
function answerParserErrors(server: Server, ids: IdFactory, errorsBase: string): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on('request', (request, response) => answering.set(request.socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket);
    const begun = response?.headersSent === true && !response.writableFinished;
    if (begun || !socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const problem = problemOf(parserError(error.code), { errorsBase, requestId: ids.create('req') });
    const body = JSON.stringify(problem.body);
    const headers = { ...problem.headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${problem.status} ${problem.body.title}\r\n${head.join('')}\r\n${body}`);
  });
}

/** Rejects where the address cannot be bound. */
export async function listenConsole(
  dependencies: ConsoleDependencies,
  options: ConsoleOptions & { readonly address: string },
): Promise<ConsoleServer> {
  const app = createConsoleApp(dependencies, options);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // A request without Host is answered like any other; nothing is built from that header.
    requireHostHeader: false,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.timeout = IDLE_TIMEOUT_MS;
  answerParserErrors(server, dependencies.ids, options.errorsBase);
  server.on('request', app);
  // An expectation that is not met would be answered by Node without a problem document; none is known here.
  server.on('checkExpectation', app);

  const { host, port } = splitAddress(options.address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The console listens on no TCP address.');
  return {
    url: httpUrlOf(bound.address, bound.port),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
