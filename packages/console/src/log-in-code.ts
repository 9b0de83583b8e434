// A log-in code: the secret in the log-in link that `grantd dev` prints. Invariant: the code opens one session, once,
// within its time, and only for a client on this machine; otherwise it is treated like any wrong token. It follows the
// `#`, so that it reaches no server, log or Referer header with the address of a page.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock, Random } from '../../../src/core/async/clock.ts';
import { isLoopbackHost } from '../../../src/core/text/addresses.ts';
import { hashOperatorToken } from '../../../src/operator/operator-tokens.ts';
import { pathTo } from './page.ts';

const CODE_BYTES = 32;
/** Time to read the banner and to click, and no more: the link stays visible in the terminal. */
export const LOG_IN_CODE_MS_MAX = 10 * 60_000;

export interface LogInCode {
  /** Relative to the address of the console. */
  readonly path: string;
  /** The SHA-256 of the token that the code replaces, this once; undefined if the code is not valid. */
  redeem(code: string, address: string): string | undefined;
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

export function createLogInCode(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  options: { readonly token: string },
): LogInCode {
  const code = Buffer.from(random.bytes(CODE_BYTES)).toString('base64url');
  const digest = digestOf(code);
  const tokenSha256 = hashOperatorToken(options.token);
  const endsMs = clock.monotonicMs() + LOG_IN_CODE_MS_MAX;
  let used = false;
  return {
    path: `${pathTo(['log-in'])}#code=${code}`,
    redeem(given, address) {
      if (used || clock.monotonicMs() >= endsMs || !isLoopbackHost(address)) return undefined;
      if (!timingSafeEqual(digestOf(given), digest)) return undefined;
      used = true;
      return tokenSha256;
    },
  };
}
