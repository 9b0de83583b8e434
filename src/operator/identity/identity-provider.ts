// The identity provider of operators, by OpenID Connect: log-ins of the console (authorization code with PKCE, state
// and nonce) and access tokens for the operator's API (JWTs). Invariants: only what the provider signed with an
// asymmetric key, for this console, gives access. What cannot be verified gives none. Nothing that an unproven client
// sends makes the console call the provider without bound.

import { decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
} from 'openid-client';
import type { Clock, Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Log } from '../../telemetry/log.ts';
import { type Admission, admit, type ClaimRules } from './operator-claims.ts';
import { CLOCK_SKEW_SECONDS, createProviderReader, reasonOf } from './provider-metadata.ts';

/** Asymmetric only: with HMAC, anyone with the public key could sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** The `typ` of access tokens (RFC 9068); many providers write `JWT` or nothing. */
const TOKEN_TYPES: ReadonlySet<string> = new Set(['', 'jwt', 'at+jwt', 'application/at+jwt']);
/** Log-ins at the provider's token endpoint at once; operators are few. */
const EXCHANGES_MAX = 16;
const SECRET_BYTES = 32;

export interface IdentityProviderOptions {
  readonly issuer: string;
  /** Undefined: no log-in. */
  readonly client:
    | {
        readonly id: string;
        readonly secret: string | undefined;
        /** Where the provider sends the browser back to. */
        readonly redirectUri: string;
        readonly scope: string;
      }
    | undefined;
  /** The audience of access tokens; undefined: the API accepts none. */
  readonly audience: string | undefined;
  readonly claims: ClaimRules;
}

/** What must be the same when the browser comes back. */
export interface PendingLogIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface IdentityProvider {
  /** Whether the console can log in with it. */
  readonly logsIn: boolean;
  /** Where to send the browser. Throws `unavailable`. */
  beginLogIn(): Promise<{ readonly url: string; readonly pending: PendingLogIn }>;
  /**
   * `search`: the query with which the browser came back. Undefined if the provider does not confirm the log-in.
   * Throws `unavailable` and `overloaded`.
   */
  completeLogIn(search: string, pending: PendingLogIn): Promise<Admission | undefined>;
  /** Undefined if it is not a valid access token for this API. Throws `unavailable`. */
  identify(token: string): Promise<Admission | undefined>;
}

interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Whether a JWT is worth verifying. Nothing in it is trusted yet. */
function isCandidate(token: string): boolean {
  if (token.split('.').length !== 3) return false;
  try {
    const { alg = '', typ = '' } = decodeProtectedHeader(token);
    return ALGORITHMS.includes(alg) && typeof typ === 'string' && TOKEN_TYPES.has(typ.toLowerCase());
  } catch {
    return false;
  }
}

/**
 * An ID token is for a client and not for an API; a token that is bound to a key of its holder (`cnf`) is worth nothing
 * without proof of that key, which this API does not take.
 */
const isForBearers = (claims: JWTPayload): boolean => claims.nonce === undefined && claims.cnf === undefined;

async function authorizationUrl(
  configuration: Configuration,
  { redirectUri, scope }: NonNullable<IdentityProviderOptions['client']>,
  { state, nonce, verifier }: PendingLogIn,
): Promise<URL> {
  return buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
}

export function createIdentityProvider(
  { clock, random, log }: Dependencies,
  options: IdentityProviderOptions,
): IdentityProvider {
  const { client, audience, claims: rules } = options;
  // Without a client there are no log-ins, and only the metadata are read.
  const read = createProviderReader(
    { clock, log },
    { issuer: options.issuer, clientId: client?.id ?? audience ?? '', clientSecret: client?.secret },
  );
  let exchanges = 0;

  const secret = (): string => Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url');

  return {
    logsIn: client !== undefined,

    async beginLogIn() {
      if (client === undefined) throw new GrantdError('not-found', 'There is no page at this path.');
      const { configuration } = await read();
      const pending = { state: secret(), nonce: secret(), verifier: secret() };
      const url = await authorizationUrl(configuration, client, pending);
      return { url: url.href, pending };
    },

    async completeLogIn(search, { state, nonce, verifier }) {
      if (client === undefined) throw new GrantdError('not-found', 'There is no page at this path.');
      const { configuration } = await read();
      if (exchanges >= EXCHANGES_MAX) {
        throw new GrantdError('overloaded', 'Too many log-ins are in progress. Try again in a moment.');
      }
      exchanges += 1;
      try {
        const tokens = await authorizationCodeGrant(configuration, new URL(`${client.redirectUri}?${search}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        return claims === undefined ? undefined : admit(claims, rules);
      } catch (error) {
        log.warn({ issuer: options.issuer, reason: reasonOf(error) }, 'a log-in at the identity provider failed');
        return undefined;
      } finally {
        exchanges -= 1;
      }
    },

    async identify(token) {
      if (audience === undefined || !isCandidate(token)) return undefined;
      const { configuration, keyOf } = await read();
      try {
        const { payload } = await jwtVerify(token, keyOf, {
          issuer: configuration.serverMetadata().issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: CLOCK_SKEW_SECONDS,
          currentDate: new Date(clock.wallMs()),
          requiredClaims: ['sub', 'exp'],
        });
        return isForBearers(payload) ? admit(payload, rules) : undefined;
      } catch (error) {
        if (error instanceof GrantdError) throw error;
        log.debug({ reason: reasonOf(error) }, 'an access token is not valid');
        return undefined;
      }
    },
  };
}
