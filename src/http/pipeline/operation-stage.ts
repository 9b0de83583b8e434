// The stage of a request that is within its tenant's limit: path and method, scope, body, then the operation itself and
// its response. Invariants: this order; no body is read before the request is found fit to have one; no response that
// may be large is built before memory is reserved for it.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { hasScope } from '../../core/scopes.ts';
import { parseJson } from '../../core/text/json.ts';
import type { TenantSession } from '../../front/front.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';
import type { OperationRequest, OperationResponse } from '../operations/operation.ts';
import type { ByteBudget } from '../wire/byte-budget.ts';
import { JSON_SCANNED_LENGTH_MIN, RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import type { Exchange } from './exchange.ts';
import { LongJson } from './long-json.ts';
import { findMediaTypeError } from './media-type.ts';
import { parseQuery, queryTextOf } from './query-text.ts';
import { type DecisionRecording, recordedSession } from './recorded-session.ts';
import type { Refusals } from './refusals.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { RegisteredOperation, Route } from './routes.ts';

export interface OperationStageDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly answers: ResponseWriter;
  readonly refusals: Refusals;
  /** Budget of responses that are being built or not yet taken. */
  readonly responses: ByteBudget;
  /** Undefined: no decision is recorded. */
  readonly decisions: DecisionRecorder | undefined;
}

type RequestedBody = NonNullable<RegisteredOperation['body']>;

const EMPTY_BODY = 'The body is empty; a JSON object is expected.';
const BODY_AND_QUERY = 'The request has both a body and query parameters; this operation takes one of the two.';

export class OperationStage {
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #answers: ResponseWriter;
  readonly #refusals: Refusals;
  readonly #responses: ByteBudget;
  readonly #recording: DecisionRecording | undefined;
  readonly #deadlineMs: number;
  readonly #nothingAt: (target: string) => string;

  constructor(
    dependencies: OperationStageDependencies,
    options: { readonly deadlineMs: number; readonly nothingAt: (target: string) => string },
  ) {
    this.#clock = dependencies.clock;
    this.#turns = dependencies.turns;
    this.#answers = dependencies.answers;
    this.#refusals = dependencies.refusals;
    this.#responses = dependencies.responses;
    const { clock, decisions } = dependencies;
    this.#recording = decisions === undefined ? undefined : { clock, decisions };
    this.#deadlineMs = options.deadlineMs;
    this.#nothingAt = options.nothingAt;
  }

  /** Serves the request to its end. */
  run(exchange: Exchange, session: TenantSession, route: Route | undefined): void {
    const { method, url, headers } = exchange.incoming;
    if (route === undefined) {
      this.#refuse(exchange, session, new GrantdError('not-found', this.#nothingAt(url)));
      return;
    }
    const operation = route.operations.get(method);
    if (operation === undefined) {
      const { allow } = route;
      const error = new GrantdError('method-not-allowed', `This path accepts ${allow}.`, { details: { allow } });
      this.#refuse(exchange, session, error);
      return;
    }
    exchange.meter = operation.meter;
    if (operation.scope !== undefined && !hasScope(session.scopes, operation.scope)) {
      const error = new GrantdError('insufficient-scope', `The API key lacks the scope ${operation.scope}.`);
      this.#refuse(exchange, session, error);
      return;
    }
    const { expect } = headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      const error = new GrantdError('invalid-request', 'The header Expect can only be 100-continue.');
      this.#refuse(exchange, session, error);
    } else if (operation.body === undefined) {
      this.#reserveResponse(exchange, session, operation, undefined);
    } else {
      this.#readBodyOrQuery(exchange, session, operation, operation.body);
    }
  }

  #refuse(exchange: Exchange, session: TenantSession, error: unknown): void {
    this.#refusals.byFront(exchange, session, error);
  }

  #readBodyOrQuery(
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    { bytesMax, replaceableByQuery = false }: RequestedBody,
  ): void {
    const { url } = exchange.incoming;
    let asked = false;
    if (replaceableByQuery && url !== operation.path) {
      try {
        asked = Object.keys(parseQuery(queryTextOf(url), operation.queryNames)).length > 0;
      } catch (error) {
        this.#refuse(exchange, session, error);
        return;
      }
    }
    if (asked) this.#readNoBody(exchange, session, operation, bytesMax);
    else this.#readBody(exchange, session, operation, bytesMax);
  }

  /** The query has taken the place of the body. Whether a body comes nevertheless is known once it has been read. */
  #readNoBody(exchange: Exchange, session: TenantSession, operation: RegisteredOperation, bytesMax: number): void {
    exchange.incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      exchange.incoming.releaseBody();
      if (error === undefined && text === '') this.#reserveResponse(exchange, session, operation, undefined);
      else this.#refuse(exchange, session, error ?? new GrantdError('invalid-request', BODY_AND_QUERY));
    });
  }

  #readBody(exchange: Exchange, session: TenantSession, operation: RegisteredOperation, bytesMax: number): void {
    const mediaTypeError = findMediaTypeError(exchange.incoming.headers);
    if (mediaTypeError !== undefined) {
      this.#refuse(exchange, session, mediaTypeError);
      return;
    }
    exchange.incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      if (error !== undefined || text === '') {
        exchange.incoming.releaseBody();
        this.#refuse(exchange, session, error ?? new GrantdError('invalid-request', EMPTY_BODY));
      } else if (text.length > JSON_SCANNED_LENGTH_MIN) {
        this.#parseInTurns(exchange, session, operation, text);
      } else {
        this.#parse(exchange, session, operation, text);
      }
    });
  }

  #parse(exchange: Exchange, session: TenantSession, operation: RegisteredOperation, text: string): void {
    let body: unknown;
    try {
      body = parseJson(text);
    } catch (malformed) {
      exchange.incoming.releaseBody();
      this.#refuse(exchange, session, malformed);
      return;
    }
    exchange.incoming.releaseBody();
    this.#reserveResponse(exchange, session, operation, body);
  }

  /** Parses a long body, step by step. */
  #parseInTurns(exchange: Exchange, session: TenantSession, operation: RegisteredOperation, text: string): void {
    const json = new LongJson(text);
    this.#turns.run(session.tenantId, () => {
      let body: unknown;
      try {
        if (json.step()) return true;
        body = json.value;
      } catch (malformed) {
        exchange.incoming.releaseBody();
        this.#refuse(exchange, session, malformed);
        return false;
      }
      exchange.incoming.releaseBody();
      this.#reserveResponse(exchange, session, operation, body);
      return false;
    });
  }

  /**
   * From here on the request is complete: its deadline counts, and a call that may have a long response waits for
   * memory.
   */
  #reserveResponse(exchange: Exchange, session: TenantSession, operation: RegisteredOperation, body: unknown): void {
    const { url, pathParameters, headers } = exchange.incoming;
    let request: OperationRequest;
    try {
      const text = url === operation.path ? '' : queryTextOf(url);
      request = { body, query: parseQuery(text, operation.queryNames), pathParameters, headers, open: exchange };
    } catch (error) {
      this.#refuse(exchange, session, error);
      return;
    }
    exchange.arrivedAtMs = this.#clock.monotonicMs();
    exchange.deadlineMs = exchange.arrivedAtMs + this.#deadlineMs;
    const responseBytes = operation.responseBytesMax?.(request.query, body, headers) ?? 0;
    if (responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#evaluate(exchange, session, operation, request);
    else this.#evaluateClaimed(exchange, session, operation, request, responseBytes);
  }

  #evaluateClaimed(
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    request: OperationRequest,
    responseBytes: number,
  ): void {
    this.#responses.reserve(
      session.tenantId,
      responseBytes,
      (reservation) => {
        exchange.reservation = reservation;
        this.#evaluate(exchange, session, operation, request);
      },
      (error) => this.#refuse(exchange, session, error),
    );
  }

  #evaluate(
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    request: OperationRequest,
  ): void {
    let reply: ReturnType<RegisteredOperation['answer']>;
    try {
      reply = operation.answer(this.#recorded(session), exchange, request);
    } catch (error) {
      this.#refuse(exchange, session, error);
      return;
    }
    reply.then(
      (value) => {
        if (!('json' in value)) this.#answers.stream(exchange, value);
        else if (typeof value.json === 'string') this.#answers.reply(exchange, value);
        else if ((value.bytesMax ?? 0) <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#replyInTurn(exchange, session, value);
        else this.#replyClaimed(exchange, session, value, value.bytesMax);
      },
      (thrown: unknown) => this.#refusals.byOwner(exchange, thrown),
    );
  }

  /** A request whose decisions are recorded gets a session that does so. */
  #recorded(session: TenantSession): TenantSession {
    const recording = this.#recording;
    return recording?.decisions.takes(session.tenantId) === true ? recordedSession(session, recording) : session;
  }

  /** How long the response may be was not known before. */
  #replyClaimed(exchange: Exchange, session: TenantSession, reply: OperationResponse, bytesMax = 0): void {
    this.#responses.reserve(
      session.tenantId,
      bytesMax,
      (reservation) => {
        exchange.reservation = reservation;
        this.#replyInTurn(exchange, session, reply);
      },
      (error) => this.#answers.problem(exchange, error),
    );
  }

  #replyInTurn(exchange: Exchange, session: TenantSession, reply: OperationResponse): void {
    this.#turns.run(session.tenantId, () => {
      try {
        this.#answers.reply(exchange, reply);
      } catch (error) {
        this.#answers.problem(exchange, error);
      }
      return false;
    });
  }
}
