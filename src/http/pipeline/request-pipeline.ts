// The order in which every request is looked at: its key, the tenant's limit, path and method, scope, body. A request
// that ends before the owner was asked still asks it to confirm the key, so that a key revoked a moment ago gets 401 and
// a suspended tenant 403 everywhere. Written as plain calls from stage to stage: a stage that can go on at once does.

import type { IncomingMessage } from 'node:http';
import proxyaddr from 'proxy-addr';
import type { Clock } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { type Plans, resolvePlan } from '../../core/plans.ts';
import { hasScope } from '../../core/scopes.ts';
import type { Front, TenantSession } from '../../front/front.ts';
import type { FailureLimiter, RateDecision, RateLimiter } from '../../front/limits/rate-limiter.ts';
import { beginRequestSpan } from '../../telemetry/request-spans.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import type { OperationRequest, Reply } from '../operations/operation.ts';
import type { ByteBudget, Claim } from '../wire/byte-budget.ts';
import type { Incoming } from '../wire/incoming.ts';
import { JSON_SCANNED_LENGTH_MIN, RESPONSE_UNCLAIMED_BYTES_MAX } from '../wire/limits.ts';
import type { Exchange } from './exchange.ts';
import { LongJson, parseJson } from './json-text.ts';
import { findMediaTypeError } from './media-type.ts';
import { parseQuery, queryTextOf } from './query-text.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { Answers } from './response-writer.ts';
import type { RegisteredOperation, Route } from './routes.ts';

export interface Pipeline {
  /** Serves one request that needs a key. `route` is undefined where nothing is at the path. */
  serve(exchange: Exchange, route: Route | undefined): void;
  /** Answers one that needs none, when its turn comes among all those behind which nobody is known to stand. */
  serveAnonymous(exchange: Exchange, answer: () => void): void;
}

/** Whose turn it is where no key says who asks. */
const ANONYMOUS = '';

/** About what a request costs this process, and the part of it that comes after the owner is asked. */
const REQUEST_MS = 0.04;
const ANSWER_MS = 0.025;

/** How old the plan of a tenant may be that sends nothing but requests above its limit. */
const PLAN_AGE_MS = 1000;
const BEARER = 'Bearer ';
/** RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1). */
const BEARER_ANY_CASE = /^bearer +([^ ]+)$/i;

function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith(BEARER)) {
    const token = header.slice(BEARER.length);
    if (token !== '' && !token.includes(' ')) return token;
  }
  return BEARER_ANY_CASE.exec(header)?.[1];
}

export function createPipeline(
  dependencies: {
    readonly front: Front;
    readonly rateLimiter: RateLimiter;
    readonly failureLimiter: FailureLimiter;
    readonly clock: Clock;
    readonly turns: Turns;
    readonly answers: Answers;
    readonly metrics: RequestMetrics;
    /** Of answers that are made or not yet taken. */
    readonly responses: ByteBudget;
    /** Undefined: nothing is traced. */
    readonly tracing: Tracing | undefined;
  },
  options: { readonly plans: Plans; readonly deadlineMs: number; readonly trustedProxies: readonly string[] },
): Pipeline {
  const { front, rateLimiter, failureLimiter, clock, turns, answers, metrics, responses, tracing } = dependencies;
  const { plans, deadlineMs } = options;
  const lastLearntMs = new WeakMap<TenantSession, number>();
  const trusted = proxyaddr.compile([...options.trustedProxies]);
  /** The socket's, or behind trusted proxies the last address that none of them vouches for. */
  const clientAddress = ({ headers, socket }: Incoming): string =>
    // A connection that has ended meanwhile has no address any more.
    socket.remoteAddress === undefined ? '' : proxyaddr({ headers, socket } as IncomingMessage, trusted);

  /** For what the owner said; it may have found the key revoked. */
  const fail =
    (exchange: Exchange) =>
    (thrown: unknown): void => {
      if (thrown instanceof GrantdError && thrown.code === 'unauthorized') metrics.authenticationFailed();
      answers.problem(exchange, thrown);
    };

  /** A stage that goes on after a wait, where nobody above it would catch what it throws. */
  const guarded =
    <Value>(exchange: Exchange, stage: (value: Value) => void) =>
    (value: Value): void => {
      try {
        stage(value);
      } catch (error) {
        answers.problem(exchange, error);
      }
    };

  /** An answer that the owner had no part in. */
  const refuse = (exchange: Exchange, session: TenantSession, error: unknown): void => {
    // What waited for memory until its deadline has no time left to ask anything.
    if (error instanceof GrantdError && error.code === 'overloaded') answers.problem(exchange, error);
    else session.confirm(exchange).then(() => answers.problem(exchange, error), fail(exchange));
  };

  /**
   * Asked before the owner is asked about a key that is well-formed and not known here: so guessing costs the owner
   * nothing once an address has failed too often, and a key that is known goes on from anywhere.
   */
  const admitUnknown = (exchange: Exchange): void => {
    const refusal = failureLimiter.refusal(clientAddress(exchange.incoming));
    if (refusal === undefined) return;
    exchange.rate = refusal;
    metrics.rateLimited('authentication');
    throw new GrantdError('rate-limited', 'Too many keys from this address were refused.', {
      details: { retryAfterSeconds: refusal.resetSeconds },
    });
  };

  /** The owner refused the key. Junk never gets that far: it guesses nothing, so it counts against nobody. */
  const failVerification = (exchange: Exchange, error: unknown): void => {
    if (error instanceof GrantdError && error.code === 'unauthorized') {
      failureLimiter.record(clientAddress(exchange.incoming));
    }
    fail(exchange)(error);
  };

  const answer = (exchange: Exchange, session: TenantSession, operation: RegisteredOperation, body: unknown): void => {
    const { url, pathParameters } = exchange.incoming;
    let request: OperationRequest;
    try {
      const text = url === operation.path ? '' : queryTextOf(url);
      const query = parseQuery(text, operation.queryNames);
      request = { body, query, pathParameters };
    } catch (error) {
      refuse(exchange, session, error);
      return;
    }
    exchange.arrivedAtMs = clock.monotonicMs();
    exchange.deadlineMs = exchange.arrivedAtMs + deadlineMs;
    const responseBytes = operation.responseBytesMax?.(request.query) ?? 0;
    if (responseBytes <= RESPONSE_UNCLAIMED_BYTES_MAX) {
      evaluate(exchange, session, operation, request);
      return;
    }
    const grant = (claim: Claim): void => {
      exchange.claim = claim;
      evaluate(exchange, session, operation, request);
    };
    responses.claim(session.tenantId, responseBytes, grant, (error) => refuse(exchange, session, error));
  };

  const evaluate = (
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    request: OperationRequest,
  ): void => {
    let reply: ReturnType<RegisteredOperation['answer']>;
    try {
      reply = operation.answer(session, exchange, request);
    } catch (error) {
      refuse(exchange, session, error);
      return;
    }
    reply.then((value) => {
      if (typeof value.json === 'string') answers.reply(exchange, value);
      else replyInTurn(exchange, session, value);
    }, fail(exchange));
  };

  const replyInTurn = (exchange: Exchange, session: TenantSession, reply: Reply): void => {
    turns.run(session.tenantId, () => {
      try {
        answers.reply(exchange, reply);
      } catch (error) {
        answers.problem(exchange, error);
      }
      return false;
    });
  };

  /** Parses a body, a long one step by step, and goes on with its value. */
  const parseBody = (
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    text: string,
  ): void => {
    const long = text.length > JSON_SCANNED_LENGTH_MIN ? new LongJson(text) : undefined;
    const step = (): boolean => {
      let body: unknown;
      try {
        if (long?.step() === true) return true;
        body = long === undefined ? parseJson(text) : long.value;
      } catch (malformed) {
        exchange.incoming.releaseBody();
        refuse(exchange, session, malformed);
        return false;
      }
      exchange.incoming.releaseBody();
      answer(exchange, session, operation, body);
      return false;
    };
    if (long === undefined) step();
    else turns.run(session.tenantId, step);
  };

  const takeBody = (
    exchange: Exchange,
    session: TenantSession,
    operation: RegisteredOperation,
    bytesMax: number,
  ): void => {
    const mediaTypeError = findMediaTypeError(exchange.incoming.headers);
    if (mediaTypeError !== undefined) {
      refuse(exchange, session, mediaTypeError);
      return;
    }
    exchange.incoming.readBody(bytesMax, session.tenantId, (error, text) => {
      if (error === undefined) {
        parseBody(exchange, session, operation, text);
        return;
      }
      exchange.incoming.releaseBody();
      refuse(exchange, session, error);
    });
  };

  const dispatch = (exchange: Exchange, session: TenantSession, route: Route | undefined): void => {
    const { method, headers } = exchange.incoming;
    if (route === undefined) {
      refuse(exchange, session, new GrantdError('not-found', 'There is nothing at this path.'));
      return;
    }
    const operation = route.operations.get(method);
    if (operation === undefined) {
      refuse(
        exchange,
        session,
        new GrantdError('method-not-allowed', `This path takes ${route.allow}.`, { details: { allow: route.allow } }),
      );
      return;
    }
    exchange.meter = operation.meter;
    if (operation.scope !== undefined && !hasScope(session.scopes, operation.scope)) {
      refuse(
        exchange,
        session,
        new GrantdError('insufficient-scope', `The API key lacks the scope ${operation.scope}.`),
      );
      return;
    }
    const { expect } = headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
      refuse(exchange, session, new GrantdError('invalid-request', 'The header Expect can only be 100-continue.'));
    } else if (operation.body === undefined) {
      answer(exchange, session, operation, undefined);
    } else {
      takeBody(exchange, session, operation, operation.body.bytesMax);
    }
  };

  /** A tenant that is refused here would never hear of another plan: what its owner answers is what tells of one. */
  const learnPlan = ({ requestId }: Exchange, session: TenantSession): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - (lastLearntMs.get(session) ?? Number.NEGATIVE_INFINITY) < PLAN_AGE_MS) return;
    lastLearntMs.set(session, nowMs);
    // Whatever keeps the owner from answering, the next request of the session meets it too.
    session.confirm({ requestId, deadlineMs: nowMs + deadlineMs }).catch(() => {});
  };

  /** Not before the key is verified: what anybody else sends as trace context samples nothing, here or at a shard. */
  const beginSpan = (tracer: Tracing, exchange: Exchange, { tenantId }: TenantSession, route: Route | undefined) => {
    const { incoming, requestId } = exchange;
    const elapsedMs = clock.monotonicMs() - incoming.startedAtMs;
    exchange.span = beginRequestSpan(tracer, incoming, { route: route?.path, requestId, elapsedMs });
    // Who is slow or fails is what traces are asked. The id is made by us, at random, and says nothing about anybody.
    exchange.span?.set({ 'grantd.tenant_id': tenantId });
  };

  const limit = (exchange: Exchange, session: TenantSession, route: Route | undefined): void => {
    exchange.session = session;
    if (tracing !== undefined) beginSpan(tracing, exchange, session, route);
    const revoking = route?.reserveMethod !== undefined && route.reserveMethod === exchange.incoming.method;
    const go = (decision: RateDecision | undefined): void => {
      exchange.rate = decision;
      if (!revoking) session.countRequest(decision?.allowed === false);
      if (decision === undefined || decision.allowed) {
        dispatch(exchange, session, route);
        return;
      }
      metrics.rateLimited(revoking ? 'revocation' : 'plan');
      learnPlan(exchange, session);
      answers.problem(
        exchange,
        new GrantdError('rate-limited', `The ${decision.limit} requests of this window are used up.`, {
          details: { retryAfterSeconds: decision.resetSeconds },
        }),
      );
    };
    const decision = revoking
      ? rateLimiter.consumeRevocation(session.keyId)
      : rateLimiter.consume(session.tenantId, resolvePlan(plans, session.plan));
    if (decision instanceof Promise) decision.then(guarded(exchange, go), fail(exchange));
    else go(decision);
  };

  /** Goes on when the turn of `key` comes: more is asked than there is time for. */
  const defer = (exchange: Exchange, key: string, stage: () => void): void => {
    const step = (): boolean => {
      try {
        if (clock.monotonicMs() < exchange.deadlineMs) stage();
        else answers.problem(exchange, new GrantdError('overloaded', 'The turn of this request did not come in time.'));
      } catch (error) {
        answers.problem(exchange, error);
      }
      return false;
    };
    turns.run(key, step, REQUEST_MS);
  };

  const serveAnonymous = (exchange: Exchange, answer: () => void): void => {
    if (turns.idle(exchange.incoming.startedAtMs)) answer();
    else defer(exchange, ANONYMOUS, answer);
  };

  const serve = (exchange: Exchange, route: Route | undefined): void => {
    try {
      const token = bearerTokenOf(exchange.incoming.headers.authorization);
      if (token === undefined) {
        serveAnonymous(exchange, () => {
          metrics.authenticationFailed();
          answers.problem(exchange, new GrantdError('unauthorized', 'Send "Authorization: Bearer <API key>".'));
        });
        return;
      }
      let session: TenantSession | Promise<TenantSession>;
      try {
        session = front.authenticate(exchange, token, admitUnknown);
      } catch (error) {
        serveAnonymous(exchange, () => fail(exchange)(error));
        return;
      }
      if (session instanceof Promise) {
        session.then(
          guarded(exchange, (verified) => limit(exchange, verified, route)),
          guarded(exchange, (error: unknown) => failVerification(exchange, error)),
        );
      } else if (turns.idle(exchange.incoming.startedAtMs, ANSWER_MS)) {
        limit(exchange, session, route);
      } else {
        const verified = session;
        defer(exchange, verified.tenantId, () => limit(exchange, verified, route));
      }
    } catch (error) {
      answers.problem(exchange, error);
    }
  };

  return { serve, serveAnonymous };
}
