// The order in which every request is examined: its key, the tenant's limit, then path and method, scope and body
// (operation-stage.ts). The stages are plain calls: a stage that can continue at once does so, and only one that has to
// wait allocates what waiting needs.

import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import type { Front, TenantSession } from '../../front/front.ts';
import type { FailureLimiter, RateDecision, RateLimiter } from '../../front/limits/rate-limiter.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';
import { beginRequestSpan } from '../../telemetry/request-spans.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import type { ByteBudget } from '../wire/byte-budget.ts';
import { RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import { bearerTokenOf } from './bearer-token.ts';
import type { Exchange } from './exchange.ts';
import { KeyGuesses } from './key-guesses.ts';
import { OperationStage } from './operation-stage.ts';
import { PlanPolicies, REVOCATION_POLICY } from './rate-policy.ts';
import { Refusals } from './refusals.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { ResponseWriter } from './response-writer.ts';
import type { Route } from './routes.ts';

export interface Pipeline {
  /** Serves one request that needs a key. `route` is undefined if there is nothing at the path. */
  serve(exchange: Exchange, route: Route | undefined): void;
  /**
   * Answers a request that needs no key, when the common turn of all requests without a known key comes, and once there
   * is memory for a response of so many bytes.
   */
  serveAnonymous(exchange: Exchange, answer: () => void, responseBytes?: number): void;
}

export interface PipelineDependencies {
  readonly front: Front;
  readonly rateLimiter: RateLimiter;
  readonly failureLimiter: FailureLimiter;
  readonly clock: Clock;
  readonly turns: Turns;
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

/** About what a request costs this process, and the part of it that comes after the owner is asked. */
const REQUEST_MS = 0.04;
const ANSWER_MS = 0.025;

/** How old the plan may be of a tenant that sends only requests above its limit. */
const PLAN_AGE_MS = 1000;

const violatedBy = ({ policy }: Exchange): { readonly violatedPolicy?: string } =>
  policy === undefined ? {} : { violatedPolicy: policy.name };

class RequestPipeline implements Pipeline {
  readonly #dependencies: PipelineDependencies;
  readonly #plans: Plans;
  readonly #policies = new PlanPolicies();
  readonly #deadlineMs: number;
  readonly #refusals: Refusals;
  readonly #guesses: KeyGuesses;
  readonly #operations: OperationStage;
  readonly #lastLearntMs = new WeakMap<TenantSession, number>();
  readonly #admitUnknown = (exchange: Exchange): void => this.#guesses.admit(exchange);

  constructor(dependencies: PipelineDependencies, options: PipelineOptions) {
    const { deadlineMs } = options;
    this.#dependencies = dependencies;
    this.#plans = options.plans;
    this.#deadlineMs = deadlineMs;
    this.#refusals = new Refusals(dependencies);
    this.#guesses = new KeyGuesses(dependencies, options);
    this.#operations = new OperationStage({ ...dependencies, refusals: this.#refusals }, options);
  }

  serve(exchange: Exchange, route: Route | undefined): void {
    try {
      const token = bearerTokenOf(exchange.incoming.headers.authorization);
      if (token === undefined) this.#refuseWithoutKey(exchange);
      else this.#authenticate(exchange, route, token);
    } catch (error) {
      this.#dependencies.answers.problem(exchange, error);
    }
  }

  serveAnonymous(exchange: Exchange, answer: () => void, responseBytes = 0): void {
    const stage =
      responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX ? answer : () => this.#claim(exchange, responseBytes, answer);
    if (this.#dependencies.turns.idle(exchange.incoming.startedAtMs)) stage();
    else this.#defer(exchange, ANONYMOUS, stage);
  }

  /** Strangers together have the share of one tenant. */
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

  #authenticate(exchange: Exchange, route: Route | undefined, token: string): void {
    const { front, turns } = this.#dependencies;
    let session: TenantSession | Promise<TenantSession>;
    try {
      session = front.authenticate(exchange, token, this.#admitUnknown);
    } catch (error) {
      this.#refuseKey(exchange, error);
      return;
    }
    if (session instanceof Promise) this.#awaitSession(exchange, route, session);
    else if (turns.idle(exchange.incoming.startedAtMs, ANSWER_MS)) this.#limit(exchange, session, route);
    else this.#limitInTurn(exchange, session, route);
  }

  /** The key is malformed, or its address has guessed too often: the owner was not asked. */
  #refuseKey(exchange: Exchange, error: unknown): void {
    this.serveAnonymous(exchange, () => this.#refusals.byOwner(exchange, error));
  }

  #awaitSession(exchange: Exchange, route: Route | undefined, session: Promise<TenantSession>): void {
    session.then(
      (verified) => this.#guard(exchange, () => this.#limit(exchange, verified, route)),
      (error: unknown) => {
        this.#guard(exchange, () => {
          this.#guesses.record(exchange, error);
          this.#refusals.byOwner(exchange, error);
        });
      },
    );
  }

  #limitInTurn(exchange: Exchange, session: TenantSession, route: Route | undefined): void {
    this.#defer(exchange, session.tenantId, () => this.#limit(exchange, session, route));
  }

  // ---- the limit ----

  #limit(exchange: Exchange, session: TenantSession, route: Route | undefined): void {
    const { rateLimiter, tracing } = this.#dependencies;
    exchange.session = session;
    if (tracing !== undefined) this.#beginSpan(tracing, exchange, session, route);
    const revoking = route?.reserveMethod !== undefined && route.reserveMethod === exchange.incoming.method;
    const plan = resolvePlan(this.#plans, session.plan);
    exchange.policy = revoking ? REVOCATION_POLICY : this.#policies.of(plan);
    const decision = revoking
      ? rateLimiter.consumeRevocation(session.keyId)
      : rateLimiter.consume(session.tenantId, plan);
    if (decision instanceof Promise) this.#awaitDecision(exchange, session, route, revoking, decision);
    else this.#take(exchange, session, route, revoking, decision);
  }

  #awaitDecision(
    exchange: Exchange,
    session: TenantSession,
    route: Route | undefined,
    revoking: boolean,
    decision: Promise<RateDecision | undefined>,
  ): void {
    decision.then(
      (decided) => this.#guard(exchange, () => this.#take(exchange, session, route, revoking, decided)),
      (error: unknown) => this.#refusals.byOwner(exchange, error),
    );
  }

  /** `decision`: undefined if the plan has no limit. */
  #take(
    exchange: Exchange,
    session: TenantSession,
    route: Route | undefined,
    revoking: boolean,
    decision: RateDecision | undefined,
  ): void {
    exchange.rate = decision;
    if (!revoking) session.countRequest(decision?.allowed === false);
    if (decision === undefined || decision.allowed) this.#operations.run(exchange, session, route);
    else this.#refuseAboveLimit(exchange, session, revoking, decision);
  }

  #refuseAboveLimit(exchange: Exchange, session: TenantSession, revoking: boolean, decision: RateDecision): void {
    const { metrics, answers } = this.#dependencies;
    metrics.rateLimited(revoking ? 'revocation' : 'plan');
    this.#learnPlan(exchange, session);
    const error = new GrantdError('rate-limited', `The ${decision.limit} requests of this window are used up.`, {
      details: { retryAfterSeconds: decision.resetSeconds, ...violatedBy(exchange) },
    });
    answers.problem(exchange, error);
  }

  /** A tenant that is refused here would never hear of another plan: only replies of its owner announce one. */
  #learnPlan({ requestId }: Exchange, session: TenantSession): void {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (nowMs - (this.#lastLearntMs.get(session) ?? Number.NEGATIVE_INFINITY) < PLAN_AGE_MS) return;
    this.#lastLearntMs.set(session, nowMs);
    // If anything keeps the owner from replying, the next request of the session meets it too.
    session.confirm({ requestId, deadlineMs: nowMs + this.#deadlineMs }).catch(() => {});
  }

  /** Only once the key is verified: trace context from strangers samples nothing, here or at a shard. */
  #beginSpan(tracer: Tracing, exchange: Exchange, { tenantId }: TenantSession, route: Route | undefined): void {
    const { incoming, requestId } = exchange;
    const elapsedMs = this.#dependencies.clock.monotonicMs() - incoming.startedAtMs;
    exchange.span = beginRequestSpan(tracer, incoming, { route: route?.path, requestId, elapsedMs });
    // Traces are searched for the tenant that is slow or fails. Its id is random and reveals nothing.
    exchange.span?.set({ 'grantd.tenant_id': tenantId });
  }

  // ---- what continues later ----

  /** Runs a stage after a wait, where no caller would catch what it throws. */
  #guard(exchange: Exchange, stage: () => void): void {
    try {
      stage();
    } catch (error) {
      this.#dependencies.answers.problem(exchange, error);
    }
  }

  /** Continues when the turn of `key` comes: there is more to do than time. */
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

export const createPipeline = (dependencies: PipelineDependencies, options: PipelineOptions): Pipeline =>
  new RequestPipeline(dependencies, options);
