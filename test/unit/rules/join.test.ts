// A few of the cases of `join-cases.ts`; `test/property/slow` runs many, and plants faults that they find.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { type Join, joinSteps } from '../../../src/rules/join.ts';
import { grantedNames, NO_RULES, type RuleElement, type RuleSet } from '../../../src/rules/rule-set.ts';
import { complete } from '../../../src/rules/steps.ts';
import { testJoins } from './join-cases.ts';
import { randomCase } from './random-rules.ts';

const joinOf = (ruleSet: RuleSet, rules: CompiledRules, name: string): Join =>
  complete(joinSteps(ruleSet, rules, { namespace: 'document', name, deep: [] }, rules.numberOf(name) ?? 0));

/** Each name depends on two gates of the next, and follows from many others: the most work in the fewest bytes. */
function denseRules(count: number, each: number): RuleSet {
  const nameOf = (index: number): string => `n${index % count}`;
  const plain = (name: string): RuleElement => ({ name, from: undefined });
  const rules = Array.from({ length: count }, (_, index) => ({
    namespace: 'document',
    name: nameOf(index),
    anyOf: [
      ...['viewer', 'editor'].map((relation) => ({
        operator: 'all_of' as const,
        elements: [plain(nameOf(index + 1)), plain(relation)],
        butNot: [],
      })),
      ...Array.from({ length: each }, (_, at) => plain(nameOf(index + 2 + 31 * at))),
    ],
  }));
  return { ...NO_RULES, rules };
}

describe('joins', () => {
  testJoins('union', 10);
  testJoins('conditions', 10);
  testJoins('whole', 15);

  // Two joins under one revision would have sets for the one joined by the other.
  it('are the same whatever was asked before', () => {
    const drawn = [1, 2, 3, 4, 5, 6].map((seed) => randomCase(seed, 'whole').ruleSet);
    for (const ruleSet of [...drawn, ...[10, 30, 60].map((count) => denseRules(count, 20)), denseRules(1000, 90)]) {
      const names = ruleSet.rules.map(({ name }) => name).slice(0, 10);
      const warm = new CompiledRules(ruleSet);
      for (const name of names) joinOf(ruleSet, warm, name);
      for (const name of names) {
        assert.deepEqual(joinOf(ruleSet, warm, name), joinOf(ruleSet, new CompiledRules(ruleSet), name), name);
      }
    }
  });

  // An owner that recovers a tenant meets relations in the order of its log, another one in that of the rules.
  it('are the same whatever numbers relations have', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const { ruleSet } = randomCase(seed, 'whole');
      const granted = grantedNames(ruleSet);
      const numbers = new Map([...granted].reverse().map((name, index) => [name, index + 1]));
      const others = new CompiledRules(ruleSet, (name) => numbers.get(name) ?? assert.fail(name));
      for (const { name } of ruleSet.rules) {
        assert.deepEqual(joinOf(ruleSet, others, name), joinOf(ruleSet, new CompiledRules(ruleSet), name), name);
      }
    }
  });
});
