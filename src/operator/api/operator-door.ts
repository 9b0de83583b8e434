// The operator's door: the way of a request below /operator/v1 to its operation. Invariant: nothing is answered before
// the operator is known. From then on the stages are those of the public door (http/pipeline/operation-pipeline.ts),
// without a rate limit, and with the access of the operator in place of the scopes of a key.

import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { Clock } from '../../core/async/clock.ts';
import { FairTurns, type Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory } from '../../core/ids.ts';
import type { Plans } from '../../core/plans.ts';
import { accessRefusal, type Operator } from '../../core/scopes.ts';
import type { OperatorApi } from '../../front/front.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import { Exchange, setSession } from '../../http/pipeline/exchange.ts';
import { OperationPipeline } from '../../http/pipeline/operation-pipeline.ts';
import { createRequestMetrics, type RequestMetrics } from '../../http/pipeline/request-metrics.ts';
import { createResponseWriter } from '../../http/pipeline/response-writer.ts';
import { createRoutes, expressPath, type HttpRoute, registerOperation } from '../../http/pipeline/routes.ts';
import { createBudgets } from '../../http/wire/budgets.ts';
import type { RequestOrigin } from '../../http/wire/client-address.ts';
import { createConnection } from '../../http/wire/connection.ts';
import { HTTP_BOUNDS } from '../../http/wire/limits.ts';
import { NodeIncoming, refusalOfAmbiguity } from '../../http/wire/node-incoming.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { beginRequestSpan } from '../../telemetry/request-spans.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import type { IdentityProvider } from '../identity/identity-provider.ts';
import type { OperatorTokens } from '../operator-tokens.ts';
import { tenantIdOf } from '../path-ids.ts';
import { authenticate } from './authentication.ts';
import { labelOf, type OperatorSession } from './operation.ts';
import { createOperatorOperations } from './operation-table.ts';
import { createOperatorOpenapi, OPERATOR_API_PREFIX } from './operator-openapi.ts';

/** The label in metrics for requests that match no operation. */
const NONE = 'none';

/** No metric counts the checks of operators. */
const UNCOUNTED = { authorized() {}, denied() {}, failed() {} };

/** A path that is not percent-encoded UTF-8 names nothing. */
function nothingAt(target: string): GrantdError {
  try {
    decodeURIComponent(target.split('?', 1)[0] ?? '');
    return new GrantdError('not-found', 'There is nothing at this path.');
  } catch (cause) {
    const code = target.startsWith(`${OPERATOR_API_PREFIX}/tenants/`) ? 'tenant-not-found' : 'not-found';
    return new GrantdError(code, 'The path is not percent-encoded UTF-8.', { cause });
  }
}

export interface OperatorDoorDependencies {
  readonly operator: OperatorApi;
  readonly tokens: OperatorTokens;
  /** Without it, only operator tokens give access. */
  readonly identityProvider?: IdentityProvider | undefined;
  readonly ids: IdFactory;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Without it, failed authentications are counted but not limited. */
  readonly failureLimiter?: FailureLimiter;
  /** Without it, nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Shared with everything else on this event loop. Undefined: nothing else runs there. */
  readonly turns?: Turns | undefined;
}

interface OperatorDoorOptions {
  readonly errorsBase: string;
  readonly plans: Plans;
  /** For each step of a request at the shards. */
  readonly deadlineMs: number;
}

class OperatorPipeline extends OperationPipeline<OperatorSession> {
  enter(exchange: Exchange<OperatorSession>, session: OperatorSession): void {
    this.guard(exchange, () => {
      setSession(exchange, session);
      this.admit(exchange);
    });
  }
}

function createOperatorRoutes(
  { clock, metrics }: { readonly clock: Clock; readonly metrics: RequestMetrics },
  errorsBase: string,
): readonly HttpRoute<OperatorSession>[] {
  const operations = createOperatorOperations();
  const openapiText = JSON.stringify(createOperatorOpenapi(operations, errorsBase));
  const services = { clock, outcomes: UNCOUNTED, openapiText };
  const registered = operations.map((operation) =>
    registerOperation(operation, services, {
      path: `${OPERATOR_API_PREFIX}${operation.path}`,
      meter: metrics.meterOf(labelOf(operation)),
      reserve: false,
      refusal: ({ operator }: OperatorSession) => accessRefusal(operator, operation.access),
    }),
  );
  return createRoutes(registered, { servesHead: true });
}

export function createOperatorDoor(
  dependencies: OperatorDoorDependencies & { readonly origin: RequestOrigin },
  { errorsBase, plans, deadlineMs }: OperatorDoorOptions,
): Router {
  const { operator: api, ids, clock, log, tracing, origin, turns = new FairTurns(clock) } = dependencies;
  const metrics = createRequestMetrics(dependencies.metrics);
  const bounds = { ...HTTP_BOUNDS, deadlineMs };
  const budgets = createBudgets({ clock, turns, meterOf: metrics.budgetMeterOf }, bounds);
  const incomingOptions = { clock, ...budgets, ...bounds };
  const answers = createResponseWriter({ clock, log }, { errorsBase, closing: () => false, refusalLevel: 'warn' });
  const { responses } = budgets;
  const pipeline = new OperatorPipeline({ clock, turns, answers, metrics, responses }, { deadlineMs, nothingAt });
  const other = metrics.meterOf(NONE);

  const sessionOf = (exchange: Exchange<OperatorSession>, request: Request, operator: Operator): OperatorSession => {
    const { requestId, span } = exchange;
    const parameters = (request.params ?? {}) as Record<string, string>;
    const context = () => ({ requestId, span, deadlineMs: clock.monotonicMs() + deadlineMs });
    return {
      tenantId: parameters.tenantId ?? operator.name,
      ...{ operator, api, clock, plans, errorsBase, parameters, context },
      isClosed: () => request.socket.destroyed,
      confirm: () => Promise.resolve(),
      tenant: async () => api.tenant(context(), tenantIdOf({ parameters }), operator.name),
    };
  };

  const serve = (request: Request, response: Response, route?: HttpRoute<OperatorSession>): void => {
    const address = origin.addressOf(request);
    const nowMs = clock.monotonicMs();
    const age = { nowMs, oldAtMs: Number.POSITIVE_INFINITY };
    const connection = createConnection(request.socket, { ...age, turnKey: address });
    const incoming = new NodeIncoming(request, response, connection, incomingOptions);
    const exchange = new Exchange<OperatorSession>(ids.create('req'), nowMs + deadlineMs, incoming, other);
    const ambiguity = refusalOfAmbiguity(request, response);
    if (ambiguity !== undefined) {
      answers.problem(exchange, ambiguity);
      return;
    }
    exchange.route = route;
    authenticate(request, address, dependencies).then(
      (operator) => {
        // From now on its connection does not give way to another one (server.ts).
        response.locals.operator = operator;
        if (tracing !== undefined) {
          const { requestId } = exchange;
          const elapsedMs = clock.monotonicMs() - incoming.startedAtMs;
          exchange.span = beginRequestSpan(tracing, incoming, { route: route?.path, requestId, elapsedMs });
        }
        pipeline.enter(exchange, sessionOf(exchange, request, operator));
      },
      (error: unknown) => answers.problem(exchange, error),
    );
  };

  const router = express.Router({ strict: true, caseSensitive: true });
  for (const route of createOperatorRoutes({ clock, metrics }, errorsBase)) {
    router.all(expressPath(route.path), (request: Request, response: Response) => serve(request, response, route));
  }
  router.use(OPERATOR_API_PREFIX, (request: Request, response: Response) => serve(request, response));
  // The path cannot be decoded. Express recognizes an error handler by its four parameters.
  router.use((_thrown: unknown, request: Request, response: Response, _: NextFunction) => serve(request, response));
  return router;
}
