// The console in a real Chromium over a cluster that the test makes up: hostile names, forged forms, moves as they
// happen, a page that nobody sees, a service that goes away, and very many tenants.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { GrantdError } from '../../src/core/errors.ts';
import type { TenantId } from '../../src/core/ids.ts';
import type { SlotView } from '../../src/front/front.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { CALLS } from '../../src/rpc/calls/table.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../kit/console-service.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';
import { waitFor } from '../kit/wait-for.ts';
import { loadOf, memberView, slotView } from '../unit/operator/cluster-picture.ts';
import { assertAccessible, assertFits, NARROW, visitConsole } from './support/console-browser.ts';

const MINUTE_MS = 60_000;

const missing = await missingChromium('the edges of the console in a browser');
const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</title></textarea><b hx-get="/console/log-out" hx-trigger="load">x</b>',
  '&lt;i&gt; &amp; {{alert(1)}}',
  '\u202egnirts\u202c \u200f\u2067mixed\u2069',
  '𐍈'.repeat(256),
  'W'.repeat(256),
];

const slotsOf = (owners: readonly (string | undefined)[]): readonly SlotView[] =>
  owners.map((shardName, slot) => slotView(slot, shardName, { logEnd: 7, checkpoint: 5, tenants: 1 }));

/** Where the gaps, the line and the axis of a plot are, and how many pieces the line has. */
const shapeOf = (plot: Locator) =>
  plot.evaluate((svg) => {
    const boxOf = (element: Element | null | undefined) => {
      const { left = 0, right = 0 } = element?.getBoundingClientRect() ?? {};
      return { left, right };
    };
    const gaps = [...svg.querySelectorAll('.plot-gap')].map(boxOf);
    const line = svg.querySelector('.plot-line');
    const pieces = (line?.getAttribute('d') ?? '').split('M').slice(1);
    return { gaps, line: boxOf(line), pieces: pieces.length, axis: boxOf(svg.querySelector('.plot-tick line')) };
  });

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
  let service: ConsoleService;
  let browser: Browser;
  before(async () => {
    [service, browser] = await Promise.all([
      startConsole({ clock: systemClock, random: systemRandom }),
      openChromium(),
    ]);
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });
  const visit = (options: Parameters<typeof visitConsole>[2] = {}) =>
    visitConsole(browser, service.url, { token: OPERATOR_TOKEN, ...options });
  async function makeTenant(name: string): Promise<TenantId> {
    return (await service.operator.createTenant(context, { name, plan: 'free', operator: 'test' })).tenantId;
  }

  it('shows hostile names as text, whole, and stays in its window', async () => {
    await using opened = await visit({ viewport: NARROW });
    const { page } = opened;
    for (const name of HOSTILE) {
      const tenantId = await makeTenant(name);
      const session = await service.operator.tenant(context, tenantId, 'test');
      const id = `user:${name.replaceAll(/\s/g, '_')}`;
      await session.call(CALLS.writeGrants, context, [{ subject: id, relation: 'viewer', object: id, revoke: false }]);
      await session.createKey(context, { name, scopes: 7, expiresAtMs: undefined });
      const subject = encodeURIComponent(id);
      const sections: readonly (readonly [path: string, shown: string])[] = [
        ['', name],
        [`/grants?subject=${subject}`, id],
        [`/check?subject=${subject}&relation=viewer&object=${subject}`, id],
        ['/delete', name],
      ];
      for (const [path, shown] of sections) {
        await opened.open(`/tenants/${tenantId}${path}`);
        const facts = await page.evaluate(() => ({
          texts: [...document.querySelectorAll('bdi')].map(({ textContent }) => textContent),
          foreign: document.querySelectorAll('main :is(script, img, b, i, svg[onload])').length,
        }));
        assert.ok(facts.texts.includes(shown), `${path}: ${shown}`);
        assert.equal(facts.foreign, 0, path);
        await assertFits(page, `${path} of ${name.slice(0, 40)}`);
      }
    }
    // What complains of a dialog or a script at its end has seen none.
  });

  it('changes nothing by a form that was forged', async () => {
    await using opened = await visit();
    const { page } = opened;
    const tenantId = await makeTenant('Forged');
    for (const value of ['', 'forged']) {
      await opened.open(`/tenants/${tenantId}/suspend`);
      await page.locator('main input[name=csrf]').evaluate((input, text) => {
        (input as HTMLInputElement).value = text;
      }, value);
      await page.getByRole('button', { name: 'Suspend' }).click();
      await page.getByText('The form does not belong to this session.').waitFor();
      await assertAccessible(page, 'a refused form');
    }
    assert.equal((await service.operator.call(CALLS.readTenant, context, { tenantId })).state, 'active');
  });

  it('shows moves as they happen, rests while nobody sees it, and says when it is out of date', async () => {
    service.operator.slots = slotsOf(['north', 'north', 'south', undefined]);
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

  it('shows the hour before it was opened: with its gap, its moves and its lost shard', async () => {
    const clock = new VirtualClock();
    clock.wallOffsetMs = Date.UTC(2026, 10, 22, 11) - clock.monotonicMs();
    await using hour = await startConsole({ clock, random: systemRandom });
    const { operator } = hour;
    const own = (...owners: readonly string[]): void => {
      operator.slots = slotsOf(owners);
      operator.members = ['north', 'south'].map((name) => memberView(name, owners.includes(name) ? 'alive' : 'dead'));
      operator.loads = [...new Set(owners)].map((name) => loadOf(name, { checksPerSecond: 40, p99Ms: 250 }));
    };
    own('north', 'south', 'south');
    await clock.advance(10 * MINUTE_MS);
    operator.onSurvey = () => Promise.reject(new GrantdError('unavailable', 'No shard can be reached.'));
    await clock.advance(20 * MINUTE_MS);
    operator.onSurvey = undefined;
    own('north', 'north', 'north');
    await clock.advance(10 * MINUTE_MS);

    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await visitConsole(browser, hour.url, { token: OPERATOR_TOKEN, colorScheme });
      const { page } = opened;
      const plot = page.getByRole('img', { name: /^Checks per second, last hour/ });
      assert.match((await plot.getAttribute('aria-label')) ?? '', /no samples from 11:10:15 to 11:30:00/);
      // It begins at the first sample; the line ends where the gap begins, and goes on where it ends.
      const shape = await shapeOf(plot);
      assert.equal(shape.pieces, 2);
      const [gap] = shape.gaps;
      assert.ok(gap && shape.gaps.length === 1);
      const isNear = (value: number, share: number): boolean =>
        Math.abs(value / (shape.axis.right - shape.axis.left) - share) < 0.02;
      assert.ok(isNear(gap.right - gap.left, 20 / 40), 'while no shard responded');
      assert.ok(isNear(shape.line.left - shape.axis.left, 0));
      assert.equal(await page.getByRole('img', { name: /p99 of checks.*above 100 ms for/ }).count(), 1);

      const moves = page.getByRole('region', { name: 'Moves' }).getByRole('listitem');
      const told = (await moves.allTextContents()).map((text) => text.replaceAll(/\s+/g, ' '));
      // The first look of a process, at its start, is the one that the shards joined after.
      assert.equal(told.length, 4);
      for (const text of told.slice(2)) assert.match(text, /11:00:05 UTC (north|south) joined/);
      assert.match(told[0] ?? '', /11:30:05 UTC after 11:10:00 UTC lost south was declared dead/);
      assert.match(told[1] ?? '', /11:30:05 UTC after 11:10:00 UTC 2 slots from south to north 1, 2/);
      await page.getByRole('row', { name: /south lost at 11:30:05 UTC/ }).waitFor();
      await assertAccessible(page, `an hour, ${colorScheme}`);
      await assertFits(page, 'an hour');
      await page.setViewportSize(NARROW);
      await assertFits(page, 'an hour, narrow');
    }

    // What no shard renews is served grey, with its age.
    operator.onSurvey = () => Promise.reject(new GrantdError('unavailable', 'No shard can be reached.'));
    await clock.advance(40_000);
    await using late = await visitConsole(browser, hour.url, { token: OPERATOR_TOKEN });
    await late.page
      .getByText(/The figures below are as of 4\d s ago|The figures below are as of 4\d seconds ago/)
      .waitFor();
    const [figure, title] = await Promise.all(
      [late.page.locator('.outdated .tile strong').first(), late.page.getByRole('heading', { name: 'Cluster' })].map(
        (of) => of.evaluate((element) => getComputedStyle(element).color),
      ),
    );
    assert.notEqual(figure, title);
    await assertAccessible(late.page, 'figures of a while ago');
  });

  it('follows a deletion to its end', async () => {
    await using opened = await visit();
    const { page } = opened;
    const tenantId = await makeTenant('Leaving');
    await service.operator.call(CALLS.updateTenant, context, { tenantId, state: 'deleting', operator: 'test' });
    await opened.open(`/tenants/${tenantId}`);
    await page.getByText('3 parts removed').waitFor();
    await assertAccessible(page, 'a deletion');
    await service.operator.finishDeletions();
    await page.getByText('Tenant deleted').waitFor();
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

  it('finds one among 10,000 tenants while its name is typed', async () => {
    for (let index = 0; index < 10_000; index += 1) await makeTenant(`Customer ${index}`);
    await using opened = await visit();
    const { page } = opened;
    await opened.open('/tenants');
    const rows = page.getByRole('table', { name: 'Tenants' }).getByRole('row');
    assert.equal(await rows.count(), 51);
    await page.getByLabel('Search by name or ID').pressSequentially('customer 9876');
    await page.getByRole('link', { name: 'Customer 9876', exact: true }).waitFor();
    assert.equal(await rows.count(), 2);
    assert.ok(await page.getByLabel('Search by name or ID').evaluate((field) => field === document.activeElement));
    await page.getByLabel('Search by name or ID').fill('nobody is called so');
    await page.getByText('No tenant matches').waitFor();
    await page.getByRole('link', { name: 'show all tenants' }).click();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'First page' }).waitFor();
    assert.equal(await rows.count(), 51);
  });
});
