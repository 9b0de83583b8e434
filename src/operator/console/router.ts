// The path of a request for a page: security headers → same-site check → session → 404/405 → access → CSRF → page →
// response. Failures are pages too. No code of a page runs without a session that has the access it declares, and no
// form from another session changes anything.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { problemOf } from '../../core/problem.ts';
import { type Operator, requireAccess } from '../../core/scopes.ts';
import { renderMarkup } from '../../http/pages/markup.ts';
import type { Log } from '../../telemetry/log.ts';
import type { RequestOrigin } from '../client-address.ts';
import type { Assets } from './assets.ts';
import { Fields, FORM_BYTES_MAX, LOG_IN_FORM_BYTES_MAX, NO_FIELDS, type Refusal, readForm } from './forms.ts';
import { type ConsolePage, PAGES_PREFIX, type PageResult, pathTo } from './page.ts';
import { errorBody } from './pages/error.ts';
import { type LogIn, showLogIn } from './pages/log-in.ts';
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
const compress = promisify<Buffer, Buffer>(gzip);
const ASSET_AGE_SECONDS = 31_536_000;
/** The cookie of a session: `__Host-` binds it to this very host and requires TLS. */
const COOKIE = 'grantd_console';
/** The cookie of a log-in at the identity provider, which the provider's redirect must bring back: `SameSite=Lax`. */
const LOG_IN_COOKIE = 'grantd_log_in';

interface Locals {
  readonly requestId: string;
  operation: string;
  operator: Operator | undefined;
}

type PageResponse = Response<unknown, Locals & Record<string, unknown>>;

interface RouterDependencies {
  readonly pages: readonly ConsolePage[];
  readonly logIn: LogIn;
  /** Without it, only operator tokens log in. */
  readonly providerLogIn: ProviderLogIn | undefined;
  readonly sessions: OperatorSessions;
  readonly assets: Assets;
  readonly origin: RequestOrigin;
  readonly clock: Clock;
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

function sendHtml(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': bytes.length });
  response.end(bytes);
}

/** Below this, compression gains nothing. */
const COMPRESSED_BYTES_MIN = 1024;

/**
 * A part that a page requests again and again. Only such a part is compressed: it has no form, hence no secret whose
 * length could tell of it next to text of somebody else.
 */
async function sendRefreshed(request: IncomingMessage, response: ServerResponse, text: string): Promise<void> {
  response.setHeader('Vary', 'Accept-Encoding');
  const accepted = /(?:^|,)\s*gzip\s*(?:,|$)/.test(String(request.headers['accept-encoding'] ?? ''));
  const bytes = Buffer.from(text, 'utf8');
  if (!accepted || bytes.length < COMPRESSED_BYTES_MIN) {
    sendHtml(response, 200, text);
    return;
  }
  const compressed = await compress(bytes);
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Encoding': 'gzip',
    'Content-Length': compressed.length,
  });
  response.end(compressed);
}

/** Its name is one of the console's own. */
function sendFile(response: ServerResponse, file: Extract<PageResult, { kind: 'file' }>): void {
  const bytes = Buffer.from(file.text, 'utf8');
  response.writeHead(200, {
    'Content-Type': file.contentType,
    'Content-Disposition': `attachment; filename="${file.name}"`,
    'Content-Length': bytes.length,
  });
  response.end(bytes);
}

function redirect(response: ServerResponse, to: string): void {
  response.writeHead(303, { Location: to, 'Content-Length': 0 });
  response.end();
}

/** Refuses paths that express cannot route: one that is not percent-encoded UTF-8 names nothing. */
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

export function createPageRouter(dependencies: RouterDependencies, options: RouterOptions): Router {
  const { pages, logIn, providerLogIn, sessions, assets, origin, clock, log } = dependencies;
  const router = express.Router({ strict: true, caseSensitive: true });
  const cookieName = (request: IncomingMessage, name: string): string =>
    origin.isSecure(request) ? `__Host-${name}` : name;

  function setCookie(
    request: IncomingMessage,
    response: ServerResponse,
    value: string,
    options: { readonly name: string; readonly sameSite: 'Strict' | 'Lax'; readonly ageSeconds?: number } = {
      name: COOKIE,
      sameSite: 'Strict',
    },
  ): void {
    const { name, sameSite, ageSeconds } = options;
    const secure = origin.isSecure(request) ? '; Secure' : '';
    const age = value === '' ? 0 : ageSeconds;
    const ends = age === undefined ? '' : `; Max-Age=${age}`;
    const cookie = `${cookieName(request, name)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${secure}${ends}`;
    response.appendHeader('Set-Cookie', cookie);
  }

  function sendDocument(
    request: Request,
    response: PageResponse,
    session: OperatorSession | undefined,
    page: Pick<Extract<PageResult, { kind: 'page' }>, 'status' | 'title' | 'body'>,
  ): void {
    const path = `${PAGES_PREFIX}${request.path}`;
    const text = renderDocument({ ...options, assets, title: page.title, session, path, body: page.body });
    if (session !== undefined) session.notice = undefined;
    sendHtml(response, page.status, text);
  }

  const sessionOf = (request: IncomingMessage, active: boolean): OperatorSession | undefined => {
    const id = cookieOf(request, cookieName(request, COOKIE));
    return id === undefined ? undefined : sessions.find(id, active);
  };

  /** A page redirects to the log-in and back; for a request of htmx, the whole window goes there. */
  function askToLogIn(request: Request, response: PageResponse): void {
    const back = request.method === 'GET' ? request.originalUrl : undefined;
    if (request.headers['hx-request'] === 'true') {
      const current = request.headers['hx-current-url'];
      const page = typeof current === 'string' && URL.canParse(current) ? new URL(current) : undefined;
      response.setHeader('HX-Redirect', pathTo(['log-in'], { to: page && `${page.pathname}${page.search}` }));
      sendHtml(response, 401, '');
      return;
    }
    redirect(response, pathTo(['log-in'], { to: back }));
  }

  router.use((request: Request, response: PageResponse, next: NextFunction) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    requireDecodablePath(request.path);
    requireSameSite(request);
    next();
  });

  router.get('/assets/:name', (request: Request<{ name: string }>, response: PageResponse) => {
    response.locals.operation = 'page-asset';
    const asset = assets.find(request.params.name);
    if (asset === undefined) throw new GrantdError('not-found', 'There is nothing at this path.');
    response.setHeader('Cache-Control', `public, max-age=${ASSET_AGE_SECONDS}, immutable`);
    response.writeHead(200, { 'Content-Type': asset.contentType, 'Content-Length': asset.bytes.length });
    response.end(asset.bytes);
  });

  function refuseLogIn(
    request: Request,
    response: PageResponse,
    form: Fields,
    outcome: { readonly refusal: Refusal; readonly retryAfterSeconds: number | undefined },
  ): void {
    if (outcome.retryAfterSeconds !== undefined) response.setHeader('Retry-After', String(outcome.retryAfterSeconds));
    sendDocument(request, response, undefined, showLogIn(form, outcome.refusal, providerLogIn !== undefined));
  }

  /** Gives the browser its new session. */
  function enter(request: Request, response: PageResponse, { id, operator }: OperatorSession): void {
    const before = cookieOf(request, cookieName(request, COOKIE));
    if (before !== undefined) sessions.end(before);
    log.info({ requestId: response.locals.requestId, operator }, 'an operator logged in');
    setCookie(request, response, id);
  }

  router.get('/', (request: Request, response: PageResponse) => {
    if (sessionOf(request, true) === undefined) askToLogIn(request, response);
    else redirect(response, pathTo(['cluster']));
  });

  router.get('/log-in', (request: Request, response: PageResponse) => {
    response.locals.operation = 'page-log-in';
    const query = new Fields(searchOf(request.url));
    if (sessionOf(request, true) !== undefined) redirect(response, logIn.targetOf(query));
    else sendDocument(request, response, undefined, showLogIn(query, undefined, providerLogIn !== undefined));
  });

  router.post('/log-in', async (request: Request, response: PageResponse) => {
    response.locals.operation = 'page-log-in';
    const form = await readForm(request, LOG_IN_FORM_BYTES_MAX);
    const outcome = logIn.attempt(origin.addressOf(request), form);
    if (outcome.kind === 'refused') {
      refuseLogIn(request, response, form, outcome);
      return;
    }
    enter(request, response, outcome.session);
    redirect(response, logIn.targetOf(form));
  });

  if (providerLogIn !== undefined) addProviderRoutes(providerLogIn);

  function addProviderRoutes({ begin, complete }: ProviderLogIn): void {
    router.get('/log-in/provider', async (request: Request, response: PageResponse) => {
      response.locals.operation = 'page-provider-log-in';
      const { url, cookie } = await begin(logIn.targetOf(new Fields(searchOf(request.url))));
      setCookie(request, response, cookie, {
        name: LOG_IN_COOKIE,
        sameSite: 'Lax',
        ageSeconds: LOG_IN_SECONDS_MAX,
      });
      redirect(response, url);
    });

    router.get('/log-in/callback', async (request: Request, response: PageResponse) => {
      response.locals.operation = 'page-provider-log-in';
      // Its address holds the code of the log-in.
      response.setHeader('Referrer-Policy', 'no-referrer');
      const kept = cookieOf(request, cookieName(request, LOG_IN_COOKIE));
      const outcome = await complete(origin.addressOf(request), searchOf(request.url), kept);
      if (outcome.kind === 'refused') refuseLogIn(request, response, NO_FIELDS, outcome);
      else {
        enter(request, response, outcome.session);
        setCookie(request, response, '', { name: LOG_IN_COOKIE, sameSite: 'Lax' });
        const target = logIn.targetOf(new Fields(`to=${encodeURIComponent(outcome.target)}`));
        sendDocument(request, response, undefined, showContinue(target));
      }
    });
  }

  router.use((request: Request, response: PageResponse, next: NextFunction) => {
    if (sessionOf(request, false) === undefined) askToLogIn(request, response);
    else next();
  });

  const sessionIn = (request: Request, active: boolean): OperatorSession => {
    const session = sessionOf(request, active);
    assert(session !== undefined, 'a page runs only for an operator who is logged in');
    return session;
  };

  async function formOf(request: Request, session: OperatorSession): Promise<Fields> {
    const form = await readForm(request, FORM_BYTES_MAX);
    if (isFormOf(session, form.optional('csrf'))) return form;
    throw new GrantdError(
      'unauthorized',
      'The form does not belong to this session. Nothing was changed. Open the page again.',
    );
  }

  router.post('/log-out', async (request: Request, response: PageResponse) => {
    response.locals.operation = 'page-log-out';
    const session = sessionIn(request, true);
    await formOf(request, session);
    sessions.end(session.id);
    setCookie(request, response, '');
    redirect(response, pathTo(['log-in'], { done: 'logged-out' }));
  });

  async function run(page: ConsolePage, request: Request, response: PageResponse): Promise<void> {
    const { locals } = response;
    locals.operation = page.name;
    const session = sessionIn(request, page.unattended !== true);
    locals.operator = { name: session.operator, access: session.access };
    requireAccess(session, page.access ?? 'full');
    const form = page.method === 'POST' ? await formOf(request, session) : NO_FIELDS;
    const answer = await page.run({
      request,
      query: new Fields(searchOf(request.url)),
      form,
      parameters: request.params as Record<string, string>,
      session,
      context: () => ({ requestId: locals.requestId, deadlineMs: clock.monotonicMs() + options.deadlineMs }),
    });
    if (answer.kind === 'page') sendDocument(request, response, session, answer);
    else if (answer.kind === 'part') {
      const text = renderMarkup(answer.body);
      if (page.unattended === true) await sendRefreshed(request, response, text);
      else sendHtml(response, 200, text);
    } else if (answer.kind === 'file') sendFile(response, answer);
    else {
      const { notice: text, undo } = answer;
      session.notice = text === undefined ? undefined : { text, undo };
      redirect(response, answer.to);
    }
  }

  for (const [path, ofPath] of Map.groupBy(pages, (page) => page.path)) {
    router.all(path, (request: Request, response: PageResponse) => {
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const page = ofPath.find((each) => each.method === method);
      if (page !== undefined) return run(page, request, response);
      const allow = ofPath.map((each) => each.method).join(', ');
      throw new GrantdError('method-not-allowed', `This page supports only ${allow}.`, { details: { allow } });
    });
  }

  router.use(() => {
    throw new GrantdError('not-found', 'There is no page at this path.');
  });

  // Express recognizes an error handler by its four parameters.
  router.use((thrown: unknown, request: Request, response: PageResponse, _next: NextFunction) => {
    const error = GrantdError.from(thrown);
    const { requestId } = response.locals;
    const problem = problemOf(error, { errorsBase: options.errorsBase, requestId });
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
    const body = errorBody(error, requestId);
    sendDocument(request, response, sessionOf(request, false), { status, title: problem.body.title, body });
  });
  return router;
}
