// The ops port: `/livez`, `/readyz` and `/metrics`, on an address of its own. Liveness depends only on the event loop;
// readiness calls a function and touches no store.
//
// Invariant: a probe gets a response whatever other clients do, and no client takes more than a bounded share of memory
// or of the event loop. Therefore this code reads the few bytes of a probe itself. Node's HTTP server would take up
// every request of a 64 KiB chunk at once, 3,600 of the shortest, before any could be refused. One request per
// connection.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Clock, delay, type Timer } from '../../core/async/clock.ts';
import { httpUrlOf, splitAddress } from '../../core/text/addresses.ts';
import { ConnectionPool } from '../../operator/connection-pool.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { demandAddresses, listenOn } from './start-error.ts';

export interface OpsServer {
  /** `http://host:port`, as bound. */
  readonly url: string;
  close(): Promise<void>;
}

/** A cluster needs about ten at once. With a header of the maximum size each, they take 5 MB. */
const CONNECTIONS_MAX_DEFAULT = 512;
const HEAD_BYTES_MAX = 8 * 1024;
/** For the header to arrive: probes and scrapers send it at once. */
const HEAD_TIMEOUT_MS = 2_000;
/** From the header until the client has read the response and closed: the metrics may have to wait for a second. */
const RESPONSE_TIMEOUT_MS_DEFAULT = 5_000;
/** Scrapes that wait for their text or have not read it; a text is about 100 KB, and several often share one. */
const SCRAPES_MAX = 16;
/** Bytes after the header that are read and discarded, so that the client can read the response. */
const DISCARD_BYTES_MAX = 64 * 1024;

const REQUEST_LINE = /^([A-Z]{1,16}) (\/[^\s?]{0,256})(?:\?\S*)? HTTP\/1\.[01]$/;
const HEAD_END = '\r\n\r\n';
const PATHS: readonly string[] = ['/livez', '/readyz', '/metrics'];

interface Response {
  readonly status: string;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: readonly string[];
}

interface Visit {
  /** The received part of the header. */
  head: string;
  /** `served`: being processed. `answered`: the client must read the response. */
  phase: 'asking' | 'served' | 'answered';
  timer: Timer;
  discardedBytes: number;
}

interface OpsDependencies {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** The reasons why the process should get no traffic now; empty: it is ready. */
  readonly notReady: () => readonly string[];
  /** What an operator should change although the process should, or should not, get traffic. Default: nothing. */
  readonly warnings?: () => readonly string[];
}

const json = (status: string, value: unknown, headers: readonly string[] = []): Response => ({
  status,
  type: 'application/json',
  body: `${JSON.stringify(value)}\n`,
  headers,
});

/** Serves until closed. */
export async function listenOps(
  dependencies: OpsDependencies,
  options: { readonly address: string; readonly connectionsMax?: number; readonly responseTimeoutMs?: number },
): Promise<OpsServer> {
  const { metrics, clock, log, notReady, warnings = () => [] } = dependencies;
  const { connectionsMax = CONNECTIONS_MAX_DEFAULT, responseTimeoutMs = RESPONSE_TIMEOUT_MS_DEFAULT } = options;
  const readMetrics = createMetricsText(dependencies);
  /** In order of arrival. */
  const scrapes = new Set<Socket>();

  /** Admits a scrape; if all places are taken, drops one that has its text but does not read it. */
  function admitScrape(socket: Socket): boolean {
    if (scrapes.size >= SCRAPES_MAX) {
      const stalled = [...scrapes].find((each) => pool.of(each)?.phase === 'answered');
      if (stalled === undefined) return false;
      scrapes.delete(stalled);
      pool.drop(stalled, 'stalled');
    }
    scrapes.add(socket);
    socket.once('close', () => scrapes.delete(socket));
    return true;
  }

  async function scrape(socket: Socket): Promise<Response> {
    if (!admitScrape(socket)) return json('503 Service Unavailable', { status: 'busy' }, ['Retry-After: 1']);
    return { status: '200 OK', type: metrics.registry.contentType, body: await readMetrics() };
  }

  function answer(socket: Socket, method: string | undefined, path: string | undefined): Response | Promise<Response> {
    if (method === undefined || path === undefined) return json('400 Bad Request', { status: 'not understood' });
    if (!PATHS.includes(path)) return json('404 Not Found', { status: 'not found', paths: PATHS });
    if (method !== 'GET' && method !== 'HEAD') {
      return json('405 Method Not Allowed', { status: 'method not allowed' }, ['Allow: GET, HEAD']);
    }
    if (path === '/livez') return json('200 OK', { status: 'alive' });
    if (path === '/metrics') return scrape(socket);
    const reasons = notReady();
    const found = warnings();
    const more = found.length === 0 ? {} : { warnings: found };
    if (reasons.length === 0) return json('200 OK', { status: 'ready', ...more });
    return json('503 Service Unavailable', { status: 'not ready', reasons, ...more });
  }

  function send(socket: Socket, { status, type, body, headers = [] }: Response, bodyless: boolean): void {
    const visit = pool.of(socket);
    if (visit === undefined) return;
    visit.phase = 'answered';
    pool.touch(socket);
    const lines = [
      `HTTP/1.1 ${status}`,
      `Date: ${new Date().toUTCString()}`,
      `Content-Type: ${type}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
      ...headers,
    ];
    socket.cork();
    socket.write(lines.join('\r\n') + HEAD_END);
    socket.end(bodyless ? '' : body);
  }

  async function serve(socket: Socket, head: string): Promise<void> {
    const line = head.slice(0, head.indexOf('\r\n'));
    const [, method, path] = REQUEST_LINE.exec(line) ?? [];
    try {
      send(socket, await answer(socket, method, path), method === 'HEAD');
    } catch (error) {
      log.error({ err: error }, 'the ops port failed to serve a request');
      send(socket, json('500 Internal Server Error', { status: 'internal error' }), method === 'HEAD');
    }
  }

  function take(socket: Socket, bytes: Buffer): void {
    const visit = pool.of(socket);
    if (visit === undefined) return;
    if (visit.phase !== 'asking') {
      visit.discardedBytes += bytes.length;
      if (visit.discardedBytes > DISCARD_BYTES_MAX) socket.destroy();
      return;
    }
    // One byte more than allowed shows that it is too long; the rest is not kept.
    visit.head += bytes.toString('latin1', 0, HEAD_BYTES_MAX + 1 - visit.head.length);
    const whole = visit.head.includes(HEAD_END);
    if (!whole && visit.head.length <= HEAD_BYTES_MAX) return;
    visit.timer.cancel();
    visit.timer = clock.setTimer(() => {
      // A client may leave closing to the server.
      if (socket.writableFinished) socket.destroy();
      else pool.drop(socket, 'stalled');
    }, responseTimeoutMs);
    visit.phase = 'served';
    const { head } = visit;
    visit.head = '';
    if (whole) void serve(socket, head);
    else send(socket, json('431 Request Header Fields Too Large', { status: 'header too large' }), false);
  }

  function open(socket: Socket): Visit {
    const visit: Visit = {
      head: '',
      phase: 'asking',
      timer: clock.setTimer(() => socket.destroy(), HEAD_TIMEOUT_MS),
      discardedBytes: 0,
    };
    socket.on('data', (bytes: Buffer) => take(socket, bytes));
    socket.once('end', () => {
      if (visit.phase === 'asking') socket.destroy();
    });
    // The close event follows and does everything necessary.
    socket.on('error', () => {});
    socket.once('close', () => visit.timer.cancel());
    return visit;
  }

  const server = createServer({ allowHalfOpen: true });
  const pool = new ConnectionPool<Visit>(
    { server, metrics },
    { name: 'ops', connectionsMax, open, isServed: ({ phase }) => phase === 'served' },
  );

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
        pool.closeAll();
      }),
  };
}

// ---- the text of all metrics ----

/** The pause after a rendering, as a multiple of its duration. */
const PAUSE_RATIO = 9;
/** The longest pause, however long a rendering took on a busy machine. */
const PAUSE_MS_MAX = 1000;

/**
 * Renders the metrics for any number of scrapes. Invariant: one rendering at a time, started after the scrapes that
 * wait for it, which all share it. Renderings take at most a tenth of the time, however frequent the scrapes.
 */
export function createMetricsText(dependencies: {
  readonly metrics: Metrics;
  readonly clock: Clock;
}): () => Promise<Buffer> {
  const { metrics, clock } = dependencies;
  /** Resolves when the next rendering may begin. */
  let free: Promise<void> = Promise.resolve();
  let next: Promise<Buffer> | undefined;

  async function renderOnceFree(): Promise<Buffer> {
    await free;
    // Later scrapes wait for the next rendering.
    next = undefined;
    const startedMs = clock.monotonicMs();
    const rendering = metrics.render();
    free = rendering
      .catch(() => {})
      .then(() => delay(clock, Math.min(PAUSE_MS_MAX, PAUSE_RATIO * (clock.monotonicMs() - startedMs))));
    return Buffer.from(await rendering);
  }

  return () => {
    next ??= renderOnceFree();
    return next;
  };
}

/** The addresses of a role. */
export interface ListenConfig {
  readonly opsAddress: string;
  readonly httpAddress?: string;
  readonly consoleAddress?: string;
  readonly rpcAddress?: string | undefined;
}

/**
 * Opens the ops port, the first step of every role: alive at once, ready when the role is. Throws a StartError for all
 * addresses of the role that are not available.
 */
export async function openOps(dependencies: OpsDependencies, config: ListenConfig): Promise<OpsServer> {
  await demandAddresses({
    GRANTD_HTTP_ADDRESS: config.httpAddress,
    GRANTD_CONSOLE_ADDRESS: config.consoleAddress,
    GRANTD_RPC_ADDRESS: config.rpcAddress,
    GRANTD_OPS_ADDRESS: config.opsAddress,
  });
  return listenOn('GRANTD_OPS_ADDRESS', config.opsAddress, () =>
    listenOps(dependencies, { address: config.opsAddress }),
  );
}
