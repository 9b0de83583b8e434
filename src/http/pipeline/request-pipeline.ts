// The way of every request that needs a key: its key, the tenant's limit, path and method, scope, body, then the
// operation and its response. Invariants: this order; no body is read before the request is found fit to have one; no
// response that may be large is built before memory is reserved for it; before a request is refused, the owner has
// confirmed its key, so that a key revoked a moment ago gets 401 and a suspended tenant 403 everywhere.
//
// The stages are plain calls: a stage that can continue at once does so, and only one that has to wait allocates what
// waiting needs. Since a function with a closure in it allocates a context at each call, a wait has a method of its
// own.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import { hasScope } from '../../core/scopes.ts';
import { parseJson } from '../../core/text/json.ts';
import { parseQuery } from '../../core/text/query.ts';
import type { Front, TenantSession } from '../../front/front.ts';
import type { FailureLimiter, RateDecision, RateLimiter } from '../../front/limits/rate-limiter.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';
import { beginRequestSpan } from '../../telemetry/request-spans.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import type {
  OperationRequest,
  OperationResponse,
  OperationServices,
  PublicOperation,
} from '../operations/operation.ts';
import type { ByteBudget } from '../wire/byte-budget.ts';
import { JSON_SCANNED_LENGTH_MIN, RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import { type AdmittedExchange, type Exchange, setOperation, setSession, type VerifiedExchange } from './exchange.ts';
import { KeyGuesses } from './key-guesses.ts';
import { LongJson } from './long-json.ts';
import { PlanPolicies, REVOCATION_POLICY } from './rate-policy.ts';
import { recordedSession } from './recorded-session.ts';
import { bearerTokenOf, findMediaTypeError, queryTextOf } from './request-head.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { Route } from './routes.ts';

export interface PipelineDependencies {
  readonly front: Front;
  readonly rateLimiter: RateLimiter;
  readonly failureLimiter: FailureLimiter;
  readonly clock: Clock;
  readonly turns: Turns;
  readonly services: OperationServices;
  readonly answers: ResponseWriter;
  readonly metrics: RequestMetrics;
  /** Budget of responses that are being built or not yet taken. */
  readonly responses: ByteBudget;
  /** Undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  /** Undefined: no decision is recorded. */
  readonly decisions: DecisionRecorder | undefined;
}

export interface PipelineOptions {
  readonly plans: Plans;
  readonly deadlineMs: number;
  readonly trustedProxies: readonly string[];
  /** The detail of the response to a target at which there is nothing. */
  readonly nothingAt: (target: string) => string;
}

/** The turn key of requests without a known key. */
const ANONYMOUS = '';

/** About what a request costs this process, and the part of it that comes after the call to the owner. */
const REQUEST_MS = 0.04;
const ANSWER_MS = 0.025;

/** How old the plan may be of a tenant that sends only requests above its limit. */
const PLAN_AGE_MS = 1000;

const EMPTY_BODY = 'The body is empty; a JSON object is expected.';
const BODY_AND_QUERY = 'The request has both a body and query parameters; this operation takes one of the two.';

export class Pipeline {
  readonly #dependencies: PipelineDependencies;
  readonly #options: PipelineOptions;
  readonly #policies = new PlanPolicies();
  readonly #guesses: KeyGuesses;
  readonly #lastLearntMs = new WeakMap<TenantSession, number>();
  readonly #admitUnknown = (exchange: Exchange, key: string): void => this.#guesses.admit(exchange, key);

  constructor(dependencies: PipelineDependencies, options: PipelineOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#guesses = new KeyGuesses(dependencies, options);
  }

  /** Serves one request that needs a key. `route`: undefined if there is nothing at the path. */
  serve(exchange: Exchange, route: Route | undefined): void {
    exchange.route = route;
    try {
      const token = bearerTokenOf(exchange.incoming.headers.authorization);
      if (token === undefined) this.#refuseWithoutKey(exchange);
      else this.#authenticate(exchange, token);
    } catch (error) {
      this.#dependencies.answers.problem(exchange, error);
    }
  }

  /**
   * Answers a request that needs no key, in the common turn of all requests without a known key, and once there is
   * memory for a response of so many bytes.
   */
  serveAnonymous(exchange: Exchange, answer: () => void, responseBytes = 0): void {
    const stage =
      responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX ? answer : () => this.#claim(exchange, responseBytes, answer);
    if (this.#dependencies.turns.idle(exchange.incoming.startedAtMs)) stage();
    else this.#defer(exchange, ANONYMOUS, stage);
  }

  /** Requests without a known key together have the share of one tenant. */
  #claim(exchange: Exchange, bytes: number, answer: () => void): void {
    const { responses, answers } = this.#dependencies;
    responses.reserve(
      ANONYMOUS,
      bytes,
      (reservation) => {
        exchange.reservation = reservation;
        answer();
      },
      () => answers.problem(exchange, new GrantdError('overloaded', 'Too many others are reading this page.')),
    );
  }

  // ---- the key ----

  #refuseWithoutKey(exchange: Exchange): void {
    const { metrics, answers } = this.#dependencies;
    this.serveAnonymous(exchange, () => {
      metrics.authenticationFailed();
      answers.problem(exchange, new GrantdError('unauthorized', 'Send "Authorization: Bearer <API key>".'));
    });
  }

  #authenticate(exchange: Exchange, token: string): void {
    const { front, turns } = this.#dependencies;
    let session: TenantSession | Promise<TenantSession>;
    try {
      session = front.authenticate(exchange, token, this.#admitUnknown);
    } catch (error) {
      this.#refuseKey(exchange, error);
      return;
    }
    if (session instanceof Promise) {
      this.#awaitSession(exchange, token, session);
      return;
    }
    setSession(exchange, session);
    if (turns.idle(exchange.incoming.startedAtMs, ANSWER_MS)) this.#limit(exchange);
    else this.#limitInTurn(exchange);
  }

  /** The key is malformed, or its address has guessed too often: the owner was not called. */
  #refuseKey(exchange: Exchange, error: unknown): void {
    this.serveAnonymous(exchange, () => this.#refuseByOwner(exchange, error));
  }

  #awaitSession(exchange: Exchange, token: string, session: Promise<TenantSession>): void {
    session.then(
      (verified) =>
        this.#guard(exchange, () => {
          setSession(exchange, verified);
          this.#limit(exchange);
        }),
      (error: unknown) => {
        this.#guard(exchange, () => {
          this.#guesses.record(exchange, token, error);
          this.#refuseByOwner(exchange, error);
        });
      },
    );
  }

  #limitInTurn(exchange: VerifiedExchange): void {
    this.#defer(exchange, exchange.session.tenantId, () => this.#limit(exchange));
  }

  // ---- the limit ----

  #limit(exchange: VerifiedExchange): void {
    const { rateLimiter, tracing } = this.#dependencies;
    const { session, route, incoming } = exchange;
    if (tracing !== undefined) this.#beginSpan(tracing, exchange);
    const plan = resolvePlan(this.#options.plans, session.plan);
    let decision: RateDecision | undefined | Promise<RateDecision | undefined>;
    if (route?.reserveMethod !== undefined && route.reserveMethod === incoming.method) {
      exchange.policy = REVOCATION_POLICY;
      decision = rateLimiter.consumeRevocation(session.keyId);
    } else {
      exchange.policy = this.#policies.of(plan);
      decision = rateLimiter.consume(session.tenantId, plan);
    }
    if (decision instanceof Promise) this.#awaitDecision(exchange, decision);
    else this.#applyLimit(exchange, decision);
  }

  #awaitDecision(exchange: VerifiedExchange, decision: Promise<RateDecision | undefined>): void {
    decision.then(
      (decided) => this.#guard(exchange, () => this.#applyLimit(exchange, decided)),
      (error: unknown) => this.#refuseByOwner(exchange, error),
    );
  }

  /** `decision`: undefined if the plan has no limit. */
  #applyLimit(exchange: VerifiedExchange, decision: RateDecision | undefined): void {
    exchange.rate = decision;
    const refused = decision !== undefined && !decision.allowed;
    if (exchange.policy !== REVOCATION_POLICY) exchange.session.countRequest(refused);
    if (refused) this.#refuseAboveLimit(exchange, decision);
    else this.#admit(exchange);
  }

  #refuseAboveLimit(exchange: VerifiedExchange, { limit, resetSeconds }: RateDecision): void {
    const { metrics, answers } = this.#dependencies;
    const { policy } = exchange;
    metrics.rateLimited(policy === REVOCATION_POLICY ? 'revocation' : 'plan');
    this.#learnPlan(exchange);
    const error = new GrantdError('rate-limited', `The ${limit} requests of this window are used up.`, {
      details: {
        retryAfterSeconds: resetSeconds,
        ...(policy === undefined ? {} : { violatedPolicy: policy.name }),
      },
    });
    answers.problem(exchange, error);
  }

  /** A tenant that is refused here would never get another plan: only replies of its owner announce one. */
  #learnPlan({ requestId, session }: VerifiedExchange): void {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (nowMs - (this.#lastLearntMs.get(session) ?? Number.NEGATIVE_INFINITY) < PLAN_AGE_MS) return;
    this.#lastLearntMs.set(session, nowMs);
    // If anything keeps the owner from replying, the next request of the session meets it too.
    session.confirm({ requestId, deadlineMs: nowMs + this.#options.deadlineMs }).catch(() => {});
  }

  /** Only once the key is verified: trace context from strangers samples nothing, here or at a shard. */
  #beginSpan(tracer: Tracing, exchange: VerifiedExchange): void {
    const { incoming, requestId, route, session } = exchange;
    const elapsedMs = this.#dependencies.clock.monotonicMs() - incoming.startedAtMs;
    exchange.span = beginRequestSpan(tracer, incoming, { route: route?.path, requestId, elapsedMs });
    // Operators search traces for the tenant that is slow or fails. Its id is random and reveals nothing.
    exchange.span?.set({ 'grantd.tenant_id': session.tenantId });
  }

  // ---- path, method and scope ----

  #admit(exchange: VerifiedExchange): void {
    const { incoming, route, session } = exchange;
    if (route === undefined) {
      this.#refuse(exchange, new GrantdError('not-found', this.#options.nothingAt(incoming.url)));
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
    const { scope } = operation;
    if (scope !== undefined && !hasScope(session.scopes, scope)) {
      this.#refuse(exchange, new GrantdError('insufficient-scope', `The API key lacks the scope ${scope}.`));
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

  #readBodyOrQuery(
    exchange: AdmittedExchange,
    { bytesMax, replaceableByQuery = false }: NonNullable<PublicOperation['body']>,
  ): void {
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
    else this.#readBody(exchange, bytesMax);
  }

  /** The query replaces the body. Whether a body comes nevertheless is known once it has been read. */
  #readNoBody(exchange: AdmittedExchange, bytesMax: number): void {
    const { incoming, session } = exchange;
    incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      incoming.releaseBody();
      if (error === undefined && text === '') this.#accept(exchange, undefined);
      else this.#refuse(exchange, error ?? new GrantdError('invalid-request', BODY_AND_QUERY));
    });
  }

  #readBody(exchange: AdmittedExchange, bytesMax: number): void {
    const { incoming, session } = exchange;
    const mediaTypeError = findMediaTypeError(incoming.headers);
    if (mediaTypeError !== undefined) {
      this.#refuse(exchange, mediaTypeError);
      return;
    }
    incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      if (error !== undefined || text === '') {
        exchange.incoming.releaseBody();
        this.#refuse(exchange, error ?? new GrantdError('invalid-request', EMPTY_BODY));
      } else if (text.length > JSON_SCANNED_LENGTH_MIN) {
        this.#parseInTurns(exchange, text);
      } else {
        this.#parse(exchange, text);
      }
    });
  }

  #parse(exchange: AdmittedExchange, text: string): void {
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
  #parseInTurns(exchange: AdmittedExchange, text: string): void {
    const json = new LongJson(text);
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
  #accept(exchange: AdmittedExchange, body: unknown): void {
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
    const responseBytes = operation.responseBytesMax?.(request, this.#dependencies.services) ?? 0;
    if (responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#evaluate(exchange, request);
    else this.#evaluateClaimed(exchange, request, responseBytes);
  }

  #evaluateClaimed(exchange: AdmittedExchange, request: OperationRequest, responseBytes: number): void {
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

  #evaluate(exchange: AdmittedExchange, request: OperationRequest): void {
    let reply: ReturnType<PublicOperation['answer']>;
    try {
      reply = exchange.operation.answer(
        this.#recorded(exchange.session),
        exchange,
        request,
        this.#dependencies.services,
      );
    } catch (error) {
      this.#refuse(exchange, error);
      return;
    }
    reply.then(
      (value) => {
        const { answers } = this.#dependencies;
        if (!('json' in value)) answers.stream(exchange, value);
        else if (typeof value.json === 'string') answers.reply(exchange, value);
        else if ((value.bytesMax ?? 0) <= RESPONSE_UNCLAIMED_BYTES_MAX) this.#replyInTurn(exchange, value);
        else this.#replyClaimed(exchange, value, value.bytesMax);
      },
      (thrown: unknown) => this.#refuseByOwner(exchange, thrown),
    );
  }

  /** A request whose decisions are recorded gets a session that records them. */
  #recorded(session: TenantSession): TenantSession {
    const { clock, decisions } = this.#dependencies;
    return decisions?.takes(session.tenantId) === true ? recordedSession(session, { decisions, clock }) : session;
  }

  /** The length of the response was not known before. */
  #replyClaimed(exchange: VerifiedExchange, reply: OperationResponse, bytesMax = 0): void {
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

  #replyInTurn(exchange: VerifiedExchange, reply: OperationResponse): void {
    this.#dependencies.turns.run(exchange.session.tenantId, () => {
      this.#guard(exchange, () => this.#dependencies.answers.reply(exchange, reply));
      return false;
    });
  }

  // ---- refusals ----

  /** For an error in the request itself: the owner has not been called yet, and confirms the key first. */
  #refuse(exchange: VerifiedExchange, error: unknown): void {
    const { answers } = this.#dependencies;
    // A request that waited for memory until its deadline has no time left for a call.
    if (error instanceof GrantdError && error.code === 'overloaded') answers.problem(exchange, error);
    else this.#refuseConfirmed(exchange, error);
  }

  #refuseConfirmed(exchange: VerifiedExchange, error: unknown): void {
    exchange.session.confirm(exchange).then(
      () => this.#dependencies.answers.problem(exchange, error),
      (thrown: unknown) => this.#refuseByOwner(exchange, thrown),
    );
  }

  /** For an error from the owner, which may have found the key revoked. */
  #refuseByOwner(exchange: Exchange, thrown: unknown): void {
    const { metrics, answers } = this.#dependencies;
    if (thrown instanceof GrantdError && thrown.code === 'unauthorized') metrics.authenticationFailed();
    answers.problem(exchange, thrown);
  }

  // ---- stages that continue later ----

  /** Runs a stage after a wait, where no caller would catch what it throws. */
  #guard(exchange: Exchange, stage: () => void): void {
    try {
      stage();
    } catch (error) {
      this.#dependencies.answers.problem(exchange, error);
    }
  }

  /** Continues in the turn of `key`: the event loop is saturated. */
  #defer(exchange: Exchange, key: string, stage: () => void): void {
    const { clock, turns, answers } = this.#dependencies;
    const step = (): boolean => {
      this.#guard(exchange, () => {
        if (clock.monotonicMs() < exchange.deadlineMs) stage();
        else answers.problem(exchange, new GrantdError('overloaded', 'The request waited too long for its turn.'));
      });
      return false;
    };
    turns.run(key, step, REQUEST_MS);
  }
}
