// The console's express app: the operator's API through its door (operator-door.ts), and the pages, whose router a role
// hands in: a session gives no access to operations, and a token in a header gives none to pages.

import express, { type Express, type NextFunction, type Request, type Response, type Router } from 'express';
import { GrantdError } from '../../core/errors.ts';
import type { Plans } from '../../core/plans.ts';
import { problemOf } from '../../core/problem.ts';
import type { Operator } from '../../core/scopes.ts';
import { clientRequestIdOf } from '../../core/text/header-fields.ts';
import { createRequestOrigin } from '../../http/wire/client-address.ts';
import { refusalOfAmbiguity } from '../../http/wire/node-incoming.ts';
import { createOperatorDoor, type OperatorDoorDependencies } from './operator-door.ts';

/** For each step of a request at the shards. */
export const STEP_MS_MAX = 10_000;

/** The pages for the browser. */
export interface OperatorPages {
  /** The path below which they are. */
  readonly prefix: string;
  readonly router: Router;
  /** From now on, they look at the cluster by themselves. */
  start(): void;
  close(): void;
}

export interface ConsoleDependencies extends OperatorDoorDependencies {
  readonly pages: OperatorPages;
}

export interface ConsoleOptions {
  readonly errorsBase: string;
  readonly plans: Plans;
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

export function createConsoleApp(dependencies: ConsoleDependencies, options: ConsoleOptions): Express {
  const { pages, ids, clock, log, metrics } = dependencies;
  const origin = createRequestOrigin(options.trustedProxies ?? []);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('strict routing');
  app.enable('case sensitive routing');

  app.use(createOperatorDoor({ ...dependencies, origin }, { ...options, deadlineMs: STEP_MS_MAX }));
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
    response.writeHead(303, { Location: `${pages.prefix}/`, 'Content-Length': 0 });
    response.end();
  });
  app.use(pages.prefix, pages.router);

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
