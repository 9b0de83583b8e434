// The page of a tenant's rules: written, tried, saved; whatever goes wrong, the text stays.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { noChanges } from '../../../../src/rules/access-changes.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES, revisionOf, ruleSetRecord } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { printRules } from '../../../../src/rules/text/printer.ts';
import { answering } from '../../../kit/call-handlers.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { type ConsoleVisitor, context, plainText, visitTenant } from '../console-visitor.ts';

const TEXT = `# Whoever edits reads.
namespace doc
  viewer = editor
`;
const RULES = new RulesText(TEXT).ruleSet;
const OTHERS = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
const SWITCHES = 'groups: on\npublic: user\n';
const WITH_GROUPS = new RulesText(SWITCHES).ruleSet;
const NO_PREVIEW = {
  groupSubjects: 0,
  publicGrants: 0,
  notFollowed: 0,
  outsideTypes: 0,
  ungranted: [],
  vanishing: [],
  scannedGrants: 0,
  complete: true,
};

const service = await useConsole();
let visitor: ConsoleVisitor;
let session: OperatorTenantSession;
let path: string;

beforeEach(async () => {
  const { operator } = service;
  operator.faults.length = 0;
  operator.preview = NO_PREVIEW;
  const { tenantId, ...visit } = await visitTenant(service);
  ({ visitor, session } = visit);
  path = `/console/tenants/${tenantId}/rules`;
});

const rulesNow = async () => (await session.call('readRules', context, undefined)).ruleSet;
const boxOf = (text: string): string =>
  plainText(/<textarea(?:[^>"]|"[^"]*")*>([^<]*)<\/textarea>/.exec(text)?.[1] ?? '');
const revisionIn = (text: string): string => /name="revision" value="([^"]*)"/.exec(text)?.[1] ?? '';
const send = (action: string, rules: string, revision = revisionOf(NO_RULES), fields = {}) =>
  visitor.post(path, { action, rules, revision, ...fields });

describe('the rules page', () => {
  it('shows the rules as they were written, with their revision, or printed if they were JSON', async () => {
    await session.call('writeRules', context, { rules: RulesText.of(RULES), ifMatch: undefined });
    const { status, text } = await visitor.get(path);
    assert.equal(status, 200);
    assert.equal(boxOf(text), TEXT);
    assert.equal(revisionIn(text), revisionOf(RULES));
    assert.doesNotMatch(text, /start from an example/);
    assert.match(text, /<a href="[^"]*\/rules" aria-current="page">Rules<\/a>/);
    await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
    const printed = await visitor.get(path);
    assert.equal(boxOf(printed.text), 'namespace doc\n  can_read = viewer\n');
    assert.equal(revisionIn(printed.text), revisionOf(OTHERS));
  });

  it('offers examples where there are none; none of them is saved by looking at it', async () => {
    const { text } = await visitor.get(path);
    const links = [...text.matchAll(/href="([^"]*\/rules\?example=[^"]+)"/g)].map(([, link]) => link ?? '');
    assert.equal(links.length, 3);
    for (const link of links) {
      const example = await visitor.get(link);
      assert.match(boxOf(example.text), /^namespace /m);
      assert.equal(revisionIn(example.text), revisionOf(NO_RULES));
      assert.equal((await send('try', boxOf(example.text))).status, 200);
    }
    assert.deepEqual(await rulesNow(), NO_RULES);
    assert.equal((await visitor.get(`${path}?example=none`)).status, 200);
  });
});

describe('a text that is being typed', () => {
  const validate = (rules: string) => visitor.post(`${path}/validate`, { rules });

  it('is looked at without asking the cluster: the error with its place, or none', async () => {
    const calls = service.operator.calls.length;
    const wrong = await validate(TEXT.replace('editor', 'auditor'));
    assert.equal(wrong.status, 200);
    assert.match(
      wrong.text,
      /<p role="status">1 problem, in line 3\.<\/p>\s*<ol[^>]*><li><a href="#rules" data-line="3" data-column="12" data-length="7">Line 3<\/a>: <bdi[^>]*>This uses/,
    );
    assert.match((await validate(TEXT)).text, /role="status">No errors: 1 rule\.<\/p>/);
    assert.match(
      (await validate('condition late(hour: int) =\n  hour > "x"')).text,
      /data-line="2" data-column="8" data-length="1">Line 2<\/a>/,
    );
    assert.match((await validate('')).text, /No errors: 0 rules/);
    assert.match((await validate('x'.repeat(200_001))).text, /longer than 200,000 characters/);
    assert.equal(service.operator.calls.length, calls);
  });

  it('may be JSON, which is written as text if the operator likes', async () => {
    const json = JSON.stringify(ruleSetRecord(OTHERS));
    const offer = /This is JSON\. <button[^>]* name="action" value="edit"/;
    assert.match((await validate(json)).text, offer);
    assert.doesNotMatch((await validate('{')).text, offer);
    assert.doesNotMatch((await validate(TEXT)).text, offer);
    const again = await send('edit', json);
    assert.equal(boxOf(again.text), printRules(OTHERS));
    assert.equal((await send('save', json)).status, 303);
    assert.deepEqual(await rulesNow(), OTHERS);
  });
});

describe('trying rules', () => {
  it('shows what would change, and changes nothing', async () => {
    service.operator.preview = {
      groupSubjects: 1200,
      publicGrants: 7,
      notFollowed: 0,
      outsideTypes: 0,
      ungranted: [{ namespace: 'doc', relation: 'editor' }],
      vanishing: [{ name: 'can_sign', askedAtMs: undefined }],
      access: noChanges('bounds'),
      scannedGrants: 100_000,
      complete: false,
    };
    const { status, text } = await send('try', TEXT);
    assert.equal(status, 200);
    assert.match(text, /<dd>at least 1,200<\/dd>/);
    assert.match(text, /<dd>at least 7<\/dd>/);
    assert.match(text, /100,000, not all of them/);
    assert.match(text, /about which nobody asked in the last day: <code[^>]*>can_sign/);
    assert.match(text, /It is not known who loses access/);
    assert.match(text, /none of the grants looked at is one of them:[\s\S]*editor<\/code> of <code dir="ltr">doc/);
    assert.match(text, /\+ doc viewer = editor/);
    assert.match(text, /Nothing has been saved/);
    assert.equal(boxOf(text), TEXT);
    assert.deepEqual(await rulesNow(), NO_RULES);
  });

  it('tells of a change by somebody else meanwhile', async () => {
    await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
    const { text } = await send('try', TEXT);
    assert.match(text, /Another operator changed the rules since you opened this page/);
    assert.equal(revisionIn(text), revisionOf(NO_RULES), 'a save still meets the change');
  });

  it('keeps the text where the service cannot say', async () => {
    service.operator.faults.push(undefined, new GrantdError('unavailable', 'Not now.'));
    const { status, text } = await send('try', TEXT);
    assert.equal(status, 503);
    assert.match(text, /role="alert"[^>]*>Not now\./);
    assert.equal(boxOf(text), TEXT);
  });
});

describe('saving rules', () => {
  it('replaces those on which the text is based', async () => {
    const { status, headers } = await send('save', TEXT);
    assert.equal(status, 303);
    assert.match((await visitor.get(headers.get('location') ?? '')).text, /Rules saved: 1 rule\./);
    assert.deepEqual(await rulesNow(), RULES);
    await send('save', ' \r\n', revisionOf(RULES));
    assert.match((await visitor.get(path)).text, /Rules removed: only grants count\./);
    assert.deepEqual(await rulesNow(), NO_RULES);
  });

  it('keeps comments and layout, with the line breaks of the editor, and says where only they change', async () => {
    await send('save', TEXT);
    const commented = `${TEXT}# more\n`;
    const tried = await send('try', commented, revisionOf(RULES));
    assert.match(tried.text, /only comments, order or layout differ/);
    assert.match(tried.text, /<ins>\+ # more<\/ins>/);
    const { headers } = await send('save', commented.replaceAll('\n', '\r\n'), revisionOf(RULES));
    assert.match((await visitor.get(headers.get('location') ?? '')).text, /1 rule\. Their meaning is the same\./);
    assert.equal((await rulesNow()).source, commented);
  });

  it('is refused where the text is wrong, with the line, and the text stays', async () => {
    const wrong = TEXT.replace('namespace', 'namespase');
    const { status, text } = await send('save', wrong);
    assert.equal(status, 422);
    assert.match(
      text,
      /id="rules-error" role="alert">Nothing was saved\..*role="status">2 problems, the first in line 2\./,
    );
    assert.match(
      text,
      /Line 2<\/a>: <bdi[^>]*>At &quot;namespase&quot;, nothing begins that rules have, such as <.*<code><bdi[^>]*>namespace</,
    );
    assert.match(text, /<textarea[^>]* aria-invalid="true"/);
    assert.equal(boxOf(text), wrong);
    assert.equal(revisionIn(text), revisionOf(NO_RULES));
    assert.deepEqual(await rulesNow(), NO_RULES);
  });

  it('overwrites nothing that somebody else has saved meanwhile, and loses nothing', async () => {
    await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
    const { status, text } = await send('save', TEXT);
    assert.equal(status, 412);
    assert.match(text, /Another operator changed the rules in the meantime\. Nothing was saved\./);
    assert.match(text, /- doc can_read = viewer/);
    assert.match(text, /\+ doc viewer = editor/);
    assert.equal(boxOf(text), TEXT);
    assert.deepEqual(await rulesNow(), OTHERS);
    const decided = await send('save', TEXT, revisionIn(text));
    assert.equal(decided.status, 303);
    assert.deepEqual(await rulesNow(), RULES);
  });

  it('is no guess where the change comes at the last moment, or the revision is none', async () => {
    const { tenant } = service.operator;
    service.operator.tenant = async (...call) => {
      const real = await tenant.apply(service.operator, call);
      return answering(real, {
        writeRules: async (...write) => {
          await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
          return real.call('writeRules', ...write);
        },
      });
    };
    try {
      assert.equal((await send('save', TEXT)).status, 412);
    } finally {
      service.operator.tenant = tenant;
    }
    for (const revision of ['', 'x', '*', `${revisionOf(OTHERS)},`]) {
      assert.equal((await send('save', TEXT, revision)).status, 412, revision);
    }
    assert.deepEqual(await rulesNow(), OTHERS);
  });

  it('asks once more where grants change their meaning', async () => {
    service.operator.preview = { ...NO_PREVIEW, groupSubjects: 3, scannedGrants: 10 };
    const written = SWITCHES;
    const asked = await send('save', written);
    assert.equal(asked.status, 200);
    assert.match(asked.text, /Grants change their meaning/);
    assert.match(asked.text, /\+ groups: on/);
    assert.deepEqual(await rulesNow(), NO_RULES);
    const hidden = (name: string): string =>
      plainText(new RegExp(`type="hidden" name="${name}" value="([^"]*)"`).exec(asked.text)?.[1] ?? '');
    assert.equal(hidden('rules'), written);
    const fields = { confirmed: hidden('confirmed') };
    assert.equal(boxOf((await send('edit', hidden('rules'))).text), written);
    const other = await send('save', 'groups: on\n', hidden('revision'), fields);
    assert.equal(other.status, 200, 'what was confirmed were other rules');
    assert.equal((await send('save', hidden('rules'), hidden('revision'), fields)).status, 303);
    assert.deepEqual(await rulesNow(), WITH_GROUPS);
  });

  it('does not ask where no grant changes its meaning', async () => {
    assert.equal((await send('save', SWITCHES)).status, 303);
    service.operator.preview = { ...NO_PREVIEW, groupSubjects: 3 };
    assert.equal((await send('save', `${SWITCHES}${TEXT}`, revisionOf(WITH_GROUPS))).status, 303);
  });

  it('asks once more where applications ask about names that would be missing', async () => {
    await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
    const save = (confirmed = '') => send('save', TEXT, revisionOf(OTHERS), { confirmed });
    service.operator.preview = { ...NO_PREVIEW, vanishing: [{ name: 'can_read', askedAtMs: Date.now() - 300_500 }] };
    const { text } = await save();
    assert.match(text, /Applications still ask about names/);
    assert.match(text, /and would be refused: <code[^>]*>can_read<\/code> \(<time[^>]*>5 minutes ago/);
    assert.deepEqual(await rulesNow(), OTHERS);
    assert.equal((await save(revisionOf(RULES))).status, 303);
    await session.call('writeRules', context, { rules: RulesText.of(OTHERS), ifMatch: undefined });
    service.operator.preview = { ...NO_PREVIEW, vanishing: [{ name: 'can_read', askedAtMs: undefined }] };
    assert.equal((await save()).status, 303, 'nobody asks about it');
  });

  it('asks what becomes of stored grants that stricter types exclude, and keeps them if told to', async () => {
    const grant = { subject: 'bot:<b>', relation: 'viewer', object: 'doc:1', revoke: false } as const;
    await session.call('writeGrants', context, [grant]);
    const written = `${TEXT}  viewer: user\n`;
    const asked = await send('save', written);
    assert.equal(asked.status, 200);
    assert.match(asked.text, /Stored grants are outside the types/);
    assert.match(asked.text, /exclude 1 stored grant: bot:&lt;b> viewer doc:1\./);
    assert.match(asked.text, /Save the rules, and keep these grants/);
    assert.deepEqual(await rulesNow(), NO_RULES);
    const hidden = (name: string): string =>
      plainText(new RegExp(`type="hidden" name="${name}" value="([^"]*)"`).exec(asked.text)?.[1] ?? '');
    assert.equal(hidden('rules'), written);
    assert.equal(boxOf((await send('edit', hidden('rules'))).text), written);
    const other = await send('save', written, hidden('revision'), { outside_types: 'drop' });
    assert.match(other.text, /Stored grants are outside the types/);
    assert.deepEqual(await rulesNow(), NO_RULES);
    const fields = { confirmed: hidden('confirmed'), outside_types: hidden('outside_types') };
    assert.equal((await send('save', hidden('rules'), hidden('revision'), fields)).status, 303);
    assert.equal((await rulesNow()).types.length, 1);
  });

  it('asks where not all grants could be looked at', async () => {
    service.operator.preview = { ...NO_PREVIEW, complete: false };
    assert.match((await send('save', SWITCHES)).text, /Grants change their meaning/);
  });

  it('keeps the text where the service is away', async () => {
    service.operator.faults.push(
      new GrantdError('unavailable', 'Not now.'),
      new GrantdError('unavailable', 'Not now.'),
    );
    const { status, text } = await send('save', TEXT);
    assert.equal(status, 503);
    assert.equal(boxOf(text), TEXT);
    assert.deepEqual(await rulesNow(), NO_RULES);
  });
});
