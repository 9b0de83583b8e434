// Questions to a tenant with gates and conditions: the context that they bring along, and the proof of the answer.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { parseTuple } from '../../../../src/core/tuples.ts';
import type { OperatorTenantSession } from '../../../../src/front/front.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { useConsole } from '../../../kit/console-service.ts';
import { type ConsoleVisitor, context, visitTenant } from '../console-visitor.ts';

const RULES = parseRuleSet({
  relations: ['approver', 'blocked'],
  conditions: [{ name: 'office', parameters: { hour: 'int', note: 'string' }, expression: 'hour < 17 && note != ""' }],
  rules: [
    { namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['viewer', 'approver'], but_not: ['blocked'] }, 'owner'] },
  ],
  groups: true,
  public: ['user'],
});

const service = await useConsole();
let visitor: ConsoleVisitor;
let session: OperatorTenantSession;
let base: string;

before(async () => {
  const { tenantId, ...visit } = await visitTenant(service);
  ({ visitor, session } = visit);
  await session.call('writeRules', context, { rules: RulesText.of(RULES), ifMatch: undefined });
  base = `/console/tenants/${tenantId}`;
  const grants = [
    parseTuple('user:ada', 'viewer', 'doc:1'),
    { ...parseTuple('user:ada', 'approver', 'doc:1'), condition: 'office {"note":"<b>x"}' },
    ...['viewer', 'approver', 'blocked'].map((relation) => parseTuple('user:eve', relation, 'doc:1')),
  ];
  const writes = grants.map((grant) => ({ ...grant, revoke: false }) as const);
  await session.call('writeGrants', context, writes);
});

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** The page that the form of a check leads to. */
async function check(subject: string, fields: Readonly<Record<string, string>> = {}, relation = 'can_read') {
  const sent = await visitor.post(`${base}/check`, { subject, relation, object: 'doc:1', ...fields });
  const to = sent.headers.get('location');
  const { status, text } = to === null ? sent : await visitor.get(to);
  return { to, status, text: flat(text) };
}

it('shows the proof as a tree, with the values that a condition saw, and escapes them', async () => {
  const { to, status, text } = await check('user:ada', { context: '{"hour": 9, "unused": true}' });
  assert.equal(status, 200);
  assert.match(to ?? '', /\/check\?relation=can_read&subject=user%3Aada&object=doc%3A1&context=/);
  assert.match(text, /<h2 id="answer-title">Authorized<\/h2>/);
  const tree = /<ul class="proof">(.*?)<\/section>/.exec(text)?.[1] ?? '';
  assert.match(tree, /<details open><summary><strong class="verdict yes">yes<\/strong> <code[^>]*>can_read<\/code>/);
  assert.match(tree, /gate <code[^>]*>\(viewer and approver but not blocked\)<\/code>/);
  assert.match(
    tree,
    /condition <code[^>]*>office<\/code>, which saw <code[^>]*>\{[^<]*&quot;note&quot;:&quot;&lt;b>x&quot;/,
  );
  assert.match(tree, /but not:.*<strong class="verdict no">no<\/strong> <code[^>]*>blocked<\/code>/);
  assert.doesNotMatch(text, /<b>x/);
  assert.match(text, /&quot;context&quot;: ?\{&quot;hour&quot;: ?9/);
});

it('shows for a denial its reason, and folded what was looked for, gate by gate', async () => {
  const { text } = await check('user:eve');
  assert.match(
    text,
    /Not authorized<.*<p class="reason"><code><bdi[^>]*>user:eve blocked doc:1<.*excludes user:eve from can_read of doc:1\.<.*<ol class="chain">.*<details class="optional"><summary>All that was looked at</,
  );
  // That would be a link to this page.
  assert.doesNotMatch(text, />can_read<\/code> on [^·]*? · <a [^>]*>check it alone/);
  assert.match(text, /Found none of: <code[^>]*>owner<\/code>/);
  assert.match(text, /but not:.*<strong class="verdict yes">yes<\/strong> <code[^>]*>blocked<\/code>/);
  const late = await check('user:ada', { context: '{"hour": 20}' });
  assert.match(late.text, /no<\/strong> <code[^>]*>approver<\/code> on [^·]* · <a [^>]*>check it alone</);
});

it('counts context grants for this check alone, and says so', async () => {
  const granted = await check('user:new', { context_grants: 'user:new member team:t\nteam:t#member owner doc:1' });
  assert.match(granted.text, /<h2 id="answer-title">Authorized<\/h2>/);
  assert.match(granted.text, /sent with the check/);
  assert.match((await check('user:new')).text, /Not authorized/);
  const json = JSON.stringify([
    { subject: 'user:new', relation: 'owner', object: 'doc:1', condition: { name: 'office', context: { note: 'x' } } },
  ]);
  assert.match((await check('user:new', { context_grants: json, context: '{"hour":1}' })).text, /h2[^>]*>Authorized/);
  const lines = 'user:new owner doc:1 with office {"note": "a b"}';
  assert.match((await check('user:new', { context_grants: lines, context: '{"hour":1}' })).text, /h2[^>]*>Authorized/);
});

it('reports what is wrong at the field, and keeps it', async () => {
  for (const [fields, field, message, status] of [
    [{ context: '{"hour": 9' }, 'context', /The context is not JSON|JSON/, 422],
    [{ context: '[1]' }, 'context', /must be a JSON object/, 422],
    [{ context: '{"hour": "nine"}' }, 'context', /hour/, 400],
    [{}, 'context', /&quot;context&quot; lacks &quot;hour&quot;/, 422],
    [{ context_grants: 'user:new owner' }, 'context_grants', /Line 1: a grant is its subject/, 422],
    [{ context_grants: 'user:new can_read doc:1' }, 'context_grants', /can_read/, 400],
    [{ context_grants: 'user:new owner doc:1 with nothing' }, 'context_grants', /&quot;nothing&quot;/, 400],
    [{ context_grants: '[{}]' }, 'context_grants', /context_grants\[0\]/, 422],
  ] as const) {
    const visit = await check('user:ada', { ...fields });
    const error = new RegExp(`id="${field}-error" role="alert">([^<]*)<`).exec(visit.text)?.[1];
    assert.match(error ?? `nothing beside ${field}: ${visit.text}`, message);
    assert.equal(visit.status, status, String(message));
    assert.match(visit.text, /<details class="context" open/);
    for (const text of Object.values(fields)) {
      const kept = text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      assert.ok(visit.text.includes(kept) || visit.text.includes(text), kept);
    }
  }
  const both = await check('user', { context: '1', context_grants: 'x' });
  for (const field of ['subject', 'context', 'context_grants']) assert.ok(both.text.includes(`id="${field}-error"`));
});

it('answers at once where a context is too long for a link', async () => {
  const { to, text } = await check('user:ada', { context: JSON.stringify({ hour: 9, long: 'x'.repeat(30_000) }) });
  assert.equal(to, null);
  assert.match(text, /<h2 id="answer-title">Authorized<\/h2>/);
  const tooLong = await check('user:ada', { context: JSON.stringify({ long: 'x'.repeat(70_000) }) });
  assert.match(tooLong.text, /id="context-error" role="alert">This is longer than 65,536 characters/);
});

it('answers many checks in one context', async () => {
  const lines = 'user:ada can_read doc:1 true\nuser:new owner doc:1 true';
  const fields = { lines, context: '{"hour": 9}', context_grants: 'user:new owner doc:1' };
  const { status, text } = await visitor.post(`${base}/check/many`, fields);
  assert.equal(status, 200);
  assert.match(flat(text), /2 of 2 as expected/);
  assert.match(text, /href="[^"]*check\?subject=user%3Aada&amp;[^"]*context=%7B/);
  const without = await visitor.post(`${base}/check/many`, { lines });
  assert.equal(without.status, 422);
  assert.match(without.text, /id="context-error"/);
  const wrong = await visitor.post(`${base}/check/many`, { lines: '', context: '{' });
  assert.ok(wrong.text.includes('id="lines-error"') && wrong.text.includes('id="context-error"'));
});

it('lists in a context, keeps it in every link, and shows whom a gate takes out of everyone', async () => {
  const objects = await visitor.post(`${base}/objects`, {
    subject: 'user:ada',
    relation: 'can_read',
    context: '{"hour": 9}',
  });
  const page = flat((await visitor.get(objects.headers.get('location') ?? '')).text);
  assert.match(page, /<ul class="subjects"><li><a href="[^"]*check\?[^"]*context=%7B[^"]*"><bdi[^>]*>doc:1</);
  const without = await visitor.get(`${base}/objects?subject=user:ada&relation=can_read`);
  assert.equal(without.status, 422);
  assert.match(without.text, /id="context-error"/);
  const long = { subject: 'user:ada', relation: 'can_read', context: JSON.stringify({ hour: 9, x: 'x'.repeat(3000) }) };
  assert.match((await visitor.post(`${base}/objects`, long)).text, /id="context-error"[^>]*>This context is too long/);
  const held = await visitor.post(`${base}/grants/holders`, {
    object: 'doc:1',
    relation: 'can_read',
    context_grants: 'user:* viewer doc:1\nuser:* approver doc:1',
    context: '{"hour": 9}',
  });
  const holders = flat((await visitor.get(held.headers.get('location') ?? '')).text);
  assert.match(holders, /everyone of its namespace, except the following.*<ul class="subjects excluded">.*user:eve/);
});

it('creates a grant with a condition, and reports a wrong one at its field', async () => {
  const tuple = { subject: 'user:con', relation: 'approver', object: 'doc:2' };
  const form = await visitor.get(`${base}/grants?subject=user:con`);
  assert.match(form.text, /<option value="approver"/);
  assert.match(form.text, /<datalist id="conditions">.*<option value="office"/s);
  for (const condition of ['office {"wrong": 1}', 'office {', 'none']) {
    const visit = await visitor.post(`${base}/grants`, { ...tuple, condition });
    assert.equal(visit.status, 422);
    assert.match(visit.text, /id="condition-error"/);
  }
  const created = await visitor.post(`${base}/grants`, { ...tuple, condition: 'office {"note": "<i>"}' });
  assert.equal(created.status, 303);
  const listed = await visitor.get(created.headers.get('location') ?? '');
  assert.match(listed.text, /<code[^>]*>office \{&quot;note&quot;:&quot;&lt;i>&quot;\}<\/code>/);
});
