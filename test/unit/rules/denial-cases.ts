// Why a check is denied, against the definition of what rules mean, on random cases of the whole model. `test/unit`
// runs a few of the cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { type Denial, type DenialPart, DenialSearch } from '../../../src/rules/denial-search.ts';
import { GateEvaluation } from '../../../src/rules/gate-evaluation.ts';
import { type NaiveGrant, naiveModel } from '../../kit/naive-rules.ts';
import { GrantGraph } from './grant-graph.ts';
import { randomCase, randomOf } from './random-rules.ts';

const LIMITS = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 100_000,
  entityGrantsMax: 1000,
  charactersMax: 1_000_000,
  spentMax: 100,
  lead: 1000,
};
const PROOF_LIMITS = { shownMax: 1000, entriesMax: 10_000, stepsMax: 10_000, operandsMax: 10_000 };
/** Most denials are for want of a grant: of those, one in so many is judged. */
const SHARE_OF_MISSING = 50;

type Holds = (grants: readonly NaiveGrant[]) => boolean;

interface Question {
  readonly subject: string;
  readonly number: number;
  readonly object: string;
}

/** Undefined: the check is not denied. `known`: the entities in memory; absent: all. */
function denialOf(
  rules: CompiledRules,
  grants: readonly NaiveGrant[],
  question: Question,
  known?: Set<string>,
): Denial | undefined {
  const { subject, number, object } = question;
  const graphOf = (of: readonly NaiveGrant[]) =>
    new GrantGraph(of, { numberOf: (relation) => rules.numberOf(relation), ...(known === undefined ? {} : { known }) });
  const certain = graphOf(grants.filter(({ condition = true }) => condition === true));
  const possible = graphOf(grants.filter(({ condition }) => condition !== false));
  const unconditional = graphOf(grants);
  const graphs = { certain, possible, differ: true };
  const check = { rules, grants: graphs, unconditional, question, limits: LIMITS, proofLimits: PROOF_LIMITS };
  for (;;) {
    const evaluation = new GateEvaluation(rules, graphs, LIMITS, subject);
    let found = evaluation.decide(number, object);
    while (found.kind === 'interrupted') found = evaluation.decide(number, object);
    if (found.kind !== 'missing' && (found.kind !== 'decided' || found.authorized)) return undefined;
    if (found.kind === 'decided') {
      const proof = evaluation.proofOf(number, object, PROOF_LIMITS);
      const search = new DenialSearch({ ...check, mayGrant: () => true }, proof);
      let progress = search.run();
      while (progress.kind === 'interrupted') progress = search.run();
      // What was not in memory did not matter for the answer, but does for the reason.
      const misses = [certain, possible, unconditional].some(({ missing }) => missing.size > 0);
      if (progress.kind === 'found' && !misses) return progress.denial;
    }
    assert.ok(certain.load() + possible.load() + unconditional.load() > 0, 'what is missing is named');
  }
}

/** The grants without those that exclude, with those that are missing, and with conditions met. */
function mended(grants: readonly NaiveGrant[], parts: readonly DenialPart[], rules: CompiledRules): NaiveGrant[] {
  const mendedBy = new Map(
    parts.map(({ kind, step: { subject, relation, object } }) => {
      const grant = { subject, relation: rules.describe(relation), object };
      return [keyOf(grant), { kind, grant }];
    }),
  );
  const stored = new Set(grants.map(keyOf));
  for (const [key, { kind }] of mendedBy) assert.equal(stored.has(key), kind !== 'missing', `${kind} ${key}`);
  return [
    ...grants.filter((grant) => !mendedBy.has(keyOf(grant))),
    ...Array.from(mendedBy.values(), ({ kind, grant }) => (kind === 'excluding' ? [] : [grant])).flat(),
  ];
}

const keyOf = ({ subject, relation, object }: NaiveGrant): string => `${subject} ${relation} ${object}`;

/** Calls back for each question of the case. */
function forEachQuestion(
  seed: number,
  on: (rules: CompiledRules, grants: readonly NaiveGrant[], question: Question, holds: Holds, what: string) => void,
): void {
  const { ruleSet, grants, subjects, objects, names } = randomCase(seed, 'whole');
  const rules = new CompiledRules(ruleSet);
  for (const subject of subjects) {
    for (const object of objects) {
      for (const name of names) {
        const holds: Holds = (of) => naiveModel(ruleSet, of, subject).truthOf(name, object) === true;
        const question = { subject, number: rules.numberOf(name) ?? 0, object };
        on(rules, grants, question, holds, `seed ${seed}: ${subject} ${name} ${object}`);
      }
    }
  }
}

export function testDenials(cases: number): void {
  it('names grants without which a denied check holds by the definition, and each of which is needed', () => {
    const counts = { whole: 0, cut: 0, excluding: 0, unmet: 0, missing: 0 };
    for (let seed = 1; seed <= cases; seed += 1) {
      const random = randomOf(seed);
      forEachQuestion(seed, (rules, grants, question, holds, asked) => {
        const denial = denialOf(rules, grants, question);
        if (denial === undefined) return;
        const { parts, cut } = denial;
        const what = `${asked}: ${JSON.stringify(denial)}`;
        const canHold = rules.canHold(question.object, rules.describe(question.number));
        // What the subject of states lacks, no grant but a state gives.
        if (canHold && question.subject !== '*') counts[cut ? 'cut' : 'whole'] += 1;
        else if (!canHold) assert.equal(parts.length, 0, `${what}: no rule gives it`);
        if (cut || (parts.every(({ kind }) => kind === 'missing') && random(SHARE_OF_MISSING) > 0)) return;
        assert.ok(holds(mended(grants, parts, rules)), what);
        for (const part of parts) {
          counts[part.kind] += 1;
          const others = parts.filter((each) => each !== part);
          assert.ok(!holds(mended(grants, others, rules)), `${what}: without ${part.step.subject}`);
        }
      });
    }
    const { whole, cut, excluding, unmet, missing } = counts;
    assert.ok(Math.min(excluding, unmet, missing) > cases, JSON.stringify(counts));
    assert.ok(whole > 10 * cut, JSON.stringify(counts));
  });

  it('finds the same when missing entities are loaded on demand', () => {
    for (let seed = 1; seed <= cases; seed += 1) {
      const random = randomOf(seed);
      forEachQuestion(seed, (rules, grants, question, _, what) => {
        if (random(40) > 0) return;
        const found = denialOf(rules, grants, question, new Set());
        assert.deepEqual(found, denialOf(rules, grants, question), what);
      });
    }
  });
}
