// `grantd mcp --http`: the same tools over HTTP (the streamable transport of the Model Context Protocol), for many
// agents. Invariants: the server has no key of its own; each request brings one, and acts with that one alone. No
// session outlives its request. Nothing is read of a request from another host or site, or without a well-formed key.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpHttpHandler,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { parseApiKey } from '../../../../src/core/api-keys.ts';
import { httpUrlOf, splitAddress } from '../../../../src/core/text/addresses.ts';
import { readWhole } from '../import/import-source.ts';
import type { ServiceClient } from '../service-client.ts';
import { idOf, invalidRequest, MESSAGE_BYTES_MAX, parseError, type Refusal, readText, refusalOf } from './messages.ts';
import { createToolServer, type McpOptions } from './serve.ts';

export const MCP_PATH = '/mcp';
/** Each holds a body and a call to the service. */
const REQUESTS_MAX = 64;
/** Those that are idle or send slowly hold little. */
const CONNECTIONS_MAX = 256;
/** For the head, and for the whole request. */
const HEAD_MS_MAX = 10_000;
const REQUEST_MS_MAX = 30_000;
/** Errors that are told: clients can make many. */
const ERRORS_TOLD_MAX = 100;
/** Headers that the protocol knows; the key is none of them. */
const PASSED_ON = /^(?:accept|content-type|last-event-id|mcp-.*)$/;

export interface HttpOptions extends McpOptions {
  /** host:port; with port 0, any free port. */
  readonly address: string;
  /** Names, besides those of this machine, by which clients reach it. */
  readonly hosts: readonly string[];
}

interface HttpDependencies {
  /** A client of the service with the key of a request. */
  clientOf(key: string): ServiceClient;
  onError(error: Error): void;
}

export interface HttpServer {
  readonly url: string;
  close(): Promise<void>;
}

class Denial extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, refused?: object) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.body = refused ?? { jsonrpc: '2.0', id: null, error: { code: -32000, message } };
  }
}

const refused = (id: unknown, { code, message }: Refusal): Denial =>
  new Denial(400, message, {}, { jsonrpc: '2.0', id, error: { code, message } });

/** Throws a Denial. What stands in the headers is checked before anything of the body is read. */
function keyOf({ headers, url = '' }: IncomingMessage, hosts: readonly string[]): string {
  const host = validateHostHeader(headers.host, [...hosts]);
  if (!host.ok) throw new Denial(403, 'This server does not answer for this host: see --allow-host.');
  if (!validateOriginHeader(headers.origin, [...hosts]).ok)
    throw new Denial(403, 'This server has no pages for this origin.');
  if (url.split('?', 1)[0] !== MCP_PATH) throw new Denial(404, `The tools are at ${MCP_PATH}.`);
  const key = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (key !== undefined && parseApiKey(key) !== undefined) return key;
  throw new Denial(401, 'Send an API key of grantd: Authorization: Bearer gk1_….', { 'WWW-Authenticate': 'Bearer' });
}

/** Throws a Denial. */
async function messageOf(request: IncomingMessage): Promise<unknown> {
  // The answer to a body that is too long goes out on the same connection.
  const bytes = await readWhole(request.iterator({ destroyOnReturn: false }), MESSAGE_BYTES_MAX);
  if (bytes === undefined)
    throw new Denial(413, `A message may have ${MESSAGE_BYTES_MAX} bytes at most.`, { Connection: 'close' });
  const read = readText(bytes);
  if (read.kind === 'blank') throw refused(null, parseError('The body is empty.'));
  if (read.kind === 'refused') throw refused(read.id, read.refusal);
  if (Array.isArray(read.value)) throw refused(null, invalidRequest('A body has one message, and no batch.'));
  const refusal = refusalOf(read.value);
  if (refusal !== undefined) throw refused(idOf(read.value), refusal);
  return read.value;
}

async function respond(
  handler: McpHttpHandler,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const { method = '', headers } = request;
  const parsedBody = method === 'POST' ? await messageOf(request) : undefined;
  const sent = new Request(`http://localhost${MCP_PATH}`, {
    method: method === 'POST' || method === 'DELETE' ? method : 'GET',
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        typeof value === 'string' && PASSED_ON.test(name) ? [[name, value]] : [],
      ),
    ),
    signal: gone.signal,
  });
  const authInfo = { token: key, clientId: parseApiKey(key)?.keyId ?? '', scopes: [] };
  const answer = await handler.fetch(sent, { authInfo, ...(parsedBody !== undefined && { parsedBody }) });
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) response.end();
  else await pipeline(answer.body, response);
}

function deny(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, headers, body } = error instanceof Denial ? error : new Denial(500, 'The request failed.');
  response.writeHead(status, { ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function listenTo(handler: McpHttpHandler, hosts: readonly string[], onError: (error: Error) => void): Server {
  let inFlight = 0;
  const server = createServer(
    { headersTimeout: HEAD_MS_MAX, requestTimeout: REQUEST_MS_MAX },
    async (request, response) => {
      let counted = false;
      try {
        const key = keyOf(request, hosts);
        if (inFlight >= REQUESTS_MAX)
          throw new Denial(503, `${REQUESTS_MAX} requests are in flight.`, { 'Retry-After': '1' });
        counted = true;
        inFlight += 1;
        await respond(handler, request, response, key);
      } catch (error) {
        if (!(error instanceof Denial) && error instanceof Error && !response.destroyed) onError(error);
        deny(response, error);
      } finally {
        if (counted) inFlight -= 1;
      }
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

export async function openMcpHttp(dependencies: HttpDependencies, options: HttpOptions): Promise<HttpServer> {
  const { clientOf } = dependencies;
  let told = 0;
  const onError = (error: Error): void => {
    told += 1;
    if (told <= ERRORS_TOLD_MAX) dependencies.onError(error);
  };
  // There is nothing to subscribe to.
  const handler = createMcpHandler(({ authInfo }) => createToolServer(clientOf(authInfo?.token ?? ''), options), {
    maxSubscriptions: 0,
    maxRequestBodySize: MESSAGE_BYTES_MAX,
    onerror: onError,
  });
  const server = listenTo(handler, [...localhostAllowedHostnames(), ...options.hosts], onError);
  server.listen(splitAddress(options.address));
  await once(server, 'listening');
  const bound = server.address();
  const { host, port } = splitAddress(options.address);
  return {
    url: `${httpUrlOf(host, typeof bound === 'object' && bound !== null ? bound.port : port)}${MCP_PATH}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      await handler.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
