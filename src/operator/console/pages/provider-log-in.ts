// The log-in at the identity provider: the browser leaves with a sealed cookie and comes back to the callback.
// Invariants: a browser that did not begin here cannot end here. The console keeps nothing for a log-in that has not
// ended, so nobody can crowd out those of others. Failed ends count by client address, like wrong tokens.

import type { FailureLimiter } from '../../../front/limits/rate-limiter.ts';
import { html } from '../../../http/pages/markup.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import type { IdentityProvider, PendingLogIn } from '../../identity/identity-provider.ts';
import type { SealedTexts } from '../../identity/sealed-text.ts';
import { type Refusal, refuse } from '../forms.ts';
import type { PageResult } from '../page.ts';
import type { OperatorSession, OperatorSessions } from '../sessions.ts';

/** Time to log in at the provider, perhaps with a second factor. */
export const LOG_IN_SECONDS_MAX = 600;
/** A cookie has 4 KB; a longer path is forgotten. */
const TARGET_LENGTH_MAX = 1024;

export type ProviderOutcome =
  | { readonly kind: 'started'; readonly session: OperatorSession; readonly target: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly retryAfterSeconds: number | undefined };

export interface ProviderLogIn {
  /** `target`: the page to return to. */
  begin(target: string): Promise<{ readonly url: string; readonly cookie: string }>;
  /** `search`: the query with which the browser came back. */
  complete(address: string, search: string, cookie: string | undefined): Promise<ProviderOutcome>;
}

type Kept = PendingLogIn & { readonly target: string };

const refused = (message: string, status: number, retryAfterSeconds?: number): ProviderOutcome => ({
  kind: 'refused',
  refusal: refuse('form', message, status),
  retryAfterSeconds,
});

export function createProviderLogIn(dependencies: {
  readonly provider: IdentityProvider;
  readonly sealed: SealedTexts;
  readonly sessions: OperatorSessions;
  readonly failureLimiter: FailureLimiter | undefined;
  readonly metrics: Metrics;
}): ProviderLogIn {
  const { provider, sealed, sessions, failureLimiter, metrics } = dependencies;

  function failed(address: string, message: string, status: number): ProviderOutcome {
    metrics.authenticationFailures.inc();
    failureLimiter?.record(address);
    return refused(message, status);
  }

  return {
    async begin(target) {
      const { url, pending } = await provider.beginLogIn();
      const kept: Kept = { ...pending, target: target.length > TARGET_LENGTH_MAX ? '' : target };
      return { url, cookie: sealed.seal(JSON.stringify(kept), LOG_IN_SECONDS_MAX * 1000) };
    },

    async complete(address, search, cookie) {
      const limit = failureLimiter?.refusal(address);
      if (limit !== undefined) {
        metrics.rateLimited.inc({ bucket: 'authentication' });
        const message = `Too many failed logins from this address. Try again in ${limit.resetSeconds} seconds.`;
        return refused(message, 429, limit.resetSeconds);
      }
      const text = cookie === undefined ? undefined : sealed.open(cookie);
      if (text === undefined) {
        return failed(address, 'This log-in did not begin in this browser, or took too long. Log in again.', 401);
      }
      const { target, ...pending }: Kept = JSON.parse(text);
      const admission = await provider.completeLogIn(search, pending);
      if (admission === undefined) {
        return failed(address, 'The identity provider did not confirm the log-in. Log in again.', 401);
      }
      // The provider knows the person, so it was no guess.
      if (admission.kind === 'refused') return refused(admission.reason, 403);
      return { kind: 'started', session: sessions.startConfirmed(admission.operator), target };
    },
  };
}

/**
 * A page in between: the browser sends the cookie of the session only to pages that the console itself leads to, and
 * a redirect here would still be one of the provider.
 */
export function showContinue(target: string): Extract<PageResult, { kind: 'page' }> {
  const body = html`<section class="log-in">
    <meta http-equiv="refresh" content="0;url=${target}" />
    <h1>You are logged in</h1>
    <p><a class="button" href=${target}>Continue</a></p>
  </section>`;
  return { kind: 'page', status: 200, title: 'Logged in', body };
}
