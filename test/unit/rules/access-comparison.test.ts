// A comparison knows what it rests on while it is being made, so that a commit in between is noticed, and its steps are
// short however many objects a state gives.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessComparison } from '../../../src/rules/access-comparison.ts';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { GrantGraph } from './grant-graph.ts';

const COUNT = 1000;
/** A step examines so many grants at most, with some for what it finds. */
const SPENT_PER_STEP_MAX = 200;
const LIMITS = { depthMax: 25, entitiesMax: 100_000, grantsMax: 1_000_000, entityGrantsMax: COUNT, charactersMax: 1e7 };

test('a comparison notices changes of what it is looking at, and takes short steps', () => {
  const rules = [{ namespace: 'doc', name: 'can_read', any_of: ['viewer', 'published'] }];
  const compiled = new CompiledRules(parseRuleSet({ states: ['published'], groups: true, public: [], rules }));
  const grants = Array.from({ length: COUNT }, (_, index) => `* published doc:${index}`).concat('user:a viewer doc:x');
  const graph = new GrantGraph(
    grants.map((text) => {
      const [subject = '', relation = '', object = ''] = text.split(' ');
      return { subject, relation, object };
    }),
    { countMax: COUNT + 1, numberOf: (name) => compiled.numberOf(name) },
  );
  const state = { rules: compiled, grants: { certain: graph, possible: graph, differ: false } };
  const concern = { objects: undefined, groups: new Set<string>(), concerns: () => true };
  const comparison = new AccessComparison(state, state, LIMITS, concern);
  const steps = comparison.compare('user:a');
  assert.ok(!comparison.restsOn('user:a', 'doc:y'));
  let before = 0;
  for (let count = 1; ; count += 1) {
    const { done } = steps.next();
    assert.ok(comparison.spent - before <= SPENT_PER_STEP_MAX, `${comparison.spent - before} in one step`);
    before = comparison.spent;
    if (count === 10) assert.ok(comparison.restsOn('user:a', 'doc:y') && comparison.restsOn('*', 'doc:y'));
    if (done === true) break;
  }
  assert.ok(comparison.restsOn('doc:7#can_read', 'doc:y'), 'groups of what it holds');
  assert.ok(!comparison.restsOn('user:b', 'doc:y'));
});
