// The CEL project's own tests, for the part of the language that conditions have.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileExpression } from '../../../../src/rules/conditions/compiler.ts';
import { StepMeter } from '../../../../src/rules/conditions/step-meter.ts';
import { ZoneOffsets } from '../../../../src/rules/conditions/times.ts';
import { DYN, typeText } from '../../../../src/rules/conditions/types.ts';
import { type Result, Unresolved } from '../../../../src/rules/conditions/values.ts';
import { type CelCase, celCases, describeValue } from './cel-spec-cases.ts';

/** As `CelCase.expected`. */
function outcome({ expression, parameters: declared, values, isChecked, type }: CelCase): string | undefined {
  const undeclared = [...values.keys()].filter((name) => !declared.some((each) => each.name === name));
  const parameters = [...declared, ...undeclared.map((name) => ({ name, type: DYN }))];
  const compiled = compileExpression(expression, parameters, !isChecked);
  if ('problems' in compiled) return undefined;
  if (isChecked && type !== undefined) assert.equal(typeText(compiled.type), typeText(type), expression);
  const given: Result[] = [];
  for (const [index, { name }] of parameters.entries()) {
    const value = values.get(name);
    if (value !== undefined) given[index] = value;
  }
  const meter = new StepMeter(1_000_000);
  const result = compiled.run({ meter, zones: new ZoneOffsets(), parameters: given, variables: [] });
  return result instanceof Unresolved ? undefined : describeValue(result);
}

const { cases, leftOut } = celCases();
const sections = Map.groupBy(cases, ({ id }) => id.slice(0, id.lastIndexOf('/')));

describe('the tests of the CEL project', () => {
  for (const [section, each] of sections) {
    it(`${section} (${each.length})`, () => {
      for (const test of each) assert.equal(outcome(test), test.expected, `${test.id}: ${test.expression}`);
    });
  }

  it('are more than a thousand, with few left out', () => {
    assert.ok(cases.length > 1000, `${cases.length}`);
    assert.ok(leftOut < 200, `${leftOut}`);
  });
});
