// The console's express app. A request of the operator's API passes: request id → 401 → 404/405 → 403 → query →
// operation → response. Everything below /operator/v1/ needs the token of an operator, and each operation the access
// that it declares; one mapping turns every error into a problem document. The pages have a router of their own: a
// session gives no access to operations, and a token in a header gives none to pages.

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { assert } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory } from '../../core/ids.ts';
import type { Plans } from '../../core/plans.ts';
import { problemOf } from '../../core/problem.ts';
import { type Operator, requireAccess } from '../../core/scopes.ts';
import { clientRequestIdOf } from '../../core/text/client-request-id.ts';
import { ambiguityOf } from '../../core/text/header-fields.ts';
import type { OperatorApi } from '../../front/front.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { beginRequestSpan, endRequestSpan } from '../../telemetry/request-spans.ts';
import type { TraceSpan, Tracing } from '../../telemetry/spans.ts';
import { createRequestOrigin } from '../client-address.ts';
import type { ClusterWatch } from '../cluster-watch.ts';
import type { LogInCode } from '../console/log-in-code.ts';
import { PAGES_PREFIX } from '../console/page.ts';
import { createPages } from '../console/page-table.ts';
import type { ConsoleIdentity } from '../console/parts/layout.ts';
import type { IdentityProvider } from '../identity/identity-provider.ts';
import type { OperatorTokens } from '../operator-tokens.ts';
import { parseQuery } from '../schemas.ts';
import { authenticate } from './authentication.ts';
import { type Call, labelOf, type OperatorOperation } from './operation.ts';
import { createOperatorOperations } from './operation-table.ts';
import { OPERATOR_API_PREFIX } from './operator-openapi.ts';
import { sendProblem, sendResponse } from './response-writer.ts';

const DEADLINE_MS_DEFAULT = 10_000;

export interface ConsoleDependencies {
  readonly operator: OperatorApi;
  readonly tokens: OperatorTokens;
  /** Without it, only operator tokens give access. */
  readonly identityProvider?: IdentityProvider | undefined;
  readonly ids: IdFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Without it, failed authentications are counted but not limited. */
  readonly failureLimiter?: FailureLimiter;
  /** Without it, only a token opens the pages. */
  readonly logInCode?: LogInCode | undefined;
  /** Without it, nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

export interface ConsoleOptions extends ConsoleIdentity {
  readonly errorsBase: string;
  readonly plans: Plans;
  /** For each step of a request at the shards. */
  readonly deadlineMs?: number;
  /** Addresses and networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustedProxies?: readonly string[];
}

/** The state of one request; kept in `response.locals`. */
interface Locals {
  readonly requestId: string;
  readonly startedMs: number;
  operation: string;
  /** Undefined outside the operator's API. */
  operator: Operator | undefined;
  /** For an operation that is traced. */
  span: TraceSpan | undefined;
}

type ConsoleResponse = Response<unknown, Locals & Record<string, unknown>>;

const searchOf = (url: string): string => {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
};

/** Refuses paths that express cannot route: one that is not percent-encoded UTF-8 names nothing. */
function requireDecodablePath(path: string): void {
  try {
    decodeURIComponent(path);
  } catch (cause) {
    const code = path.startsWith(`${OPERATOR_API_PREFIX}/tenants/`) ? 'tenant-not-found' : 'not-found';
    throw new GrantdError(code, 'The path is not percent-encoded UTF-8.', { cause });
  }
}

const isPage = (path: string): boolean => path === PAGES_PREFIX || path.startsWith(`${PAGES_PREFIX}/`);

/** Runs an operation and sends its response. */
function createRunner(
  { operator: api, clock, tracing }: Pick<ConsoleDependencies, 'operator' | 'clock' | 'tracing'>,
  { plans, errorsBase, deadlineMs }: Pick<ConsoleOptions, 'plans' | 'errorsBase'> & { readonly deadlineMs: number },
) {
  return async (operation: OperatorOperation, request: Request, response: ConsoleResponse): Promise<void> => {
    const { locals } = response;
    locals.operation = labelOf(operation);
    if (tracing !== undefined) {
      const { method, httpVersion, headers } = request;
      const route = `${OPERATOR_API_PREFIX}${operation.path}`;
      const traced = {
        method,
        httpVersion,
        headers: { traceparent: headers.traceparent, tracestate: headers.tracestate },
        onceClosed: (listener: () => void) => void response.once('close', listener),
      };
      locals.span = beginRequestSpan(tracing, traced, {
        route,
        requestId: locals.requestId,
        elapsedMs: clock.monotonicMs() - locals.startedMs,
      });
    }
    const { operator } = locals;
    assert(operator !== undefined, 'an operation runs only for an authenticated operator');
    requireAccess(operator, operation.access ?? 'full');
    // Here, for all operations: one that ignored a parameter would do what its caller wanted to prevent.
    const query = parseQuery(searchOf(request.url), operation.query ?? {});
    const call: Call = {
      api,
      clock,
      plans,
      errorsBase,
      request,
      parameters: request.params as Record<string, string>,
      operator: operator.name,
      context: () => ({
        requestId: locals.requestId,
        deadlineMs: clock.monotonicMs() + deadlineMs,
        span: locals.span,
      }),
    };
    const answer = await operation.run(call, query);
    await sendResponse(response, answer, request.method === 'HEAD');
  };
}

export function createConsoleApp(
  dependencies: ConsoleDependencies & { readonly watch: ClusterWatch },
  options: ConsoleOptions,
): Express {
  const { ids, clock, log, metrics } = dependencies;
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT;
  const origin = createRequestOrigin(options.trustedProxies ?? []);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('strict routing');
  app.enable('case sensitive routing');

  app.use(async (request: Request, response: ConsoleResponse, next: NextFunction) => {
    const { locals } = response;
    Object.assign(locals, { requestId: ids.create('req'), startedMs: clock.monotonicMs(), operation: 'none' });
    response.setHeader('X-Service-Request-Id', locals.requestId);
    response.setHeader('Cache-Control', 'no-store');
    const given = request.headers['x-request-id'];
    const clientRequestId = given === undefined ? undefined : clientRequestIdOf(given);
    if (clientRequestId !== undefined) response.setHeader('X-Request-ID', clientRequestId);
    response.once('close', () => {
      const elapsedMs = clock.monotonicMs() - locals.startedMs;
      const status = String(response.statusCode);
      metrics.httpRequestSeconds.labels(locals.operation, status).observe(elapsedMs / 1000);
      if (locals.span !== undefined) endRequestSpan(locals.span, response.statusCode);
      if (log.isLevelEnabled('debug')) {
        const { requestId, operation, operator } = locals;
        log.debug(
          { requestId, clientRequestId, operation, operator: operator?.name, status: response.statusCode, elapsedMs },
          'operator request',
        );
      }
    });
    const ambiguity = ambiguityOf(request.rawHeaders, request.headers['transfer-encoding']);
    if (ambiguity !== undefined) {
      // What follows on this connection may be meant as a part of this request.
      response.shouldKeepAlive = false;
      throw new GrantdError('invalid-request', ambiguity);
    }
    if (request.path === OPERATOR_API_PREFIX || request.path.startsWith(`${OPERATOR_API_PREFIX}/`)) {
      locals.operator = await authenticate(request, origin.addressOf(request), dependencies);
    }
    if (!isPage(request.path)) requireDecodablePath(request.path);
    next();
  });

  app.get('/', (_request: Request, response: ConsoleResponse) => {
    response.writeHead(303, { Location: `${PAGES_PREFIX}/`, 'Content-Length': 0 });
    response.end();
  });
  app.use(PAGES_PREFIX, createPages({ ...dependencies, origin }, { ...options, deadlineMs }));

  const run = createRunner(dependencies, { ...options, deadlineMs });
  const byPath = Map.groupBy(createOperatorOperations(options.errorsBase), (operation) => operation.path);
  for (const [path, operations] of byPath) {
    const methods = new Map(operations.map((operation) => [operation.method as string, operation]));
    const get = methods.get('GET');
    if (get !== undefined) methods.set('HEAD', get);
    const allow = [...methods.keys()].sort().join(', ');
    app.all(
      `${OPERATOR_API_PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      (request: Request, response: ConsoleResponse) => {
        const operation = methods.get(request.method);
        if (operation !== undefined) return run(operation, request, response);
        throw new GrantdError('method-not-allowed', `This path supports only ${allow}.`, { details: { allow } });
      },
    );
  }

  app.use(() => {
    throw new GrantdError('not-found', 'There is nothing at this path.');
  });

  // Express recognizes an error handler by its four parameters.
  app.use((thrown: unknown, _request: Request, response: ConsoleResponse, _next: NextFunction) => {
    const error = GrantdError.from(thrown);
    const { requestId } = response.locals;
    const problem = problemOf(error, { errorsBase: options.errorsBase, requestId });
    if (problem.status === 500) log.error({ requestId, err: error.cause ?? error }, 'operator request failed');
    else if (problem.status === 503) log.warn({ requestId, err: error.cause ?? error }, 'operator request refused');
    // The unread rest of a body is dropped, together with the connection.
    if (problem.status === 413) response.setHeader('Connection', 'close');
    sendProblem(response, problem);
  });
  return app;
}
