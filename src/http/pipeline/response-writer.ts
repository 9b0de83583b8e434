// Writes responses: one head and one body per exchange, exactly once, with what every response carries: request id, the
// client's own id for the request, no-store, the state of the rate limit.

import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import { CURSOR_HEADER } from '../../core/text/cursors.ts';
import { clientRequestIdOf } from '../../core/text/header-fields.ts';
import type { Log } from '../../telemetry/log.ts';
import { endRequestSpan } from '../../telemetry/request-spans.ts';
import type { Caller, ChunkedResponse, OperationResponse, StreamedResponse } from '../operations/operation.ts';
import { clientRequestIdLine, describeProblem, type ProblemText } from '../wire/response-text.ts';
import type { Exchange as CallersExchange } from './exchange.ts';

type Exchange = CallersExchange<Caller>;

export interface ResponseWriter {
  /** A success of an operation. */
  reply(exchange: Exchange, reply: OperationResponse): void;
  /** The head of a success that stays open; its listener writes the rest. */
  stream(exchange: Exchange, streamed: StreamedResponse): void;
  /** A success whose body is pulled as fast as the client reads. */
  chunks(exchange: Exchange, chunked: ChunkedResponse): void;
  /** Any thrown value, as a problem document. */
  problem(exchange: Exchange, thrown: unknown): void;
  /** A public page, or that the client has it already. */
  page(exchange: Exchange, page: PublicPage): void;
}

/** A page or a file that needs no key. */
export interface PublicPage {
  /** The same for all responses; that of a file is read when it is first used. */
  readonly content: string | Buffer;
  /** What a response holds of it. */
  readonly bytes: number;
  readonly contentType: string;
  /** Changes with the content; in quotes. */
  readonly etag: string;
  /** Lines of the head, each with its CRLF, also those about caching. */
  readonly lines: string;
}

/** Lines of some operations. */
function ownLines({ etag, feedCursor, warning }: Partial<OperationResponse>): string {
  const tag = etag === undefined ? '' : `ETag: ${etag}\r\n`;
  const cursor = feedCursor === undefined ? '' : `${CURSOR_HEADER}: ${feedCursor}\r\n`;
  return tag + cursor + (warning === undefined ? '' : `${WARNING_HEADER}: ${warning}\r\n`);
}

const requestIdLine = (requestId: string): string => `X-Service-Request-Id: ${requestId}\r\n`;

/** Lines that every response carries but a public page. */
const commonLines = (requestId: string): string => `${requestIdLine(requestId)}Cache-Control: no-store\r\n`;

const bodyLines = (contentType: string, body: string | Buffer): string =>
  `Content-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;

/** Keeps proxies from buffering the stream (nginx reads this one). */
const UNBUFFERED_LINE = 'X-Accel-Buffering: no\r\n';

/** With the state of the rate limit, and the client's own id for the request. */
function headOf({ rate, policy, incoming }: Exchange, lines: string): string {
  const head = rate === undefined || policy === undefined ? lines : lines + policy.linesOf(rate);
  const given = incoming.headers['x-request-id'];
  return given === undefined ? head : head + clientRequestIdLine(given);
}

/** Measures and logs every response. */
function createRecords({ clock, log }: { readonly clock: Clock; readonly log: Log }, level: 'debug' | 'warn') {
  const debug = log.isLevelEnabled('debug');

  const sent = (exchange: Exchange, status: number): void => {
    const elapsedMs = Math.max(0, clock.monotonicMs() - exchange.incoming.startedAtMs - exchange.waitedMs);
    exchange.meter.observe(status, elapsedMs / 1000);
    if (exchange.span !== undefined) endRequestSpan(exchange.span, status);
    if (debug) {
      const { requestId, meter, incoming } = exchange;
      const given = incoming.headers['x-request-id'];
      const clientRequestId = given === undefined ? undefined : clientRequestIdOf(given);
      log.debug({ requestId, clientRequestId, operation: meter.operation, status, elapsedMs }, 'request answered');
    }
  };

  const record = (exchange: Exchange, { code, status }: ProblemText, thrown: unknown): void => {
    const { requestId, meter } = exchange;
    const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
    if (code === 'internal') {
      log.error({ requestId, operation: meter.operation, err: cause }, 'request failed unexpectedly');
    } else if (status >= 500 && log.isLevelEnabled(level)) {
      log[level]({ requestId, operation: meter.operation, code, err: cause }, 'request could not be answered');
    }
  };

  return { sent, record };
}

export function createResponseWriter(
  dependencies: { readonly clock: Clock; readonly log: Log },
  options: {
    readonly errorsBase: string;
    /** Whether the server accepts no more requests, so that every response ends its connection. */
    readonly closing: () => boolean;
    /** The log level of requests that could not be answered now. */
    readonly refusalLevel?: 'debug' | 'warn';
  },
): ResponseWriter {
  const { errorsBase, closing, refusalLevel = 'debug' } = options;
  const { sent, record } = createRecords(dependencies, refusalLevel);

  const send = (exchange: Exchange, status: number, lines: string, body: string | Buffer): void => {
    if (exchange.answered) return;
    exchange.answered = true;
    const { reservation } = exchange;
    if (reservation !== undefined) reservation.resize(Buffer.byteLength(body));
    exchange.incoming.send({ status, head: headOf(exchange, lines), body, last: closing(), reservation });
    sent(exchange, status);
  };

  return {
    reply(exchange, reply) {
      const { status } = reply;
      const json = typeof reply.json === 'string' ? reply.json : reply.json();
      const common = `${commonLines(exchange.requestId)}${ownLines(reply)}`;
      if (status === 204 || status === 304) send(exchange, status, common, '');
      else send(exchange, status, bodyLines(reply.contentType ?? 'application/json', json) + common, json);
    },
    stream(exchange, { contentType, listener }) {
      if (exchange.answered) return;
      exchange.answered = true;
      const lines = `Content-Type: ${contentType}\r\n${commonLines(exchange.requestId)}${UNBUFFERED_LINE}`;
      listener.attach(exchange.incoming.openStream(headOf(exchange, lines), listener));
      sent(exchange, 200);
    },
    chunks(exchange, { contentType, feedCursor, chunks }) {
      if (exchange.answered) return;
      exchange.answered = true;
      const lines = `Content-Type: ${contentType}\r\n${commonLines(exchange.requestId)}${ownLines({ feedCursor })}`;
      const sending = exchange.incoming.sendChunks?.(headOf(exchange, lines), chunks);
      assert(sending !== undefined, 'only a door of which no request takes the fast path has such responses');
      sent(exchange, 200);
      sending.catch((thrown: unknown) => {
        record(exchange, describeProblem(thrown, { errorsBase, requestId: exchange.requestId }), thrown);
      });
    },
    problem(exchange, thrown) {
      const problem = describeProblem(thrown, { errorsBase, requestId: exchange.requestId });
      record(exchange, problem, thrown);
      const { code, detail } = problem;
      exchange.session?.noteProblem?.({ code, detail, requestId: exchange.requestId });
      // A refused key has no limit to show.
      if (problem.status === 401) exchange.rate = undefined;
      send(exchange, problem.status, problem.head, problem.body);
    },
    page(exchange, page) {
      const { contentType, etag, lines } = page;
      const head = requestIdLine(exchange.requestId) + lines;
      // No tag contains a quotation mark, so this is one of the tags, weak or strong.
      const isKnown = exchange.incoming.headers['if-none-match']?.includes(etag) ?? false;
      if (isKnown) send(exchange, 304, head, '');
      else send(exchange, 200, bodyLines(contentType, page.content) + head, page.content);
    },
  };
}
