// A proof counts all that it looks at, also the gates that it passes on the way to the one that opened and does not
// show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { GateEvaluation } from '../../../src/rules/gate-evaluation.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { GrantGraph } from './grant-graph.ts';

const FOLDERS = 200;
const RULES = {
  rules: [
    { namespace: 'folder', name: 'x', any_of: [{ all_of: ['viewer', 'editor'] }] },
    { namespace: 'doc', name: 'x', any_of: ['x from parent'] },
  ],
};
const LIMITS = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 100_000,
  entityGrantsMax: 1000,
  charactersMax: 1_000_000,
  spentMax: 1_000_000,
  // Only from the object: otherwise the gates that stay shut are not even met.
  lead: 1_000_000,
};

test('the operands of gates that did not open count, and a proof without room for them says that it is cut', () => {
  const rules = new CompiledRules(parseRuleSet(RULES));
  const grants = Array.from({ length: FOLDERS }, (_, at) => ({
    subject: `folder:f${at}`,
    relation: 'parent',
    object: 'doc:d',
  }));
  const last = `folder:f${FOLDERS - 1}`;
  for (const relation of ['viewer', 'editor']) grants.push({ subject: 'user:u', relation, object: last });
  const graph = new GrantGraph(grants, { numberOf: (relation) => rules.numberOf(relation) });
  const graphs = { certain: graph, possible: graph, differ: false };
  const evaluation = new GateEvaluation(rules, graphs, LIMITS, 'user:u');
  const number = rules.numberOf('x') ?? 0;
  assert.deepEqual(evaluation.decide(number, 'doc:d'), { kind: 'decided', authorized: true });

  const proofWith = (operandsMax: number) =>
    evaluation.proofOf(number, 'doc:d', { shownMax: 100, entriesMax: 100, stepsMax: 100, operandsMax });
  const whole = proofWith(2 * FOLDERS + 1);
  assert.equal(whole.cut, false);
  assert.deepEqual(
    whole.gates.map(({ object }) => object),
    [last],
  );
  const cut = proofWith(FOLDERS);
  assert.deepEqual([cut.holds, cut.cut, cut.gates, cut.chain], [true, true, [], []]);
});
