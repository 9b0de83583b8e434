// The public door, for every request that needs a key: its key, the tenant's limit, then the stages of its operation
// (operation-pipeline.ts). Invariant: before a request is refused, the owner has confirmed its key, so that a key
// revoked a moment ago gets 401 and a suspended tenant 403 everywhere.

import { GrantdError } from '../../core/errors.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import { hasScope } from '../../core/scopes.ts';
import type { Front, TenantSession } from '../../front/front.ts';
import type { FailureLimiter, RateDecision, RateLimiter } from '../../front/limits/rate-limiter.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';
import { beginRequestSpan } from '../../telemetry/request-spans.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import type { PublicOperation, PublicServices } from '../operations/operation.ts';
import { RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import { type AdmittedExchange, type Exchange, setSession, type VerifiedExchange } from './exchange.ts';
import { KeyGuesses } from './key-guesses.ts';
import {
  OperationPipeline,
  type OperationPipelineDependencies,
  type OperationPipelineOptions,
} from './operation-pipeline.ts';
import { PlanPolicies, REVOCATION_POLICY } from './rate-policy.ts';
import { recordedSession } from './recorded-session.ts';
import { bearerTokenOf } from './request-head.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type HttpRoute, type RegisteredOperation, registerOperation } from './routes.ts';

export interface PipelineDependencies extends OperationPipelineDependencies {
  readonly front: Front;
  readonly rateLimiter: RateLimiter;
  readonly failureLimiter: FailureLimiter;
  readonly metrics: RequestMetrics;
  /** Undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  /** Undefined: no decision is recorded. */
  readonly decisions: DecisionRecorder | undefined;
}

export interface PipelineOptions extends OperationPipelineOptions {
  readonly plans: Plans;
  readonly trustedProxies: readonly string[];
}

/** The turn key of requests without a known key. */
const ANONYMOUS = '';

/** About what the part of a request costs this process that comes after the call to the owner. */
const ANSWER_MS = 0.025;

/** How old the plan may be of a tenant that sends only requests above its limit. */
const PLAN_AGE_MS = 1000;

/** An operation as this door serves it. */
export const registerPublic = (
  operation: PublicOperation<PublicServices>,
  { services, meterOf }: { readonly services: PublicServices; readonly meterOf: RequestMetrics['meterOf'] },
): RegisteredOperation => {
  const { path, id, scope, reserve = false } = operation;
  const refusal = ({ scopes }: TenantSession): GrantdError | undefined =>
    scope === undefined || hasScope(scopes, scope)
      ? undefined
      : new GrantdError('insufficient-scope', `The API key lacks the scope ${scope}.`);
  return registerOperation(operation, services, { path, meter: meterOf(id), reserve, refusal });
};

export class Pipeline extends OperationPipeline<TenantSession> {
  readonly #dependencies: PipelineDependencies;
  readonly #options: PipelineOptions;
  readonly #policies = new PlanPolicies();
  readonly #guesses: KeyGuesses;
  readonly #lastLearntMs = new WeakMap<TenantSession, number>();
  readonly #admitUnknown = (exchange: Exchange, key: string): void => this.#guesses.admit(exchange, key);

  constructor(dependencies: PipelineDependencies, options: PipelineOptions) {
    super(dependencies, options);
    this.#dependencies = dependencies;
    this.#options = options;
    this.#guesses = new KeyGuesses(dependencies, options);
  }

  /** Serves one request that needs a key. `route`: undefined if there is nothing at the path. */
  serve(exchange: Exchange, route: HttpRoute | undefined): void {
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
    else this.defer(exchange, ANONYMOUS, stage);
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
    this.serveAnonymous(exchange, () => this.refuseByOwner(exchange, error));
  }

  #awaitSession(exchange: Exchange, token: string, session: Promise<TenantSession>): void {
    session.then(
      (verified) =>
        this.guard(exchange, () => {
          setSession(exchange, verified);
          this.#limit(exchange);
        }),
      (error: unknown) => {
        this.guard(exchange, () => {
          this.#guesses.record(exchange, token, error);
          this.refuseByOwner(exchange, error);
        });
      },
    );
  }

  #limitInTurn(exchange: VerifiedExchange): void {
    this.defer(exchange, exchange.session.tenantId, () => this.#limit(exchange));
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
      decision = rateLimiter.consume(session.tenantId, plan, session);
    }
    if (decision instanceof Promise) this.#awaitDecision(exchange, decision);
    else this.#applyLimit(exchange, decision);
  }

  #awaitDecision(exchange: VerifiedExchange, decision: Promise<RateDecision | undefined>): void {
    decision.then(
      (decided) => this.guard(exchange, () => this.#applyLimit(exchange, decided)),
      (error: unknown) => this.refuseByOwner(exchange, error),
    );
  }

  /** `decision`: undefined if the plan has no limit. */
  #applyLimit(exchange: VerifiedExchange, decision: RateDecision | undefined): void {
    exchange.rate = decision;
    const refused = decision !== undefined && !decision.allowed;
    if (exchange.policy !== REVOCATION_POLICY) exchange.session.countRequest(refused);
    if (refused) this.#refuseAboveLimit(exchange, decision);
    else this.admit(exchange);
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

  /** A request whose decisions are recorded gets a session that records them. */
  protected override sessionOf({ session }: AdmittedExchange): TenantSession {
    const { clock, decisions } = this.#dependencies;
    return decisions?.takes(session.tenantId) === true ? recordedSession(session, { decisions, clock }) : session;
  }
}
