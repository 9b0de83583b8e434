// The console in a real Chromium over a real `grantd dev` that holds a tenant of a million grants, a hundred thousand
// of them one subject's. Every page has to be one: of bounded length, there in its time, and quick to react to a key.
// The bounds are generous; a page that grows with what there is breaks them by far.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page, Response } from 'playwright-core';
import { missingChromium, openChromium } from '../../../tools/engines/chromium.ts';
import { type DevProcess, readDevFacts, startDev } from '../../kit/dev-process.ts';
import { assertFits, type ConsolePage, visitConsole } from '../support/console-browser.ts';

const GRANTS = 1_000_000;
/** Of the one subject; the others have ten each. */
const LARGE_GRANTS = 100_000;
const LARGE_SUBJECT = 'user:large';
const GRANTS_PER_SUBJECT = 10;
const LINES_PER_CALL = 1000;
const CALLS_UNDER_WAY = 8;

const ROWS_PER_PAGE = 50;
const OBJECTS_PER_PAGE = 100;
const PAGES = 20;
const BYTES_MAX = 128 * 1024;
/** From the click to a page that has been painted. */
const SHOWN_MS_MAX = 5000;
const KEY_MS_MAX = 1000;

const padded = (number: number): string => String(number).padStart(7, '0');

function grantAt(number: number): { readonly subject: string; readonly relation: string; readonly object: string } {
  if (number < LARGE_GRANTS) {
    return { subject: LARGE_SUBJECT, relation: 'viewer', object: `document:large-${padded(number)}` };
  }
  const subject = Math.floor(number / GRANTS_PER_SUBJECT);
  return { subject: `user:u-${padded(subject)}`, relation: 'editor', object: `document:d-${padded(number)}` };
}

const missing = await missingChromium('a million grants in a browser');

describe('the console of a tenant with a million grants', { skip: missing ?? false }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-million-'));
  let grantd: DevProcess;
  let browser: Browser;
  let visit: ConsolePage;
  let page: Page;
  let tenantPath = '';

  async function importGrants(): Promise<void> {
    const { console_url: url, operator_token: token, tenant_id: tenantId } = readDevFacts(directory);
    let next = 0;
    const importInTurn = async (): Promise<void> => {
      while (next < GRANTS) {
        const first = next;
        next += LINES_PER_CALL;
        const lines = Array.from({ length: LINES_PER_CALL }, (_, index) => JSON.stringify(grantAt(first + index)));
        const response = await fetch(`${url}/operator/v1/tenants/${tenantId}/import`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
          body: lines.join('\n'),
        });
        const created = (await response.text()).split('"result":"created"').length - 1;
        assert.equal(created, LINES_PER_CALL);
      }
    };
    await Promise.all(Array.from({ length: CALLS_UNDER_WAY }, importInTurn));
  }

  before(async () => {
    [grantd, browser] = await Promise.all([startDev(directory), openChromium()]);
    const { console_url: url, operator_token: token, tenant_id: tenantId } = readDevFacts(directory);
    await importGrants();
    visit = await visitConsole(browser, url, { token });
    ({ page } = visit);
    tenantPath = `/tenants/${tenantId}`;
  });
  after(async () => {
    await visit?.[Symbol.asyncDispose]();
    await browser?.close();
    await grantd?.stop('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  const longest = { shownMs: 0, keyMs: 0, bytes: 0 };

  /** Goes to a page by `go`, which has to be there in time and no longer than a page. */
  async function look(what: string, go: () => Promise<unknown>): Promise<void> {
    const isPage = (response: Response): boolean => response.request().isNavigationRequest() && response.ok();
    const startMs = performance.now();
    const [response] = await Promise.all([page.waitForResponse(isPage), go()]);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    const shownMs = performance.now() - startMs;
    assert.ok(shownMs < SHOWN_MS_MAX, `${what} took ${Math.round(shownMs)} ms`);
    const bytes = (await response.body()).length;
    assert.ok(bytes < BYTES_MAX, `${what} has ${bytes} bytes`);

    const keyAtMs = performance.now();
    await page.keyboard.press('Tab');
    const reached = await page.evaluate(
      () =>
        new Promise<string>((resolve) => requestAnimationFrame(() => resolve(document.activeElement?.tagName ?? ''))),
    );
    const keyMs = performance.now() - keyAtMs;
    assert.notEqual(reached, 'BODY', what);
    assert.ok(keyMs < KEY_MS_MAX, `${what} reacts to a key after ${Math.round(keyMs)} ms`);
    await assertFits(page, what);
    longest.shownMs = Math.max(longest.shownMs, shownMs);
    longest.keyMs = Math.max(longest.keyMs, keyMs);
    longest.bytes = Math.max(longest.bytes, bytes);
  }

  /**
   * The first pages of a listing, by its own link to the next one: the texts that `read` finds on each, all different.
   */
  async function turnPages(path: string, rowsPerPage: number, read: () => Promise<string[]>): Promise<string[]> {
    const texts: string[] = [];
    await look(`page 1 of ${path}`, () => visit.open(`${tenantPath}${path}`));
    for (let number = 1; ; number += 1) {
      const shown = await read();
      assert.equal(shown.length, rowsPerPage, `page ${number} of ${path}`);
      texts.push(...shown);
      if (number === PAGES) break;
      await look(`page ${number + 1} of ${path}`, () => page.getByRole('link', { name: 'Next page' }).click());
    }
    assert.equal(new Set(texts).size, texts.length, `${path} shows nothing twice`);
    return texts;
  }

  const textsOf = (selector: string) => (): Promise<string[]> => page.locator(selector).allTextContents();

  it('shows the subjects a page at a time, and finds one', async () => {
    const subjects = await turnPages('/grants', ROWS_PER_PAGE, textsOf('td[data-title=Subject] bdi'));
    assert.equal(subjects[0], LARGE_SUBJECT);
    assert.deepEqual(subjects, subjects.toSorted());
    const { subject } = grantAt(GRANTS - 1);
    await page.getByRole('search').getByLabel('Subject or object').fill(subject);
    await look('one of the subjects', () => page.getByRole('button', { name: 'Find its grants' }).click());
    assert.equal(await page.getByRole('button', { name: /^Revoke/ }).count(), GRANTS_PER_SUBJECT);
  });

  it('shows the grants of a subject with a hundred thousand a page at a time, and takes one away', async () => {
    const path = `/grants?subject=${LARGE_SUBJECT}`;
    const objects = await turnPages(path, ROWS_PER_PAGE, textsOf('td[data-title=Object]'));
    assert.deepEqual(
      objects.map((text) => text.trim()),
      Array.from({ length: objects.length }, (_, number) => grantAt(number).object),
    );
    const { relation, object } = grantAt(objects.length - 1);
    await page.getByRole('link', { name: `Revoke ${relation} on ${object}` }).click();
    await look('a grant revoked', () => page.getByRole('button', { name: 'Revoke', exact: true }).click());
    await page.getByText(`Grant revoked: ${LARGE_SUBJECT} ${relation} ${object}`).waitFor();
  });

  it('lists its objects a page at a time', async () => {
    const path = `/objects?subject=${LARGE_SUBJECT}&relation=viewer`;
    const objects = await turnPages(path, OBJECTS_PER_PAGE, textsOf('.subjects li'));
    assert.deepEqual(objects, objects.toSorted());
  });

  it('answers a check of it, whichever of its grants decides', async () => {
    const ask = async (object: string, answer: RegExp): Promise<void> => {
      const question = `subject=${LARGE_SUBJECT}&relation=viewer&object=${object}`;
      await look(`a check of ${object}`, () => visit.open(`${tenantPath}/check?${question}`));
      assert.match((await page.getByRole('status').textContent()) ?? '', answer);
    };
    await ask(grantAt(0).object, /Allowed by the grant grt_/);
    await ask(grantAt(LARGE_GRANTS - 1).object, /Allowed by the grant grt_/);
    await ask(grantAt(LARGE_GRANTS).object, /Not authorized/);
  });

  it('shows the audit log a page at a time, newest first', async () => {
    await turnPages('/audit-log', ROWS_PER_PAGE, textsOf('td[data-title=What]'));
    const times = await page
      .locator('td[data-title^=When] time')
      .evaluateAll((elements) => elements.map((element) => element.getAttribute('datetime') ?? ''));
    assert.equal(times.length, ROWS_PER_PAGE);
    assert.deepEqual(times, times.toSorted().reverse());
  });

  it('shows the tenant itself, and the cluster', async (test) => {
    await look('the tenant', () => visit.open(tenantPath));
    await look('the cluster', () => visit.open('/cluster'));
    const { shownMs, keyMs, bytes } = longest;
    test.diagnostic(
      `the slowest page was there after ${Math.round(shownMs)} ms, the slowest key after ${Math.round(keyMs)} ms; ` +
        `the longest page has ${bytes} bytes`,
    );
  });
});
