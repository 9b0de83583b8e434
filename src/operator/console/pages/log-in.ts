// The log-in: an operator token in exchange for a session, or the way to the identity provider. Invariant: a valid
// token opens a session from any address. Wrong ones are counted by client address, together with those of the JSON
// API, and an address with too many must wait.

import type { FailureLimiter } from '../../../front/limits/rate-limiter.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import { type Fields, type Refusal, refuse } from '../forms.ts';
import type { LogInCode } from '../log-in-code.ts';
import { PAGES_PREFIX, type PageResult, pathTo } from '../page.ts';
import { formError, submit, textField } from '../parts/form-parts.ts';
import type { OperatorSession, OperatorSessions } from '../sessions.ts';

type LogInOutcome =
  | { readonly kind: 'started'; readonly session: OperatorSession }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly retryAfterSeconds: number | undefined };

export interface LogIn {
  attempt(address: string, form: Fields): LogInOutcome;
  /** The page that the operator wanted, according to the form or the query; never outside the console. */
  targetOf(fields: Fields): string;
}

export function createLogIn(dependencies: {
  readonly sessions: OperatorSessions;
  readonly failureLimiter: FailureLimiter | undefined;
  readonly metrics: Metrics;
  /** Without it, no link logs in. */
  readonly logInCode?: LogInCode | undefined;
}): LogIn {
  const { sessions, failureLimiter, metrics, logInCode } = dependencies;
  const startByCode = (code: string, address: string): OperatorSession | undefined => {
    const tokenSha256 = logInCode?.redeem(code, address);
    return tokenSha256 === undefined ? undefined : sessions.startBySha256(tokenSha256);
  };
  return {
    attempt(address, form) {
      const token = form.text('token').trim();
      const code = form.text('code');
      const session = code === '' ? sessions.start(token) : startByCode(code, address);
      if (session !== undefined) return { kind: 'started', session };
      const refused = (field: string, message: string, status: number, retryAfterSeconds?: number): LogInOutcome => ({
        kind: 'refused',
        refusal: refuse(field, message, status),
        retryAfterSeconds,
      });
      if (token === '' && code === '') {
        metrics.authenticationFailures.inc();
        return refused('token', 'Enter an operator token.', 401);
      }
      const limit = failureLimiter?.refusal(address);
      if (limit !== undefined) {
        metrics.rateLimited.inc({ bucket: 'authentication' });
        const message = `Too many failed logins from this address. Try again in ${limit.resetSeconds} seconds.`;
        return refused('form', message, 429, limit.resetSeconds);
      }
      metrics.authenticationFailures.inc();
      failureLimiter?.record(address);
      if (code !== '')
        return refused('token', 'This link has already been used or has expired. Log in with the token.', 401);
      return refused('token', 'This is not a valid operator token.', 401);
    },
    targetOf(fields) {
      const to = fields.text('to');
      // A path of a page, and nothing that a browser could take for another host.
      const fits = to.startsWith(`${PAGES_PREFIX}/`) && /^[\w\-./%?=&~:+,*@!$'()]*$/.test(to) && !to.includes('//');
      return fits ? to : pathTo(['cluster']);
    },
  };
}

/** A link and no form: the policy of the pages lets no form lead to another host. */
const providerLink = (fields: Fields): Markup => html`<p class="buttons">
    <a class="button" href=${pathTo(['log-in', 'provider'], { to: fields.optional('to') })}>Log in with the identity provider</a>
  </p>
  <p>Or use an operator token:</p>`;

/** `provider`: whether the identity provider can log in. */
export function showLogIn(
  fields: Fields,
  refusal: Refusal | undefined,
  provider: boolean,
): Extract<PageResult, { kind: 'page' }> {
  const filled = { fields, refusal };
  const done =
    fields.text('done') === 'logged-out' ? html`<p class="notice" role="status">You have logged out.</p>` : undefined;
  const body = html`<section class="log-in">
    ${done}
    <h1>Log in</h1>
    ${provider ? providerLink(fields) : undefined}
    <form method="post" action=${pathTo(['log-in'])} novalidate>
      <input type="hidden" name="to" value=${fields.text('to')} />
      ${formError(filled)}
      ${textField(
        {
          name: 'token',
          label: 'Operator token',
          type: 'password',
          required: true,
          autocomplete: 'current-password',
          attributes: provider ? {} : { autofocus: '' },
          hint: html`Paste the token itself, not its SHA-256 hash. For ${html`<code>grantd dev</code>`} it is
            ${' '}<code>operator_token</code> in <code>dev.json</code> in the data directory.`,
        },
        filled,
      )}
      ${submit('Log in')}
    </form>
  </section>`;
  return { kind: 'page', status: refusal?.status ?? 200, title: 'Log in', body };
}
