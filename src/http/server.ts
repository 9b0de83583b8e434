// The server of the public interface: it binds the address, applies the bounds in time and number, and ends in order.

import { createServer } from 'node:http';
import proxyaddr from 'proxy-addr';
import type { Clock, Random } from '../core/async/clock.ts';
import { FairTurns, type Turns } from '../core/async/turns.ts';
import { GrantdError } from '../core/errors.ts';
import type { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { httpUrlOf, splitAddress } from '../core/text/addresses.ts';
import type { Front } from '../front/front.ts';
import type { FailureLimiter, RateLimiter } from '../front/limits/rate-limiter.ts';
import type { DecisionRecorder } from '../telemetry/decision-log.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/spans.ts';
import { createApp } from './app.ts';
import { createOpenapiDocument } from './openapi/openapi.ts';
import { OPERATIONS } from './operation-table.ts';
import { createAuthzenConfiguration, createPublicPages, PAGE_PATHS } from './pages/public-pages.ts';
import { createRequestMetrics } from './pipeline/request-metrics.ts';
import { Pipeline, registerPublic } from './pipeline/request-pipeline.ts';
import { createResponseWriter } from './pipeline/response-writer.ts';
import { createNearPaths, createRoutes } from './pipeline/routes.ts';
import { ChangeStreams, STREAM_BOUNDS, type StreamBounds } from './streams/change-streams.ts';
import { createBudgets } from './wire/budgets.ts';
import type { Connection } from './wire/connection.ts';
import { Connections } from './wire/connections.ts';
import { FastPath, takeConnections } from './wire/fast-path/connection.ts';
import { HTTP_BOUNDS, type HttpBounds } from './wire/limits.ts';
import { type FurtherListeners, listenFirst, listenFurther, listenJoining } from './wire/listeners.ts';
import { RequestGate, type RequestGateOptions } from './wire/request-gate.ts';
import { rawProblem } from './wire/response-text.ts';

export interface HttpDependencies {
  readonly front: Front;
  readonly rateLimiter: RateLimiter;
  readonly failureLimiter: FailureLimiter;
  readonly ids: IdFactory;
  readonly clock: Clock;
  /** Shared with everything else on this event loop. Undefined: nothing else runs there. */
  readonly turns?: Turns | undefined;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Absent: no decision is recorded. */
  readonly decisions?: DecisionRecorder | undefined;
}

export interface HttpOptions extends Partial<HttpBounds>, Partial<StreamBounds> {
  /** `host:port`; port 0: any free one. */
  readonly address: string;
  /** Another thread of this process listens on the address and shares it. */
  readonly joins?: boolean | undefined;
  /** The public address of the service; undefined: the bound one. */
  readonly baseUrl: string | undefined;
  /** The base of the `type` of a problem; undefined: `{base_url}/errors`. */
  readonly errorsBase: string | undefined;
  readonly plans: Plans;
  /** Addresses and networks (CIDR) of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

export interface HttpServer {
  /** URL of the bound address, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Whether further threads may join. */
  readonly sharesAddress: boolean;
  /**
   * From now on every response makes its client open another connection, which a load balancer may send elsewhere.
   */
  drain(): void;
  /** Accepts no new connections, finishes the requests in flight within a bound, cuts the rest. */
  close(): Promise<void>;
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

/** Rejects if the address cannot be bound. */
export async function listenHttp(dependencies: HttpDependencies, options: HttpOptions): Promise<HttpServer> {
  const { front, rateLimiter, failureLimiter, ids, clock, random, log, tracing, decisions } = dependencies;
  const { turns = new FairTurns(clock) } = dependencies;
  const bounds: HttpBounds = { ...HTTP_BOUNDS, ...options };
  const server = createServer({
    maxHeaderSize: bounds.headerBytesMax,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    connectionsCheckingInterval: bounds.timeoutCheckIntervalMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    // Node would answer a missing Host without a problem document.
    requireHostHeader: false,
  });
  server.timeout = bounds.stallTimeoutMs;

  const { host, port } = splitAddress(options.address);
  const shares = await (options.joins === true ? listenJoining : listenFirst)(server, { host, port });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The public interface listens on no TCP address.');
  const url = httpUrlOf(bound.address, bound.port);
  const baseUrl = withoutSlash(options.baseUrl ?? url);
  const errorsBase = withoutSlash(options.errorsBase ?? `${baseUrl}/errors`);

  // The base URL may be the bound address, so the rest is created now, in the turn in which it was bound: no connection
  // has been accepted yet.
  let closing = false;
  const isTrusted = proxyaddr.compile([...options.trustedProxies]);
  const metrics = createRequestMetrics(dependencies.metrics);
  const streams = new ChangeStreams({ clock, turns, random, meter: metrics.streams }, { ...STREAM_BOUNDS, ...options });
  const openapi = createOpenapiDocument({ serverUrl: baseUrl, errorsBase });
  const openapiText = JSON.stringify(openapi);
  const nearPaths = createNearPaths([...OPERATIONS.map(({ path }) => path), ...PAGE_PATHS]);
  const nothingAt = (target: string): GrantdError => new GrantdError('not-found', nearPaths(target));
  const connections = new Connections(server, {
    clock,
    random,
    ageMaxMs: bounds.connectionAgeMaxMs,
    connectionsMax: bounds.connectionsMax,
    refusedConnectionsMax: bounds.refusedConnectionsMax,
    idleDisplaceableMs: bounds.idleDisplaceableMs,
    heldBytesMax: bounds.heldBytesMax,
    rawProblem: (error, lines) => rawProblem(error, { errorsBase, requestId: ids.create('req') }, lines),
    isShared: (address) => address !== '' && isTrusted(address, 0),
    onDropped: metrics.connectionDropped,
  });
  const { deadlineMs } = bounds;
  const budgets = createBudgets({ clock, turns, meterOf: metrics.budgetMeterOf }, bounds);
  const { bodies, responses } = budgets;
  const stopReporting = metrics.reportHeld(() => ({
    connections: connections.count,
    input: connections.heldBytes,
    bodies: bodies.heldBytes,
    responses: responses.heldBytes,
    streams: streams.heldBytes,
    followers: streams.countByKind(),
  }));
  const answers = createResponseWriter({ clock, log }, { errorsBase, closing: () => closing });
  const services = { clock, outcomes: metrics.outcomes, streams, openapiText };
  const pipeline = new Pipeline(
    { front, rateLimiter, failureLimiter, clock, turns, answers, metrics, responses, tracing, decisions },
    { plans: options.plans, deadlineMs, trustedProxies: options.trustedProxies, nothingAt },
  );
  const operations = OPERATIONS.map((operation) => registerPublic(operation, { services, meterOf: metrics.meterOf }));
  const app = createApp(
    {
      ids,
      connections,
      answers,
      pipeline,
      metrics,
      pages: createPublicPages(errorsBase),
      openapiText,
      configuration: createAuthzenConfiguration(baseUrl),
    },
    {
      routes: createRoutes(operations),
      deadlineMs,
      nothingAt,
      incoming: { clock, ...budgets, ...bounds },
    },
  );
  server.on('request', app.listener);
  // The body is requested only once the request is found fit; Node would request it at once, or answer 417 itself.
  server.on('checkContinue', app.listener);
  server.on('checkExpectation', app.listener);
  const hold = (connection: Connection, bytes: number): void => connections.hold(connection, bytes);
  const attach = takeConnections(server, (socket) => {
    const connection = connections.add(socket);
    if (connection?.surplus === true) leave(connection);
    else if (connection !== undefined) fastPath.enter(connection);
  });
  const gateOptions: RequestGateOptions = { attach, hold, nowMs: () => clock.monotonicMs(), turns };
  const leave = (connection: Connection): void => {
    connection.gate = new RequestGate(connection, gateOptions);
  };
  const fastPath = new FastPath({
    clock,
    turns,
    serve: app.serveDirect,
    leave,
    expire: (connection) => connections.expire(connection),
    hold,
    headersTimeoutMs: bounds.headersTimeoutMs,
    keepAliveTimeoutMs: bounds.keepAliveTimeoutMs,
    stallTimeoutMs: bounds.stallTimeoutMs,
    discardBytesMax: bounds.discardBytesMax,
  });

  let further: FurtherListeners | undefined;
  try {
    if (shares) {
      further = await listenFurther({ host, port: bound.port }, (socket) => server.emit('connection', socket));
    }
  } catch (error) {
    stopReporting();
    server.close();
    throw error;
  }

  let closed: Promise<void> | undefined;
  return {
    url,
    port: bound.port,
    sharesAddress: shares,
    drain() {
      closing = true;
      streams.drain();
    },
    close() {
      closed ??= (async () => {
        closing = true;
        streams.close();
        const cut = clock.setTimer(() => connections.closeAll(), bounds.closeTimeoutMs);
        const ended = Promise.all([new Promise((resolve) => server.close(resolve)), further?.close()]);
        connections.closeIdle();
        await ended;
        cut.cancel();
        stopReporting();
      })();
      return closed;
    },
  };
}
