// Both ways between JSON and the text form: nothing is lost, whatever the rules are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { formatSource, printRules } from '../../../../src/rules/text/printer.ts';
import { ruleSetOfSource } from '../../../../src/rules/text/rules-source.ts';
import { ruleSetBodies } from './random-rule-sets.ts';

const RUNS = Number(process.env.GRANTD_TEST_ROUND_TRIPS ?? 1000);

/** Undefined: a `PUT` refuses it. */
function accepted(body: object): RuleSet | undefined {
  try {
    return parseRuleSet(body);
  } catch (error) {
    assert.ok(error instanceof GrantdError, String(error));
    return undefined;
  }
}

describe('the text form of rules', () => {
  it('reads as the rules that were printed', () => {
    let [tried, read] = [0, 0];
    fc.assert(
      fc.property(ruleSetBodies, (body) => {
        tried += 1;
        const ruleSet = accepted(body);
        if (ruleSet === undefined) return;
        read += 1;
        const text = printRules(ruleSet);
        assert.deepEqual(ruleSetOfSource(text), ruleSet, text);
        assert.equal(formatSource(text), text);
      }),
      { numRuns: RUNS },
    );
    assert.ok(read > tried / 2, `${read} of ${tried} were accepted`);
  });
});
