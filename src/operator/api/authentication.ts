// Identifies the operator by bearer token: an operator token, or an access token of the identity provider. Invariant: a
// valid token always works from any address, whatever other clients do. Wrong tokens are counted by client address;
// beyond a limit, every wrong one gets the same refusal. A request without a token is no guess and counts against no
// address, because any web page can make a browser send one.

import type { IncomingMessage } from 'node:http';
import { GrantdError } from '../../core/errors.ts';
import type { Operator } from '../../core/scopes.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { IdentityProvider } from '../identity/identity-provider.ts';
import type { OperatorTokens } from '../operator-tokens.ts';

/** RFC 6750 section 2.1. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

interface Dependencies {
  readonly tokens: OperatorTokens;
  readonly identityProvider?: IdentityProvider | undefined;
  readonly failureLimiter?: FailureLimiter | undefined;
  readonly metrics: Metrics;
}

/** Throws `insufficient-scope` for a valid token of somebody who has no access, and `unavailable`. */
async function identify(token: string, { tokens, identityProvider }: Dependencies): Promise<Operator | undefined> {
  const operator = tokens.identify(token);
  if (operator !== undefined) return operator;
  const admission = await identityProvider?.identify(token);
  if (admission?.kind === 'refused') throw new GrantdError('insufficient-scope', admission.reason);
  return admission?.operator;
}

/**
 * The operator who calls from `address`. Throws `unauthorized`, `rate-limited`, `insufficient-scope` and `unavailable`.
 */
export async function authenticate(
  request: IncomingMessage,
  address: string,
  dependencies: Dependencies,
): Promise<Operator> {
  const { failureLimiter, metrics } = dependencies;
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const operator = token === undefined ? undefined : await identify(token, dependencies);
  if (operator !== undefined) return operator;
  if (token !== undefined) {
    const refusal = failureLimiter?.refusal(address);
    if (refusal !== undefined) {
      metrics.rateLimited.inc({ bucket: 'authentication' });
      throw new GrantdError('rate-limited', 'Too many requests with a wrong operator token came from this address.', {
        details: { retryAfterSeconds: refusal.resetSeconds },
      });
    }
    failureLimiter?.record(address);
  }
  metrics.authenticationFailures.inc();
  throw new GrantdError('unauthorized', 'An operator token is required: "Authorization: Bearer <operator token>".');
}
