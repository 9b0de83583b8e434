// The console in a real Chromium over a cluster that the test makes up: moves as they happen, a page that nobody sees,
// a service that goes away, and very many tenants.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import type { TenantId } from '../../src/core/ids.ts';
import type { SlotView } from '../../src/front/front.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { OPERATOR_TOKEN, useConsole } from '../kit/console-service.ts';
import { waitFor } from '../kit/wait-for.ts';
import { slotView } from '../unit/console/cluster-picture.ts';
import { assertAccessible, assertFits, NARROW, visitConsole } from './support/console-browser.ts';

const missing = await missingChromium('the edges of the console in a browser');
const service = await useConsole();
const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

const slotsOf = (owners: readonly (string | undefined)[]): readonly SlotView[] =>
  owners.map((shardName, slot) => slotView(slot, shardName, { logEnd: 7, checkpoint: 5, tenants: 1 }));

function countRenewals(page: Page): { begun: number; ended: number } {
  const requests = { begun: 0, ended: 0 };
  const isRenewal = (request: Request): boolean => request.url().endsWith('/cluster/live');
  const onEnd = (request: Request): void => {
    if (isRenewal(request)) requests.ended += 1;
  };
  page.on('request', (request) => {
    if (isRenewal(request)) requests.begun += 1;
  });
  page.on('requestfinished', onEnd);
  page.on('requestfailed', onEnd);
  return requests;
}

describe('the edges of the console', { skip: missing ?? false }, () => {
  let browser: Browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());
  const visit = (options: Parameters<typeof visitConsole>[2] = {}) =>
    visitConsole(browser, service.url, { token: OPERATOR_TOKEN, ...options });
  async function makeTenant(name: string): Promise<TenantId> {
    return (await service.operator.createTenant(context, { name, plan: 'free', operator: 'test' })).tenantId;
  }

  it('shows moves as they happen, rests while nobody sees it, and says when it is out of date', async () => {
    const { operator } = service;
    operator.slots = slotsOf(['north', 'north', 'south', undefined]);
    // Moves are told from the look before: one has to have seen these slots, and not only those of the start.
    const looks = operator.surveys.length;
    await waitFor('a look at these slots', () => operator.surveys.length > looks);
    await using opened = await visit();
    const { page } = opened;
    await page.clock.install();
    await opened.open('/cluster');
    const requests = countRenewals(page);
    const stale = page.getByText('This page could not be updated.');
    assert.ok(await stale.isHidden());
    await page.getByText('No slot has moved').waitFor();
    await page.getByRole('link', { name: 'All slots as a table' }).focus();
    // A look is shared for a second of the service's own clock; the browser's is moved by hand.
    // The page gives a request up after some seconds of it, so the next ones only pass once it has ended.
    const renew = (until: () => Promise<boolean>, hangs = false): Promise<void> =>
      waitFor('the page to be renewed', async () => {
        await page.clock.runFor(2100);
        if (!hangs) await waitFor('the end of its request', () => requests.ended >= requests.begun);
        return until();
      });
    service.operator.slots = slotsOf(['south', 'south', 'south', 'north']);
    const moves = page.getByRole('region', { name: 'Moves' }).getByRole('listitem');
    await renew(async () => (await moves.count()) === 2);
    assert.match((await moves.first().textContent()) ?? '', /2 slots\s+from north to south/);
    assert.match((await moves.last().textContent()) ?? '', /1 slot\s+from no owner to north/);
    const focused = await page.evaluate(() => document.activeElement?.textContent);
    assert.equal(focused, 'All slots as a table', 'the focus stays where it was');

    await page.evaluate(() => Object.defineProperty(document, 'hidden', { get: () => true, configurable: true }));
    const before_ = requests.begun;
    await page.clock.runFor(20_000);
    assert.equal(requests.begun, before_);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => false });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await renew(async () => requests.begun > before_);

    await page.route('**/cluster/live', (route) => route.abort());
    await renew(() => stale.isVisible());
    const figures = page.locator('#live');
    const inkOf = (of: Locator): Promise<string> => of.evaluate((element) => getComputedStyle(element).color);
    const [grey, ink] = await Promise.all([
      inkOf(page.locator('.tile small').first()),
      inkOf(page.getByRole('heading', { name: 'Cluster' })),
    ]);
    assert.notEqual(grey, ink);
    assert.equal(await inkOf(figures.locator('.tile strong').first()), grey);
    const age = async (): Promise<number> =>
      Number(/The figures are as of (\d+) s ago/.exec((await page.locator('[data-stale]').textContent()) ?? '')?.[1]);
    const before = await age();
    // The age is updated every second.
    await page.clock.runFor(31_000);
    assert.ok((await age()) >= before + 30, `${before} s, then ${await age()} s`);
    await assertAccessible(page, 'a page that is out of date');
    await page.unroute('**/cluster/live');
    await renew(() => stale.isHidden());
    assert.equal(await inkOf(figures.locator('.tile strong').first()), ink);

    // A server that is away without a word counts as away too.
    await page.route('**/cluster/live', () => {});
    await page.clock.runFor(4000);
    assert.ok(await stale.isHidden());
    await renew(() => stale.isVisible(), true);
    assert.equal(await inkOf(figures.locator('.tile strong').first()), grey);
  });

  it('tells which slot a cell is by keyboard, pointer and touch, and goes on telling it', async () => {
    service.operator.slots = slotsOf(['south', 'south', 'south', 'north']);
    await using opened = await visit({ hasTouch: true });
    const { page } = opened;
    const chooser = page.getByRole('slider', { name: 'Slot' });
    const told = page.locator('#slot-description');
    const isTold = (text: string) => waitFor(text, async () => (await told.textContent()) === text);
    await isTold('Point at a cell, or choose a slot here with the arrow keys.');
    // The page may show the cluster of the test before, for as long as a look is shared.
    await page.getByRole('img', { name: '4 slots, 4 of them serving' }).waitFor();
    await chooser.focus();
    await page.keyboard.press('Home');
    await isTold('Slot 0: south, serving');
    await page.keyboard.press('End');
    await isTold('Slot 3: north, serving');
    assert.equal(await chooser.getAttribute('aria-valuetext'), 'Slot 3: north, serving');
    service.operator.slots = slotsOf(['south', 'south', 'south', undefined]);
    await isTold('Slot 3: unowned');
    assert.ok(await chooser.evaluate((element) => element === document.activeElement));
    assert.equal(await chooser.inputValue(), '3');
    await assertAccessible(page, 'a chosen slot');
    await page.setViewportSize(NARROW);
    await assertFits(page, 'a chosen slot');
    const { x, y, width } = (await page.locator('svg.slots').boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.touchscreen.tap(x + (width / 16) * 1.4, y + width / 32);
    await isTold('Slot 1: south, serving');
  });

  it('plots the last hour against the limit', async () => {
    const tenantId = await makeTenant('Busy');
    // Longer than the hour on both sides: a minute may end meanwhile.
    const firstMs = Math.floor(Date.now() / 60_000) * 60_000 - 70 * 60_000;
    service.operator.usage = Array.from({ length: 80 }, (_, index) => ({
      atMs: firstMs + index * 60_000,
      requests: 300 + index * 10,
      refused: index > 60 ? 60 : 0,
      checks: 300,
    }));
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await visit({ colorScheme });
      const { page } = opened;
      await opened.open(`/tenants/${tenantId}`);
      const plot = page.getByRole('img', { name: /Requests per minute/ });
      await plot.waitFor();
      assert.match((await plot.textContent()) ?? '', /limit 600/);
      await page.getByText('As a table, by the minute').click();
      assert.equal(await page.getByRole('table', { name: 'Requests per minute' }).getByRole('row').count(), 61);
      await assertAccessible(page, `a plot, ${colorScheme}`);
      await page.setViewportSize(NARROW);
      assert.equal(await plot.count(), 1, 'one of the two sizes is shown');
      await assertFits(page, 'a plot');
    }
  });

  it('finds a tenant while its name is typed', async () => {
    for (let index = 0; index < 100; index += 1) await makeTenant(`Customer ${index}`);
    await using opened = await visit();
    const { page } = opened;
    await opened.open('/tenants');
    const rows = page.getByRole('table', { name: 'Tenants' }).getByRole('row');
    await page.getByLabel('Search by name or ID').pressSequentially('customer 98');
    await page.getByRole('link', { name: 'Customer 98', exact: true }).waitFor();
    assert.equal(await rows.count(), 2);
    assert.ok(await page.getByLabel('Search by name or ID').evaluate((field) => field === document.activeElement));
    await page.getByLabel('Search by name or ID').fill('nobody is called so');
    await page.getByText('No tenant matches').waitFor();
  });
});
