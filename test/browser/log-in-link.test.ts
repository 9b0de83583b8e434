// The log-in link in a real Chromium: it logs in by itself, and leaves no code in the address nor in what a server
// gets.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { createLogInCode } from '../../packages/console/src/log-in-code.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { OPERATOR_TOKEN, useConsole } from '../kit/console-service.ts';

const missing = await missingChromium('the log-in link in a browser');

const logInCode = createLogInCode({ clock: systemClock, random: systemRandom }, { token: OPERATOR_TOKEN });
const service = await useConsole({ logInCode });

describe('the log-in link', { skip: missing ?? false }, () => {
  const code = logInCode.path.split('#code=')[1] ?? '';
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  it('logs in by itself, once, and the code is in no address and no header', async () => {
    const page = await browser.newPage();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${JSON.stringify(request.headers())}`));
    await page.goto(`${service.url}${logInCode.path}`);
    await page.waitForURL('**/console/cluster');
    await page.waitForSelector('nav[aria-label="Console"]');
    assert.ok(sent.length > 2);
    // Playwright tells of the fragment of the address that was typed; nothing else may name the code.
    assert.deepEqual(
      sent.filter((each) => each.split('#code=')[0] !== `${service.url}/console/log-in` && each.includes(code)),
      [],
    );
    assert.ok(!String(await page.evaluate('document.referrer + location.href')).includes(code));
    await page.goBack();
    assert.ok(!page.url().includes(code), 'nor is it in the history');
    await page.context().close();

    const again = await browser.newPage();
    await again.goto(`${service.url}${logInCode.path}`);
    await again.waitForSelector('text=This link has already been used or has expired');
    assert.ok(!again.url().includes(code));
  });
});
