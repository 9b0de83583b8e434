// The console's express app: the operator's API through its door (operator-door.ts), and the pages, which have a router
// of their own: a session gives no access to operations, and a token in a header gives none to pages.

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Plans } from '../../core/plans.ts';
import { problemOf } from '../../core/problem.ts';
import type { Operator } from '../../core/scopes.ts';
import { clientRequestIdOf } from '../../core/text/header-fields.ts';
import { createRequestOrigin } from '../../http/wire/client-address.ts';
import { refusalOfAmbiguity } from '../../http/wire/node-incoming.ts';
import type { ClusterWatch } from '../cluster-watch.ts';
import type { LogInCode } from '../console/log-in-code.ts';
import { PAGES_PREFIX } from '../console/page.ts';
import { createPages } from '../console/page-table.ts';
import type { ConsoleIdentity } from '../console/parts/layout.ts';
import { createOperatorDoor, type OperatorDoorDependencies } from './operator-door.ts';

const DEADLINE_MS_DEFAULT = 10_000;

export interface ConsoleDependencies extends OperatorDoorDependencies {
  readonly random: Random;
  /** Without it, only a token opens the pages. */
  readonly logInCode?: LogInCode | undefined;
}

export interface ConsoleOptions extends ConsoleIdentity {
  readonly errorsBase: string;
  readonly plans: Plans;
  /** For each step of a request at the shards. */
  readonly deadlineMs?: number;
  /** Addresses and networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustedProxies?: readonly string[];
}

/** The state of one request for a page; kept in `response.locals`. */
interface Locals {
  readonly requestId: string;
  readonly startedMs: number;
  operation: string;
  operator: Operator | undefined;
}

type ConsoleResponse = Response<unknown, Locals & Record<string, unknown>>;

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

  app.use(createOperatorDoor({ ...dependencies, origin }, { ...options, deadlineMs }));
  app.use((request: Request, response: ConsoleResponse, next: NextFunction) => {
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
      if (log.isLevelEnabled('debug')) {
        const { requestId, operation, operator } = locals;
        log.debug(
          { requestId, clientRequestId, operation, operator: operator?.name, status: response.statusCode, elapsedMs },
          'page request',
        );
      }
    });
    const ambiguity = refusalOfAmbiguity(request, response);
    if (ambiguity !== undefined) throw ambiguity;
    next();
  });

  app.get('/', (_request: Request, response: ConsoleResponse) => {
    response.writeHead(303, { Location: `${PAGES_PREFIX}/`, 'Content-Length': 0 });
    response.end();
  });
  app.use(PAGES_PREFIX, createPages({ ...dependencies, origin }, { ...options, deadlineMs }));

  app.use(() => {
    throw new GrantdError('not-found', 'There is nothing at this path.');
  });

  // Express recognizes an error handler by its four parameters.
  app.use((thrown: unknown, _request: Request, response: ConsoleResponse, _next: NextFunction) => {
    const error = GrantdError.from(thrown);
    const { requestId } = response.locals;
    const problem = problemOf(error, { errorsBase: options.errorsBase, requestId });
    if (problem.status === 500) log.error({ requestId, err: error.cause ?? error }, 'page request failed');
    const body = JSON.stringify(problem.body);
    response.writeHead(problem.status, { ...problem.headers, 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
  return app;
}
