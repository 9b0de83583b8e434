// The page of many checks: pasted lines and JSON, what differs from the expectation, and the file that it makes.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { READ_ONLY_TOKEN, useConsole } from '../../../kit/console-service.ts';
import { ConsoleVisitor, context, visitTenant } from '../console-visitor.ts';

const service = await useConsole();
let visitor: ConsoleVisitor;
let path: string;

beforeEach(async () => {
  service.operator.faults.length = 0;
  const { tenantId, session, ...visit } = await visitTenant(service);
  ({ visitor } = visit);
  await session.call('writeGrants', context, [
    { subject: 'user:ada', relation: 'viewer', object: 'doc:1', revoke: false },
    { subject: 'user:ada', relation: 'viewer', object: 'doc:<b>', revoke: false },
  ]);
  const ruleSet = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
  await session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch: undefined });
  path = `/console/tenants/${tenantId}/check/many`;
});

const bare = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const paste = (lines: string) => visitor.post(path, { lines });

describe('many checks', () => {
  it('are answered at one moment, and what differs from the expectation is marked', async () => {
    assert.match((await visitor.get(path.replace('/many', ''))).text, /href="[^"]*\/check\/many"/);
    assert.match((await visitor.get(path)).text, /<textarea[^>]* name="lines"/);
    const before = service.operator.calls.length;
    const visit = await paste(
      'user:ada viewer doc:1 true\nuser:ada can_read doc:1 false\nuser:bob,viewer,doc:1\n\nuser:ada can_write doc:1\nnonsense',
    );
    assert.equal(visit.status, 200);
    const text = bare(visit.text);
    assert.match(text, /1 result not as expected/);
    assert.match(
      text,
      /3 checks: 2 authorized, 1 not authorized\. 1 of 2 as expected\. 2 lines could not be checked\./,
    );
    assert.match(text, /2 user:ada can_read doc:1 authorized ▲ expected: not authorized why/);
    assert.match(
      text,
      /5 ▲ not checked: No rule of the tenant defines the name &quot;can_write&quot;\. (?:Did you mean .*\? )?(?:Names on doc: |The names are )/,
    );
    assert.match(text, /6 ▲ not checked: The line has 1 part/);
    const asked = service.operator.calls.slice(before).map(({ name }) => name);
    assert.deepEqual(asked, ['readTenant', 'tenant', 'checkOrDeny']);
  });

  it('make a file with the present results where none was expected, and samples of code', async () => {
    const visit = await paste('user:ada viewer doc:1\nuser:bob viewer doc:1\nuser:ada viewer doc:<b> false');
    const lines = (/name="lines" value="([^"]*)"/.exec(visit.text)?.[1] ?? '').replaceAll('&lt;', '<');
    const file = await visitor.post(`${path}/file`, { lines });
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="checks.csv"');
    assert.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(
      file.text,
      'subject,relation,object,expected\nuser:ada,viewer,doc:1,true\nuser:bob,viewer,doc:1,false\nuser:ada,viewer,doc:<b>,false\n',
    );
    for (const language of ['curl', 'TypeScript', 'Go', 'Python', 'Java'])
      assert.ok(visit.text.includes(`<h3>${language}</h3>`));
    assert.match(visit.text, /client\.CheckBulk\(ctx/);
  });

  it('make a file of JSON lines where a spreadsheet would take a text of CSV for a formula', async () => {
    const file = await visitor.post(`${path}/file`, { lines: 'user:x;=cmd viewer doc:1 true' });
    assert.equal(file.headers.get('content-disposition'), 'attachment; filename="checks.ndjson"');
    assert.equal(file.text, '{"subject":"user:x;=cmd","relation":"viewer","object":"doc:1","expected":true}\n');
  });

  it('write nothing into the file that is no check', async () => {
    const file = await visitor.post(`${path}/file`, {
      lines: '<script>alert(1)</script>\n=1+1\nuser:ada viewer doc:1',
    });
    assert.equal(file.text, 'subject,relation,object,expected\nuser:ada,viewer,doc:1\n');
  });

  it('are refused as a whole where they are none or too many, and the text stays in the box', async () => {
    for (const [lines, message] of [
      ['user:ada viewer doc:1\n'.repeat(101), /These are 101 checks; at most 100 can be asked at one moment/],
      [' \n', /Enter at least one check\./],
      ['a'.repeat(200_001), /The text is too long/],
    ] as const) {
      const visit = await paste(lines);
      assert.equal(visit.status, 422);
      assert.match(visit.text, message);
      assert.ok(visit.text.includes(lines));
    }
    service.operator.faults.push(undefined, undefined, new GrantdError('evaluation-too-large', 'It goes too far.'));
    const large = await paste('user:ada viewer doc:1');
    assert.deepEqual([large.status, large.text.includes('It goes too far.')], [422, true]);
  });

  it('can be asked by an operator who may only read', async () => {
    visitor = await new ConsoleVisitor(service.url).logIn(READ_ONLY_TOKEN);
    assert.doesNotMatch((await visitor.get(path)).text, /<fieldset disabled/);
    const visit = await paste('user:ada viewer doc:1 true');
    assert.equal(visit.status, 200);
    assert.match(bare(visit.text), /As expected 1 check: 1 authorized/);
  });
});
