// Conditions that stored rules do not have, or no longer compile: neither met nor unmet, and an error that says so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledRules } from '../../../../src/rules/compiled-rules.ts';
import { compileInTurns, demandCompiled } from '../../../../src/rules/conditions/compiled-condition.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';
import { GrantConditions } from '../../../../src/shard/evaluation/grant-conditions.ts';

const declared = (name: string, expression: string) => ({ name, parameters: { s: 'string' }, expression });
const CONDITIONS = [
  declared('fits', 's == "x"'),
  // As versions before could store it.
  declared('grew', 's.matches("\\\\w{1000}!")'),
];

test('a condition that the rules lack or that no longer compiles is undecided, and the others count', async () => {
  let turns = 0;
  const compiled = await compileInTurns(CONDITIONS, async () => {
    turns += 1;
  });
  assert.equal(turns, 2);
  // Nobody writes such rules.
  assert.throws(() => demandCompiled(CONDITIONS, compiled), /"conditions\[1\]\.expression", line 1, .* 1001 parts/);
  const rules = new CompiledRules({ ...NO_RULES, conditions: CONDITIONS }, undefined, compiled);
  for (const name of ['grew', 'absent {"s":"x"}']) {
    const conditions = new GrantConditions(1000);
    conditions.startRun(rules);
    conditions.use('{"s":"x"}');
    assert.equal(conditions.meets({ condition: 'fits' }), true);
    assert.equal(conditions.hasUndecided, false);
    assert.equal(conditions.meets({ condition: name }), false);
    assert.equal(conditions.mayMeet({ condition: name }), true);
    assert.equal(conditions.hasUndecided, true);
    assert.equal(conditions.isPending, false);
    const { code, message } = conditions.refusal();
    assert.equal(code, 'condition-failed');
    assert.match(message, /^The condition "(?:grew|absent)" fails: the rules declare no condition of that name/);
    assert.deepEqual(conditions.seen(name), {});
  }
});
