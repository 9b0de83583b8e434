// A real OpenID Connect provider on loopback (panva's oidc-provider), for tests: whoever the test names logs in without
// a page, and the test also holds the provider's private key, so that it can sign what the provider never would.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Configuration } from 'oidc-provider';

/** Without what the library advises those who run a provider, when it is loaded and when one is made. */
async function quietly<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

const { Provider } = await quietly(() => import('oidc-provider'));

export const CLIENT_ID = 'grantd-console';
export const CLIENT_SECRET = 'the-secret-of-the-client-of-the-console';
export const AUDIENCE = 'https://grantd.example.com/operator';
const KEY_ID = 'key-of-the-provider';
const ALGORITHM = 'RS256';
/** Of signed tokens. */
const LIFE_SECONDS = 300;

/** What the provider says about a person, beside the subject. */
export type PersonClaims = Readonly<Record<string, unknown>>;

export interface RealProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Of the provider's key, in PEM. */
  readonly publicKey: string;
  /** The claims of everybody who can log in, by subject. */
  readonly people: Map<string, PersonClaims>;
  /** Who logs in next; undefined: the person cancels. */
  nextPerson: string | undefined;
  /** Called for every request, by path. */
  onRequest: (path: string) => void;
  /** Signed with the provider's own key, over the claims of a good access token. */
  sign(claims: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The claims of a good access token. */
  claims(overrides?: JWTPayload): JWTPayload;
}

/** `redirectUri`: of the console. */
export async function startProvider(redirectUri: string): Promise<RealProvider> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: KEY_ID, alg: ALGORITHM, use: 'sig' };
  const people = new Map<string, PersonClaims>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server's address is one of TCP.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const configuration: Configuration = {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key for cookies of a test'] },
    claims: { openid: ['sub', 'grantd_access', 'groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/person/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    async loadExistingGrant({ oidc }) {
      const { client, session } = oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  };
  const provider = await quietly(() => new Provider(issuer, configuration));
  const real: RealProvider = {
    issuer,
    publicKey: await exportSPKI(publicKey),
    people,
    nextPerson: undefined,
    onRequest: () => {},
    claims(overrides = {}) {
      const now = Math.floor(Date.now() / 1000);
      const good = { iss: issuer, aud: AUDIENCE, sub: 'ada', iat: now, exp: now + LIFE_SECONDS, grantd_access: 'full' };
      return { ...good, ...overrides };
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID, typ: 'at+jwt', ...header })
        .sign(privateKey),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const path = new URL(request.url ?? '/', issuer).pathname;
    real.onRequest(path);
    if (!path.startsWith('/person/')) {
      void answer(request, response);
      return;
    }
    const { nextPerson } = real;
    const result = nextPerson === undefined ? { error: 'access_denied' } : { login: { accountId: nextPerson } };
    provider
      .interactionFinished(request, response, result)
      .catch((error: unknown) => response.destroy(Error(String(error))));
  });
  return real;
}
