// The reference at /docs in a real Chromium, on a real grantd: Scalar under a policy that lets it load nothing from
// elsewhere. What Scalar itself does, its own tests say; here is what our settings make of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { type DevProcess, readDevFacts, startDev } from '../kit/dev-process.ts';
import { assertAccessible, assertFits, NARROW, visitConsole, WIDE } from './support/console-browser.ts';

const missing = await missingChromium('the reference in a browser');

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

  const visit = async (path: string, options: Parameters<typeof visitConsole>[2] = {}) => {
    const { base_url: url } = readDevFacts(directory);
    const opened = await visitConsole(browser, url, options);
    await opened.page.goto(`${url}${path}`);
    return opened;
  };

  it('finds operations, and shows them with samples', async () => {
    await using opened = await visit('/docs');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Check one relationship' }).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('create a grant');
    await page.getByRole('option', { name: /Create a grant/ }).click();
    await page.getByRole('heading', { name: 'Create a grant' }).first().waitFor();
    await page.waitForURL(/#tag\/grants\/POST\/v1\/grants$/);
    await page
      .getByText(/--request POST/)
      .first()
      .waitFor();
  });

  it('sends requests to where it is, with a key that it keeps nowhere', async () => {
    await using opened = await visit('/docs');
    const { page, url } = opened;
    const { key } = readDevFacts(directory);
    await page.getByPlaceholder('Token').first().fill(key);
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const sent = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: /^Send/ }).first().click();
    const response = await sent;
    assert.equal(response.url(), `${url}/v1/check`);
    assert.equal(response.status(), 200);
    await page.getByText('200 OK').first().waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    assert.ok(!kept.includes(key.slice(4)), kept);
    await page.reload();
    assert.equal(await page.getByPlaceholder('Token').first().inputValue(), '');
  });

  it('says what it needs where there are no scripts', async () => {
    await using opened = await visit('/docs', { javaScriptEnabled: false });
    await opened.page.getByRole('link', { name: 'The OpenAPI document' }).waitFor();
  });

  for (const [colorScheme, viewport, path] of [
    ['light', WIDE, '/'],
    ['dark', NARROW, '/errors'],
    ['light', NARROW, '/errors/evaluation-cyclic'],
  ] as const) {
    it(`has pages beside it that are accessible: ${path}, ${colorScheme}`, async () => {
      await using opened = await visit(path, { colorScheme, viewport });
      await assertAccessible(opened.page, path);
      await assertFits(opened.page, path);
    });
  }
});
