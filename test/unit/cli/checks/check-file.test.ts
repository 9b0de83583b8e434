// `grantd check -f FILE`: a result for each line, in the order of the file.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { TERM_MEMBERS } from '../../../../src/core/grant-attributes.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { type CliRun, type CliRunOptions, useOperatorCli } from '../cli-run.ts';

const { service, grantd, createTenant } = await useOperatorCli();
const directory = useDirectory();
const tenant = await createTenant('Acme', 'user:ann\tviewer\tdoc:a\nuser:ann\tviewer\tdoc:a,b\n');

const check = (args: readonly string[], options: Partial<CliRunOptions> = {}): Promise<CliRun> =>
  grantd(['check', ...args, '--tenant', tenant], options);
const calls = (): number => service.operator.calls.filter(({ name }) => name === 'checkBulk').length;

describe('checks of a file', () => {
  test('are a table for people, with the exit code of all of them', async () => {
    const file = join(directory, 'checks.csv');
    await writeFile(file, 'subject,relation,object\nuser:ann,viewer,doc:a\nuser:ann, viewer, "doc:a,b"\n');
    const all = await check(['-f', file]);
    assert.equal(all.code, 0, all.stderr);
    assert.equal(
      all.stdout,
      'AUTHORIZED  SUBJECT RELATION OBJECT\ntrue        user:ann viewer doc:a\ntrue        user:ann viewer doc:a,b\n',
    );
    assert.match(all.stderr, /^2 lines: 2 authorized, 0 not authorized, 0 refused\n$/);
    const denied = await check(['-f', '-'], {
      stdin: 'user:ann\tviewer\tdoc:a\t2090-01-31T12:00:00.000Z\nuser:bob\tviewer\tdoc:a\n',
    });
    assert.equal(denied.code, 3);
    assert.match(denied.stdout, /\nfalse {7}user:bob viewer doc:a\n$/);
  });

  test('that ask nothing fail, and say so', async () => {
    for (const [stdin, format] of [
      ['', 'tsv'],
      ['\n\n', 'ndjson'],
      ['subject,relation,object\n', 'csv'],
    ] as const) {
      const run = await check(['-f', '-', '--format', format], { stdin });
      assert.equal(run.code, 1, format);
      assert.match(run.stderr, /Standard input asks nothing: it has no line with a check/);
    }
  });

  test('name the lines that are no tuples, and check the others', async () => {
    const stdin = [
      '{"subject":"user:ann","relation":"viewer","object":"doc:a"}',
      '',
      '{"subject":"user:ann","relation":"reads","object":"doc:a"}',
      '[]',
      '{',
      '{"subject":"user:bob","relation":"viewer","object":"doc:a","extra":1}',
    ].join('\n');
    const run = await check(['-f', '-', '--format', 'ndjson', '--json'], { stdin });
    assert.equal(run.code, 4);
    const rows = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(rows[0], { line: 1, subject: 'user:ann', relation: 'viewer', object: 'doc:a', authorized: true });
    assert.deepEqual(
      rows.map(({ line, authorized, error }) => [line, authorized ?? error.code]),
      [
        [1, true],
        [3, 'invalid-relation'],
        [4, 'invalid-request'],
        [5, 'invalid-request'],
        [6, 'invalid-request'],
      ],
    );
    const csv = await check(['-f', '-', '--output', 'csv'], { stdin: 'user:ann\tviewer\tdoc:a,b\nuser:ann\tviewer\n' });
    assert.equal(
      csv.stdout,
      `line,subject,relation,object,authorized,error,expected\n1,user:ann,viewer,"doc:a,b",true,,\n2,,,,,"The line has 2 columns instead of 3 to ${3 + TERM_MEMBERS.length}: subject, relation, object and perhaps the expiry and the condition, separated by tabs.",\n`,
    );
  });

  test('ask about the names of rules too, and name the lines whose name no rule defines', async () => {
    const ruled = await createTenant('Ruled', 'user:ann\tviewer\tdoc:a\n');
    const rules = JSON.stringify({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }] });
    const set = await grantd(['rules', 'set', '-', '--tenant', ruled, '--yes'], { stdin: rules });
    assert.equal(set.code, 0, set.stderr);
    const lines = Array.from({ length: 150 }, (_, index) => {
      const relation = [7, 8, 120].includes(index) ? 'can_raed' : 'can_read';
      return `user:ann\t${relation}\tdoc:${index === 9 ? 'a' : 'b'}\n`;
    });
    const run = await grantd(['check', '-f', '-', '--json', '--tenant', ruled], { stdin: lines.join('') });
    assert.equal(run.code, 4, run.stderr);
    const rows = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(rows.length, 150);
    const linesWith = (answer: unknown): number[] =>
      rows.filter(({ authorized, error }) => (authorized ?? error.code) === answer).map(({ line }) => line);
    assert.deepEqual([linesWith('invalid-relation'), linesWith(true)], [[8, 9, 121], [10]]);
    assert.match(rows[7].error.detail, /"can_raed" is none of them\. Did you mean "can_read"\? Names on /);
  });

  test('are compared with what their lines expect; a line that expects nothing expects to be authorized', async () => {
    const expected = 'subject,relation,object,expected\nuser:ann,viewer,doc:a,true\nuser:bob,viewer,doc:a,false\n';
    const asExpected = await check(['-f', '-', '--format', 'csv'], { stdin: expected });
    assert.equal(asExpected.code, 0, asExpected.stderr);
    assert.match(asExpected.stderr, /^2 lines: 1 authorized, 1 not authorized, 0 refused; 2 of 2 as expected\n$/);
    const different = await check(['-f', '-', '--format', 'csv'], {
      stdin: `${expected}user:ann,viewer,doc:a,false\nuser:bob,viewer,doc:a,true\n`,
    });
    assert.equal(different.code, 3);
    assert.match(different.stdout, /\ntrue {8}user:ann viewer doc:a {2}\(expected false, line 4\)\n/);
    assert.match(different.stdout, /\nfalse {7}user:bob viewer doc:a {2}\(expected true, line 5\)\n$/);
    assert.match(different.stderr, /; 2 of 4 as expected\n$/);
    const silent = await check(['-f', '-', '--format', 'csv'], { stdin: `${expected}user:bob,viewer,doc:a\n` });
    assert.equal(silent.code, 3);
    const mistyped = await check(['-f', '-'], { stdin: 'user:ann\tviewer\tdoc:a\tflase\n' });
    assert.deepEqual([mistyped.code, /must be true or false, not "flase"/.test(mistyped.stdout)], [4, true]);
    const json = await check(['-f', '-', '--format', 'ndjson', '--json'], {
      stdin: '{"subject":"user:ann","relation":"viewer","object":"doc:a","expected":false,"expires_at":"true"}',
    });
    assert.equal(json.code, 3);
    assert.deepEqual(JSON.parse(json.stdout), {
      line: 1,
      subject: 'user:ann',
      relation: 'viewer',
      object: 'doc:a',
      authorized: true,
      expected: false,
    });
  });

  test('come in the order of the file, 100 in a call, and no faster than they are read', async () => {
    const before = calls();
    const lines = Array.from({ length: 1050 }, (_, index) => `user:ann\tviewer\tdoc:${index === 777 ? 'a' : index}\n`);
    const run = await check(['-f', '-', '--output', 'csv'], {
      stdin: Readable.from(lines.map((line) => Buffer.from(line))),
    });
    assert.equal(run.code, 3);
    assert.equal(calls() - before, 11);
    const rows = run.stdout.trimEnd().split('\n').slice(1);
    assert.deepEqual(
      rows.map((row) => Number(row.split(',')[0])),
      lines.map((_, index) => index + 1),
    );
    assert.deepEqual(
      rows.flatMap((row, index) => (row.includes('true') ? [index] : [])),
      [777],
    );
  });

  test('outlast a service that is away, and fail with what it refuses', async () => {
    service.operator.faults.push(undefined, undefined, new GrantdError('overloaded', 'Not now.'));
    const run = await check(['-f', '-'], { stdin: 'user:ann\tviewer\tdoc:a\n' });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /Not now.*Retrying/);
    service.operator.faults.push(undefined, undefined, new GrantdError('internal', 'It broke.'));
    const failed = await check(['-f', '-'], { stdin: 'user:ann\tviewer\tdoc:a\n' });
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /It broke.*Not all lines of the file were checked\./s);
  });

  test('end at an interruption', async () => {
    const run = await check(['-f', '-'], {
      stdin: 'user:ann\tviewer\tdoc:a\n',
      onInterrupt: (listener) => {
        listener();
        return () => {};
      },
    });
    assert.equal(run.code, 130);
    assert.match(run.stderr, /0 lines: .*Not all lines of the file were checked\./s);
  });

  test('need a file that is there, in a known format, and no tuple beside it', async () => {
    const missing = await check(['-f', join(directory, 'none.tsv')]);
    assert.deepEqual([missing.code, /Cannot read .*none\.tsv/.test(missing.stderr)], [1, true]);
    const wrong = [
      ['-f', 'checks.txt'],
      ['user:ann', 'viewer', 'doc:a', '-f', '-'],
      ['user:ann', 'viewer'],
      [],
      ['-f', '-', '--output', 'xml'],
    ];
    for (const args of wrong) assert.equal((await check(args)).code, 2, args.join(' '));
  });
});
