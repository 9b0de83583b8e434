// The reference at /docs in a real Chromium, on a real grantd: found, read, copied and tried as a developer would, by
// keyboard, in both colour schemes, narrow, and without scripts.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { assertAccessible, NARROW, visitConsole, WIDE } from './support/console-browser.ts';

const missing = await missingChromium('the reference in a browser');

/** Of a view, so that none is an endless page: some screens of the wide window. */
const VIEW_HEIGHT_MAX = 8_000;

describe('the reference in a browser', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-reference-'));
  let grantd: DevProcess;
  let browser: Browser;
  before(async () => {
    [grantd, browser] = await Promise.all([startDev(directory), openChromium()]);
  });
  after(async () => {
    await browser?.close();
    await grantd?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  const visit = async (anchor = '', options: Parameters<typeof visitConsole>[2] = {}) => {
    const { base_url: url } = readDevFacts(directory);
    const opened = await visitConsole(browser, url, options);
    await opened.page.goto(`${url}/docs${anchor}`);
    return opened;
  };
  const heading = (page: Page) => page.locator('.view.current h2');
  /** Of what the form of the view has shown last. */
  const result = (page: Page) => page.locator('.view.current .result');

  async function openForm(page: Page, key?: string): Promise<void> {
    await page.locator('.view.current').getByText('Try it', { exact: true }).click();
    if (key !== undefined) await page.locator('.view.current').getByLabel('API key').fill(key);
  }
  const send = (page: Page) => page.locator('.view.current').getByRole('button', { name: 'Send', exact: true }).click();

  it('shows one view at a time, each within its window and none endless', async () => {
    await using opened = await visit();
    const { page } = opened;
    assert.equal(await heading(page).textContent(), 'The API of grantd');
    for (const viewport of [WIDE, NARROW]) {
      await page.setViewportSize(viewport);
      const views = await page.evaluate(async () => {
        const anchors = [...document.querySelectorAll<HTMLAnchorElement>('nav a')].map(({ hash }) => hash);
        const seen = [];
        for (const anchor of [...anchors.slice(1), anchors[0] ?? '']) {
          const shown = new Promise((resolve) => window.addEventListener('hashchange', resolve, { once: true }));
          location.hash = anchor;
          await shown;
          const { scrollWidth, scrollHeight } = document.documentElement;
          const visible = [...document.querySelectorAll('.view')].filter((each) => each.checkVisibility());
          const current = document.querySelector<HTMLAnchorElement>('nav a[aria-current]')?.hash;
          const shows = visible.length === 1 && visible[0]?.querySelector(anchor) !== null && current === anchor;
          seen.push({ anchor, shows, excess: scrollWidth - window.innerWidth, height: scrollHeight });
        }
        return seen;
      });
      assert.ok(views.length > 60);
      const heightMax = viewport === WIDE ? VIEW_HEIGHT_MAX : Number.POSITIVE_INFINITY;
      assert.deepEqual(
        views.filter(({ shows, excess, height }) => !shows || excess > 0 || height > heightMax),
        [],
      );
    }
  });

  for (const [colorScheme, viewport, anchors] of [
    ['light', WIDE, ['#writeRules']],
    ['dark', NARROW, ['#start', '#errors']],
  ] as const) {
    it(`is accessible: ${colorScheme}`, async () => {
      await using opened = await visit('', { colorScheme, viewport });
      for (const anchor of anchors) {
        await opened.page.goto(`${opened.url}/docs${anchor}`);
        await heading(opened.page).waitFor();
        await assertAccessible(opened.page, anchor);
      }
    });
  }

  it('finds operations, types and errors, by keyboard', async () => {
    await using opened = await visit();
    const { page } = opened;
    const search = page.getByRole('combobox', { name: /^Search/ });
    for (const [words, title, anchor] of [
      ['create grant', 'Create a grant', '#createGrant'],
      ['/v1/rules/versions/', 'Read a version of the rules', '#readRulesVersion'],
      ['revocation', 'Revocation', '#type-Revocation'],
      ['evaluation-cyc', 'Errors', '#error-evaluation-cyclic'],
    ] as const) {
      await page.keyboard.press('/');
      assert.ok(await search.evaluate((input) => input === document.activeElement));
      await page.keyboard.type(words);
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
      await heading(page).getByText(title, { exact: true }).waitFor();
      assert.equal(new URL(page.url()).hash, anchor);
      assert.equal(await page.getByRole('option').count(), 0);
    }
    await page.keyboard.press('/');
    await page.keyboard.type('grants');
    await page.getByRole('option').nth(1).waitFor();
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.getByRole('option', { selected: true }).getAttribute('id'), 'found-1');
    await assertAccessible(page, 'what is found');
    await search.fill('xyzzy');
    await page.getByText('Nothing is found.').waitFor();
  });

  it('remembers the language of the samples, and copies them as they stand', async () => {
    await using opened = await visit('#check', { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = opened;
    const samples = page.locator('.view.current [data-samples]');
    const labels = await samples
      .locator('[data-language]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('data-language')));
    assert.ok(labels.length >= 4);
    for (const label of labels) {
      await samples.getByRole('button', { name: label ?? '', exact: true }).click();
      const shown = samples.locator('[data-language][open]');
      assert.equal(await shown.getAttribute('data-language'), label);
      const text = await shown.locator('code').textContent();
      await shown.getByRole('button', { name: 'Copy' }).click();
      await shown.getByRole('button', { name: 'Copied' }).waitFor();
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
    }
    await samples.getByRole('button', { name: 'Go', exact: true }).click();
    await page.goto(`${opened.url}/docs#createGrant`);
    await page.reload();
    assert.equal(await samples.locator('[data-language][open]').getAttribute('data-language'), 'Go');
    const bare = await page
      .locator('pre')
      .evaluateAll((all) => all.filter((each) => each.nextElementSibling?.textContent !== 'Copy').length);
    assert.equal(bare, 0);
  });

  it('sends requests with a key that it keeps nowhere', async () => {
    await using opened = await visit('#check');
    const { page } = opened;
    const { key } = readDevFacts(directory);
    const urls: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/v1/')) urls.push(request.url());
    });

    await openForm(page);
    await send(page);
    await result(page).getByText('Type an API key first.').waitFor();
    await page.locator('.view.current').getByLabel('API key').fill(key);
    await page.locator('.view.current').getByLabel('Body').fill('{"subject": }');
    await send(page);
    await result(page).getByText('The body is no JSON').waitFor();
    assert.deepEqual(urls, []);
    await page
      .locator('.view.current')
      .getByLabel('Body')
      .fill('{"subject":"user:x","relation":"viewer","object":"doc:y"}');
    await send(page);
    await result(page).getByText('200 OK').waitFor();
    assert.match((await result(page).textContent()) ?? '', /X-Service-Request-Id.*req_.*"authorized": false/s);
    await assertAccessible(page, 'a response');

    // The key of one form is that of all.
    await page.evaluate(() => {
      location.hash = '#listGrants';
    });
    await openForm(page);
    assert.equal(await page.locator('.view.current').getByLabel('API key').inputValue(), key);
    await send(page);
    await result(page).getByText('200 OK').waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    for (const each of [...urls, page.url(), kept]) assert.ok(!each.includes(key.slice(4)), each);
    assert.equal(new URL(urls.at(-1) ?? '').pathname, '/v1/grants');
    await page.reload();
    await openForm(page);
    assert.equal(await page.locator('.view.current').getByLabel('API key').inputValue(), '');
  });

  it('asks before it changes data', async () => {
    await using opened = await visit('#createGrant');
    const { page } = opened;
    const { key } = readDevFacts(directory);
    const methods: string[] = [];
    page.on('request', (request) => {
      if (new URL(request.url()).pathname.startsWith('/v1/')) methods.push(request.method());
    });
    await openForm(page, key);
    await send(page);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('POST /v1/grants').waitFor();
    await assertAccessible(page, 'the question');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await send(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(methods, []);
    await send(page);
    await dialog.getByRole('button', { name: 'Send POST' }).click();
    await result(page).getByText('201 Created').waitFor();
    assert.deepEqual(methods, ['POST']);
    await page.goto(`${opened.url}/docs#revokeKey`);
    await page.reload();
    await openForm(page, key);
    await page.locator('.view.current').getByLabel('key_id').fill('key_01jhm9r0g0e8xsg4k6t2v8w0yz/../x');
    await send(page);
    await dialog.getByText('DELETE /v1/keys/key_01jhm9r0g0e8xsg4k6t2v8w0yz%2F..%2Fx').waitFor();
  });

  it('is a readable page without scripts', async () => {
    for (const viewport of [WIDE, NARROW]) {
      await using opened = await visit('', { javaScriptEnabled: false, viewport });
      const { page } = opened;
      assert.ok((await page.locator('.view:visible').count()) > 60);
      assert.equal(await page.getByRole('button').count(), 0);
      assert.equal(await page.getByText('Search', { exact: true }).count(), 0);
      await page.locator('nav a[href="#createGrant"]').click();
      assert.ok(await page.locator('#createGrant').isVisible());
    }
  });
});
