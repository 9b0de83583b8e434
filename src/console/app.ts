// The console's express app. A request goes: request id → 401 → 404/405 → operation → answer. Everything below
// /operator/v1/ needs an operator token; every error leaves as a problem document through one mapping.

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { GrantdError } from '../core/errors.ts';
import type { IdFactory } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { problemOf } from '../core/problem.ts';
import type { OperatorApi } from '../front/front.ts';
import type { FailureLimiter } from '../front/rate-limiter.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { sendAnswer, sendProblem } from './answers.ts';
import { authenticate } from './authentication.ts';
import { browseOperations } from './browse.ts';
import { clusterOperations } from './cluster.ts';
import { exportOperations } from './export.ts';
import { grantOperations } from './grants.ts';
import { importOperations } from './import.ts';
import { keyOperations } from './keys.ts';
import { namespaceOperations } from './namespaces.ts';
import type { Operation } from './operation.ts';
import type { OperatorTokens } from './operator-tokens.ts';
import { tenantOperations } from './tenants.ts';

const OPERATOR_API_PREFIX = '/operator/v1';
const DEADLINE_MS_DEFAULT = 10_000;

export interface ConsoleDependencies {
  readonly operator: OperatorApi;
  readonly tokens: OperatorTokens;
  readonly ids: IdFactory;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Without it, failed authentications are counted but not limited. */
  readonly failureLimiter?: FailureLimiter;
}

export interface ConsoleOptions {
  readonly errorsBase: string;
  readonly plans: Plans;
  /** Of one step of a request at the shards. */
  readonly deadlineMs?: number;
}

/** Of one request; kept in `response.locals`. */
interface Locals {
  readonly requestId: string;
  readonly startedMs: number;
  operation: string;
  /** Undefined outside the operator's API. */
  operator: string | undefined;
}

type ConsoleResponse = Response<unknown, Locals & Record<string, unknown>>;

function consoleOperations(
  dependencies: Pick<ConsoleDependencies, 'operator' | 'clock'>,
  options: Pick<ConsoleOptions, 'errorsBase' | 'plans'>,
): readonly Operation[] {
  const { operator, clock } = dependencies;
  return [
    ...tenantOperations(operator, options.plans),
    ...keyOperations(operator, clock),
    ...grantOperations(operator),
    ...namespaceOperations(operator),
    ...browseOperations(operator),
    ...importOperations(operator, options.errorsBase),
    ...exportOperations(operator),
    ...clusterOperations(operator, options.plans),
  ];
}

const searchOf = (url: string): string => {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
};

/** Refuses what express could not route: a path that is not percent-encoded UTF-8 names nothing. */
function requireDecodablePath(path: string): void {
  try {
    decodeURIComponent(path);
  } catch (cause) {
    const code = path.startsWith(`${OPERATOR_API_PREFIX}/tenants/`) ? 'tenant-not-found' : 'not-found';
    throw new GrantdError(code, 'The path is not percent-encoded UTF-8.', { cause });
  }
}

export function createConsoleApp(dependencies: ConsoleDependencies, options: ConsoleOptions): Express {
  const { ids, clock, log, metrics } = dependencies;
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS_DEFAULT;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('strict routing');
  app.enable('case sensitive routing');

  app.use((request: Request, response: ConsoleResponse, next: NextFunction) => {
    const { locals } = response;
    Object.assign(locals, { requestId: ids.create('req'), startedMs: clock.monotonicMs(), operation: 'none' });
    response.setHeader('X-Service-Request-Id', locals.requestId);
    response.setHeader('Cache-Control', 'no-store');
    response.once('close', () => {
      const elapsedMs = clock.monotonicMs() - locals.startedMs;
      const status = String(response.statusCode);
      metrics.httpRequestSeconds.observe({ operation: locals.operation, status }, elapsedMs / 1000);
      if (log.isLevelEnabled('debug')) {
        const { requestId, operation, operator } = locals;
        log.debug({ requestId, operation, operator, status: response.statusCode, elapsedMs }, 'operator request');
      }
    });
    if (request.path === OPERATOR_API_PREFIX || request.path.startsWith(`${OPERATOR_API_PREFIX}/`)) {
      locals.operator = authenticate(request, dependencies);
    }
    requireDecodablePath(request.path);
    next();
  });

  const run = async (operation: Operation, request: Request, response: ConsoleResponse): Promise<void> => {
    const { locals } = response;
    locals.operation = operation.name;
    assert(locals.operator !== undefined, 'an operation runs for an operator who was authenticated');
    const answer = await operation.run({
      request,
      search: searchOf(request.url),
      parameters: request.params as Record<string, string>,
      operator: locals.operator,
      context: () => ({ requestId: locals.requestId, deadlineMs: clock.monotonicMs() + deadlineMs }),
    });
    await sendAnswer(response, answer, request.method === 'HEAD');
  };

  const byPath = Map.groupBy(consoleOperations(dependencies, options), (operation) => operation.path);
  for (const [path, operations] of byPath) {
    const methods = new Map(operations.map((operation) => [operation.method as string, operation]));
    const get = methods.get('GET');
    if (get !== undefined) methods.set('HEAD', get);
    const allow = [...methods.keys()].sort().join(', ');
    app.all(`${OPERATOR_API_PREFIX}${path}`, (request: Request, response: ConsoleResponse) => {
      const operation = methods.get(request.method);
      if (operation !== undefined) return run(operation, request, response);
      throw new GrantdError('method-not-allowed', `This path has only ${allow}.`, { details: { allow } });
    });
  }

  app.use(() => {
    throw new GrantdError('not-found', 'There is nothing at this path.');
  });

  // Express tells an error handler by its four parameters.
  app.use((thrown: unknown, _request: Request, response: ConsoleResponse, _next: NextFunction) => {
    const error = GrantdError.from(thrown);
    const { requestId } = response.locals;
    const problem = problemOf(error, { errorsBase: options.errorsBase, requestId });
    if (problem.status === 500) log.error({ requestId, err: error.cause ?? error }, 'operator request failed');
    else if (problem.status === 503) log.warn({ requestId, err: error.cause ?? error }, 'operator request refused');
    // What is left of a body that nobody will read is dropped, and the connection with it.
    if (problem.status === 413) response.setHeader('Connection', 'close');
    sendProblem(response, problem);
  });
  return app;
}
