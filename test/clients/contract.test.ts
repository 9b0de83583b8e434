// What judges the clients finds a client that is wrong: a case that expects something else fails, and so does one that
// was not performed.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Case, readCases } from './support/cases.ts';
import { CLIENT } from './support/client-packages.ts';
import { contractFailures, startContractService } from './support/contract.ts';
import { judgeLog, judgeOutcomes, judgeRequests, judgeSecrets, judgeWarnings } from './support/judge.ts';

const service = await startContractService();
after(() => service.stop());
const command = [process.execPath, join(CLIENT, 'contract-runner.ts')] as const;
const CASES_MIN = 80;

const stepped = (expect: Record<string, unknown>): Case => ({
  name: 'a case',
  steps: [{ call: 'check', expect }],
});

describe('the contract', () => {
  it('has many cases, each with a name of its own', () => {
    const names = readCases().map(({ name }) => name);
    assert.ok(names.length >= CASES_MIN);
    assert.equal(new Set(names).size, names.length);
  });

  it('finds a case that is deliberately wrong, on a real client', async () => {
    const [right] = readCases().filter(({ name }) => name === 'a check after a revocation is false');
    assert.ok(right !== undefined);
    const steps = right.steps.map((step, index) => (index === 3 ? { ...step, expect: { value: true } } : step));
    const wrong: Case = { ...right, name: 'wrong', steps };
    const found = await contractFailures({ service, command, cases: [right, wrong] });
    assert.deepEqual(found, ['wrong: step 4 (check):.value is false, not true']);
  });

  it('finds a case that the runner leaves out, performs twice or cannot perform', async () => {
    const cases: Case[] = ['out', 'twice', 'failed'].map((name) => ({ ...stepped({ value: true }), name }));
    const line = (report: object): string => `console.log(${JSON.stringify(JSON.stringify(report))});`;
    const right = { outcomes: [{ value: true }] };
    const program = [
      line({ name: 'twice', ...right }),
      line({ name: 'twice', ...right }),
      line({ name: 'failed', failure: 'no such call' }),
    ];
    const found = await contractFailures({
      service,
      command: [process.execPath, '--eval', program.join('')],
      cases,
    });
    assert.deepEqual(found, [
      'failed: the runner failed: no such call',
      'out: it was performed 0 times',
      'twice: it was performed 2 times',
    ]);
    const ending = [process.execPath, '--eval', 'process.exit(1)'] as const;
    await assert.rejects(contractFailures({ service, command: ending, cases }), /the runner ends with 0/);
  });
});

describe('the judge of outcomes', () => {
  const differs = (expect: Record<string, unknown>, ...outcomes: unknown[]) =>
    judgeOutcomes(stepped(expect), outcomes).length > 0;

  it('accepts what is expected, and more members', () => {
    assert.ok(!differs({ value: { a: 1 } }, { value: { a: 1, b: 2 } }));
    assert.ok(!differs({ value: { $match: '^a' } }, { value: 'ab' }));
    assert.ok(!differs({ items: { $set: [1, 2] } }, { items: [2, 1] }));
    assert.ok(!differs({ value: { a: { $absent: true } } }, { value: {} }));
  });

  it('refuses everything else', () => {
    assert.ok(differs({ value: true }));
    assert.ok(differs({ value: true }, undefined));
    assert.ok(differs({ value: true }, { value: 'true' }));
    assert.ok(differs({ value: true }, { value: true, error: {} }));
    assert.ok(differs({ value: true }, { error: { type: 'timeout' } }));
    assert.ok(differs({ value: true }, { value: true }, { value: true }));
    assert.ok(differs({ value: { a: 1 } }, { value: {} }));
    assert.ok(differs({ items: [1] }, { items: [1, 2] }));
    assert.ok(differs({ items: { $set: [1, 2] } }, { items: [1, 1] }));
    assert.ok(differs({ value: { $any: true } }, {}));
    assert.ok(differs({ value: { $match: '^a' } }, { value: 'b' }));
    assert.ok(differs({ value: { $not: 1 } }, { value: 1 }));
    assert.ok(differs({ value: { a: { $absent: true } } }, { value: { a: 1 } }));
  });

  it('looks for the name of a member that has to be refused', () => {
    const refusal = (detail: string) => ({ error: { type: 'invalid-request', detail } });
    assert.ok(!differs({ unknown: 'a_b' }, refusal('"checks[0].a_b" is unknown; the nearest known name is "ab".')));
    assert.ok(!differs({ unknown: 'a_b' }, { refused: "got an unexpected keyword argument 'a_b'" }));
    assert.ok(differs({ unknown: 'a_b' }, refusal('"a" is unknown; the nearest known name is "a_bc".')));
    assert.ok(differs({ unknown: 'a_b' }, { error: { type: 'invalid-subject', detail: '"a_b" is unknown' } }));
    assert.ok(differs({ unknown: 'a_b' }, { value: true }));
  });

  it('compares warnings where a case has any', () => {
    const warned = { ...stepped({}), warnings: ['a', 'b'] };
    assert.deepEqual(judgeWarnings(warned, ['a', 'b']), []);
    for (const shown of [undefined, ['a'], ['b', 'a'], 'a']) assert.equal(judgeWarnings(warned, shown).length, 1);
    assert.equal(judgeWarnings({ ...stepped({}), warnings: [] }, ['a']).length, 1);
    assert.deepEqual(judgeWarnings(stepped({}), ['a']), []);
  });

  it('counts what the proxy has seen, and what has reached the service', () => {
    const requests = [{ method: 'DELETE', path: '/v1/keys/*', seen: 2, reached: { min: 1, max: 1 } }];
    const seen = (...reached: boolean[]) =>
      reached.map((each, index) => ({
        method: 'DELETE',
        path: `/v1/keys/${index}`,
        headers: { 'x-a': 'b' },
        reached: each,
      }));
    const one = { ...stepped({}), requests };
    assert.equal(judgeRequests(one, seen(true, false)).length, 0);
    assert.equal(judgeRequests(one, seen(true)).length, 1);
    assert.equal(judgeRequests(one, seen(false, false)).length, 1);
    assert.equal(judgeRequests(one, seen(true, true, true)).length, 2);
    const [each] = requests;
    const withHeaders = (headers: Record<string, unknown>) => ({ ...one, requests: [{ ...each, headers }] }) as Case;
    assert.equal(judgeRequests(withHeaders({ 'x-a': 'b' }), seen(true, false)).length, 0);
    assert.equal(judgeRequests(withHeaders({ 'x-a': 'c' }), seen(true, false)).length, 2);
    assert.equal(judgeRequests(withHeaders({ 'x-b': { $any: true } }), seen(true, false)).length, 2);
  });

  it('compares the log where a case has any', () => {
    const logged = { ...stepped({}), log: [{ $match: '^a' }, 'b'] };
    assert.deepEqual(judgeLog(logged, ['ab', 'b']), []);
    for (const entries of [undefined, ['ab'], ['b', 'ab'], 'ab']) assert.equal(judgeLog(logged, entries).length, 1);
    assert.deepEqual(judgeLog(stepped({}), ['a']), []);
  });

  it('finds an API key in the log, in an error, and one that the case has created', () => {
    const error = (text: string) => [{ error: { text } }];
    assert.equal(judgeSecrets('gk1_a', [], ['sent gk1_a']).length, 1);
    assert.equal(judgeSecrets('gk1_a', error('sent gk1_a'), []).length, 1);
    assert.equal(judgeSecrets('gk1_a', [{ refused: 'gk1_a is wrong' }], []).length, 1);
    assert.equal(judgeSecrets('gk1_a', [{ each: [{ value: { key: 'gk1_b' } }] }], ['a', 'gk1_b']).length, 1);
    assert.deepEqual(judgeSecrets('gk1_a', [{ value: { key: 'gk1_b' } }, ...error('no')], ['no', 'key_1']), []);
    assert.deepEqual(judgeSecrets('', [], ['a']), []);
  });
});
