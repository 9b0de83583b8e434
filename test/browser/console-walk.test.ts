// The console in a real Chromium over a real `grantd dev`: what pages do only in a browser, with the mouse and by
// keyboard. What a page shows, and what it refuses, the tests in test/unit/console say.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { parseApiKey } from '../../src/core/api-keys.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { waitFor } from '../kit/wait-for.ts';
import {
  assertAccessible,
  assertAligned,
  assertFits,
  assertWholeWords,
  COMMON,
  NARROW,
  tabTo,
  visitConsole,
  WIDE,
} from './support/console-browser.ts';

const TOKEN = 'the-token-of-alice-who-operates-this-service';
/** An operator with a name as providers of identities give it. */
const ALEXANDRA = 'alexandra.konstantinopoulou@operations-emea.example.com';
const TOKEN_OF_ALEXANDRA = 'the-token-of-alexandra-who-operates-this-service';
/** Enough for a picture, and few enough for every rule to be asked of every cell. */
const SLOTS = 32;
const missing = await missingChromium('the console in a browser');

describe('the console of grantd dev', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-console-'));
  const tokensFile = join(directory, 'operator-tokens');
  let grantd: DevProcess;
  let browser: Browser;
  let url = '';
  let baseUrl = '';
  const giveOut = (tokens: Readonly<Record<string, string>>): void => {
    const lines = Object.entries({ [ALEXANDRA]: TOKEN_OF_ALEXANDRA, ...tokens }).map(
      ([name, token]) => `${name}:${createHash('sha256').update(token).digest('hex')}\n`,
    );
    writeFileSync(tokensFile, lines.join(''));
  };
  before(async () => {
    giveOut({ alice: TOKEN });
    const environment = { GRANTD_OPERATOR_TOKENS_FILE: tokensFile, GRANTD_SLOTS: String(SLOTS) };
    [grantd, browser] = await Promise.all([
      startDev(directory, { args: ['--shards', '2'], environment }),
      openChromium(),
    ]);
    ({ console_url: url, base_url: baseUrl } = readDevFacts(directory));
  });
  after(async () => {
    await browser?.close();
    await grantd?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  async function check(key: string): Promise<{ status: number; authorized: unknown }> {
    const response = await fetch(`${baseUrl}/v1/check`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ subject: 'user:ada', relation: 'editor', object: 'document:plan' }),
    });
    return { status: response.status, authorized: Object(await response.json()).authorized };
  }

  it('is told of in the banner, and leads from its root to the log-in', async () => {
    assert.ok(grantd.stdout.includes(`Console    ${url}/ `));
    await using visit = await visitConsole(browser, url);
    await visit.page.goto(`${url}/`);
    assert.equal(new URL(visit.page.url()).pathname, '/console/log-in');
    await visit.page.keyboard.type('a wrong token');
    await visit.page.keyboard.press('Enter');
    const field = visit.page.getByLabel('Operator token');
    await visit.page.getByText('This is not a valid operator token.').waitFor();
    assert.equal(await field.inputValue(), '');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.ok(await field.evaluate((element) => element === document.activeElement));
  });

  it('takes a tenant from its first key to its end', async () => {
    await using visit = await visitConsole(browser, url, {
      token: TOKEN,
      permissions: ['clipboard-read', 'clipboard-write'],
      timezoneId: 'Asia/Tokyo',
    });
    const { page } = visit;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    const section = (name: string) => page.getByRole('navigation', { name: 'Tenant' }).getByRole('link', { name });

    await link('Tenants').first().click();
    await link('Create a tenant').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Globex');
    await page.getByLabel('Plan').selectOption('standard');
    await button('Create the tenant').click();
    await page.getByText('This tenant has no keys').waitFor();

    await page.getByRole('textbox', { name: 'Name' }).fill('service');
    await button('Create the key').click();
    await page.getByText('The key is shown only once').waitFor();
    await button('Copy the key').click();
    await page.getByText('Copied.').waitFor();
    const key = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(key, /^gk1_[0-9A-Za-z]{81}$/);
    await page.reload();
    assert.ok(!(await page.content()).includes(key));
    assert.equal(await page.getByRole('row', { name: 'service' }).count(), 1, 'loading again makes no second key');
    assert.deepEqual(await check(key), { status: 200, authorized: false });

    await section('Grants').click();
    await link('Create a grant').click();
    const grantForm = page.getByRole('dialog', { name: 'Create a grant' });
    await assertAccessible(page, 'the dialog of a new grant');
    await grantForm.getByLabel('Subject').fill('user:ada');
    await grantForm.getByLabel('Relation').selectOption('editor');
    await grantForm.getByLabel('Object').fill('document plan');
    await button('Create the grant').click();
    await page.getByText('An object has the form namespace:id').waitFor();
    assert.equal(await grantForm.getByLabel('Subject').inputValue(), 'user:ada');
    assert.equal(await grantForm.getByLabel('Object').inputValue(), 'document plan');
    assert.equal(await grantForm.getByLabel('Relation').inputValue(), 'editor');
    assert.ok(
      await grantForm.getByLabel('Object').evaluate((element) => element === document.activeElement),
      'the dialog stays open, at what was refused',
    );
    await grantForm.getByLabel('Object').fill('document:plan');
    // Nine hours ahead of UTC, which is what is sent.
    await grantForm.getByText('Expiry', { exact: true }).click();
    await grantForm.getByLabel('Expires').selectOption('At a date');
    await grantForm.getByLabel('Date and time').fill('2090-01-31T21:00');
    await grantForm.getByText('= 2090-01-31 12:00:00 UTC').waitFor();
    await button('Create the grant').click();
    await page.getByText('Grant created: user:ada editor document:plan').waitFor();
    await page.getByTitle('2090-01-31 21:00:00 Asia/Tokyo = 2090-01-31 12:00:00 UTC').waitFor();
    const created = page.locator('td[data-title=Created] time');
    assert.doesNotMatch((await created.textContent()) ?? '', /UTC/);
    await button('Times in Asia/Tokyo. Show UTC').click();
    assert.match((await created.textContent()) ?? '', /^[-\d]{10} [:\d]{5} UTC$/);
    await button('Times in UTC. Show Asia/Tokyo').click();
    assert.deepEqual(await check(key), { status: 200, authorized: true });

    await section('Grants').click();
    await page.getByLabel('Subject or object').fill('user:ada');
    await page.keyboard.press('Enter');
    await link('Revoke editor on document:plan').click();
    await button('Revoke').click();
    await page.getByText('Grant revoked: user:ada editor document:plan').waitFor();
    assert.deepEqual(await check(key), { status: 200, authorized: false });
    await button('Undo: create user:ada editor document:plan again').click();
    await page.getByText('Grant created: user:ada editor document:plan').waitFor();
    assert.deepEqual(await check(key), { status: 200, authorized: true });

    const overview = new URL(page.url()).pathname.replace(/\/grants$/, '');

    // From any page to where an ID belongs, without a mouse.
    await visit.open('/audit-log');
    const rows = page.getByRole('table', { name: 'Changes' }).locator('tbody tr');
    await rows.first().locator('details.actor summary').click();
    await assertAccessible(page, 'the audit log of all tenants');
    await page.keyboard.press('Control+k');
    await page.keyboard.type(overview.replace(/^.*\//, ''));
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${overview}`);
    await link('Delete …').click();
    await page.getByLabel('Type the tenant’s name').fill('Globex');
    await button('Delete permanently').click();
    await page.getByText(/is being removed|Tenant deleted/).waitFor();
    await page.getByText('Tenant deleted').waitFor();
    await link('audit log').click();
    await page.getByRole('heading', { name: 'Globex' }).waitFor();
    await assertAccessible(page, 'the audit log of a deleted tenant');
  });

  it('shows refused lines again, and revokes all of a subject, step by step', async () => {
    const { operator_token: token } = readDevFacts(directory);
    const operate = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(`${url}/operator/v1${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      assert.ok(response.ok, path);
      return Object(await response.json());
    };
    const { tenant_id: tenantId } = await operate('/tenants', { name: 'Initech', plan: 'unlimited' });
    await using visit = await visitConsole(browser, url, { token: TOKEN });
    const { page } = visit;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const link = (name: string) => page.getByRole('link', { name, exact: true });

    await visit.open(`/tenants/${tenantId}/grants/lines`);
    const box = page.getByLabel('Grants, one per line');
    await box.fill('user:ada viewer document:1\nuser:bob re#ads document:1');
    await button('Create the grants').click();
    await page.getByText('1 line is wrong, see below. Nothing was created.').waitFor();
    assert.ok(await box.evaluate((element) => element === document.activeElement));
    await assertAccessible(page, 'lines that are wrong');
    await assertFits(page, 'lines that are wrong');

    // More than two calls revoke.
    for (let call = 0; call < 25; call += 1) {
      const grants = Array.from({ length: 100 }, (_, index) => ({
        subject: 'user:ada',
        relation: 'editor',
        object: `document:${call}-${index}`,
      }));
      await operate(`/tenants/${tenantId}/grants/bulk`, { grants });
    }
    await visit.open(`/tenants/${tenantId}/grants?subject=user:ada`);
    await link('Revoke all of them …').click();
    await page.getByLabel('To confirm, type user:ada').fill('user:ada');
    await button('Revoke all').click();
    await page.getByText('2,500 grants revoked.').waitFor();
    await page.getByRole('heading', { name: 'All grants of user:ada are revoked' }).waitFor();
    await assertAccessible(page, 'the end of a revocation');
  });

  it('is worked by keyboard alone, and shows where the focus is', async () => {
    await using visit = await visitConsole(browser, url);
    const { page } = visit;
    const { keyboard } = page;
    await visit.open('/log-in');
    // The field has the focus by itself, a moment after the page is there.
    await page.locator('input:focus').waitFor();
    await keyboard.type(TOKEN);
    await keyboard.press('Enter');
    await page.waitForURL('**/console/cluster');
    await keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content');
    await tabTo(page, 'Tenants');
    await keyboard.press('Enter');
    await page.waitForURL('**/console/tenants');
    await tabTo(page, 'Create a tenant');
    await keyboard.press('Enter');
    await page.waitForURL('**/console/tenants/new');
    await tabTo(page, 'Name');
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await page.waitForURL('**/keys');
    await tabTo(page, 'Name');
    await keyboard.type('first key');
    await tabTo(page, 'Expires (UTC)');
    await tabTo(page, 'Create the key');
    await keyboard.press('Enter');
    await page.getByText('The key is shown only once').waitFor();
    // What was just made has the focus: the next stop is its button.
    await tabTo(page, 'Copy the key');
    await tabTo(page, 'Revoke first key');
  });

  it('ends a session at log-out, and with its token', async () => {
    await using visit = await visitConsole(browser, url, { token: TOKEN });
    const { page, context } = visit;
    const cookies = await context.cookies();
    assert.deepEqual(
      cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })),
      [{ httpOnly: true, sameSite: 'Strict' }],
    );
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByText('You have logged out.').waitFor();
    assert.deepEqual(await context.cookies(), []);
    await context.addCookies(cookies);
    await visit.open('/tenants');
    assert.equal(new URL(page.url()).pathname, '/console/log-in');

    const secondToken = 'the-token-of-bob-who-leaves-the-team-today';
    giveOut({ alice: TOKEN, bob: secondToken });
    await using leaving = await visitConsole(browser, url);
    // Asking for it again and again would count as failed log-ins.
    await waitFor('the new token', () =>
      `${grantd.stdout}${grantd.stderr}`.includes('reloaded the file of operator tokens'),
    );
    await leaving.open('/log-in');
    await leaving.page.getByLabel('Operator token').fill(secondToken);
    await leaving.page.keyboard.press('Enter');
    await leaving.page.waitForURL('**/console/cluster');
    giveOut({ alice: TOKEN });
    // The page renews itself, and leads to the log-in by itself.
    await leaving.page.waitForURL('**/console/log-in?to=%2Fconsole%2Fcluster');
  });

  it('shows what is asked of the cluster without loading again', async () => {
    await using visit = await visitConsole(browser, url, { token: TOKEN });
    const { page } = visit;
    const { key } = readDevFacts(directory);
    await page.evaluate(() => document.documentElement.setAttribute('data-mark', 'same page'));
    const checks = page.locator('.tile', { hasText: /^Checks/ }).locator('strong');
    const shapes = page.getByRole('img', { name: `${SLOTS} slots` }).locator('path');
    const cells = await shapes.evaluateAll((paths) => paths.map((path) => path.getAttribute('d') ?? '').join(''));
    assert.equal(cells.split('M').length - 1, SLOTS);
    assert.equal(await page.getByRole('row', { name: /dev-[12] alive/ }).count(), 2);
    await waitFor('checks on the page', async () => {
      await Promise.all(Array.from({ length: 20 }, () => check(key)));
      return Number.parseInt((await checks.textContent()) ?? '', 10) > 0;
    });
    assert.equal(await page.locator('html').getAttribute('data-mark'), 'same page');
  });

  it('is readable on every page, wide and narrow, light and dark', async () => {
    const { tenant_id: tenantId, key } = readDevFacts(directory);
    const create = async (what: string, body: object): Promise<void> => {
      const { ok } = await fetch(`${url}/operator/v1/tenants/${tenantId}/${what}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${TOKEN_OF_ALEXANDRA}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      assert.ok(ok, what);
    };
    const grant = (subject: string, object: string) => create('grants', { subject, relation: 'viewer', object });
    await Promise.all([
      grant('user:ada', 'document:plan'),
      grant('user:ada', `document:${'x'.repeat(256)}`),
      grant('user:dee.kowalski-von-hohenstein@example.com', 'document:2f6b8d1c-0a5e-4f7c-8e9d-aaaabbbbcccc'),
      create('keys', {
        name: 'gateway',
        scopes: ['check:read', 'grant:write', 'admin'],
        expires_at: '2999-01-31T00:00:00Z',
      }),
      create('keys', { name: 'reporting and invoicing', scopes: ['check:read'] }),
    ]);
    const base = `/tenants/${tenantId}`;
    const keyId = parseApiKey(key)?.keyId;
    const question = '?subject=user:ada&relation=viewer';
    const paths = [
      '/cluster',
      '/cluster/slots',
      '/tenants',
      '/tenants?q=nothing',
      '/tenants?sort=requests&plan=free&state=active',
      '/tenants/new',
      base,
      `${base}/keys`,
      `${base}/keys/${keyId}/rotate`,
      '/identify-key',
      `${base}/namespaces`,
      `${base}/grants`,
      `${base}/grants?subject=user:ada`,
      `${base}/grants?relation=viewer&objects=document`,
      `${base}/grants?entity=wrong`,
      `${base}/grants/new`,
      `${base}/objects`,
      `${base}/objects${question}`,
      `${base}/check${question}&object=document:plan`,
      `${base}/check${question}&object=wrong`,
      `${base}/grants/revoke?subject=user:ada&relation=viewer&object=document:plan`,
      `${base}/grants/revoke-all?subject=user:ada`,
      `${base}/grants/revoke-all?object=document:none`,
      `${base}/grants/lines`,
      `${base}/grants?object=document:plan`,
      `${base}/grants?object=document:plan&relation=viewer`,
      `${base}/rules`,
      `${base}/rules?example=documents`,
      `${base}/rules/versions`,
      `${base}/check/many`,
      `${base}/changes?from=day`,
      `${base}/audit-log`,
      `${base}/audit-log?subject=user:ada&action=grant.created`,
      `${base}/audit-log?subject=wrong`,
      `${base}/delete`,
      `${base}/suspend`,
      '/nothing',
    ];
    // Colours change at once, not over a transition.
    const options = { reducedMotion: 'reduce', token: TOKEN } as const;
    await using visit = await visitConsole(browser, url, options);
    const { page } = visit;
    await using strangers = await visitConsole(browser, url, { colorScheme: 'dark', viewport: NARROW });
    await strangers.open('/log-in');
    await assertAccessible(strangers.page, 'the log-in');
    await assertFits(strangers.page, 'the log-in');
    for (const path of paths) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(WIDE);
      await visit.open(path);
      for (const details of await page.locator('details').all()) {
        await details.evaluate((element) => element.setAttribute('open', ''));
      }
      await assertAccessible(page, `${path}, light`);
      await assertFits(page, `${path}, wide`);
      await page.setViewportSize(COMMON);
      await assertFits(page, `${path}, common`);
      await assertWholeWords(page, `${path}, common`);
      await assertAligned(page, `${path}, common`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(NARROW);
      await assertFits(page, `${path}, narrow`);
      // Of all rules, only contrast asks for colours.
      await assertAccessible(page, `${path}, dark`, ['color-contrast']);
    }
  });
});
