// The example application in a real Chromium, on a real grantd: people see what they were given, and no longer once it
// is revoked.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { reportMissing } from '../../tools/engines/engine-script.ts';
import { freePort } from '../../tools/engines/free-port.ts';
import { installNpmProgram, NODE_20 } from '../../tools/engines/npm-program.ts';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { type ExampleApp, restartDocsApp, startDocsApp } from '../kit/example-app.ts';
import { call } from '../kit/http-client.ts';
import { waitFor } from '../kit/wait-for.ts';
import { assertAccessible } from './support/console-browser.ts';

const missing = await missingChromium('the example docs-app in a browser');
const HOUR_MS = 3_600_000;

describe('the example docs-app in a browser', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-docs-app-'));
  const data = join(directory, 'data');
  const checkout = join(directory, 'grantd');
  const pages = new Map<string, Page>();
  let environment: Readonly<Record<string, string>>;
  let grantd: DevProcess;
  let browser: Browser;
  let app: ExampleApp;

  before(async () => {
    environment = { GRANTD_HTTP_ADDRESS: `127.0.0.1:${await freePort()}`, GRANTD_LOG_LEVEL: 'warn' };
    [grantd, browser] = await Promise.all([startDev(data, { environment }), openChromium()]);
    const { base_url: url, key } = readDevFacts(data);
    app = await startDocsApp(checkout, { url, key });
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
    await grantd?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  /** Somebody's browser; a profile of its own, without scripts. */
  async function visit(person?: string): Promise<Page> {
    const open = pages.get(person ?? '');
    if (open !== undefined) return open;
    const context = await browser.newContext({ javaScriptEnabled: person === 'ada' });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    pages.set(person ?? '', page);
    if (person === undefined) return page;
    await page.goto(`${app.url}/log-in`);
    await page.getByLabel('Person').selectOption(person);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'My documents' }).waitFor();
    return page;
  }

  async function create(page: Page, kind: 'folder' | 'team', title: string): Promise<void> {
    await page.goto(app.url);
    await page
      .getByRole('form', { name: `New ${kind}` })
      .getByLabel('Title')
      .fill(title);
    await page.getByRole('button', { name: `Create ${kind}` }).click();
    await page.getByRole('link', { name: `Share ${title}` }).waitFor();
  }

  /** Returns the address of the new document. */
  async function createDocument(page: Page, title: string, text: string, folder = 'none'): Promise<string> {
    await page.goto(app.url);
    const form = page.getByRole('form', { name: 'New document' });
    await form.getByLabel('Title').fill(title);
    await form.getByLabel('Text').fill(text);
    await form.getByLabel('Folder').selectOption(folder);
    await form.getByRole('button').click();
    const path = await page.getByRole('link', { name: title, exact: true }).getAttribute('href');
    return `${app.url}${path}`;
  }

  async function openSharing(page: Page, title: string): Promise<void> {
    await page.goto(app.url);
    const share = page.getByRole('link', { name: `Share ${title}` });
    if ((await share.count()) > 0) return share.click();
    await page.getByRole('link', { name: title, exact: true }).click();
    await page.getByRole('link', { name: 'Share' }).click();
  }

  async function share(page: Page, subject: string, relation: string, duration = 'without end'): Promise<void> {
    const form = page.getByRole('form', { name: 'Share' });
    await form.getByRole('combobox', { name: 'With', exact: true }).selectOption(subject);
    await form.getByRole('combobox', { name: 'As', exact: true }).selectOption(relation);
    await form.getByRole('combobox', { name: 'For how long', exact: true }).selectOption(duration);
    await form.getByRole('button').click();
    await page
      .getByRole('button', { name: `, ${relation}` })
      .first()
      .waitFor();
  }

  const whoMay = async (page: Page): Promise<string[]> =>
    (await page.locator('tbody tr').allInnerTexts()).map((row) => row.replaceAll('\t', ' | ')).sort();

  /** What the browser gets at an address; the text, too, must not be there unless the status is 200. */
  async function look(page: Page, address: string, text: string): Promise<number> {
    const response = (await page.goto(address)) ?? assert.fail(address);
    const shown = (await page.content()).includes(text) || (await response.text()).includes(text);
    assert.equal(shown, response.status() === 200 && page.url() === address, `${response.status()} ${page.url()}`);
    return response.status();
  }

  it('also starts on the oldest Node that it supports', async (t: TestContext) => {
    const node = await installNpmProgram(NODE_20).catch((error: unknown) => {
      t.skip(reportMissing('docs-app on Node 20', String(error)));
      return undefined;
    });
    if (node === undefined) return;
    await app.stop();
    const { base_url: url, key } = readDevFacts(data);
    app = await restartDocsApp(checkout, { url, key }, node);
  });

  it('a team sees what is shared with it, until it is revoked', async () => {
    const [ada, bob, carol] = [await visit('ada'), await visit('bob'), await visit('carol')];
    await create(ada, 'team', 'Design');
    await openSharing(ada, 'Design');
    await share(ada, 'bob', 'member');
    const address = await createDocument(ada, 'Plan', 'Ship it.');
    assert.equal(await look(bob, address, 'Ship it.'), 403);

    await openSharing(ada, 'Plan');
    await share(ada, 'the team Design', 'editor');
    assert.deepEqual(await whoMay(ada), [
      'ada | owner | ada is owner of the document Plan',
      'bob | editor | bob is member of the team Design; each member of the team Design is editor of the document Plan',
    ]);
    await assertAccessible(ada, 'the page for sharing');
    assert.equal(await look(bob, address, 'Ship it.'), 200);
    await bob.getByLabel('Text').fill('Ship it today.');
    await bob.getByRole('button', { name: 'Save' }).click();
    assert.equal(await look(ada, address, 'Ship it today.'), 200);
    assert.equal(await look(carol, address, 'Ship it'), 403);
    assert.equal((await bob.goto(`${address}/sharing`))?.status(), 403);
    await bob.goto(app.url);
    assert.equal(await bob.getByRole('link', { name: 'Plan', exact: true }).count(), 1);

    await openSharing(ada, 'Plan');
    await ada.getByRole('button', { name: 'Revoke: each member of the team Design, editor' }).click();
    await ada.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    assert.equal(await look(bob, address, 'Ship it'), 403);
    await bob.goto(app.url);
    assert.equal(await bob.getByRole('link', { name: 'Plan', exact: true }).count(), 0);
    await openSharing(ada, 'Plan');
    assert.deepEqual(await whoMay(ada), ['ada | owner | ada is owner of the document Plan']);
  });

  it('what is shared for a time is listed with its end, and ends', async () => {
    const [ada, carol] = [await visit('ada'), await visit('carol')];
    const address = await createDocument(ada, 'Draft', 'For a while.');
    await openSharing(ada, 'Draft');
    const startMs = Date.now();
    await share(ada, 'carol', 'viewer', 'one hour');
    const end = (await ada.locator('time').getAttribute('datetime')) ?? '';
    assert.ok(Date.parse(end) >= startMs + HOUR_MS && Date.parse(end) <= Date.now() + HOUR_MS, end);
    assert.equal(await look(carol, address, 'For a while.'), 200);

    const { base_url: url, key } = readDevFacts(data);
    const object = new URL(address).pathname.slice(1).replace('/', ':');
    // An hour is too long for a test. The end is long enough for the call, and tried again where it is not.
    await waitFor('an end that is about to come', async () => {
      const expiresAt = new Date(Date.now() + 1500).toISOString();
      const body = { subject: 'user:carol', relation: 'viewer', object, expires_at: expiresAt };
      return (await call(url, { method: 'POST', path: '/v1/grants', key, body })).status === 200;
    });
    await waitFor('the end', async () => (await look(carol, address, 'For a while.')) === 403);
    await openSharing(ada, 'Draft');
    assert.deepEqual(await whoMay(ada), ['ada | owner | ada is owner of the document Draft']);
    assert.equal(await ada.locator('time').count(), 0);
  });

  it('who may view a folder may view what is in it', async () => {
    const [ada, dan] = [await visit('ada'), await visit('dan')];
    await create(ada, 'folder', 'Plans');
    const address = await createDocument(ada, 'Roadmap', 'First, rest.', 'Plans');
    assert.equal(await look(dan, address, 'First, rest.'), 403);
    await openSharing(ada, 'Plans');
    await share(ada, 'dan', 'viewer');
    assert.equal(await look(dan, address, 'First, rest.'), 200);
    assert.equal(await dan.getByRole('button', { name: 'Save' }).count(), 0);
    await openSharing(ada, 'Roadmap');
    assert.deepEqual(await whoMay(ada), [
      'ada | owner | ada is owner of the document Roadmap',
      'dan | viewer | dan is viewer of the folder Plans; the document Roadmap is in the folder Plans',
    ]);
    // As an editor, and not as a viewer any more.
    await openSharing(ada, 'Plans');
    await share(ada, 'dan', 'editor');
    assert.equal(await ada.getByRole('button', { name: 'Revoke' }).count(), 1);
    await dan.goto(address);
    await dan.getByRole('button', { name: 'Save' }).waitFor();
  });

  it('a document shared with everyone is visible without a log-in until it is revoked', async () => {
    const [ada, anybody] = [await visit('ada'), await visit()];
    const address = await createDocument(ada, 'Handbook', 'Be kind.');
    await look(anybody, address, 'Be kind.');
    assert.equal(anybody.url(), `${app.url}/log-in`);
    await openSharing(ada, 'Handbook');
    await share(ada, 'everyone, even without logging in', 'viewer');
    assert.deepEqual(await whoMay(ada), [
      'ada | owner | ada is owner of the document Handbook',
      'everyone | viewer | everyone is viewer of the document Handbook',
    ]);
    assert.equal(await look(anybody, address, 'Be kind.'), 200);
    assert.equal(await anybody.getByRole('button').count(), 0);
    await ada.getByRole('button', { name: 'Revoke' }).click();
    await ada.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    await look(anybody, address, 'Be kind.');
    assert.equal(anybody.url(), `${app.url}/log-in`);
  });
});
