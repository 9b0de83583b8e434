// An identity provider whose responses do not end, one kind of them after the other: operators get 503 or no log-in,
// with bounded memory and in bounded time, and the console goes on.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BodyTooLong } from '../../../../src/core/bounded-body.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { createIdentityProvider } from '../../../../src/operator/identity/identity-provider.ts';
import { PROVIDER_BODY_BYTES_MAX } from '../../../../src/operator/identity/provider-metadata.ts';
import { systemRandom } from '../../../../src/roles/process/system.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { type Endless, startFlooding } from '../../../kit/flooding-server.ts';
import { AUDIENCE, CLIENT_ID, CLIENT_SECRET, startProvider } from '../../../kit/identity-provider.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const REDIRECT_URI = 'https://console.example.com/console/log-in/callback';
/** What the system keeps of a connection that nobody reads: no more than some megabytes. */
const BUFFERED_BYTES_MAX = 16 * 1024 * 1024;

/** Because of the bound of its bytes, or else of its time. */
const isTooLong = (error: unknown): boolean =>
  error instanceof BodyTooLong || (error instanceof Error && isTooLong(error.cause));
const unavailable = (error: unknown): boolean =>
  error instanceof GrantdError && error.code === 'unavailable' && isTooLong(error) === (endless.kind !== 'trickle');

const endless = await startFlooding();
const real = await startProvider(REDIRECT_URI);
after(async () => {
  await endless[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
});

/** One that has read nothing yet. */
const consoleOf = () =>
  createIdentityProvider(
    { clock: new VirtualClock(), random: systemRandom, log: createLog({ level: 'silent', pretty: false }) },
    {
      issuer: endless.url,
      client: { id: CLIENT_ID, secret: CLIENT_SECRET, redirectUri: REDIRECT_URI, scope: 'openid' },
      audience: AUDIENCE,
      claims: {
        nameClaim: 'sub',
        accessClaim: 'grantd_access',
        fullValues: ['full'],
        readOnlyValues: [],
        groupsClaim: 'groups',
        requiredGroups: [],
      },
    },
  );

const KINDS: readonly Endless[] = ['flood', 'compressed', 'trickle'];
const METADATA = '/.well-known/openid-configuration';
const metadata = (): string =>
  JSON.stringify({
    issuer: endless.url,
    authorization_endpoint: `${endless.url}/authorize`,
    token_endpoint: `${endless.url}/token`,
    jwks_uri: `${endless.url}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });

const steps: readonly (readonly [string, boolean, () => Promise<void>])[] = [
  ['its metadata', false, () => assert.rejects(consoleOf().beginLogIn(), unavailable)],
  [
    'its keys',
    true,
    async () => {
      const token = await real.sign(real.claims({ iss: endless.url }));
      await assert.rejects(consoleOf().identify(token), unavailable);
    },
  ],
  [
    'its tokens',
    true,
    async () => {
      const visited = consoleOf();
      const { pending } = await visited.beginLogIn();
      const search = new URLSearchParams({ code: 'a-code', state: pending.state }).toString();
      assert.equal(await visited.completeLogIn(search, pending), undefined);
    },
  ],
];

for (const [what, known, ask] of steps) {
  for (const kind of KINDS) {
    test(`${what}, by ${kind}`, { timeout: 60_000 }, async () => {
      endless.kind = kind;
      if (known) endless.answers.set(METADATA, metadata());
      else endless.answers.clear();
      const { sent, requests } = endless;
      await ask();
      await waitFor('the end of the connection', () => endless.open === 0);
      assert.equal(endless.requests - requests, known ? 2 : 1);
      assert.ok(endless.sent - sent < PROVIDER_BODY_BYTES_MAX + BUFFERED_BYTES_MAX, `${endless.sent - sent} bytes`);
    });
  }
}
