// The history of a tenant's rules: listed, shown, compared, restored.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES, type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { printRules } from '../../../../src/rules/text/printer.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { type ConsoleVisitor, context, plainText, visitTenant } from '../console-visitor.ts';

const rulesOf = (...names: readonly string[]): RuleSet =>
  parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['editor'] })) });
const FIRST = rulesOf('can_read');
const SECOND = rulesOf('can_read', 'can_edit');

const service = await useConsole();
let visitor: ConsoleVisitor;
let session: OperatorTenantSession;
let path: string;

beforeEach(async () => {
  const { tenantId, ...visit } = await visitTenant(service, 'ann');
  ({ visitor, session } = visit);
  path = `/console/tenants/${tenantId}/rules`;
});

const write = (ruleSet: RuleSet) =>
  session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch: undefined });
const rulesNow = async () => (await session.call('readRules', context, undefined)).ruleSet;
const hidden = (text: string, name: string): string =>
  plainText(new RegExp(`type="hidden" name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '');
const restore = (text: string, action = 'save') =>
  visitor.post(path, { action, rules: hidden(text, 'rules'), revision: hidden(text, 'revision') });
const lines = (text: string, id: string): readonly string[] =>
  [
    ...(new RegExp(`aria-labelledby="${id}-title">(.*?)</section>`, 's').exec(text)?.[1] ?? '').matchAll(
      /<(?:ins|del)>([^<]*)</g,
    ),
  ].map(([, line = '']) => line);

describe('the history of rules', () => {
  it('is empty where none were ever set, and not on the page of the rules', async () => {
    assert.doesNotMatch((await visitor.get(path)).text, /id="history-title"/);
    const { status, text } = await visitor.get(`${path}/versions`);
    assert.equal(status, 200);
    assert.match(text, /Each change of the rules appears here/);
  });

  it('has who changed them and when, the newest first; the page of the rules shows the newest', async () => {
    for (let version = 1; version <= 7; version += 1) await write(rulesOf(`name_${version}`));
    const { text } = await visitor.get(`${path}/versions`);
    const numbers = [...text.matchAll(/>Version (\d+)<\/a>/g)].map(([, number]) => Number(number));
    assert.deepEqual(numbers, [7, 6, 5, 4, 3, 2, 1]);
    assert.match(text, /data-title="By"[^>]*><div class="cell"><bdi class="foreign">ann<\/bdi>/);
    assert.match(text, /\+1 −1/);
    const rules = await visitor.get(path);
    assert.equal([...rules.text.matchAll(/>Version \d+<\/a>/g)].length, 5);
    assert.match(rules.text, /href="[^"]*\/rules\/versions">All versions</);
  });
});

describe('a version of rules', () => {
  it('shows its rules, its author, what it changed, and what its return would change', async () => {
    await write(FIRST);
    await write(SECOND);
    await write(rulesOf('can_edit'));
    const { status, text } = await visitor.get(`${path}/versions/2`);
    assert.equal(status, 200);
    assert.match(text, /<dt>By<\/dt><dd><bdi class="foreign">ann</);
    assert.ok(text.includes(revisionOf(SECOND)));
    assert.ok(plainText(text).includes(printRules(SECOND)));
    assert.match(text, /What it changed since version 1/);
    assert.deepEqual(lines(text, 'difference'), ['+ doc can_edit = editor']);
    assert.deepEqual(lines(text, 'restore'), ['+ doc can_read = editor']);
    const other = await visitor.get(`${path}/versions/2?from=3`);
    assert.deepEqual(lines(other.text, 'difference'), ['+ doc can_read = editor']);
    const first = await visitor.get(`${path}/versions/1`);
    assert.match(first.text, /What it set/);
    assert.deepEqual(lines(first.text, 'difference'), ['+ doc can_read = editor']);
    const gone = await visitor.get(`${path}/versions/2?from=9`);
    assert.match(gone.text, /no longer kept/);
  });

  it('is shown and restored as the text that was set, with the lines that differ', async () => {
    const text = '# first\nnamespace doc\n  can_read = editor\n';
    await write(new RulesText(text).ruleSet);
    await write(new RulesText(text.replace('first', 'second')).ruleSet);
    assert.match((await visitor.get(`${path}/versions`)).text, /the text alone/);
    const { text: page } = await visitor.get(`${path}/versions/1`);
    assert.ok(plainText(page).includes(`<pre tabindex="0">${text}`));
    assert.deepEqual(lines(page, 'restore'), ['- # second', '+ # first']);
    assert.equal((await restore(page)).status, 303);
    assert.equal((await rulesNow()).source, text);
  });

  it('that is the present one cannot be restored', async () => {
    await write(FIRST);
    const { text } = await visitor.get(`${path}/versions/1`);
    assert.match(text, /These are the current rules/);
    assert.doesNotMatch(text, /Restore version/);
  });

  it('that does not exist is a 404', async () => {
    await write(FIRST);
    for (const version of ['0', '2', 'x', '1x']) {
      assert.equal((await visitor.get(`${path}/versions/${version}`)).status, 404, version);
    }
  });

  it('is restored as a new version', async () => {
    await write(FIRST);
    await write(SECOND);
    const { text } = await visitor.get(`${path}/versions/1`);
    assert.match((await restore(text, 'try')).text, /- doc can_edit = editor/);
    assert.match((await restore(text, 'edit')).text, /<textarea/);
    assert.deepEqual(await rulesNow(), SECOND);
    assert.equal((await restore(text)).status, 303);
    assert.deepEqual(await rulesNow(), FIRST);
    assert.equal((await session.call('listRulesVersions', context, undefined)).length, 3);
  });

  it('is not restored over rules that the operator has not seen', async () => {
    await write(FIRST);
    await write(SECOND);
    const { text } = await visitor.get(`${path}/versions/1`);
    await write(NO_RULES);
    const refused = await restore(text);
    assert.equal(refused.status, 412);
    assert.match(refused.text, /Another operator changed the rules in the meantime/);
    assert.deepEqual(await rulesNow(), NO_RULES);
  });
});
