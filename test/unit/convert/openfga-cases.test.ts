// Models of OpenFGA's own tests, converted, against what its tests assert. Rules are evaluated by their definition, the
// fixpoint of test/kit/naive-rules.ts; test/conformance asks the service the same.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { conditionValues } from '../../kit/condition-values.ts';
import { type NaiveGrant, naiveModel, naiveSubjects, type Truth } from '../../kit/naive-rules.ts';
import {
  type Asked,
  convertStage,
  DIFFERENCES,
  type ListUsersAssertion,
  type OpenFgaTuple,
  readOpenFgaTests,
} from '../../kit/openfga-cases.ts';

/** OpenFGA's code for a tuple that its model does not allow. */
const INVALID_TUPLE = 2027;

const entityOf = (subject: string): string => subject.split('#')[0] ?? subject;

/** Everyone of whom the grants tell, of the kind of the filter: a type, or `type#relation`. */
function candidatesFor({ filters, object }: ListUsersAssertion['request'], grants: readonly NaiveGrant[]): string[] {
  const [namespace = '', group] = (filters[0] ?? '').split('#');
  const all = [object, ...grants.flatMap((grant) => [grant.subject, entityOf(grant.subject), grant.object])];
  const those = [...new Set(all)].filter((each) => each.startsWith(`${namespace}:`) && !each.includes('#'));
  return group === undefined ? those : those.filter((each) => !each.endsWith(':*')).map((each) => `${each}#${group}`);
}

describe("OpenFGA's tests of models", () => {
  for (const { name, stages } of readOpenFgaTests()) {
    it(name, async () => {
      const tuples: OpenFgaTuple[] = [];
      for (const stage of stages) {
        const { rules, lost, grantsOf } = convertStage(stage);
        assert.deepEqual(lost, []);
        const ruleSet = parseRuleSet(rules);
        tuples.push(...(stage.tuples ?? []));
        const grantsFor = async ({ contextualTuples = [], context }: Asked<unknown>): Promise<NaiveGrant[]> =>
          conditionValues(ruleSet, await grantsOf([...tuples, ...contextualTuples]), context);

        for (const assertion of stage.checkAssertions ?? []) {
          const { tuple, expectation, errorCode } = assertion;
          // Types refuse its contextual tuple.
          if (errorCode === INVALID_TUPLE) continue;
          const truth = naiveModel(ruleSet, await grantsFor(assertion), tuple.user).truthOf(
            tuple.relation,
            tuple.object,
          );
          // OpenFGA refuses what hangs on a missing parameter.
          const expected: Truth | null = expectation ?? (errorCode === undefined ? null : 'undefined');
          const different = DIFFERENCES.some((each) => each.test === name && each.question === JSON.stringify(tuple));
          if (!different) assert.equal(truth, expected, JSON.stringify(assertion));
        }

        for (const assertion of stage.listObjectsAssertions ?? []) {
          const { request, expectation, errorCode } = assertion;
          if (errorCode !== undefined) continue;
          const grants = await grantsFor(assertion);
          const model = naiveModel(ruleSet, grants, request.user);
          const objects = new Set([...grants.map(({ object }) => object), entityOf(request.user)]);
          const held = [...objects].filter(
            (each) => each.startsWith(`${request.type}:`) && model.truthOf(request.relation, each) === true,
          );
          assert.deepEqual(held.sort(), [...(expectation ?? [])].sort(), JSON.stringify(assertion));
        }

        for (const assertion of stage.listUsersAssertions ?? []) {
          const { request, expectation, errorCode } = assertion;
          if (errorCode !== undefined) continue;
          const grants = await grantsFor(assertion);
          const question = { name: request.relation, object: request.object };
          const { held } = naiveSubjects(ruleSet, grants, question, candidatesFor(request, grants));
          const expected = [...(expectation ?? [])].sort();
          // Whom "*" covers is listed or not, as it was found.
          const listed = held.some((each) => each.endsWith(':*'))
            ? held.filter((each) => each.endsWith(':*') || expected.includes(each))
            : held;
          assert.deepEqual([...listed].sort(), expected, JSON.stringify(assertion));
        }
      }
    });
  }

  it('are all of them', () => {
    const stages = readOpenFgaTests().flatMap((test) => test.stages);
    const count = (of: 'checkAssertions' | 'listObjectsAssertions' | 'listUsersAssertions'): number =>
      stages.reduce((sum, stage) => sum + (stage[of]?.length ?? 0), 0);
    assert.deepEqual(
      [
        readOpenFgaTests().length,
        count('checkAssertions'),
        count('listObjectsAssertions'),
        count('listUsersAssertions'),
      ],
      [96, 317, 218, 229],
    );
  });
});
