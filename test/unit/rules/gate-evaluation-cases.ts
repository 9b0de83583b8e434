// Evaluation of gates against the definition of what rules mean, on random cases of the whole model, three-valued.
// `test/unit` runs a few of the cases, `test/property` many.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { GateEvaluation } from '../../../src/rules/gate-evaluation.ts';
import { naiveModel } from '../../kit/naive-rules.ts';
import { GrantGraph } from './grant-graph.ts';
import { randomCase } from './random-rules.ts';

const LIMITS = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 100_000,
  entityGrantsMax: 1000,
  charactersMax: 1_000_000,
  spentMax: 1_000_000,
  lead: 0,
};

export function testGateEvaluation(cases: number): void {
  it('answers checks through gates as the definition does', () => {
    for (let seed = 1; seed <= cases; seed += 1) {
      const { ruleSet, grants, subjects, objects, names } = randomCase(seed, 'whole');
      const rules = new CompiledRules(ruleSet);
      const graphOf = (of: typeof grants) => new GrantGraph(of, { numberOf: (relation) => rules.numberOf(relation) });
      const certain = graphOf(grants.filter(({ condition = true }) => condition === true));
      const possible = graphOf(grants.filter(({ condition }) => condition !== false));
      for (const subject of subjects) {
        const model = naiveModel(ruleSet, grants, subject);
        for (const object of objects) {
          for (const name of names) {
            const evaluation = new GateEvaluation(rules, { certain, possible }, LIMITS, subject);
            const found = evaluation.decide(rules.numberOf(name) ?? 0, object);
            const truth = found.kind === 'decided' ? found.authorized : found.kind;
            assert.equal(truth, model.truthOf(name, object), `seed ${seed}: ${subject} ${name} ${object}`);
          }
        }
      }
    }
  });
}
