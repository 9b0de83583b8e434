// The metadata of the identity provider: its endpoints, and its signing keys. Invariants: nothing is read from another
// issuer, or without TLS except on loopback, and no response beyond its bounds of bytes and time. While the provider
// fails, one request in some seconds reaches it, however many need it; keys in memory stay in use.

import {
  createRemoteJWKSet,
  customFetch as customKeysFetch,
  errors,
  type JWTVerifyGetKey,
  type RemoteJWKSet,
} from 'jose';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
} from 'openid-client';
import type { Clock } from '../../core/async/clock.ts';
import { boundBody } from '../../core/bounded-body.ts';
import { GrantdError } from '../../core/errors.ts';
import { isLoopbackHost } from '../../core/text/addresses.ts';
import type { Log } from '../../telemetry/log.ts';

/** By how much the clocks of the provider and the console may differ. */
export const CLOCK_SKEW_SECONDS = 30;
/** For a whole response. */
const TIMEOUT_SECONDS = 5;
/** The largest are token responses, of some 10 KB for a person in hundreds of groups. */
export const PROVIDER_BODY_BYTES_MAX = 256 * 1024;
/** How long the console waits after a failure of the provider. */
const RETRY_MS = 5_000;
/** An unknown key id makes the console read the keys again, but not more often than this. */
const KEYS_COOLDOWN_MS = 30_000;
const KEYS_AGE_MS_MAX = 600_000;

interface MetadataOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
}

interface Discovered {
  readonly configuration: Configuration;
  readonly keys: RemoteJWKSet;
}

export interface KnownProvider {
  readonly configuration: Configuration;
  /** The key of a token. Throws `unavailable` if the keys cannot be read. */
  readonly keyOf: JWTVerifyGetKey;
}

/** Reads the metadata at the first call that succeeds. Throws `unavailable`. */
export type ReadProvider = () => Promise<KnownProvider>;

/** The keys are known, and none of them fits the token. */
const UNUSABLE_KEYS = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

const unavailable = (cause: unknown): GrantdError =>
  new GrantdError('unavailable', 'The identity provider does not respond as it should. Try again later.', { cause });

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The provider's metadata says which form it accepts; Basic is the standard's default. */
const clientAuthOf = (secret: string | undefined): ClientAuth => {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method = methods.includes('client_secret_basic') ? basic : post;
    method(server, client, body, headers);
  };
};

/** For every request to the provider. */
const boundedFetch = async (url: string, init: object): Promise<Response> =>
  boundBody(await fetch(url, init), PROVIDER_BODY_BYTES_MAX);

async function discover({ issuer, clientId, clientSecret }: MetadataOptions): Promise<Discovered> {
  const url = new URL(issuer);
  const insecure = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  const configuration = await discovery(
    url,
    clientId,
    { [clockTolerance]: CLOCK_SKEW_SECONDS },
    clientAuthOf(clientSecret),
    {
      timeout: TIMEOUT_SECONDS,
      [customFetch]: boundedFetch,
      execute: insecure ? [enableNonRepudiationChecks, allowInsecureRequests] : [enableNonRepudiationChecks],
    },
  );
  const { issuer: discovered, jwks_uri: keysUri } = configuration.serverMetadata();
  // The library also admits issuers that stand for many tenants of a provider.
  if (new URL(discovered).href !== url.href) throw new Error('the provider has another issuer');
  if (keysUri === undefined) throw new Error('the provider names no jwks_uri');
  const keysUrl = new URL(keysUri);
  if (keysUrl.protocol !== 'https:' && !insecure) throw new Error('the jwks_uri of the provider is not https');
  const keys = createRemoteJWKSet(keysUrl, {
    timeoutDuration: TIMEOUT_SECONDS * 1000,
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_AGE_MS_MAX,
    [customKeysFetch]: boundedFetch,
  });
  return { configuration, keys };
}

export function createProviderReader(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  options: MetadataOptions,
): ReadProvider {
  let discovered: Discovered | undefined;
  let discovering: Promise<Discovered> | undefined;
  let retryAtMs = Number.NEGATIVE_INFINITY;

  function fail(step: string, error: unknown): GrantdError {
    retryAtMs = clock.monotonicMs() + RETRY_MS;
    log.warn({ issuer: options.issuer, step, reason: reasonOf(error) }, 'the identity provider failed');
    return unavailable(error);
  }

  async function current(): Promise<Discovered> {
    if (discovered !== undefined) return discovered;
    if (discovering === undefined) {
      if (clock.monotonicMs() < retryAtMs) throw unavailable(undefined);
      discovering = discover(options)
        .then((found) => {
          discovered = found;
          return found;
        })
        .catch((error: unknown) => {
          throw fail('discovery', error);
        })
        .finally(() => {
          discovering = undefined;
        });
    }
    return discovering;
  }

  /** Whether the keys in memory suffice, without a request to the provider. */
  const isKnown = (keys: RemoteJWKSet, keyId: string | undefined): boolean =>
    keys.fresh && (keyId === undefined || (keys.jwks()?.keys.some(({ kid }) => kid === keyId) ?? false));

  const keyFrom =
    (keys: RemoteJWKSet): JWTVerifyGetKey =>
    async (header, token) => {
      if (clock.monotonicMs() < retryAtMs && !isKnown(keys, header.kid)) throw unavailable(undefined);
      try {
        return await keys(header, token);
      } catch (error) {
        if (UNUSABLE_KEYS.some((kind) => error instanceof kind)) throw error;
        throw fail('keys', error);
      }
    };

  return async () => {
    const { configuration, keys } = await current();
    return { configuration, keyOf: keyFrom(keys) };
  };
}
