// The log-in at the identity provider: the browser leaves with a sealed cookie and comes back to the callback.
// Invariants: only the browser that began a log-in can complete it. The console keeps no state for a pending log-in, so
// pending log-ins cannot crowd each other out. The provider is asked before failures are looked at, so that those of
// others refuse no log-in; a failed one counts by client address, like a wrong token. A callback without the cookie of
// a log-in is no guess, and counts against no address: any web page can make a browser call it.

import { html } from '../../../../src/http/pages/markup.ts';
import type { IdentityProvider, PendingLogIn } from '../../../../src/operator/identity/identity-provider.ts';
import { page, type ShownPage } from '../page.ts';
import { buttonLink } from '../parts/parts.ts';
import type { SealedTexts } from '../sealed-text.ts';
import type { OperatorSession } from '../sessions.ts';
import { failLogIn, type LogInDependencies, type RefusedLogIn, refuseLogIn } from './log-in.ts';

/** Time to log in at the provider, perhaps with a second factor. */
export const LOG_IN_SECONDS_MAX = 600;
/** A cookie has 4 KB; a longer path is forgotten. */
const TARGET_LENGTH_MAX = 1024;

type ProviderOutcome =
  | RefusedLogIn
  | { readonly kind: 'started'; readonly session: OperatorSession; readonly target: string };

export interface ProviderLogIn {
  /** `target`: the page to return to. */
  begin(target: string): Promise<{ readonly url: string; readonly cookie: string }>;
  /** `search`: the query with which the browser came back. */
  complete(address: string, search: string, cookie: string | undefined): Promise<ProviderOutcome>;
}

type CookieContent = PendingLogIn & { readonly target: string };

export function createProviderLogIn(
  dependencies: LogInDependencies & { readonly provider: IdentityProvider; readonly sealed: SealedTexts },
): ProviderLogIn {
  const { provider, sealed, sessions } = dependencies;
  return {
    async begin(target) {
      const { url, pending } = await provider.beginLogIn();
      const kept: CookieContent = { ...pending, target: target.length > TARGET_LENGTH_MAX ? '' : target };
      return { url, cookie: sealed.seal(JSON.stringify(kept), LOG_IN_SECONDS_MAX * 1000) };
    },

    async complete(address, search, cookie) {
      const text = cookie === undefined ? undefined : sealed.open(cookie);
      if (text === undefined) {
        dependencies.metrics.authenticationFailures.inc();
        return refuseLogIn('form', 'This log-in did not begin in this browser, or took too long. Log in again.', 401);
      }
      const { target, ...pending }: CookieContent = JSON.parse(text);
      const admission = await provider.completeLogIn(search, pending);
      if (admission === undefined) {
        return failLogIn(
          dependencies,
          address,
          'form',
          'The identity provider did not confirm the log-in. Log in again.',
        );
      }
      // The provider knows the person, so it was no guess.
      if (admission.kind === 'refused') return refuseLogIn('form', admission.reason, 403);
      return { kind: 'started', session: sessions.startConfirmed(admission.operator), target };
    },
  };
}

/**
 * A page in between: the browser sends the cookie of the session only to pages that the console itself leads to, and
 * a redirect here would still be one of the provider.
 */
export function showContinue(target: string): ShownPage {
  const body = html`<section class="log-in">
    <meta http-equiv="refresh" content="0;url=${target}" />
    <h1>You are logged in</h1>
    <p>${buttonLink(target, 'Continue', '')}</p>
  </section>`;
  return page('Logged in', body);
}
