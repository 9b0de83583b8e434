// Evaluation against the definition of what rules mean: checks, chains and both listings, on random rules and grants,
// with everything in memory and with entities that are loaded as the search misses them. `test/unit` runs a few of the
// cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CheckEvaluation, type EvaluationLimits } from '../../../src/rules/check-evaluation.ts';
import { bitOf, CompiledRules } from '../../../src/rules/compiled-rules.ts';
import { GrantedSearch } from '../../../src/rules/granted-search.ts';
import { WantedSearch } from '../../../src/rules/wanted-search.ts';
import { naiveHeld } from '../../kit/naive-rules.ts';
import { GrantGraph } from './grant-graph.ts';
import { randomCase, randomOf } from './random-rules.ts';

const LIMITS: EvaluationLimits = {
  depthMax: 25,
  entitiesMax: 10_000,
  grantsMax: 100_000,
  entityGrantsMax: 1000,
  charactersMax: 1_000_000,
  spentMax: 1_000_000,
  lead: 0,
};
/** Of a case, on average, at the least. */
const AUTHORIZED_MIN = 15;
const never = () => false;

export function testEvaluation(cases: number): void {
  describe('evaluation under rules', () => {
    it('answers checks as the definition does, and its chains are grants that exist', () => {
      let authorized = 0;
      for (let seed = 1; seed <= cases; seed += 1) {
        const { ruleSet, grants, subjects, objects, names } = randomCase(seed);
        const rules = new CompiledRules(ruleSet);
        const numbers = { numberOf: (name: string) => rules.numberOf(name) };
        const graph = new GrantGraph(grants, numbers);
        for (const subject of subjects) {
          const held = naiveHeld(ruleSet, grants, subject);
          const shared = new GrantedSearch(rules, graph, LIMITS, subject);
          for (const object of objects) {
            for (const name of names) {
              const expected = held.has(`${name} ${object}`);
              const what = `seed ${seed}: ${subject} ${name} ${object}`;
              const question = { subject, number: rules.numberOf(name) ?? 0, object };
              const alone = new CheckEvaluation(rules, graph, LIMITS, question);
              assert.deepEqual(alone.run(), { kind: 'decided', authorized: expected }, what);
              const beside = new CheckEvaluation(rules, graph, LIMITS, question, shared);
              assert.deepEqual(beside.run(), { kind: 'decided', authorized: expected }, `${what}, after others`);
              const led = new CheckEvaluation(rules, graph, { ...LIMITS, lead: 5 }, question);
              assert.deepEqual(led.run(), { kind: 'decided', authorized: expected }, `${what}, with a lead`);
              const explained = new CheckEvaluation(rules, graph, LIMITS, question);
              assert.deepEqual(explained.runForShortest(), { kind: 'decided', authorized: expected }, what);
              if (!expected) continue;
              authorized += 1;
              for (const { chain } of [alone, explained])
                assert.ok(
                  chain.every((step) => graph.has(step)),
                  what,
                );
              const only = explained.chain.map((step) =>
                grants.find((grant) => graph.has(step) && new GrantGraph([grant], numbers).has(step)),
              );
              const kept = only.filter((grant) => grant !== undefined);
              assert.ok(naiveHeld(ruleSet, kept, subject).has(`${name} ${object}`), `${what}: its chain suffices`);
              assert.ok(explained.chain.length <= alone.chain.length, what);
            }
          }
        }
      }
      assert.ok(authorized > AUTHORIZED_MIN * cases, `only ${authorized} of them were authorized`);
    });

    it('answers the same when missing entities are loaded on demand', () => {
      for (let seed = 1; seed <= cases; seed += 1) {
        const { ruleSet, grants, subjects, objects, names } = randomCase(seed);
        const rules = new CompiledRules(ruleSet);
        const random = randomOf(seed);
        for (const subject of subjects.slice(0, 5)) {
          const held = naiveHeld(ruleSet, grants, subject);
          const object = objects[random(objects.length)] ?? '';
          const name = names[random(names.length)] ?? '';
          const graph = new GrantGraph(grants, { known: new Set(), numberOf: (each) => rules.numberOf(each) });
          let evaluation = new CheckEvaluation(rules, graph, LIMITS, {
            subject,
            number: rules.numberOf(name) ?? 0,
            object,
          });
          for (let result = evaluation.run(); ; result = evaluation.run()) {
            if (result.kind === 'decided') {
              assert.equal(
                result.authorized,
                held.has(`${name} ${object}`),
                `seed ${seed}: ${subject} ${name} ${object}`,
              );
              break;
            }
            assert.equal(result.kind, 'missing');
            assert.ok(graph.load() > 0, 'what is missing is named');
            evaluation = new CheckEvaluation(rules, graph, LIMITS, {
              subject,
              number: rules.numberOf(name) ?? 0,
              object,
            });
          }
        }
      }
    });

    it('finds all objects of a subject, and all subjects of an object', () => {
      for (let seed = 1; seed <= cases; seed += 1) {
        const { ruleSet, grants, subjects, objects, names } = randomCase(seed);
        const rules = new CompiledRules(ruleSet);
        const numbers = { numberOf: (name: string) => rules.numberOf(name) };
        const graph = new GrantGraph(grants, numbers);
        const held = new Map(subjects.map((subject) => [subject, naiveHeld(ruleSet, grants, subject)]));
        for (const subject of subjects) {
          for (const name of names) {
            const number = rules.numberOf(name) ?? 0;
            const search = new GrantedSearch(rules, graph, LIMITS, subject, rules.statesGiving(number));
            while (search.hasNext) search.step(never);
            assert.ok(search.isComplete);
            const bit = bitOf(number);
            const listed = objects.filter((object) => {
              for (let find = search.held.get(object); find !== undefined; find = find.earlier) {
                if ((find.names & bit) !== 0n) return true;
              }
              return false;
            });
            const expected = objects.filter((object) => held.get(subject)?.has(`${name} ${object}`));
            assert.deepEqual(listed, expected, `seed ${seed}: ${subject} ${name}`);
          }
        }
        for (const object of objects) {
          for (const name of names) {
            const search = new WantedSearch(rules, graph, LIMITS);
            search.start(object, bitOf(rules.numberOf(name) ?? 0));
            while (search.hasNext) search.step(never);
            assert.ok(search.isComplete);
            const listed = new Set<string>();
            for (const [entity, last] of search.visited) {
              for (let visit: typeof last | undefined = last; visit !== undefined; visit = visit.earlier) {
                if (rules.includesSelf(visit.wanted.names) && rules.isEntity(entity)) listed.add(entity);
                for (const grant of grants) {
                  const number = rules.numberOf(grant.relation) ?? 0;
                  const { relations, states } = visit.wanted;
                  if (grant.object === entity && [...relations, ...states].includes(number)) listed.add(grant.subject);
                }
              }
            }
            for (const subject of listed) {
              assert.ok(naiveHeld(ruleSet, grants, subject).has(`${name} ${object}`), `seed ${seed}: ${subject} holds`);
            }
            for (const subject of subjects) {
              const plain = !(ruleSet.groups && subject.includes('#')) && !subject.endsWith(':*');
              const covered =
                listed.has(subject) ||
                listed.has('*') ||
                (ruleSet.public.includes(subject.split(':')[0] ?? '') && listed.has(`${subject.split(':')[0]}:*`));
              if (plain)
                assert.equal(
                  covered,
                  held.get(subject)?.has(`${name} ${object}`),
                  `seed ${seed}: ${subject} ${name} ${object}`,
                );
            }
          }
        }
      }
    });
  });
}
