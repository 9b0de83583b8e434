// The way of every request to an operation once its caller is known, through either door: path and method, access,
// body, query, then the operation and its response. Invariants: this order; no body is read before the request is found
// fit to have one; no response that may be large is built before memory is reserved for it; before a request is
// refused, its caller is confirmed.
//
// The stages are plain calls: a stage that can continue at once does so, and only one that has to wait allocates what
// waiting needs. Since a function with a closure in it allocates a context at each call, a wait has a method of its
// own.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { JSON_VALUES_MAX } from '../../core/limits.ts';
import { parseJson } from '../../core/text/json.ts';
import { parseQuery } from '../../core/text/query.ts';
import type {
  Caller,
  OperationBody,
  OperationReply,
  OperationRequest,
  OperationResponse,
} from '../operations/operation.ts';
import { TextBody } from '../operations/operation.ts';
import type { ByteBudget } from '../wire/byte-budget.ts';
import type { BodyDone } from '../wire/incoming.ts';
import { JSON_SCANNED_LENGTH_MIN, RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import { type AdmittedExchange, type Exchange, setOperation, type VerifiedExchange } from './exchange.ts';
import { LongJson } from './long-json.ts';
import {
  findMediaTypeError,
  hasMediaType,
  JSON_ALONE,
  type MediaTypes,
  mediaTypes,
  NDJSON,
  queryTextOf,
} from './request-head.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { ResponseWriter } from './response-writer.ts';

export interface OperationPipelineDependencies {
  readonly clock: Clock;
  readonly turns: Turns;
  readonly answers: ResponseWriter;
  readonly metrics: Pick<RequestMetrics, 'authenticationFailed'>;
  /** Budget of responses that are being built or not yet taken. */
  readonly responses: ByteBudget;
}

export interface OperationPipelineOptions {
  readonly deadlineMs: number;
  /** The refusal of a request for a target at which there is nothing. */
  readonly nothingAt: (target: string) => GrantdError;
}

/** About what a request costs this process. */
const REQUEST_MS = 0.04;

/** JSON; if the body is of neither type, the message names both. */
const jsonOr = (type: string | undefined): MediaTypes =>
  type === undefined ? JSON_ALONE : { ...JSON_ALONE, name: `${JSON_ALONE.name} or ${type}` };

const EMPTY_BODY = 'The body is empty; a JSON object is expected.';
const BODY_AND_QUERY = 'The request has both a body and query parameters; this operation takes one of the two.';

/** Serves the callers of one door: the keys of tenants, or operators. */
export class OperationPipeline<Session extends Caller> {
  readonly #dependencies: OperationPipelineDependencies;
  readonly #options: OperationPipelineOptions;

  constructor(dependencies: OperationPipelineDependencies, options: OperationPipelineOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  // ---- path, method and access ----

  protected admit(exchange: VerifiedExchange<Session>): void {
    const { incoming, route, session } = exchange;
    if (route === undefined) {
      this.#refuse(exchange, this.#options.nothingAt(incoming.url));
      return;
    }
    const operation = route.operations.get(incoming.method);
    if (operation === undefined) {
      const { allow } = route;
      this.#refuse(
        exchange,
        new GrantdError('method-not-allowed', `This path accepts ${allow}.`, { details: { allow } }),
      );
      return;
    }
    setOperation(exchange, operation);
    const refusal = operation.refusal(session);
    if (refusal !== undefined) {
      this.#refuse(exchange, refusal);
      return;
    }
    const { expect } = incoming.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      this.#refuse(exchange, new GrantdError('invalid-request', 'The header Expect can only be 100-continue.'));
    } else if (operation.body === undefined) {
      this.#accept(exchange, undefined);
    } else {
      this.#readBodyOrQuery(exchange, operation.body);
    }
  }

  // ---- the body ----

  #readBodyOrQuery(exchange: AdmittedExchange<Session>, body: OperationBody): void {
    const { bytesMax, replaceableByQuery = false } = body;
    const { incoming, operation } = exchange;
    let asked = false;
    if (replaceableByQuery && incoming.url !== operation.path) {
      try {
        asked = Object.keys(parseQuery(queryTextOf(incoming.url), operation.queryNames)).length > 0;
      } catch (error) {
        this.#refuse(exchange, error);
        return;
      }
    }
    if (asked) this.#readNoBody(exchange, bytesMax);
    else this.#readBody(exchange, body);
  }

  /** The query replaces the body. Whether a body comes nevertheless is known once it has been read. */
  #readNoBody(exchange: AdmittedExchange<Session>, bytesMax: number): void {
    const { incoming, session } = exchange;
    incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      incoming.releaseBody();
      if (error === undefined && text === '') this.#accept(exchange, undefined);
      else this.#refuse(exchange, error ?? new GrantdError('invalid-request', BODY_AND_QUERY));
    });
  }

  #readBody(exchange: AdmittedExchange<Session>, { bytesMax, valuesMax, lines, text: textForm }: OperationBody): void {
    const { incoming, session } = exchange;
    const isText = textForm !== undefined && hasMediaType(incoming.headers, textForm.contentType);
    const types = isText ? mediaTypes(textForm.contentType) : lines === true ? NDJSON : jsonOr(textForm?.contentType);
    const mediaTypeError = findMediaTypeError(incoming.headers, types);
    if (mediaTypeError !== undefined) {
      this.#refuse(exchange, mediaTypeError);
      return;
    }
    if (lines === true) {
      this.#readLines(exchange, bytesMax);
      return;
    }
    incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      // What no text means is said by the operation that takes text.
      if (error !== undefined || (text === '' && !isText)) {
        exchange.incoming.releaseBody();
        this.#refuse(exchange, error ?? new GrantdError('invalid-request', EMPTY_BODY));
      } else if (isText) {
        exchange.incoming.releaseBody();
        this.#accept(exchange, new TextBody(text));
      } else if (text.length > JSON_SCANNED_LENGTH_MIN) {
        this.#parseInTurns(exchange, new LongJson(text, valuesMax ?? JSON_VALUES_MAX));
      } else {
        this.#parse(exchange, text);
      }
    });
  }

  /** The operation decodes each line by itself, so that bytes that are not text affect their line alone. */
  #readLines(exchange: AdmittedExchange<Session>, bytesMax: number): void {
    const { incoming, session } = exchange;
    const done: BodyDone = (error, text) => {
      incoming.releaseBody();
      if (error === undefined) this.#accept(exchange, Buffer.from(text, 'latin1'));
      else this.#refuse(exchange, error);
    };
    incoming.readBody(bytesMax, session.tenantId, done, 'latin1');
  }

  #parse(exchange: AdmittedExchange<Session>, text: string): void {
    let body: unknown;
    try {
      body = parseJson(text);
    } catch (malformed) {
      exchange.incoming.releaseBody();
      this.#refuse(exchange, malformed);
      return;
    }
    exchange.incoming.releaseBody();
    this.#accept(exchange, body);
  }

  /** Parses a long body, step by step. */
  #parseInTurns(exchange: AdmittedExchange<Session>, json: LongJson): void {
    this.#dependencies.turns.run(exchange.session.tenantId, () => {
      let body: unknown;
      try {
        if (json.step()) return true;
        body = json.value;
      } catch (malformed) {
        exchange.incoming.releaseBody();
        this.#refuse(exchange, malformed);
        return false;
      }
      exchange.incoming.releaseBody();
      this.#accept(exchange, body);
      return false;
    });
  }

  // ---- the operation and its response ----

  /**
   * From here on the request is complete: its deadline counts, and a call that may have a long response waits for
   * memory.
   */
  #accept(exchange: AdmittedExchange<Session>, body: unknown): void {
    const { incoming, operation } = exchange;
    const { url, pathParameters, headers } = incoming;
    let request: OperationRequest;
    try {
      const text = url === operation.path ? '' : queryTextOf(url);
      request = { body, query: parseQuery(text, operation.queryNames), pathParameters, headers, open: exchange };
    } catch (error) {
      this.#refuse(exchange, error);
      return;
    }
    exchange.arrivedAtMs = this.#dependencies.clock.monotonicMs();
    exchange.deadlineMs = exchange.arrivedAtMs + this.#options.deadlineMs;
    const responseBytes = operation.responseBytesMax(request);
    if (responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#evaluate(exchange, request);
    else this.#evaluateClaimed(exchange, request, responseBytes);
  }

  #evaluateClaimed(exchange: AdmittedExchange<Session>, request: OperationRequest, responseBytes: number): void {
    this.#dependencies.responses.reserve(
      exchange.session.tenantId,
      responseBytes,
      (reservation) => {
        exchange.reservation = reservation;
        this.#evaluate(exchange, request);
      },
      (error) => this.#refuse(exchange, error),
    );
  }

  #evaluate(exchange: AdmittedExchange<Session>, request: OperationRequest): void {
    let reply: Promise<OperationReply>;
    try {
      reply = exchange.operation.answer(this.sessionOf(exchange), exchange, request);
    } catch (error) {
      this.#refuse(exchange, error);
      return;
    }
    reply.then(
      (value) => {
        const { answers } = this.#dependencies;
        if ('chunks' in value) answers.chunks(exchange, value);
        else if ('listener' in value) answers.stream(exchange, value);
        else if (typeof value.json === 'string') answers.reply(exchange, value);
        else if ((value.bytesMax ?? 0) <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#replyInTurn(exchange, value);
        else this.#replyClaimed(exchange, value, value.bytesMax);
      },
      (thrown: unknown) => this.refuseByOwner(exchange, thrown),
    );
  }

  /** The session through which the operation answers. */
  protected sessionOf(exchange: AdmittedExchange<Session>): Session {
    return exchange.session;
  }

  /** The length of the response was not known before. */
  #replyClaimed(exchange: VerifiedExchange<Session>, reply: OperationResponse, bytesMax = 0): void {
    const { responses, answers } = this.#dependencies;
    responses.reserve(
      exchange.session.tenantId,
      bytesMax,
      (reservation) => {
        exchange.reservation = reservation;
        this.#replyInTurn(exchange, reply);
      },
      (error) => answers.problem(exchange, error),
    );
  }

  #replyInTurn(exchange: VerifiedExchange<Session>, reply: OperationResponse): void {
    this.#dependencies.turns.run(exchange.session.tenantId, () => {
      this.guard(exchange, () => this.#dependencies.answers.reply(exchange, reply));
      return false;
    });
  }

  // ---- refusals ----

  /** For an error in the request itself: the owner has not been called yet, and confirms the key first. */
  #refuse(exchange: VerifiedExchange<Session>, error: unknown): void {
    const { answers } = this.#dependencies;
    // A request that waited for memory until its deadline has no time left for a call.
    if (error instanceof GrantdError && error.code === 'overloaded') answers.problem(exchange, error);
    else this.#refuseConfirmed(exchange, error);
  }

  #refuseConfirmed(exchange: VerifiedExchange<Session>, error: unknown): void {
    exchange.session.confirm(exchange).then(
      () => this.#dependencies.answers.problem(exchange, error),
      (thrown: unknown) => this.refuseByOwner(exchange, thrown),
    );
  }

  /** For an error from the owner, which may have found the key revoked. */
  protected refuseByOwner(exchange: Exchange<Session>, thrown: unknown): void {
    const { metrics, answers } = this.#dependencies;
    if (thrown instanceof GrantdError && thrown.code === 'unauthorized') metrics.authenticationFailed();
    answers.problem(exchange, thrown);
  }

  // ---- stages that continue later ----

  /** Runs a stage after a wait, where no caller would catch what it throws. */
  protected guard(exchange: Exchange<Session>, stage: () => void): void {
    try {
      stage();
    } catch (error) {
      this.#dependencies.answers.problem(exchange, error);
    }
  }

  /** Continues in the turn of `key`: the event loop is saturated. */
  protected defer(exchange: Exchange<Session>, key: string, stage: () => void): void {
    const { clock, turns, answers } = this.#dependencies;
    const step = (): boolean => {
      this.guard(exchange, () => {
        if (clock.monotonicMs() < exchange.deadlineMs) stage();
        else answers.problem(exchange, new GrantdError('overloaded', 'The request waited too long for its turn.'));
      });
      return false;
    };
    turns.run(key, step, REQUEST_MS);
  }
}
