// A converted model means what the model means: random models and tuples, written in each language, converted, and
// evaluated by brute force on both sides. With --partial, it may allow less, never more. `test/unit` runs a few of the
// cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelCaseOf } from '../../differential/models/cases.ts';
import { ConvertedModel } from '../../differential/models/converted-model.ts';
import { type Dialect, type Expression, type Model, type Tuple, typeOf } from '../../differential/models/model.ts';
import { type NaiveGrant, naiveModel } from '../../kit/naive-rules.ts';

/** Facts of a case, on average, at the least. */
const FACTS_MIN = 15;
/** At least one case in so many loses something. */
const LOST_OF = 8;
const ENTITIES = ['user', 'group', 'folder', 'document'].flatMap((type) => [1, 2, 3, 4].map((id) => `${type}:n${id}`));

type Facts = ReadonlySet<string>;
const factOf = (subject: string, name: string, object: string): string => `${subject} ${name} ${object}`;

/** What holds if `assumed` holds where something is excluded: adds facts until none is new. */
function factsBeyond(model: Model, tuples: readonly Tuple[], assumed: Facts): Facts {
  const facts = new Set<string>();
  const isGrantedTo = (granted: string, subject: string, known: Facts): boolean => {
    const [entity = '', group] = granted.split('#');
    if (group !== undefined) return known.has(factOf(subject, group, entity));
    return granted === subject || granted === `${typeOf(subject)}:*`;
  };
  const holds = (expression: Expression, subject: string, name: string, object: string, known: Facts): boolean => {
    const follows = (part: Expression, of = known): boolean => holds(part, subject, name, object, of);
    switch (expression.kind) {
      case 'stored':
        return tuples.some(
          (each) => each.object === object && each.relation === name && isGrantedTo(each.subject, subject, known),
        );
      case 'name':
        return known.has(factOf(subject, expression.name, object));
      case 'from': {
        const parents = tuples.filter((each) => each.object === object && each.relation === expression.from);
        const isHeld = (parent: Tuple): boolean => known.has(factOf(subject, expression.name, parent.subject));
        return expression.all ? parents.length > 0 && parents.every(isHeld) : parents.some(isHeld);
      }
      case 'union':
        return expression.parts.some((part) => follows(part));
      case 'intersection':
        return expression.parts.every((part) => follows(part));
      case 'exclusion':
        return follows(expression.base) && !follows(expression.subtract, known === facts ? assumed : facts);
    }
  };
  for (let before = -1; before < facts.size; ) {
    before = facts.size;
    for (const object of ENTITIES) {
      for (const { name, expression } of model.types.find((each) => each.name === typeOf(object))?.relations ?? []) {
        for (const subject of ENTITIES) {
          const fact = factOf(subject, name, object);
          if (!facts.has(fact) && holds(expression, subject, name, object, facts)) facts.add(fact);
        }
      }
    }
  }
  return facts;
}

/** No name of these models depends on its own exclusion, so that the bounds from below and from above meet. */
function meaningOf(model: Model, tuples: readonly Tuple[]): Facts {
  let lower: Facts = new Set();
  for (;;) {
    const upper = factsBeyond(model, tuples, lower);
    const next = factsBeyond(model, tuples, upper);
    if (next.size === lower.size) return lower;
    lower = next;
  }
}

/** With a parent that is followed nowhere, and conditions that grantd cannot evaluate. */
const unfit = (model: Model): Model => ({
  ...model,
  types: model.types.map(({ name, relations }) => ({
    name,
    relations: relations.map((each) =>
      each.name === 'parent' && name === 'document'
        ? {
            ...each,
            subjects: [...each.subjects, { type: 'folder', of: 'everyone', name: undefined, condition: undefined }],
          }
        : each,
    ),
  })),
  conditions: model.conditions.map((each, index) => (index === 0 ? { ...each, expression: 'x.odd()' } : each)),
});

/** As an import stores them. Without those that are refused; every third condition is not met. */
async function grantsOf(converted: ConvertedModel, tuples: readonly Tuple[]): Promise<readonly NaiveGrant[]> {
  const grants = tuples.map(async (tuple): Promise<readonly NaiveGrant[]> => {
    const [grant] = await converted.grantsOf([tuple]).catch(() => []);
    return grant === undefined ? [] : [{ ...grant, condition: isMet(tuple) }];
  });
  return (await Promise.all(grants)).flat();
}

const isMet = ({ condition, subject, object }: Tuple): boolean =>
  condition === undefined || (subject.charCodeAt(subject.length - 1) + object.charCodeAt(object.length - 1)) % 3 > 0;

/** Every fact of the model, under the names of the model, that the rules have or have not. */
async function compare(model: Model, tuples: readonly Tuple[], asJson: boolean) {
  const converted = new ConvertedModel(model, asJson);
  const expected = meaningOf(model, tuples.filter(isMet));
  const grants = await grantsOf(converted, tuples);
  const wider: string[] = [];
  const narrower: string[] = [];
  for (const subject of ENTITIES) {
    const { truthOf } = naiveModel(converted.ruleSet, grants, subject);
    for (const object of ENTITIES) {
      for (const { name } of model.types.find((each) => each.name === typeOf(object))?.relations ?? []) {
        const fact = factOf(subject, name, object);
        const has = truthOf(converted.nameOf(typeOf(object), name), object) === true;
        if (has && !expected.has(fact)) wider.push(fact);
        if (!has && expected.has(fact)) narrower.push(fact);
      }
    }
  }
  return { wider, narrower, facts: expected.size, isLost: converted.lost.length > 0 };
}

const LANGUAGES: readonly (readonly [language: string, dialect: Dialect, asJson: boolean])[] = [
  ["OpenFGA's language", 'openfga', false],
  ["OpenFGA's JSON", 'openfga', true],
  ["SpiceDB's language", 'spicedb', false],
];

export function testMeaning(cases: number): void {
  describe('a converted model', () => {
    for (const [language, dialect, asJson] of LANGUAGES) {
      it(`answers every check as the model does, if all of it fits (${language})`, async () => {
        let sum = 0;
        for (let number = 0; number < cases; number += 1) {
          const { model, steps } = modelCaseOf(`meaning ${number}`, dialect);
          const tuples = steps[0]?.granted ?? [];
          const { wider, narrower, facts, isLost } = await compare(model, tuples, asJson);
          assert.deepEqual({ wider, narrower, isLost }, { wider: [], narrower: [], isLost: false }, `case ${number}`);
          sum += facts;
        }
        assert.ok(sum > FACTS_MIN * cases, `${sum} facts`);
      });

      it(`never allows what the model denies, whatever is left out (${language})`, async () => {
        let lost = 0;
        for (let number = 0; number < cases; number += 1) {
          const { model, steps } = modelCaseOf(`meaning ${number}`, dialect);
          const tuples = steps[0]?.granted ?? [];
          const { wider, narrower, isLost } = await compare(unfit(model), tuples, asJson);
          assert.deepEqual(wider, [], `case ${number}`);
          if (isLost) lost += 1;
          else assert.deepEqual(narrower, [], `case ${number}`);
        }
        assert.ok(lost > cases / LOST_OF, `${lost} lost something`);
      });
    }
  });
}
