// The ops port: `/livez`, `/readyz` and `/metrics`, on an address of its own. Liveness depends on nothing but the event
// loop; readiness asks what it is handed and touches no store.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpUrlOf, splitAddress } from '../core/addresses.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface OpsServer {
  /** `http://host:port`, as bound. */
  readonly url: string;
  close(): Promise<void>;
}

/** A scrape or probe that has not come whole by then is dropped. */
const REQUEST_TIMEOUT_MS = 5_000;
const CONNECTIONS_MAX = 100;

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}

const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  send(response, status, 'application/json', `${JSON.stringify(value)}\n`);

/**
 * Serves until closed. `notReady` gives the reasons for which the process should get no traffic now; none: it is ready.
 */
export async function listenOps(
  dependencies: { readonly metrics: Metrics; readonly log: Log; readonly notReady: () => readonly string[] },
  options: { readonly address: string },
): Promise<OpsServer> {
  const { metrics, log, notReady } = dependencies;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path !== '/livez' && path !== '/readyz' && path !== '/metrics') {
      sendJson(response, 404, { status: 'not found', paths: ['/livez', '/readyz', '/metrics'] });
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      sendJson(response, 405, { status: 'method not allowed' });
    } else if (path === '/livez') {
      sendJson(response, 200, { status: 'alive' });
    } else if (path === '/readyz') {
      const reasons = notReady();
      if (reasons.length === 0) sendJson(response, 200, { status: 'ready' });
      else sendJson(response, 503, { status: 'not ready', reasons });
    } else {
      send(response, 200, metrics.registry.contentType, await metrics.render());
    }
  }

  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      request.resume();
      answer(request, response).catch((error: unknown) => {
        log.error({ err: error }, 'the ops port failed to answer');
        if (response.headersSent) response.destroy();
        else sendJson(response, 500, { status: 'internal error' });
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;

  const { host, port } = splitAddress(options.address);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return {
    url: httpUrlOf(host, bound.port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
