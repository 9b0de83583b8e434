// The tools of the console in a real Chromium: many checks at once, copies of IDs, the list of tenants, changes as they
// come, and the editor of rules; with the keyboard, on a narrow screen, in the dark, and without a script.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { TenantId } from '../../src/core/ids.ts';
import { parseTuple } from '../../src/core/tuples.ts';
import { parseRuleSet } from '../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../src/rules/rules-text.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { OPERATOR_TOKEN, useConsole } from '../kit/console-service.ts';
import { waitFor } from '../kit/wait-for.ts';
import { assertAccessible, assertFits, NARROW, tabTo, visitConsole } from './support/console-browser.ts';

const missing = await missingChromium('the tools of the console in a browser');
const service = await useConsole();
const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

describe('the tools of the console', { skip: missing ?? false }, () => {
  let browser: Browser;
  let tenantId: TenantId;
  before(async () => {
    browser = await openChromium();
    ({ tenantId } = await service.operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' }));
    await grant('doc:1');
  });
  after(() => browser?.close());
  const visit = (options: Parameters<typeof visitConsole>[2] = {}) =>
    visitConsole(browser, service.url, { token: OPERATOR_TOKEN, ...options });
  async function grant(object: string): Promise<void> {
    const session = await service.operator.tenant(context, tenantId, 'test');
    await session.call('writeGrants', context, [{ subject: 'user:ada', relation: 'viewer', object, revoke: false }]);
  }

  it('copies an ID by keyboard, and announces it', async () => {
    await using opened = await visit({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = opened;
    await opened.open(`/tenants/${tenantId}/namespaces`);
    await tabTo(page, `Copy ${tenantId}`);
    await page.keyboard.press('Space');
    await waitFor('the announcement', async () => (await page.locator('#announced').textContent()) === 'Copied.');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), tenantId);
  });

  it('shows changes as they come, pauses, and misses none', async () => {
    await using opened = await visit();
    const { page } = opened;
    await opened.open(`/tenants/${tenantId}/changes`);
    await page.getByText('Nothing newer at').waitFor();
    const items = page.locator('#changes > li:not(.changes-next)');
    const objects = async (): Promise<string[]> => {
      const texts = await items.locator('a[href*="object="]').allTextContents();
      return texts.map((text) => text.trim());
    };
    const seen = (wanted: readonly string[]): Promise<void> =>
      waitFor(`the changes ${wanted}`, async () => (await objects()).join() === wanted.join());
    await grant('doc:2');
    await seen(['doc:2']);
    await page.getByRole('button', { name: 'Pause' }).click();
    await grant('doc:3');
    await grant('doc:4');
    await page.getByRole('button', { name: 'Resume' }).click();
    await seen(['doc:4', 'doc:3', 'doc:2']);
    await assertAccessible(page, 'changes as they come');
    assert.ok(await page.locator('[data-stale]').isHidden());
    // The list is bounded; the newest stay.
    await page.evaluate(() => document.querySelector('#changes')?.setAttribute('data-items-max', '2'));
    await grant('doc:5');
    await seen(['doc:5', 'doc:4']);
    // The session ends: so do the changes.
    await opened.context.clearCookies();
    await page.waitForURL('**/log-in?to=**');
  });

  it('fits a narrow and dark screen, and works without a script', async () => {
    await using narrow = await visit({ viewport: NARROW, colorScheme: 'dark' });
    await narrow.open(`/tenants/${tenantId}/check/many`);
    await narrow.page.getByLabel('Checks, one per line').fill(`user:ada viewer doc:${'long'.repeat(50)} true`);
    await narrow.page.getByRole('button', { name: 'Check all' }).click();
    await narrow.page.getByText('▲ expected').waitFor();
    await assertFits(narrow.page, 'results on a narrow screen');
    await assertAccessible(narrow.page, 'results on a narrow screen');

    await using bare = await visit({ javaScriptEnabled: false });
    const { page } = bare;
    await bare.open(`/tenants/${tenantId}/changes?from=day&namespace=doc`);
    assert.ok(await page.locator('.copy').first().isHidden());
    assert.ok(await page.getByRole('button', { name: 'Pause' }).isHidden());
    await grant('doc:late');
    await page.getByRole('link', { name: 'Show what came since' }).click();
    await page.getByText('doc:late').waitFor();
    await bare.open('/tenants');
    await page.getByLabel('State').selectOption('suspended');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No tenant matches').waitFor();
    await bare.open(`/tenants/${tenantId}/grants`);
    await page.getByRole('link', { name: 'Create a grant' }).click();
    await page.getByLabel('Subject').fill('user:bare');
    await page.getByLabel('Object').fill('doc:bare');
    await page.getByText('Expiry', { exact: true }).click();
    await page.getByLabel('Expires').selectOption('At a date');
    await page.getByLabel('Date and time (UTC)').fill('2090-01-31 12:00');
    await page.getByRole('button', { name: 'Create the grant' }).click();
    await page.getByText('Grant created: user:bare viewer doc:bare').waitFor();
    await page.getByTitle('2090-01-31T12:00:00.000Z').waitFor();
    await bare.open(`/tenants/${tenantId}/check/many`);
    await page.getByLabel('Checks, one per line').fill('user:ada viewer doc:1 true');
    await page.getByRole('button', { name: 'Check all' }).click();
    await page.getByRole('heading', { name: 'As expected' }).waitFor();
  });

  describe('the rules of a tenant', () => {
    async function makeTenant() {
      const { tenantId } = await service.operator.createTenant(context, {
        name: 'Acme',
        plan: 'free',
        operator: 'test',
      });
      return { path: `/tenants/${tenantId}`, session: await service.operator.tenant(context, tenantId, 'test') };
    }

    it('are begun from an example, looked at while they are typed, tried and saved', async () => {
      const { path, session } = await makeTenant();
      await using opened = await visit();
      const { page } = opened;
      await opened.open(`${path}/rules`);
      await page.getByRole('link', { name: 'A document app' }).click();
      const box = page.getByRole('textbox', { name: 'Rules' });
      const state = page.locator('#rules-state');
      // What is sent, behind the editor.
      const sent = page.locator('#rules');
      const text = await sent.inputValue();

      await page.evaluate(() => document.documentElement.setAttribute('data-mark', 'same page'));
      // `fill` selects behind the back of the editor, which a text of other colours needs to know.
      await box.fill('');
      await box.fill(text.replace('can_share = owner', 'can_share = onwer'));
      await page.getByText('1 problem, in line 23.').waitFor();
      assert.match((await state.getByRole('listitem').textContent()) ?? '', /^Line 23: This uses "onwer"/);
      assert.equal(await state.getByRole('status').count(), 1);
      await assertAccessible(page, 'an error as it is typed');
      await box.fill('');
      await box.fill(text.replace('can_share', 'can_invite'));
      await page.getByText('No errors: 6 rules.').waitFor();
      assert.equal(await page.locator('html').getAttribute('data-mark'), 'same page');
      await assertAccessible(page, 'rules without an error');

      service.operator.preview = {
        groupSubjects: 3,
        publicGrants: 1,
        notFollowed: 0,
        outsideTypes: 0,
        ungranted: [{ namespace: 'folder', relation: 'owner' }],
        vanishing: [],
        scannedGrants: 12,
        complete: true,
      };
      await page.getByRole('button', { name: 'Try' }).click();
      await page.getByRole('heading', { name: 'What saving would change' }).waitFor();
      await page.getByText('+ document can_invite').waitFor();
      await assertAccessible(page, 'rules that were tried');
      assert.match(await sent.inputValue(), /can_invite/);

      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('heading', { name: 'Grants change their meaning' }).waitFor();
      await assertAccessible(page, 'the confirmation');
      await page.getByRole('button', { name: 'Save the rules' }).click();
      await page.getByText('Rules saved: 6 rules.').waitFor();
      assert.equal((await session.call('readRules', context, undefined)).ruleSet.rules.at(-1)?.name, 'can_invite');

      for (const colorScheme of ['light', 'dark'] as const) {
        await using other = await visitConsole(browser, service.url, {
          token: OPERATOR_TOKEN,
          colorScheme,
          viewport: NARROW,
        });
        await other.open(`${path}/rules`);
        await assertAccessible(other.page, `the rules, ${colorScheme}`);
        await assertFits(other.page, 'the rules, narrow');
      }
    });

    it('can be written with the keyboard alone, and without scripts', async () => {
      const { path, session } = await makeTenant();
      await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN, javaScriptEnabled: false });
      const { page } = visit;
      await visit.open(`${path}/rules`);
      const box = page.getByRole('textbox', { name: 'Rules' });
      await box.fill('namespace doc\n  viewer = auditor');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Nothing was saved.').waitFor();
      await page.getByText('Line 2: This uses "auditor"').waitFor();
      assert.match(await box.inputValue(), /auditor/);

      await using keyboard = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN });
      await keyboard.open(`${path}/rules`);
      await tabTo(keyboard.page, 'Rules');
      await keyboard.page.keyboard.press('Enter');
      await keyboard.page.getByRole('textbox', { name: 'Rules' }).focus();
      await keyboard.page.keyboard.press('Control+A');
      await keyboard.page.keyboard.insertText(
        '{"rules": [{"namespace": "doc", "name": "viewer", "any_of": ["editor"]}]}',
      );
      await keyboard.page.getByText('No errors: 1 rule.').waitFor();
      await assertAccessible(keyboard.page, 'rules in JSON');
      await tabTo(keyboard.page, 'Write it as text');
      await keyboard.page.keyboard.press('Enter');
      await waitFor(
        'the text',
        async () => (await keyboard.page.locator('#rules').inputValue()) === 'namespace doc\n  viewer = editor\n',
      );
      await keyboard.page.getByRole('textbox', { name: 'Rules' }).focus();
      await tabTo(keyboard.page, 'Save');
      await keyboard.page.keyboard.press('Enter');
      await keyboard.page.getByText('Rules saved: 1 rule.').waitFor();
      assert.equal((await session.call('readRules', context, undefined)).ruleSet.rules.length, 1);
    });

    it('are completed by keyboard, and marked where they are wrong, in light and dark', async () => {
      const { path, session } = await makeTenant();
      for (const colorScheme of ['light', 'dark'] as const) {
        await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN, colorScheme });
        const { page } = visit;
        const { keyboard } = page;
        await visit.open(`${path}/rules`);
        const box = page.getByRole('textbox', { name: 'Rules' });
        const sent = page.locator('#rules');
        const marked = page.locator('.cm-lintRange-error');
        await box.fill('');
        await box.fill(`namespace doc
  viewer: user with late
  can_read = viewer or auditor
condition late(hour: int) = hour > time`);
        await page.getByText('2 problems, the first in line 3.').waitFor();
        await marked.nth(1).waitFor();
        assert.deepEqual(await marked.allTextContents(), ['auditor', 'time']);
        assert.equal(await box.getAttribute('aria-invalid'), 'true');
        assert.deepEqual(await page.locator('.tok-parameter').allTextContents(), ['hour', 'hour']);
        await assertAccessible(page, `an editor with marks, ${colorScheme}`);

        // The link of a problem selects what it is about; F8 goes on to the next, and tells it.
        await page.getByRole('link', { name: 'Line 4' }).click();
        await keyboard.type('1');
        await page.getByText('1 problem, in line 3.').waitFor();
        await keyboard.press('F8');
        await page.getByRole('tooltip').or(page.locator('.cm-tooltip-lint')).getByText('uses "auditor"').waitFor();
        await keyboard.type('vie');
        const completions = page.getByRole('listbox', { name: 'Completions' });
        await completions.getByRole('option', { name: /^viewer/ }).waitFor();
        await assertAccessible(page, `completions, ${colorScheme}`);
        await keyboard.press('Enter');
        await completions.waitFor({ state: 'hidden' });
        await page.getByText('No errors: 1 rule.').waitFor();
        assert.match(await sent.inputValue(), /can_read = viewer or viewer\ncondition/);
        assert.equal(await marked.count(), 0);

        // Undo and redo, and the way out.
        await keyboard.press('Control+End');
        await keyboard.insertText(' &&');
        await page.getByText('1 problem, in line 4.').waitFor();
        await keyboard.press('Control+Z');
        await page.getByText('No errors: 1 rule.').waitFor();
        await keyboard.press('Control+Y');
        await page.getByText('1 problem, in line 4.').waitFor();
        await keyboard.press('Control+Z');
        await page.getByText('No errors: 1 rule.').waitFor();
        await keyboard.press('Escape');
        await tabTo(page, 'Try');
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('Rules saved: 1 rule.').waitFor();
        assert.equal((await session.call('readRules', context, undefined)).ruleSet.rules.length, 1);
      }
    });

    it('are typed line by line, and fold by namespace', async () => {
      const { path } = await makeTenant();
      await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN });
      const { page } = visit;
      const { keyboard } = page;
      await visit.open(`${path}/rules`);
      const sent = page.locator('#rules');
      const completions = page.getByRole('listbox', { name: 'Completions' });
      await page.getByRole('textbox', { name: 'Rules' }).focus();
      // What is typed whole is not chosen: Enter ends the line.
      await keyboard.insertText('namespace doc\n  can_edit = edito');
      await keyboard.type('r');
      await completions.getByRole('option', { name: /^editor/ }).waitFor();
      await keyboard.press('Enter');
      await keyboard.insertText('can_read = can_edit');
      await page.getByText('No errors: 2 rules.').waitFor();
      assert.equal(await sent.inputValue(), 'namespace doc\n  can_edit = editor\n  can_read = can_edit');

      // A namespace folds, and what is sent stays whole.
      await keyboard.press('Control+Home');
      await keyboard.press('Control+Shift+BracketLeft');
      await page.locator('.cm-foldPlaceholder').waitFor();
      assert.equal(await page.getByText('can_edit', { exact: true }).count(), 0);
      assert.match(await sent.inputValue(), /can_read = can_edit$/);
      await assertAccessible(page, 'a fold');
      await keyboard.press('Control+Shift+BracketRight');
      await page.locator('.cm-foldPlaceholder').waitFor({ state: 'hidden' });
    });

    it('that were refused are marked once they are shown again', async () => {
      const { path } = await makeTenant();
      await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN, viewport: NARROW });
      const { page } = visit;
      await visit.open(`${path}/rules`);
      const box = page.getByRole('textbox', { name: 'Rules' });
      await box.fill('namespace doc\n  viewer = auditor');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Nothing was saved.').waitFor();
      assert.deepEqual(await page.locator('.cm-lintRange-error').allTextContents(), ['auditor']);
      assert.ok(await box.evaluate((element) => element === document.activeElement));
      await assertAccessible(page, 'refused rules, narrow');
      await assertFits(page, 'refused rules, narrow');
    });

    it('with gates and conditions are asked with a context, and show their proof', async () => {
      const { path, session } = await makeTenant();
      const ruleSet = parseRuleSet({
        relations: ['approver'],
        conditions: [{ name: 'office', parameters: { hour: 'int' }, expression: 'hour < 17' }],
        rules: [
          { namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer', 'approver'], but_not: ['guest'] }] },
        ],
      });
      await session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch: undefined });
      await session.call('writeGrants', context, [
        { ...parseTuple('user:ada', 'approver', 'doc:1'), condition: 'office', revoke: false },
      ]);
      await using opened = await visit();
      const { page } = opened;
      await opened.open(`${path}/check`);
      await page.getByLabel('Subject').fill('user:ada');
      await page.getByLabel('Relation').fill('can_read');
      await page.getByLabel('Object').fill('doc:1');
      await page.getByText('With a context').click();
      await page.getByLabel('Context grants').fill('user:ada viewer doc:1');
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      // It says which parameter it lacks, beside the field, which stays open.
      await page.getByText('"context" lacks "hour"').waitFor();
      const box = page.getByRole('textbox', { name: 'Context', exact: true });
      await assertAccessible(page, 'a check that lacks a context');
      assert.equal(await box.evaluate((element) => element === document.activeElement), true);
      await box.fill('{"hour": 9}');
      await page.getByRole('button', { name: 'Check', exact: true }).click();
      await page.getByRole('heading', { name: 'Authorized', exact: true }).waitFor();
      await page.getByText('sent with the check').waitFor();
      const gate = page.locator('summary', { hasText: 'gate (viewer and approver but not guest)' });
      await gate.focus();
      await page.keyboard.press('Enter');
      await page.getByText('sent with the check').waitFor({ state: 'hidden' });
      await assertAccessible(page, 'a proof');
      await gate.click();
      await page.setViewportSize(NARROW);
      await assertFits(page, 'a proof, narrow');
    });
  });
});
