// Writing answers: one head and one body per exchange, exactly once. It owns what every answer carries (request id,
// no-store, the state of the rate limit) and what becomes of a body that the client is still sending.

import type { Clock } from '../core/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { endRequestSpan } from '../telemetry/request-spans.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './operation.ts';
import { describeProblem, type ProblemText } from './problem.ts';

export interface Answers {
  /** A success of an operation. */
  reply(exchange: Exchange, reply: Reply): void;
  /** Any thrown value, as a problem document. */
  problem(exchange: Exchange, thrown: unknown): void;
  /** A public page. */
  page(exchange: Exchange, html: string): void;
}

const JSON_CONTENT_TYPE = 'application/json';
const HTML_CONTENT_TYPE = 'text/html; charset=utf-8';
/** The pages have nothing to load and nothing to run. */
const PAGE_HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'",
  'X-Content-Type-Options',
  'nosniff',
];

export function createAnswers(
  dependencies: { readonly clock: Clock; readonly log: Log },
  options: {
    readonly errorsBase: string;
    readonly discardBytesMax: number;
    readonly discardTimeoutMs: number;
    /** Whether the server takes no more requests, so that every answer ends its connection. */
    readonly closing: () => boolean;
  },
): Answers {
  const { clock, log } = dependencies;
  const { errorsBase, discardBytesMax, discardTimeoutMs, closing } = options;
  const debug = log.isLevelEnabled('debug');

  /** Whether so much of a body may still come that reading it to its end, to keep the connection, is not worth it. */
  const hasLongRest = ({ request }: Exchange): boolean => {
    if (request.complete) return false;
    if (request.headers['transfer-encoding'] !== undefined) return true;
    return Number(request.headers['content-length'] ?? 0) > discardBytesMax;
  };

  /**
   * Sends the whole answer, then reads and drops what the client is still sending, within bounds, before the connection
   * is closed: closing at once would reset it, and the client would lose the answer with it.
   */
  const endAfterDiscarding = ({ request, response }: Exchange, body: string): void => {
    let discarded = 0;
    const end = (): void => {
      timer.cancel();
      request.removeAllListeners('data');
      response.end();
    };
    const timer = clock.setTimer(end, discardTimeoutMs);
    request.on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > discardBytesMax) end();
    });
    request.once('end', end);
    request.once('close', end);
    request.resume();
    response.write(body);
  };

  /**
   * Whether its connection is to end for its age. A further request that waits for its answer keeps it, and so does a refusal,
   * which may be written before a further request that has come with it is read.
   */
  const isOld = ({ startedAtMs, connection, response }: Exchange, status: number): boolean =>
    startedAtMs > connection.oldAtMs && connection.lastResponse === response && status < 300;

  const send = (exchange: Exchange, status: number, headers: string[], body: string): void => {
    const { request, response, rate, connection } = exchange;
    if (exchange.answered || response.headersSent) return;
    exchange.answered = true;
    if (rate !== undefined) {
      headers.push(
        'X-Service-RateLimit-Limit',
        String(rate.limit),
        'X-Service-RateLimit-Remaining',
        String(rate.remaining),
        'X-Service-RateLimit-Reset',
        String(rate.resetSeconds),
      );
    }
    const broken = connection.failure !== undefined && !request.complete;
    const longRest = !broken && hasLongRest(exchange);
    if (longRest || broken || connection.surplus || closing() || isOld(exchange, status))
      headers.push('Connection', 'close');
    response.writeHead(status, headers);
    if (longRest) endAfterDiscarding(exchange, body);
    else response.end(body);
    const elapsedMs = clock.monotonicMs() - exchange.startedAtMs;
    exchange.meter.observe(status, elapsedMs / 1000);
    if (exchange.span !== undefined) endRequestSpan(exchange.span, status);
    if (debug) {
      log.debug(
        { requestId: exchange.requestId, operation: exchange.meter.operation, status, elapsedMs },
        'request answered',
      );
    }
  };

  const record = (exchange: Exchange, { code, status }: ProblemText, thrown: unknown): void => {
    const { requestId, meter } = exchange;
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
    if (code === 'internal') {
      log.error({ requestId, operation: meter.operation, err: cause }, 'request failed unexpectedly');
    } else if (status >= 500 && debug) {
      log.debug({ requestId, operation: meter.operation, code, err: cause }, 'request could not be answered');
    }
  };

  return {
    reply(exchange, { status, json }) {
      if (status === 204) {
        send(exchange, status, ['X-Service-Request-Id', exchange.requestId, 'Cache-Control', 'no-store'], '');
        return;
      }
      send(
        exchange,
        status,
        [
          'Content-Type',
          JSON_CONTENT_TYPE,
          'Content-Length',
          String(Buffer.byteLength(json)),
          'X-Service-Request-Id',
          exchange.requestId,
          'Cache-Control',
          'no-store',
        ],
        json,
      );
    },
    problem(exchange, thrown) {
      const problem = describeProblem(thrown, { errorsBase, requestId: exchange.requestId });
      record(exchange, problem, thrown);
      // A refused key has no limit whose state could be shown.
      if (problem.status === 401) exchange.rate = undefined;
      send(exchange, problem.status, problem.headers, problem.body);
    },
    page(exchange, html) {
      send(
        exchange,
        200,
        [
          'Content-Type',
          HTML_CONTENT_TYPE,
          'Content-Length',
          String(Buffer.byteLength(html)),
          'X-Service-Request-Id',
          exchange.requestId,
          'Cache-Control',
          'no-store',
          ...PAGE_HEADERS,
        ],
        html,
      );
    },
  };
}
