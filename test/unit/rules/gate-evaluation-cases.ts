// Evaluation of gates against the definition of what rules mean, on random cases of the whole model, three-valued.
// `test/unit` runs a few of the cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Evaluation } from '../../../src/rules/check-evaluation.ts';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { GateEvaluation, type Proof } from '../../../src/rules/gate-evaluation.ts';
import { GrantedSearch } from '../../../src/rules/granted-search.ts';
import { type NaiveModel, naiveModel, type Truth } from '../../kit/naive-rules.ts';
import { GrantGraph } from './grant-graph.ts';
import { randomCase, randomOf } from './random-rules.ts';

const LIMITS = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 100_000,
  entityGrantsMax: 1000,
  charactersMax: 1_000_000,
  spentMax: 1_000_000,
  lead: 0,
};

type World = ReturnType<typeof worldOf>;

function worldOf(seed: number) {
  const { grants, ...rest } = randomCase(seed, 'whole');
  const rules = new CompiledRules(rest.ruleSet);
  const graphOf = (of: typeof grants, known?: Set<string>) =>
    new GrantGraph(of, { numberOf: (relation) => rules.numberOf(relation), ...(known === undefined ? {} : { known }) });
  const sure = grants.filter(({ condition = true }) => condition === true);
  const open = grants.filter(({ condition }) => condition !== false);
  return {
    ...rest,
    grants,
    rules,
    /** With `known`: only what was missed before is in memory. */
    graphs: (known?: Set<string>) => ({ certain: graphOf(sure, known), possible: graphOf(open, known), differ: true }),
  };
}

function decide(evaluation: GateEvaluation, number: number, object: string): Evaluation {
  let found = evaluation.decide(number, object);
  while (found.kind === 'interrupted') found = evaluation.decide(number, object);
  return found;
}

const truthOf = (found: Evaluation): unknown => (found.kind === 'decided' ? found.authorized : found.kind);

/** Calls back for each question with what the definition says. */
function forEachQuestion(
  { ruleSet, grants, subjects, objects, names, rules }: World,
  on: (subject: string, number: number, object: string, expected: Truth, what: string, model: NaiveModel) => void,
): void {
  for (const subject of subjects) {
    const model = naiveModel(ruleSet, grants, subject);
    for (const object of objects) {
      for (const name of names) {
        const what = `${subject} ${name} ${object}`;
        on(subject, rules.numberOf(name) ?? 0, object, model.truthOf(name, object), what, model);
      }
    }
  }
}

/** Asserts that each node says what the definition says, and follows from those below it. */
function assertProof(world: World, subject: string, model: NaiveModel, proof: Proof, what: string): void {
  const { name, object, holds, chain, gates, repeated } = proof;
  const place = `${what}: ${name} on ${object}`;
  // What was left undecided did not matter.
  if (holds === undefined) return;
  if (world.rules.numberOf(name) !== undefined) assert.equal(holds, model.truthOf(name, object), place);
  if (repeated) return;
  const { certain } = world.graphs();
  for (const step of chain) assert.ok(certain.has(step), `${place}: a grant that holds`);
  for (const { all, none } of gates) {
    for (const each of [...all, ...none]) assertProof(world, subject, model, each, what);
  }
  if (!holds) {
    for (const { all, none } of gates) {
      const isShut = all.length === 0 || all.some((each) => !each.holds) || none.some((each) => each.holds !== false);
      assert.ok(isShut, `${place}: the gate does not open`);
    }
    return;
  }
  assert.ok(gates.length < 2, place);
  assert.equal(chain.at(-1)?.object ?? gates[0]?.object ?? object, object, `${place}: it leads to the object`);
  const [gate] = gates;
  const from = chain[0]?.subject;
  if (gate === undefined) {
    const own = world.rules.ownOf(subject)?.object;
    const isOwn = from === own || from?.startsWith(`${own}#`) === true;
    const subjects = [...world.rules.subjectsOf(subject), '*'];
    assert.ok(from === undefined || isOwn || subjects.includes(from), `${place}: ${from}`);
    return;
  }
  assert.ok(from === undefined || from.split('#')[0] === gate.object, `${place}: from the gate`);
  assert.ok(gate.all.length > 0 && gate.all.every((each) => each.holds), `${place}: all hold`);
  assert.ok(
    gate.none.every((each) => each.holds === false),
    `${place}: none holds`,
  );
}

export function testGateEvaluation(cases: number): void {
  it('answers checks through gates as the definition does, and proves it', () => {
    let gates = 0;
    for (let seed = 1; seed <= cases; seed += 1) {
      const world = worldOf(seed);
      const { rules } = world;
      const graphs = world.graphs();
      forEachQuestion(world, (subject, number, object, expected, what, model) => {
        for (const lead of [0, 128]) {
          const evaluation = new GateEvaluation(rules, graphs, { ...LIMITS, lead }, subject);
          assert.equal(truthOf(decide(evaluation, number, object)), expected, `seed ${seed}: ${what}`);
          const proof = evaluation.proofOf(number, object, {
            shownMax: 1000,
            entriesMax: 10_000,
            stepsMax: 10_000,
            operandsMax: 10_000,
          });
          assertProof(world, subject, model, proof, `seed ${seed}: ${what}`);
          gates += proof.gates.length;
        }
      });
    }
    assert.ok(gates > cases, `${gates} proofs have gates`);
  });

  it('answers the same in steps, and for many objects at once', () => {
    for (let seed = 1; seed <= cases; seed += 1) {
      const world = worldOf(seed);
      const { rules } = world;
      const graphs = world.graphs();
      const evaluations = new Map(
        world.subjects.map((subject) => {
          const granted = new GrantedSearch(rules, graphs.possible, LIMITS, subject);
          return [subject, new GateEvaluation(rules, graphs, { ...LIMITS, spentMax: 1 }, subject, granted)];
        }),
      );
      forEachQuestion(world, (subject, number, object, expected, what) => {
        const evaluation = evaluations.get(subject) ?? assert.fail();
        assert.equal(truthOf(decide(evaluation, number, object)), expected, `seed ${seed}: ${what}`);
      });
    }
  });

  it('answers the same when missing entities are loaded on demand', () => {
    for (let seed = 1; seed <= cases; seed += 1) {
      const world = worldOf(seed);
      const random = randomOf(seed);
      forEachQuestion(world, (subject, number, object, expected, what) => {
        if (random(20) > 0) return;
        const graphs = world.graphs(new Set());
        for (;;) {
          const evaluation = new GateEvaluation(world.rules, graphs, { ...LIMITS, lead: random(4) }, subject);
          const found = decide(evaluation, number, object);
          if (found.kind !== 'missing') {
            assert.equal(truthOf(found), expected, `seed ${seed}: ${what}`);
            return;
          }
          assert.ok(graphs.certain.load() + graphs.possible.load() > 0, 'what is missing is named');
        }
      });
    }
  });
}
