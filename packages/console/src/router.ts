// The path of a request for a page: security headers → same-site check → session → 404/405 → access → CSRF → page →
// response. Failures are pages too. No code of a page runs without a session that has the access it declares, and no
// form from another session changes anything.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { assert } from '../../../src/core/assert.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { problemOf } from '../../../src/core/problem.ts';
import { type Operator, requireAccess } from '../../../src/core/scopes.ts';
import { renderMarkup } from '../../../src/http/pages/markup.ts';
import { sendChunks } from '../../../src/http/wire/chunks.ts';
import type { RequestOrigin } from '../../../src/http/wire/client-address.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import { type Assets, compress } from './assets.ts';
import { Fields, FORM_BYTES_MAX, LOG_IN_FORM_BYTES_MAX, NO_FIELDS, readForm } from './forms.ts';
import {
  type ConsolePage,
  PAGES_PREFIX,
  type PageDependencies,
  pathTo,
  type ShownPage,
  page as showPage,
} from './page.ts';
import { errorBody } from './pages/error.ts';
import { type LogIn, type RefusedLogIn, showLogIn } from './pages/log-in.ts';
import { LOG_IN_SECONDS_MAX, type ProviderLogIn, showContinue } from './pages/provider-log-in.ts';
import { type ConsoleIdentity, renderDocument } from './parts/layout.ts';
import { isFormOf, type OperatorSession, type OperatorSessions } from './sessions.ts';

/** `styles`: more styles that the browser may apply. */
const policyOf = (styles = ''): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'${styles && ` ${styles}`}; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
const NONCE_BYTES = 16;

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policyOf(),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const HTML = 'text/html; charset=utf-8';
const ASSET_AGE_SECONDS = 31_536_000;
interface Cookie {
  readonly name: string;
  readonly sameSite: 'Strict' | 'Lax';
}
const SESSION_COOKIE: Cookie = { name: 'grantd_console', sameSite: 'Strict' };
/** The cookie of a log-in at the identity provider, which the provider's redirect must bring back. */
const PROVIDER_COOKIE: Cookie = { name: 'grantd_log_in', sameSite: 'Lax' };

interface Locals {
  readonly requestId: string;
  operation: string;
  operator: Operator | undefined;
}

type PageResponse = Response<unknown, Locals & Record<string, unknown>>;

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

/** Below this, compression gains nothing. */
const COMPRESSED_BYTES_MIN = 1024;

/** One request for a page, and its response. */
class PageVisit {
  readonly site: RouterDependencies;
  readonly options: RouterOptions;
  readonly request: Request;
  readonly response: PageResponse;

  constructor(site: RouterDependencies, options: RouterOptions, request: Request, response: PageResponse) {
    this.site = site;
    this.options = options;
    this.request = request;
    this.response = response;
  }

  get search(): string {
    const { url } = this.request;
    return url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  }

  get query(): Fields {
    return new Fields(this.search);
  }

  get address(): string {
    return this.site.origin.addressOf(this.request);
  }

  /** `__Host-` before the name binds a cookie to this very host and requires TLS. */
  #cookieName({ name }: Cookie): string {
    return this.site.origin.isSecure(this.request) ? `__Host-${name}` : name;
  }

  cookie(cookie: Cookie): string | undefined {
    return cookieOf(this.request, this.#cookieName(cookie));
  }

  /** Without an age, the cookie ends with the browser. An empty value removes it. */
  setCookie(cookie: Cookie, value: string, ageSeconds?: number): void {
    const secure = this.site.origin.isSecure(this.request) ? '; Secure' : '';
    const age = value === '' ? 0 : ageSeconds;
    const ends = age === undefined ? '' : `; Max-Age=${age}`;
    const pair = `${this.#cookieName(cookie)}=${value}`;
    this.response.appendHeader('Set-Cookie', `${pair}; Path=/; HttpOnly; SameSite=${cookie.sameSite}${secure}${ends}`);
  }

  /** `active`: the operator made this request, not a page by itself. */
  findSession(active: boolean): OperatorSession | undefined {
    const id = this.cookie(SESSION_COOKIE);
    return id === undefined ? undefined : this.site.sessions.find(id, active);
  }

  requireSession(active: boolean): OperatorSession {
    const session = this.findSession(active);
    assert(session !== undefined, 'a page runs only for an operator who is logged in');
    return session;
  }

  async readForm(session: OperatorSession): Promise<Fields> {
    const form = await readForm(this.request, FORM_BYTES_MAX);
    if (isFormOf(session, form.optional('csrf'))) return form;
    throw new GrantdError(
      'unauthorized',
      'The form does not belong to this session. Nothing was changed. Open the page again.',
    );
  }

  send(status: number, type: string, content: string | Buffer, headers: Readonly<Record<string, string>> = {}): void {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    this.response.writeHead(status, { 'Content-Type': type, ...headers, 'Content-Length': bytes.length });
    this.response.end(bytes);
  }

  /**
   * Compresses what has no secret that its length could reveal next to a text of another user: a file, or a part
   * without a form, which a page requests again and again.
   */
  async sendCompressed(type: string, bytes: Buffer, compress: (bytes: Buffer) => Promise<Buffer>): Promise<void> {
    this.response.setHeader('Vary', 'Accept-Encoding');
    const accepted = /(?:^|,)\s*gzip\s*(?:,|$)/.test(String(this.request.headers['accept-encoding'] ?? ''));
    if (!accepted || bytes.length < COMPRESSED_BYTES_MIN) this.send(200, type, bytes);
    else this.send(200, type, await compress(bytes), { 'Content-Encoding': 'gzip' });
  }

  sendDocument(session: OperatorSession | undefined, { status, title, body, hasEditor }: ShownPage): void {
    const path = `${PAGES_PREFIX}${this.request.path}`;
    const styleNonce = hasEditor === true ? randomBytes(NONCE_BYTES).toString('base64') : undefined;
    if (styleNonce !== undefined) this.response.setHeader('Content-Security-Policy', policyOf(`'nonce-${styleNonce}'`));
    const facts = { title, session, path, body, styleNonce };
    const text = renderDocument({ ...this.options, assets: this.site.assets, ...facts });
    if (session !== undefined) session.notice = undefined;
    this.send(status, HTML, text);
  }

  /** For a request of htmx, the whole window goes there. */
  redirect(to: string): void {
    const isPart = this.request.headers['hx-request'] === 'true';
    this.response.writeHead(isPart ? 200 : 303, { [isPart ? 'HX-Redirect' : 'Location']: to, 'Content-Length': 0 });
    this.response.end();
  }
}

type Handler = (visit: PageVisit) => void | Promise<void>;
/** A route that is no page: the label of its metrics if it has one, the method, the path, and the handler. */
type Route = readonly [operation: string | undefined, method: 'get' | 'post', path: string, handle: Handler];

/** A page redirects to the log-in and back; for a request of htmx, the whole window goes there. */
function askToLogIn(visit: PageVisit): void {
  const { method, originalUrl, headers } = visit.request;
  if (headers['hx-request'] !== 'true') {
    visit.redirect(pathTo(['log-in'], { to: method === 'GET' ? originalUrl : undefined }));
    return;
  }
  const current = headers['hx-current-url'];
  const page = typeof current === 'string' && URL.canParse(current) ? new URL(current) : undefined;
  visit.response.setHeader('HX-Redirect', pathTo(['log-in'], { to: page && `${page.pathname}${page.search}` }));
  visit.send(401, HTML, '');
}

function sendLogInPage(visit: PageVisit, fields: Fields, refused?: RefusedLogIn): void {
  const seconds = refused?.retryAfterSeconds;
  if (seconds !== undefined) visit.response.setHeader('Retry-After', String(seconds));
  const hasProvider = visit.site.providerLogIn !== undefined;
  visit.sendDocument(undefined, showLogIn(fields, refused?.refusal, hasProvider));
}

/** Gives the browser its new session. */
function enter(visit: PageVisit, { id, operator }: OperatorSession): void {
  const { sessions, log } = visit.site;
  const before = visit.cookie(SESSION_COOKIE);
  if (before !== undefined) sessions.end(before);
  log.info({ requestId: visit.response.locals.requestId, operator }, 'an operator logged in');
  visit.setCookie(SESSION_COOKIE, id);
}

async function sendAsset(visit: PageVisit): Promise<void> {
  const asset = visit.site.assets.find(String(visit.request.params.name));
  if (asset === undefined) throw new GrantdError('not-found', 'There is nothing at this path.');
  visit.response.setHeader('Cache-Control', `public, max-age=${ASSET_AGE_SECONDS}, immutable`);
  await visit.sendCompressed(asset.contentType, asset.bytes, () => asset.compressed());
}

function begin(visit: PageVisit): void {
  if (visit.findSession(true) === undefined) askToLogIn(visit);
  else visit.redirect(pathTo(['cluster']));
}

function beginLogIn(visit: PageVisit): void {
  const { query } = visit;
  if (visit.findSession(true) === undefined) sendLogInPage(visit, query);
  else visit.redirect(visit.site.logIn.targetOf(query));
}

async function logIn(visit: PageVisit): Promise<void> {
  const form = await readForm(visit.request, LOG_IN_FORM_BYTES_MAX);
  const outcome = visit.site.logIn.attempt(visit.address, form);
  if (outcome.kind === 'refused') {
    sendLogInPage(visit, form, outcome);
    return;
  }
  enter(visit, outcome.session);
  visit.redirect(visit.site.logIn.targetOf(form));
}

async function logOut(visit: PageVisit): Promise<void> {
  const session = visit.requireSession(true);
  await visit.readForm(session);
  visit.site.sessions.end(session.id);
  visit.setCookie(SESSION_COOKIE, '');
  visit.redirect(pathTo(['log-in'], { done: 'logged-out' }));
}

const OPEN_ROUTES: readonly Route[] = [
  ['page-asset', 'get', '/assets/:name', sendAsset],
  [undefined, 'get', '/', begin],
  ['page-log-in', 'get', '/log-in', beginLogIn],
  ['page-log-in', 'post', '/log-in', logIn],
];

const providerRoutes = ({ begin: beginAtProvider, complete }: ProviderLogIn): readonly Route[] => [
  [
    'page-provider-log-in',
    'get',
    '/log-in/provider',
    async (visit) => {
      const { url, cookie } = await beginAtProvider(visit.site.logIn.targetOf(visit.query));
      visit.setCookie(PROVIDER_COOKIE, cookie, LOG_IN_SECONDS_MAX);
      visit.redirect(url);
    },
  ],
  [
    'page-provider-log-in',
    'get',
    '/log-in/callback',
    async (visit) => {
      // Its address holds the code of the log-in.
      visit.response.setHeader('Referrer-Policy', 'no-referrer');
      const outcome = await complete(visit.address, visit.search, visit.cookie(PROVIDER_COOKIE));
      if (outcome.kind === 'refused') {
        sendLogInPage(visit, NO_FIELDS, outcome);
        return;
      }
      enter(visit, outcome.session);
      visit.setCookie(PROVIDER_COOKIE, '');
      const target = visit.site.logIn.targetOf(new Fields(`to=${encodeURIComponent(outcome.target)}`));
      visit.sendDocument(undefined, showContinue(target));
    },
  ],
];

async function runPage(page: ConsolePage, visit: PageVisit): Promise<void> {
  const { request, site, options } = visit;
  const { locals } = visit.response;
  locals.operation = page.name;
  const session = visit.requireSession(page.unattended !== true);
  locals.operator = { name: session.operator, access: session.access };
  requireAccess(session, page.access);
  const form = page.method === 'POST' ? await visit.readForm(session) : NO_FIELDS;
  const { operator, clock, plans, watch, links } = site;
  const result = await page.run({
    ...{ operator, clock, plans, watch, links, session, form },
    query: visit.query,
    parameters: request.params as Record<string, string>,
    context: () => ({ requestId: locals.requestId, deadlineMs: clock.monotonicMs() + options.deadlineMs }),
  });
  if (result.kind === 'page') visit.sendDocument(session, result);
  else if (result.kind === 'part') {
    const text = renderMarkup(result.body);
    if (page.unattended === true) await visit.sendCompressed(HTML, Buffer.from(text, 'utf8'), compress);
    else visit.send(200, HTML, text);
  } else if (result.kind === 'file') {
    // The name is one of the console's own.
    const disposition = `attachment; filename="${result.name}"`;
    visit.send(200, result.contentType, result.text, { 'Content-Disposition': disposition });
  } else if (result.kind === 'stream') {
    const { name, contentType, chunks } = result;
    const headers = { 'Content-Disposition': `attachment; filename="${name}"`, 'Content-Type': contentType };
    await sendChunks(visit.response, headers, chunks, request.method === 'HEAD');
  } else {
    const { notice: text, undo, to } = result;
    session.notice = text === undefined ? undefined : { text, undo };
    visit.redirect(to);
  }
}

/** `pages`: those of the path, one for each method. */
function runOneOf(pages: readonly ConsolePage[], visit: PageVisit): Promise<void> {
  const { method } = visit.request;
  const page = pages.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
  if (page !== undefined) return runPage(page, visit);
  const allow = pages.map((each) => each.method).join(', ');
  throw new GrantdError('method-not-allowed', `This page supports only ${allow}.`, { details: { allow } });
}

/** Browsers report where a request comes from; a form of another site is refused before anything reads it. */
function requireSameSite({ method, headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (method === 'POST' && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw new GrantdError('unauthorized', 'The form came from another site. Nothing was changed.');
  }
}

/** Refuses a path that express cannot route: only percent-encoded UTF-8 can be the path of a page. */
function requireDecodablePath(path: string): void {
  try {
    decodeURIComponent(path);
  } catch (cause) {
    throw new GrantdError('not-found', 'There is no page at this path.', { cause });
  }
}

function sendFailure(visit: PageVisit, thrown: unknown): void {
  const { response, options, site } = visit;
  const error = GrantdError.from(thrown);
  const { requestId } = response.locals;
  const problem = problemOf(error, { errorsBase: options.errorsBase, requestId });
  if (problem.status === 500) site.log.error({ requestId, err: error.cause ?? error }, 'page failed');
  else if (problem.status === 503) site.log.warn({ requestId, err: error.cause ?? error }, 'page refused');
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
  visit.sendDocument(visit.findSession(false), showPage(problem.body.title, errorBody(error, requestId), { status }));
}

export function createPageRouter(dependencies: RouterDependencies, options: RouterOptions): Router {
  const { pages, providerLogIn } = dependencies;
  const router = express.Router({ strict: true, caseSensitive: true });
  const visitOf = (request: Request, response: PageResponse): PageVisit =>
    new PageVisit(dependencies, options, request, response);
  const add = ([operation, method, path, handle]: Route): void => {
    router[method](path, (request: Request, response: PageResponse) => {
      if (operation !== undefined) response.locals.operation = operation;
      return handle(visitOf(request, response));
    });
  };
  router.use((request: Request, response: PageResponse, next: NextFunction) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    requireDecodablePath(request.path);
    requireSameSite(request);
    next();
  });
  for (const route of [...OPEN_ROUTES, ...(providerLogIn === undefined ? [] : providerRoutes(providerLogIn))]) {
    add(route);
  }
  router.use((request: Request, response: PageResponse, next: NextFunction) => {
    const visit = visitOf(request, response);
    if (visit.findSession(false) === undefined) askToLogIn(visit);
    else next();
  });
  add(['page-log-out', 'post', '/log-out', logOut]);
  for (const [path, ofPath] of Map.groupBy(pages, (page) => page.path)) {
    router.all(path, (request: Request, response: PageResponse) => runOneOf(ofPath, visitOf(request, response)));
  }
  router.use(() => {
    throw new GrantdError('not-found', 'There is no page at this path.');
  });
  // Express recognizes an error handler by its four parameters.
  router.use((thrown: unknown, request: Request, response: PageResponse, _next: NextFunction) =>
    sendFailure(visitOf(request, response), thrown),
  );
  return router;
}
