// Writing answers: one head and one body per exchange, exactly once. It owns what every answer carries: request id,
// no-store, the state of the rate limit.

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
    /** Whether the server takes no more requests, so that every answer ends its connection. */
    readonly closing: () => boolean;
  },
): Answers {
  const { clock, log } = dependencies;
  const { errorsBase, closing } = options;
  const debug = log.isLevelEnabled('debug');

  const send = (exchange: Exchange, status: number, headers: string[], body: string): void => {
    const { rate } = exchange;
    if (exchange.answered) return;
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
    exchange.incoming.send({ status, headers, body, last: closing() });
    const elapsedMs = clock.monotonicMs() - exchange.incoming.startedAtMs;
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
