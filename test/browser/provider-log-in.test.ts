// The log-in at an identity provider in a real Chromium, with and without scripts: the provider is another site, so the
// browser decides which cookies come along. And what an operator sees who may only read.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { createIdentityProvider, type IdentityProvider } from '../../src/operator/identity/identity-provider.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { useConsole } from '../kit/console-service.ts';
import { CLIENT_ID, CLIENT_SECRET, startProvider } from '../kit/identity-provider.ts';
import { assertAccessible, assertFits, NARROW } from './support/console-browser.ts';

const missing = await missingChromium('the log-in at an identity provider in a browser');

// The provider must know the address of the console, and the console that of the provider.
const identityProvider: IdentityProvider = {
  logsIn: true,
  beginLogIn: () => inner.beginLogIn(),
  completeLogIn: (search, pending) => inner.completeLogIn(search, pending),
  identify: (token) => inner.identify(token),
};
const service = await useConsole({ identityProvider });
// Another host than that of the provider, 127.0.0.1, is another site.
const url = service.url.replace('127.0.0.1', 'localhost');
const redirectUri = `${url}/console/log-in/callback`;
const real = await startProvider(redirectUri);
after(() => real[Symbol.asyncDispose]());
const inner = createIdentityProvider(
  { clock: systemClock, random: systemRandom, log: createLog({ level: 'silent', pretty: false }) },
  {
    issuer: real.issuer,
    client: { id: CLIENT_ID, secret: CLIENT_SECRET, redirectUri, scope: 'openid' },
    audience: undefined,
    claims: {
      nameClaim: 'sub',
      accessClaim: 'grantd_access',
      fullValues: ['full'],
      readOnlyValues: ['read-only'],
      groupsClaim: 'groups',
      requiredGroups: [],
    },
  },
);
real.people.set('ada', { grantd_access: 'read-only' });
real.nextPerson = 'ada';

describe('the log-in at an identity provider', { skip: missing ?? false }, () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  for (const javaScriptEnabled of [true, false]) {
    it(`leads back to the page that was wanted, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const context = await browser.newContext({ javaScriptEnabled, viewport: NARROW });
      const page = await context.newPage();
      const broken: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') broken.push(message.text());
      });
      await page.goto(`${url}/console/tenants?q=acme`);
      await page.getByRole('link', { name: 'Log in with the identity provider' }).click();
      await page.waitForURL('**/console/tenants?q=acme');
      await page.getByText('oidc:ada').waitFor();
      await page.getByText('read-only').first().waitFor();
      assert.deepEqual(broken, []);
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByText('You have logged out').waitFor();
      await page.goto(`${url}/console/tenants`);
      await page.waitForURL('**/console/log-in?*');
      await context.close();
    });
  }

  it('has pages that fit and that everybody can use', async () => {
    const context = await browser.newContext({ viewport: NARROW });
    const page = await context.newPage();
    await page.goto(`${url}/console/log-in`);
    await assertFits(page, 'the log-in');
    await assertAccessible(page, 'the log-in');
    await page.getByRole('link', { name: 'Log in with the identity provider' }).click();
    await page.waitForURL('**/console/cluster');
    const created = await service.operator.createTenant(
      { requestId: 'req_0', deadlineMs: systemClock.monotonicMs() + 60_000 },
      { name: 'Acme', plan: 'free', operator: 'ada' },
    );
    await page.goto(`${url}/console/tenants/${created.tenantId}/keys`);
    assert.ok(await page.getByRole('button', { name: 'Create the key' }).isDisabled());
    await assertFits(page, 'the keys for an operator who may only read');
    await assertAccessible(page, 'the keys for an operator who may only read');
    await context.close();
  });
});
