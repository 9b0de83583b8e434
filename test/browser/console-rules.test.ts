// The rules of a tenant in a real Chromium: an error as it is typed, a try, a save, a conflict, and the picture.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { CALLS } from '../../src/rpc/calls/table.ts';
import { parseRuleSet } from '../../src/rules/rule-set.ts';
import { missingChromium, openChromium } from '../../tools/engines/chromium.ts';
import { type ConsoleService, OPERATOR_TOKEN, startConsole } from '../kit/console-service.ts';
import { assertAccessible, assertFits, NARROW, tabTo, visitConsole } from './support/console-browser.ts';

const missing = await missingChromium('the rules of a tenant in a browser');
const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

describe('the rules of a tenant', { skip: missing ?? false }, () => {
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
  async function makeTenant() {
    const { tenantId } = await service.operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
    return { path: `/tenants/${tenantId}`, session: await service.operator.tenant(context, tenantId, 'test') };
  }

  it('are begun from an example, looked at while they are typed, tried and saved', async () => {
    const { path, session } = await makeTenant();
    await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN });
    const { page } = visit;
    await visit.open(`${path}/rules`);
    await page.getByRole('link', { name: 'A document app' }).click();
    const box = page.getByRole('textbox', { name: 'Rules' });
    const state = page.locator('#rules-state');
    const picture = page.getByRole('img', { name: 'Relations of document' });
    await picture.waitFor();
    const text = await box.inputValue();

    await page.evaluate(() => document.documentElement.setAttribute('data-mark', 'same page'));
    await box.fill(text.replace('"can_share"', '"can share"'));
    await page.getByText('Line 8: "rules[5].name" must be a letter').waitFor();
    assert.equal(await state.getAttribute('role'), 'status');
    await assertAccessible(page, 'an error as it is typed');
    await box.fill(text.replace('"can_share"', '"can_invite"'));
    await page.getByText('No errors: 6 rules.').waitFor();
    await picture.locator('text', { hasText: 'can_invite' }).waitFor();
    assert.equal(await page.locator('html').getAttribute('data-mark'), 'same page');
    await assertAccessible(page, 'rules without an error');

    service.operator.preview = {
      groupSubjects: 3,
      publicGrants: 1,
      notFollowed: 0,
      ungranted: [{ namespace: 'folder', relation: 'owner' }],
      scannedGrants: 12,
      complete: true,
    };
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByRole('heading', { name: 'What saving would change' }).waitFor();
    await page.getByText('+ document can_invite: owner').waitFor();
    await assertAccessible(page, 'rules that were tried');
    assert.match(await box.inputValue(), /can_invite/);

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Grants change their meaning' }).waitFor();
    await assertAccessible(page, 'the confirmation');
    assert.deepEqual((await session.call(CALLS.readRules, context, undefined)).rules, []);
    await page.getByRole('button', { name: 'Back to the text' }).click();
    assert.match(await box.inputValue(), /can_invite/);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('Rules saved: 6 rules.').waitFor();
    assert.equal((await session.call(CALLS.readRules, context, undefined)).rules.at(-1)?.name, 'can_invite');

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

  it('that somebody else changed meanwhile are not overwritten, and what was typed is kept', async () => {
    const { path, session } = await makeTenant();
    await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN });
    const { page } = visit;
    await visit.open(`${path}/rules`);
    const theirs = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
    await session.call(CALLS.writeRules, context, { ruleSet: theirs, ifMatch: undefined });
    const mine = '{"rules": [{"namespace": "doc", "name": "viewer", "any_of": ["editor"]}]}';
    const box = page.getByRole('textbox', { name: 'Rules' });
    await box.fill(mine);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'Somebody else changed the rules in the meantime' }).waitFor();
    await page.getByText('- doc can_read: viewer').waitFor();
    assert.equal(await box.inputValue(), mine);
    await assertAccessible(page, 'a conflict');
    assert.deepEqual(await session.call(CALLS.readRules, context, undefined), theirs);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Rules saved: 1 rule.').waitFor();
  });

  it('can be written with the keyboard alone, and without scripts', async () => {
    const { path, session } = await makeTenant();
    await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN, javaScriptEnabled: false });
    const { page } = visit;
    await visit.open(`${path}/rules`);
    const box = page.getByRole('textbox', { name: 'Rules' });
    await box.fill('{"rules": [{"namespace": "doc", "name": "viewer", "any_of": ["auditor"]}]}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Line 1: "rules[0].any_of[0]" uses "auditor"').waitFor();
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
    await tabTo(keyboard.page, 'Save');
    await keyboard.page.keyboard.press('Enter');
    await keyboard.page.getByText('Rules saved: 1 rule.').waitFor();
    assert.equal((await session.call(CALLS.readRules, context, undefined)).rules.length, 1);
  });

  it('tell a check why, and why not', async () => {
    const { path, session } = await makeTenant();
    const ruleSet = parseRuleSet({
      rules: [
        { namespace: 'doc', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
        { namespace: 'doc', name: 'can_read', any_of: ['viewer'] },
      ],
      groups: true,
    });
    await session.call(CALLS.writeRules, context, { ruleSet, ifMatch: undefined });
    await session.call(CALLS.writeGrants, context, [
      { subject: 'user:ada', relation: 'member', object: 'team:eng', revoke: false },
      { subject: 'team:eng#member', relation: 'viewer', object: 'folder:1', revoke: false },
      { subject: 'folder:1', relation: 'parent', object: 'doc:1', revoke: false },
    ]);
    await using visit = await visitConsole(browser, service.url, { token: OPERATOR_TOKEN });
    const { page } = visit;
    const ask = async (subject: string): Promise<void> => {
      await visit.open(`${path}/check`);
      await page.getByLabel('Subject').fill(subject);
      await page.getByLabel('Relation').fill('can_read');
      await page.getByLabel('Object').fill('doc:1');
      await page.getByRole('button', { name: 'Check' }).click();
    };
    await ask('user:ada');
    await page.getByRole('heading', { name: 'Authorized', exact: true }).waitFor();
    assert.equal(await page.locator('.chain > li').count(), 3);
    await assertAccessible(page, 'a chain of grants');
    await page.getByRole('link', { name: 'team:eng#member' }).click();
    await page.getByRole('heading', { name: 'Who holds member on team:eng' }).waitFor();
    await page.getByRole('link', { name: 'user:ada' }).waitFor();
    await assertAccessible(page, 'who holds a relation');
    await page.setViewportSize(NARROW);
    await assertFits(page, 'who holds a relation, narrow');

    await ask('user:eve');
    await page.getByRole('heading', { name: 'Not authorized' }).waitFor();
    await assertAccessible(page, 'what was looked for in vain');
    await assertFits(page, 'what was looked for in vain, narrow');
    await page.getByRole('link', { name: 'viewer of folder:1' }).click();
    await page.getByRole('link', { name: 'member of team:eng' }).click();
    await page.getByText('What would suffice').waitFor();
  });
});
