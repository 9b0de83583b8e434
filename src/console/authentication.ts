// Who calls: the bearer token of an operator. Failures are counted by client address, so that tokens cannot be guessed
// at speed; an address that failed too often is refused before its token is looked at.

import type { IncomingMessage } from 'node:http';
import { GrantdError } from '../core/errors.ts';
import type { FailureLimiter } from '../front/limits/rate-limiter.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { OperatorTokens } from './operator-tokens.ts';

/** RFC 6750 section 2.1. */
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/** The name of the operator who calls from `address`. Throws `unauthorized` or `rate-limited`. */
export function authenticate(
  request: IncomingMessage,
  address: string,
  dependencies: {
    readonly tokens: OperatorTokens;
    readonly failureLimiter?: FailureLimiter | undefined;
    readonly metrics: Metrics;
  },
): string {
  const { tokens, failureLimiter, metrics } = dependencies;
  const retryAfterSeconds = failureLimiter?.blockedSeconds(address);
  if (retryAfterSeconds !== undefined) {
    metrics.rateLimited.inc({ bucket: 'authentication' });
    throw new GrantdError('rate-limited', 'This address failed to authenticate too often.', {
      details: { retryAfterSeconds },
    });
  }
  const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const operator = token === undefined ? undefined : tokens.identify(token);
  if (operator !== undefined) return operator;
  failureLimiter?.record(address);
  metrics.authenticationFailures.inc();
  throw new GrantdError('unauthorized', 'An operator token is needed: "Authorization: Bearer <operator token>".');
}
