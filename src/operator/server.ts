// The console's HTTP server: its bounds in time and size, problem documents in place of the bare responses of Node's
// parser, and an orderly shutdown. Invariants: an operator is served, whatever other clients do. Each connection has
// one request served at a time. A client that does not read its response is cut off.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GrantdError } from '../core/errors.ts';
import type { IdFactory } from '../core/ids.ts';
import { problemOf } from '../core/problem.ts';
import { httpUrlOf, splitAddress } from '../core/text/addresses.ts';
import { type ConsoleDependencies, type ConsoleOptions, createConsoleApp } from './api/app.ts';
import { OPERATOR_API_PREFIX } from './api/operator-openapi.ts';
import { ConnectionPool } from './connection-pool.ts';

/**
 * Clients are operators and their programs, not end users: a few hundred connections at once are a fault or an attack.
 * About 20 KB each when idle.
 */
const CONNECTIONS_MAX_DEFAULT = 512;
/** A cursor of the export of the audit log has up to 24 KiB with the most slots. */
const HEADER_BYTES_MAX = 32 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;
/** A whole request with its body, including an import batch of 1 MiB over a slow line. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the 60 s of common load balancers, so that they end an idle connection and not this server. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/**
 * A connection without any progress for this long during a request is cut off: for example, a client that stopped
 * reading an export. Longer than all steps of a request at the shards together.
 */
const STALL_TIMEOUT_MS_DEFAULT = 60_000;
/** How often Node checks for slow requests. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** At shutdown, requests in flight may take this long; then their connections are cut. */
const CLOSE_TIMEOUT_MS = 5_000;

export interface ConsoleServer {
  /** With the bound address, without a trailing slash. */
  readonly url: string;
  /** Accepts no new connections, waits a bounded time for responses in flight, cuts the rest. */
  close(): Promise<void>;
}

function parserError(code: unknown): GrantdError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GrantdError('header-fields-too-large', 'The header of the request exceeds 32 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GrantdError('request-timeout', 'The request did not arrive completely in time.');
  }
  return new GrantdError('invalid-request', 'The request is not well-formed HTTP.');
}

/** Responds to what never became a request, or stopped being one, unless a response has begun on that connection. */
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

/** The response to the last request of a connection, until the client has taken it. */
type Visit = {
  response: (ServerResponse & { readonly locals?: { readonly operator?: object | undefined } }) | undefined;
};

/**
 * Whether the console is working on it. While the request is still arriving, that is true only for an operator: any
 * other client must send the rest of it at the risk of being dropped.
 */
function isServed({ response }: Visit): boolean {
  if (response === undefined || response.writableEnded) return false;
  return response.req.complete || response.locals?.operator !== undefined;
}

/**
 * Passes requests on, one per connection at a time: our own clients never send a second request before they have the
 * response to the first.
 */
function serveInTurn(
  pool: ConnectionPool<Visit>,
  serve: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { socket } = request;
    const visit = pool.of(socket);
    if (visit === undefined) return;
    if (visit.response !== undefined) {
      pool.drop(socket, 'pipelined');
      return;
    }
    visit.response = response;
    pool.touch(socket);
    response.once('close', () => {
      visit.response = undefined;
      pool.touch(socket);
    });
    serve(request, response);
  };
}

/** Rejects if the address cannot be bound. */
export async function listenConsole(
  dependencies: ConsoleDependencies,
  options: ConsoleOptions & {
    readonly address: string;
    readonly connectionsMax?: number | undefined;
    readonly stallTimeoutMs?: number | undefined;
  },
): Promise<ConsoleServer> {
  const { connectionsMax = CONNECTIONS_MAX_DEFAULT, stallTimeoutMs = STALL_TIMEOUT_MS_DEFAULT } = options;
  const app = createConsoleApp(dependencies, options);
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // A request without Host is handled like any other; nothing is built from that header.
    requireHostHeader: false,
  });
  server.timeout = stallTimeoutMs;
  const pool = new ConnectionPool<Visit>(
    { server, metrics: dependencies.metrics },
    { name: 'console', connectionsMax, open: () => ({ response: undefined }), isServed },
  );
  answerParserErrors(server, dependencies.ids, options.errorsBase);
  const serve = serveInTurn(pool, app);
  server.on('request', serve);
  // Node would respond to an unsupported Expect header without a problem document.
  server.on('checkExpectation', serve);
  server.on('checkContinue', (request, response) => {
    // An operation asks for its body itself, once the request is found fit.
    if (!request.url?.startsWith(OPERATOR_API_PREFIX)) response.writeContinue();
    serve(request, response);
  });
  server.on('timeout', (socket) => {
    if (pool.of(socket)?.response === undefined) socket.destroy();
    else pool.drop(socket, 'stalled');
  });

  const { host, port } = splitAddress(options.address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The console does not listen on a TCP address.');
  dependencies.pages.start();
  return {
    url: httpUrlOf(bound.address, bound.port),
    async close() {
      dependencies.pages.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}
