// Checks as people write them: every form comes out as the same checks, and nothing mistyped counts as no expectation.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatExpectedChecks, parseExpectedChecks } from '../../../src/rules/expected-checks.ts';

const question = (subject: string, relation: string, object: string) => ({ subject, relation, object });
const ADA = question('user:ada', 'viewer', 'doc:1');
const BOB = question('user:bob', 'can_read', 'doc:a,b');

const refusalsOf = (text: string) =>
  parseExpectedChecks(text, 100).lines.map((line) => ('refusal' in line ? line.refusal : undefined));

describe('checks with expected results', () => {
  it('are read from lines, lines of JSON, an array and the body of a bulk check', () => {
    const inLines = 'user:ada viewer doc:1 true\r\n\n user:bob\tcan_read\tdoc:a,b\tFALSE \n';
    const json = [
      { ...ADA, expected: true },
      { ...BOB, expected: false },
    ];
    const numbers = [
      [inLines, [1, 3]],
      ['user:ada,viewer,doc:1,true\nuser:bob,can_read,"doc:a,b",false', [1, 2]],
      [json.map((each) => JSON.stringify(each)).join('\n'), [1, 2]],
      [JSON.stringify(json), [1, 2]],
      [JSON.stringify({ checks: json }, undefined, 2), [1, 2]],
    ] as const;
    for (const [text, at] of numbers) {
      assert.deepEqual(parseExpectedChecks(text, 100).lines, [
        { number: at[0], question: ADA, expected: true },
        { number: at[1], question: BOB, expected: false },
      ]);
    }
  });

  it('may expect nothing; the expiry in an export is no expectation', () => {
    const text =
      'user:ada viewer doc:1\nuser:ada viewer doc:1 2090-01-31T12:00:00.000Z\n{"subject":"user:ada","relation":"viewer","object":"doc:1","expected":null}';
    const { lines } = parseExpectedChecks(text, 100);
    assert.deepEqual(
      lines.map((line) => 'question' in line && line.expected),
      [undefined, undefined, undefined],
    );
  });

  it('are refused if the expectation or anything else is invalid', () => {
    const refused = refusalsOf(
      'user:ada viewer doc:1 flase\nuser:ada viewer\nada viewer doc:1\nuser:ada viewer doc:1 true false\n{"subject":1}\n{',
    );
    assert.match(refused[0] ?? '', /must be true or false, not "flase"/);
    assert.match(refused[1] ?? '', /2 parts instead of 3 or 4/);
    assert.match(refused[2] ?? '', /"subject" must be namespace:external_id/);
    assert.match(refused[3] ?? '', /5 parts/);
    assert.ok(refused.every((each) => each !== undefined));
    for (const expected of ['"true"', '1', '[]']) {
      const [refusal] = refusalsOf(
        `[{"subject":"user:ada","relation":"viewer","object":"doc:1","expected":${expected}}]`,
      );
      assert.equal(refusal, '"expected" must be true or false.');
    }
    assert.deepEqual(refusalsOf('[1]'), ['The line is not a JSON object.']);
  });

  it('beyond the bound are counted, and not parsed', () => {
    const { lines, count } = parseExpectedChecks('user:ada viewer doc:1\n'.repeat(5), 2);
    assert.deepEqual([lines.length, count], [2, 5]);
    const array = parseExpectedChecks(JSON.stringify(Array.from({ length: 5 }, () => ADA)), 2);
    assert.deepEqual([array.lines.length, array.count], [2, 5]);
  });

  it('render to a file that parses to the same checks', () => {
    const checks = [
      { question: ADA, expected: true },
      { question: BOB, expected: false },
      { question: question('user:"q",', 'viewer', 'doc:é'), expected: undefined },
    ];
    const parsed = (text: string) =>
      parseExpectedChecks(text, 100).lines.map((line) =>
        'question' in line ? { question: line.question, expected: line.expected } : undefined,
      );
    const file = formatExpectedChecks(checks);
    assert.match(file.text, /^subject,relation,object,expected\nuser:ada,viewer,doc:1,true\n/);
    assert.deepEqual([file.format, parsed(file.text)], ['csv', checks]);
    const formula = { question: question("user:x;=cmd|'/Ccalc'!A0", 'viewer', 'doc:1'), expected: true };
    const lines = formatExpectedChecks([...checks, formula]);
    assert.deepEqual([lines.format, parsed(lines.text)], ['ndjson', [...checks, formula]]);
  });
});
