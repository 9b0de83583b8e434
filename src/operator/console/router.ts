// The path of a request for a page: security headers → same-site check → session → 404/405 → access → CSRF → page →
// response. Failures are pages too. No code of a page runs without a session that has the access it declares, and no
// form from another session changes anything.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { type Operator, requireAccess } from '../../core/operator-access.ts';
import { problemOf } from '../../core/problem.ts';
import { renderMarkup } from '../../http/pages/markup.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RequestOrigin } from '../client-address.ts';
import type { Assets } from './assets.ts';
import { Fields, FORM_BYTES_MAX, LOG_IN_FORM_BYTES_MAX, NO_FIELDS, readForm } from './forms.ts';
import {
  type ConsolePage,
  PAGES_PREFIX,
  type PageDependencies,
  type PageResult,
  pathTo,
  type ShownPage,
  page as showPage,
} from './page.ts';
import { errorBody } from './pages/error.ts';
import { type LogIn, type RefusedLogIn, showLogIn } from './pages/log-in.ts';
import { LOG_IN_SECONDS_MAX, type ProviderLogIn, showContinue } from './pages/provider-log-in.ts';
import { type ConsoleIdentity, renderDocument } from './parts/layout.ts';
import { isFormOf, type OperatorSession, type OperatorSessions } from './sessions.ts';

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const HTML = 'text/html; charset=utf-8';
const compress = promisify<Buffer, Buffer>(gzip);
const ASSET_AGE_SECONDS = 31_536_000;
/** `__Host-` before the name binds a cookie to this very host and requires TLS. */
type Cookie = readonly [name: string, sameSite: 'Strict' | 'Lax'];
const SESSION_COOKIE: Cookie = ['grantd_console', 'Strict'];
/** The cookie of a log-in at the identity provider, which the provider's redirect must bring back. */
const PROVIDER_COOKIE: Cookie = ['grantd_log_in', 'Lax'];

interface Locals {
  readonly requestId: string;
  operation: string;
  operator: Operator | undefined;
}

type PageResponse = Response<unknown, Locals & Record<string, unknown>>;
type Handler = (request: Request, response: PageResponse) => void | Promise<void>;

interface RouterDependencies extends PageDependencies {
  readonly pages: readonly ConsolePage[];
  readonly logIn: LogIn;
  /** Without it, only operator tokens log in. */
  readonly providerLogIn: ProviderLogIn | undefined;
  readonly sessions: OperatorSessions;
  readonly assets: Assets;
  readonly origin: RequestOrigin;
  readonly log: Log;
}

interface RouterOptions extends ConsoleIdentity {
  readonly errorsBase: string;
  readonly deadlineMs: number;
}

function cookieOf(request: IncomingMessage, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const separator = pair.indexOf('=');
    if (separator >= 0 && pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim();
  }
  return undefined;
}

const searchOf = (url: string): string => (url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
const queryOf = (request: Request): Fields => new Fields(searchOf(request.url));

function send(
  response: ServerResponse,
  status: number,
  contentType: string,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  response.writeHead(status, { 'Content-Type': contentType, ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

/** Below this, compression gains nothing. */
const COMPRESSED_BYTES_MIN = 1024;

/**
 * A part that a page requests again and again. Only such a part is compressed: it has no form, hence no secret that its
 * length could reveal next to a text of another user.
 */
async function sendRefreshed(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
  response.setHeader('Vary', 'Accept-Encoding');
  const accepted = /(?:^|,)\s*gzip\s*(?:,|$)/.test(String(request.headers['accept-encoding'] ?? ''));
  const bytes = Buffer.from(text, 'utf8');
  if (!accepted || bytes.length < COMPRESSED_BYTES_MIN) send(response, 200, HTML, bytes);
  else send(response, 200, HTML, await compress(bytes), { 'Content-Encoding': 'gzip' });
}

function redirect(response: ServerResponse, to: string): void {
  response.writeHead(303, { Location: to, 'Content-Length': 0 });
  response.end();
}

/** Refuses a path that express cannot route: only percent-encoded UTF-8 can be the path of a page. */
function requireDecodablePath(path: string): void {
  try {
    decodeURIComponent(path);
  } catch (cause) {
    throw new GrantdError('not-found', 'There is no page at this path.', { cause });
  }
}

/** Browsers report where a request comes from; a form of another site is refused before anything reads it. */
function requireSameSite(request: IncomingMessage): void {
  const site = request.headers['sec-fetch-site'];
  if (request.method === 'POST' && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new GrantdError('unauthorized', 'The form came from another site. Nothing was changed.');
  }
}

async function formOf(request: Request, session: OperatorSession): Promise<Fields> {
  const form = await readForm(request, FORM_BYTES_MAX);
  if (isFormOf(session, form.optional('csrf'))) return form;
  throw new GrantdError(
    'unauthorized',
    'The form does not belong to this session. Nothing was changed. Open the page again.',
  );
}

/** A route that is no page: the label of its metrics, if it has one of its own, the method, the path, and the handler. */
type Route = readonly [operation: string | undefined, method: 'get' | 'post', path: string, handler: Handler];

class PageServer {
  readonly #dependencies: RouterDependencies;
  readonly #options: RouterOptions;

  constructor(dependencies: RouterDependencies, options: RouterOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  router(): Router {
    const router = express.Router({ strict: true, caseSensitive: true });
    const add = ([operation, method, path, handle]: Route): void => {
      router[method](path, (request: Request, response: PageResponse) => {
        if (operation !== undefined) response.locals.operation = operation;
        return handle(request, response);
      });
    };
    router.use((request: Request, response: PageResponse, next: NextFunction) => {
      for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
      requireDecodablePath(request.path);
      requireSameSite(request);
      next();
    });
    for (const route of this.#routesForEveryone()) add(route);
    router.use((request: Request, response: PageResponse, next: NextFunction) => {
      if (this.#sessionOf(request, false) === undefined) this.#askToLogIn(request, response);
      else next();
    });
    add(['page-log-out', 'post', '/log-out', (request, response) => this.#logOut(request, response)]);
    for (const [path, pages] of Map.groupBy(this.#dependencies.pages, (page) => page.path)) {
      router.all(path, (request: Request, response: PageResponse) => this.#route(pages, request, response));
    }
    router.use(() => {
      throw new GrantdError('not-found', 'There is no page at this path.');
    });
    // Express recognizes an error handler by its four parameters.
    router.use((thrown: unknown, request: Request, response: PageResponse, _next: NextFunction) =>
      this.#fail(thrown, request, response),
    );
    return router;
  }

  #routesForEveryone(): readonly Route[] {
    const { providerLogIn } = this.#dependencies;
    const open: readonly Route[] = [
      ['page-asset', 'get', '/assets/:name', (request, response) => this.#sendAsset(request, response)],
      [undefined, 'get', '/', (request, response) => this.#begin(request, response)],
      ['page-log-in', 'get', '/log-in', (request, response) => this.#showLogIn(request, response)],
      ['page-log-in', 'post', '/log-in', (request, response) => this.#logIn(request, response)],
    ];
    if (providerLogIn === undefined) return open;
    const { begin, complete } = providerLogIn;
    const operation = 'page-provider-log-in';
    return [
      ...open,
      [operation, 'get', '/log-in/provider', (request, response) => this.#leaveForProvider(begin, request, response)],
      [
        operation,
        'get',
        '/log-in/callback',
        (request, response) => this.#returnFromProvider(complete, request, response),
      ],
    ];
  }

  // Cookies and sessions

  #cookieName(request: IncomingMessage, name: string): string {
    return this.#dependencies.origin.isSecure(request) ? `__Host-${name}` : name;
  }

  #cookieOf(request: IncomingMessage, name: string): string | undefined {
    return cookieOf(request, this.#cookieName(request, name));
  }

  /** Without an age, the cookie ends with the browser. An empty value removes it. */
  #setCookie(
    request: IncomingMessage,
    response: ServerResponse,
    [name, sameSite]: Cookie,
    value: string,
    ageSeconds?: number,
  ): void {
    const secure = this.#dependencies.origin.isSecure(request) ? '; Secure' : '';
    const age = value === '' ? 0 : ageSeconds;
    const ends = age === undefined ? '' : `; Max-Age=${age}`;
    const pair = `${this.#cookieName(request, name)}=${value}`;
    response.appendHeader('Set-Cookie', `${pair}; Path=/; HttpOnly; SameSite=${sameSite}${secure}${ends}`);
  }

  /** `active`: the request shows that the operator is there. */
  #sessionOf(request: IncomingMessage, active: boolean): OperatorSession | undefined {
    const id = this.#cookieOf(request, SESSION_COOKIE[0]);
    return id === undefined ? undefined : this.#dependencies.sessions.find(id, active);
  }

  #requireSession(request: IncomingMessage, active: boolean): OperatorSession {
    const session = this.#sessionOf(request, active);
    assert(session !== undefined, 'a page runs only for an operator who is logged in');
    return session;
  }

  // Logging in and out

  #begin(request: Request, response: PageResponse): void {
    if (this.#sessionOf(request, true) === undefined) this.#askToLogIn(request, response);
    else redirect(response, pathTo(['cluster']));
  }

  /** A page redirects to the log-in and back; for a request of htmx, the whole window goes there. */
  #askToLogIn(request: Request, response: PageResponse): void {
    const back = request.method === 'GET' ? request.originalUrl : undefined;
    if (request.headers['hx-request'] !== 'true') {
      redirect(response, pathTo(['log-in'], { to: back }));
      return;
    }
    const current = request.headers['hx-current-url'];
    const page = typeof current === 'string' && URL.canParse(current) ? new URL(current) : undefined;
    response.setHeader('HX-Redirect', pathTo(['log-in'], { to: page && `${page.pathname}${page.search}` }));
    send(response, 401, HTML, '');
  }

  #showLogIn(request: Request, response: PageResponse): void {
    const { logIn, providerLogIn } = this.#dependencies;
    const query = queryOf(request);
    if (this.#sessionOf(request, true) !== undefined) redirect(response, logIn.targetOf(query));
    else this.#sendDocument(request, response, undefined, showLogIn(query, undefined, providerLogIn !== undefined));
  }

  async #logIn(request: Request, response: PageResponse): Promise<void> {
    const { logIn, origin } = this.#dependencies;
    const form = await readForm(request, LOG_IN_FORM_BYTES_MAX);
    const outcome = logIn.attempt(origin.addressOf(request), form);
    if (outcome.kind === 'refused') {
      this.#refuseLogIn(request, response, form, outcome);
      return;
    }
    this.#enter(request, response, outcome.session);
    redirect(response, logIn.targetOf(form));
  }

  #refuseLogIn(request: Request, response: PageResponse, form: Fields, outcome: RefusedLogIn): void {
    const { refusal, retryAfterSeconds } = outcome;
    if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(retryAfterSeconds));
    const page = showLogIn(form, refusal, this.#dependencies.providerLogIn !== undefined);
    this.#sendDocument(request, response, undefined, page);
  }

  /** Gives the browser its new session. */
  #enter(request: Request, response: PageResponse, { id, operator }: OperatorSession): void {
    const { sessions, log } = this.#dependencies;
    const before = this.#cookieOf(request, SESSION_COOKIE[0]);
    if (before !== undefined) sessions.end(before);
    log.info({ requestId: response.locals.requestId, operator }, 'an operator logged in');
    this.#setCookie(request, response, SESSION_COOKIE, id);
  }

  async #leaveForProvider(begin: ProviderLogIn['begin'], request: Request, response: PageResponse): Promise<void> {
    const { url, cookie } = await begin(this.#dependencies.logIn.targetOf(queryOf(request)));
    this.#setCookie(request, response, PROVIDER_COOKIE, cookie, LOG_IN_SECONDS_MAX);
    redirect(response, url);
  }

  async #returnFromProvider(
    complete: ProviderLogIn['complete'],
    request: Request,
    response: PageResponse,
  ): Promise<void> {
    const { logIn, origin } = this.#dependencies;
    // Its address holds the code of the log-in.
    response.setHeader('Referrer-Policy', 'no-referrer');
    const kept = this.#cookieOf(request, PROVIDER_COOKIE[0]);
    const outcome = await complete(origin.addressOf(request), searchOf(request.url), kept);
    if (outcome.kind === 'refused') {
      this.#refuseLogIn(request, response, NO_FIELDS, outcome);
      return;
    }
    this.#enter(request, response, outcome.session);
    this.#setCookie(request, response, PROVIDER_COOKIE, '');
    const target = logIn.targetOf(new Fields(`to=${encodeURIComponent(outcome.target)}`));
    this.#sendDocument(request, response, undefined, showContinue(target));
  }

  async #logOut(request: Request, response: PageResponse): Promise<void> {
    const session = this.#requireSession(request, true);
    await formOf(request, session);
    this.#dependencies.sessions.end(session.id);
    this.#setCookie(request, response, SESSION_COOKIE, '');
    redirect(response, pathTo(['log-in'], { done: 'logged-out' }));
  }

  // Pages

  #route(pages: readonly ConsolePage[], request: Request, response: PageResponse): Promise<void> {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const page = pages.find((each) => each.method === method);
    if (page !== undefined) return this.#run(page, request, response);
    const allow = pages.map((each) => each.method).join(', ');
    throw new GrantdError('method-not-allowed', `This page supports only ${allow}.`, { details: { allow } });
  }

  async #run(page: ConsolePage, request: Request, response: PageResponse): Promise<void> {
    const { locals } = response;
    locals.operation = page.name;
    const session = this.#requireSession(request, page.unattended !== true);
    locals.operator = { name: session.operator, access: session.access };
    requireAccess(session, page.access);
    const form = page.method === 'POST' ? await formOf(request, session) : NO_FIELDS;
    const { operator, clock, plans, watch } = this.#dependencies;
    const result = await page.run({
      operator,
      clock,
      plans,
      watch,
      query: queryOf(request),
      form,
      parameters: request.params as Record<string, string>,
      session,
      context: () => ({ requestId: locals.requestId, deadlineMs: clock.monotonicMs() + this.#options.deadlineMs }),
    });
    await this.#sendResult(page, request, response, session, result);
  }

  async #sendResult(
    page: ConsolePage,
    request: Request,
    response: PageResponse,
    session: OperatorSession,
    result: PageResult,
  ): Promise<void> {
    switch (result.kind) {
      case 'page':
        this.#sendDocument(request, response, session, result);
        break;
      case 'part': {
        const text = renderMarkup(result.body);
        if (page.unattended === true) await sendRefreshed(request, response, text);
        else send(response, 200, HTML, text);
        break;
      }
      case 'file': {
        // The name is one of the console's own.
        const disposition = `attachment; filename="${result.name}"`;
        send(response, 200, result.contentType, result.text, { 'Content-Disposition': disposition });
        break;
      }
      default: {
        const { notice: text, undo, to } = result;
        session.notice = text === undefined ? undefined : { text, undo };
        redirect(response, to);
      }
    }
  }

  #sendDocument(
    request: Request,
    response: PageResponse,
    session: OperatorSession | undefined,
    { status, title, body }: ShownPage,
  ): void {
    const path = `${PAGES_PREFIX}${request.path}`;
    const text = renderDocument({ ...this.#options, assets: this.#dependencies.assets, title, session, path, body });
    if (session !== undefined) session.notice = undefined;
    send(response, status, HTML, text);
  }

  #sendAsset(request: Request, response: PageResponse): void {
    const asset = this.#dependencies.assets.find(String(request.params.name));
    if (asset === undefined) throw new GrantdError('not-found', 'There is nothing at this path.');
    response.setHeader('Cache-Control', `public, max-age=${ASSET_AGE_SECONDS}, immutable`);
    send(response, 200, asset.contentType, asset.bytes);
  }

  #fail(thrown: unknown, request: Request, response: PageResponse): void {
    const { log } = this.#dependencies;
    const error = GrantdError.from(thrown);
    const { requestId } = response.locals;
    const problem = problemOf(error, { errorsBase: this.#options.errorsBase, requestId });
    if (problem.status === 500) log.error({ requestId, err: error.cause ?? error }, 'page failed');
    else if (problem.status === 503) log.warn({ requestId, err: error.cause ?? error }, 'page refused');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    for (const name of ['Allow', 'Retry-After']) {
      const value = problem.headers[name];
      if (value !== undefined) response.setHeader(name, value);
    }
    // Within a session, the status is 403: a 401 would ask for another token.
    const status = error.code === 'unauthorized' ? 403 : problem.status;
    if (status === 413) response.setHeader('Connection', 'close');
    const page = showPage(problem.body.title, errorBody(error, requestId), { status });
    this.#sendDocument(request, response, this.#sessionOf(request, false), page);
  }
}

export const createPageRouter = (dependencies: RouterDependencies, options: RouterOptions): Router =>
  new PageServer(dependencies, options).router();
