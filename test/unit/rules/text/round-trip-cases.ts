// Both ways between JSON and the text form: nothing is lost, whatever the rules and the layout are.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GrantdError } from '../../../../src/core/errors.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { formatSource, printRules } from '../../../../src/rules/text/printer.ts';
import { ruleSetOfSource } from '../../../../src/rules/text/rules-source.ts';
import { choices, RandomLayout } from './random-layouts.ts';
import { ruleSetBodies } from './random-rule-sets.ts';

/** Undefined: a `PUT` refuses it. */
function accepted(body: object): RuleSet | undefined {
  try {
    return parseRuleSet(body);
  } catch (error) {
    assert.ok(error instanceof GrantdError, String(error));
    return undefined;
  }
}

export function testRoundTrips(runs: number): void {
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
        { numRuns: runs },
      );
      assert.ok(read > tried / 2, `${read} of ${tried} were accepted`);
    });

    it('is brought from any layout into the one, and keeps its meaning and each comment', () => {
      fc.assert(
        fc.property(ruleSetBodies, choices, (body, chosen) => {
          const ruleSet = accepted(body);
          if (ruleSet === undefined) return;
          const { text, comments } = new RandomLayout(printRules(ruleSet), chosen);
          const formatted = formatSource(text);
          for (const each of [text, formatted]) assert.deepEqual(ruleSetOfSource(each), ruleSet, each);
          // Those inside of a definition may come to stand on one line.
          const kept = formatted.match(/#\d+!.*?(?= {2}#\d+!|$)/gm) ?? [];
          assert.deepEqual(kept, comments, formatted);
          assert.equal(formatSource(formatted), formatted);
        }),
        { numRuns: runs },
      );
    });
  });
}
