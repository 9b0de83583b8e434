// The express application of the public interface: which path leads where. Every path that needs a key leads into the
// one pipeline. There is no chain of middleware, since each link would cost every check.

import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Request, type Response } from 'express';
import { GrantdError } from '../core/errors.ts';
import type { IdFactory } from '../core/ids.ts';
import type { AuthzenConfiguration, PublicPages } from './pages/public-pages.ts';
import { Exchange } from './pipeline/exchange.ts';
import type { OperationMeter, RequestMetrics } from './pipeline/request-metrics.ts';
import type { Pipeline } from './pipeline/request-pipeline.ts';
import type { PublicPage, ResponseWriter } from './pipeline/response-writer.ts';
import { expressPath, type HttpRoute } from './pipeline/routes.ts';
import type { Connections } from './wire/connections.ts';
import type { Incoming } from './wire/incoming.ts';
import { NodeIncoming, type NodeIncomingOptions, refusalOfAmbiguity } from './wire/node-incoming.ts';

export interface App {
  /** Takes every request that Node's parser lets through. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Takes a request to a path without parameters that has an operation; false: the path has none. */
  readonly serveDirect: (incoming: Incoming) => boolean;
}

/** The label in metrics for requests that match no operation. */
const OTHER = 'other';
const ERROR_PAGE = 'errorPage';
const DOCS_PAGE = 'docsPage';
const AUTHZEN_CONFIGURATION = 'readAuthzenConfiguration';

/** RFC 9112 section 3.2.2: a target may name scheme and authority, which are ignored here. */
const SCHEME_AND_AUTHORITY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Whether a client without a key gets no hint about the path. */
export function needsKey(target: string): boolean {
  const path = target.replace(SCHEME_AND_AUTHORITY, '').split(/[?#]/, 1)[0] ?? '';
  return path.startsWith('/v1/') || path.startsWith('/access/v1/') || path === '/openapi.json';
}

export function createApp(
  dependencies: {
    readonly ids: IdFactory;
    readonly connections: Connections;
    readonly answers: ResponseWriter;
    readonly pipeline: Pipeline;
    readonly metrics: RequestMetrics;
    readonly pages: PublicPages;
    /** The OpenAPI document, which needs no key. */
    readonly openapiText: string;
    /** Undefined: there is none. */
    readonly configuration: AuthzenConfiguration | undefined;
  },
  options: {
    readonly routes: readonly HttpRoute[];
    readonly deadlineMs: number;
    /** The refusal of a request for a target at which there is nothing. */
    readonly nothingAt: (target: string) => GrantdError;
    readonly incoming: NodeIncomingOptions;
  },
): App {
  const { ids, connections, answers, pipeline, metrics, pages, openapiText, configuration } = dependencies;
  const { routes, deadlineMs, nothingAt } = options;
  const other = metrics.meterOf(OTHER);
  const errorPage = metrics.meterOf(ERROR_PAGE);
  const docsPage = metrics.meterOf(DOCS_PAGE);

  // Only the router: the application around it gives each request and response another prototype. V8 then loses their
  // hidden classes, which costs every check some microseconds, for conveniences that nothing here uses.
  const router = express.Router({ strict: true, caseSensitive: true });

  const begin = (incoming: Incoming): Exchange =>
    new Exchange(ids.create('req'), incoming.startedAtMs + deadlineMs, incoming, other);

  /**
   * The exchange of a request that Node has read; undefined if it has already been answered, or if no client waits for
   * a response.
   */
  const beginNode = (request: Request, response: Response): Exchange | undefined => {
    const connection = connections.of(request.socket);
    if (connection === undefined) {
      response.destroy();
      return undefined;
    }
    const exchange = begin(new NodeIncoming(request, response, connection, options.incoming));
    if (connection.surplus) {
      answers.problem(exchange, new GrantdError('overloaded', 'Too many connections are open. Nothing was changed.'));
      return undefined;
    }
    // RFC 9112 section 3.2: HTTP/1.1 without Host gets a 400. Its value is never used.
    if (request.headers.host === undefined && request.httpVersionMinor > 0) {
      answers.problem(exchange, new GrantdError('invalid-request', 'The header Host is missing.'));
      return undefined;
    }
    const ambiguity = refusalOfAmbiguity(request, response);
    if (ambiguity !== undefined) {
      answers.problem(exchange, ambiguity);
      return undefined;
    }
    return exchange;
  };

  /** Operations at a path without parameters. Nearly all requests are theirs, and skip the router. */
  const direct = new Map<string, HttpRoute>();
  for (const route of routes) {
    if (!route.path.includes('{')) direct.set(route.path, route);
    router.all(expressPath(route.path), (request, response) => serveRoute(request, response, route));
  }

  const serveRoute = (request: Request, response: Response, route: HttpRoute): void => {
    const exchange = beginNode(request, response);
    if (exchange !== undefined) pipeline.serve(exchange, route);
  };

  /** Serves a request that needs no key. Node sends no body in response to HEAD. */
  const servePublic = (
    request: Request,
    response: Response,
    meter: OperationMeter,
    answer: (exchange: Exchange) => void,
    responseBytes = 0,
  ): void => {
    const exchange = beginNode(request, response);
    if (exchange === undefined) return;
    exchange.meter = meter;
    if (request.method === 'GET' || request.method === 'HEAD') {
      pipeline.serveAnonymous(exchange, () => answer(exchange), request.method === 'GET' ? responseBytes : 0);
      return;
    }
    const details = { allow: 'GET, HEAD' };
    const error = new GrantdError('method-not-allowed', 'This path accepts GET and HEAD.', { details });
    pipeline.serveAnonymous(exchange, () => answers.problem(exchange, error));
  };
  const servePage = (request: Request, response: Response, page: PublicPage, meter: OperationMeter): void =>
    servePublic(request, response, meter, (exchange) => answers.page(exchange, page), page.bytes);
  router.all('/', (request, response) => servePage(request, response, pages.front, docsPage));
  router.all('/docs', (request, response) => servePage(request, response, pages.reference, docsPage));
  for (const [path, file] of pages.assets) {
    router.all(path, (request, response) => servePage(request, response, file, docsPage));
  }
  const openapiBytes = Buffer.byteLength(openapiText);
  const answerOpenapi = (exchange: Exchange): void => answers.reply(exchange, { status: 200, json: openapiText });
  router.all('/docs/openapi.json', (request, response) =>
    servePublic(request, response, docsPage, answerOpenapi, openapiBytes),
  );
  router.all('/errors', (request, response) => servePage(request, response, pages.errors.index, errorPage));
  router.all('/errors/:type', (request, response) => {
    const page = pages.errors.byType.get(request.params.type);
    if (page !== undefined) servePage(request, response, page, errorPage);
    else
      serveNothing(
        request,
        response,
        new GrantdError('not-found', 'There is no error type with this name. The index at /errors has all.'),
        errorPage,
      );
  });

  if (configuration !== undefined) {
    const { path, json } = configuration;
    const meter = metrics.meterOf(AUTHZEN_CONFIGURATION);
    router.all(new RegExp(`^${RegExp.escape(path)}$`), (request, response) =>
      servePublic(request, response, meter, (exchange) => answers.reply(exchange, { status: 200, json })),
    );
  }

  /** There is nothing at the path, or it cannot be decoded, so it names nothing either. */
  const serveNothing = (request: Request, response: Response, error = nothingAt(request.url), meter = other): void => {
    const exchange = beginNode(request, response);
    if (exchange === undefined) return;
    exchange.meter = meter;
    if (needsKey(request.url)) pipeline.serve(exchange, undefined);
    else {
      pipeline.serveAnonymous(exchange, () => answers.problem(exchange, error));
    }
  };

  return {
    listener(incoming, outgoing) {
      const [request, response] = [incoming as Request, outgoing as Response];
      const serve = (): void => {
        const route = direct.get(request.url);
        if (route === undefined) router(request, response, () => serveNothing(request, response));
        else serveRoute(request, response, route);
      };
      const gate = connections.of(request.socket)?.gate;
      if (gate === undefined) response.destroy();
      else gate.admit(request, response, serve);
    },
    serveDirect(incoming) {
      const { url } = incoming;
      const route = direct.get(url) ?? direct.get(url.slice(0, Math.max(0, url.indexOf('?'))));
      if (route === undefined) return false;
      pipeline.serve(begin(incoming), route);
      return true;
    },
  };
}
