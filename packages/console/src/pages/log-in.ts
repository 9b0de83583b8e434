// The log-in: an operator token in exchange for a session, or the way to the identity provider. Invariant: a valid
// token opens a session from any address. Wrong ones are counted by client address, together with those of the JSON
// API, and an address with too many must wait.

import type { FailureLimiter } from '../../../../src/front/limits/rate-limiter.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { Metrics } from '../../../../src/telemetry/metrics.ts';
import { type Fields, type Refusal, refuse } from '../forms.ts';
import type { LogInCode } from '../log-in-code.ts';
import { PAGES_PREFIX, page, pathTo, type ShownPage } from '../page.ts';
import { formError, hidden, submit, type TextFieldOptions, textField } from '../parts/form-parts.ts';
import { buttonLink } from '../parts/parts.ts';
import type { OperatorSession, OperatorSessions } from '../sessions.ts';

export interface RefusedLogIn {
  readonly kind: 'refused';
  readonly refusal: Refusal;
  readonly retryAfterSeconds: number | undefined;
}

type LogInOutcome = RefusedLogIn | { readonly kind: 'started'; readonly session: OperatorSession };

export interface LogIn {
  attempt(address: string, form: Fields): LogInOutcome;
  /** The page that the operator wanted, according to the form or the query; never outside the console. */
  targetOf(fields: Fields): string;
}

export interface LogInDependencies {
  readonly sessions: OperatorSessions;
  readonly failureLimiter?: FailureLimiter | undefined;
  readonly metrics: Metrics;
}

export const refuseLogIn = (
  field: string,
  message: string,
  status: number,
  retryAfterSeconds?: number,
): RefusedLogIn => ({ kind: 'refused', refusal: refuse(field, message, status), retryAfterSeconds });

/** Counts a failed attempt, after which an address with too many must wait. Never called for a valid one. */
export function failLogIn(
  { failureLimiter, metrics }: LogInDependencies,
  address: string,
  field: string,
  message: string,
): RefusedLogIn {
  const limit = failureLimiter?.refusal(address);
  if (limit !== undefined) {
    metrics.rateLimited.inc({ bucket: 'authentication' });
    const wait = `Too many failed logins from this address. Try again in ${limit.resetSeconds} seconds.`;
    return refuseLogIn('form', wait, 429, limit.resetSeconds);
  }
  metrics.authenticationFailures.inc();
  failureLimiter?.record(address);
  return refuseLogIn(field, message, 401);
}

export function createLogIn(
  dependencies: LogInDependencies & {
    /** Without it, no link logs in. */
    readonly logInCode?: LogInCode | undefined;
  },
): LogIn {
  const { sessions, metrics, logInCode } = dependencies;
  const startByCode = (code: string, address: string): OperatorSession | undefined => {
    const tokenSha256 = logInCode?.redeem(code, address);
    return tokenSha256 === undefined ? undefined : sessions.startBySha256(tokenSha256);
  };
  return {
    attempt(address, form) {
      const token = form.typed('token');
      const code = form.text('code');
      const session = code === '' ? sessions.start(token) : startByCode(code, address);
      if (session !== undefined) return { kind: 'started', session };
      if (token === '' && code === '') {
        metrics.authenticationFailures.inc();
        return refuseLogIn('token', 'Enter an operator token.', 401);
      }
      const message =
        code === ''
          ? 'This is not a valid operator token.'
          : 'This link has already been used or has expired. Log in with the token.';
      return failLogIn(dependencies, address, 'token', message);
    },
    targetOf(fields) {
      const to = fields.text('to');
      // Nothing that a browser could take for another host, and the path of a page once dot segments are resolved.
      const fits = to.startsWith('/') && /^[\w\-./%?=&~:+,*@!$'()]*$/.test(to) && !to.includes('//');
      const { pathname, search } = new URL(fits ? to : '/', 'http://console');
      return pathname.startsWith(`${PAGES_PREFIX}/`) && !pathname.includes('//')
        ? `${pathname}${search}`
        : pathTo(['cluster']);
    },
  };
}

/** A link and no form: the policy of the pages lets no form lead to another host. */
const providerLink = (fields: Fields): Markup => html`<p class="buttons">
    ${buttonLink(pathTo(['log-in', 'provider'], { to: fields.optional('to') }), 'Log in with the identity provider', '')}
  </p>
  <p>Or use an operator token:</p>`;

/** `provider`: whether the identity provider can log in. */
export function showLogIn(fields: Fields, refusal: Refusal | undefined, provider: boolean): ShownPage {
  const filled = { fields, refusal };
  const token: TextFieldOptions = {
    name: 'token',
    label: 'Operator token',
    type: 'password',
    required: true,
    autocomplete: 'current-password',
    attributes: provider ? {} : { autofocus: '' },
    hint: html`Paste the token itself, not its SHA-256 hash. For <code>grantd dev</code> it is
      ${' '}<code>operator_token</code> in <code>dev.json</code> in the data directory.`,
  };
  const body = html`<section class="log-in">
    ${fields.text('done') === 'logged-out' && html`<p class="notice" role="status">You have logged out.</p>`}
    <h1>Log in</h1>
    ${provider && providerLink(fields)}
    <form method="post" action=${pathTo(['log-in'])} novalidate>
      ${hidden({ to: fields.text('to') })}
      ${formError(filled)}
      ${textField(token, filled)}
      ${submit('Log in')}
    </form>
  </section>`;
  return page('Log in', body, refusal);
}
