// A converted model means what the model means: random models and tuples, written in each language, converted, and
// evaluated by brute force on both sides. With --partial, it may allow less, never more. `test/unit` runs a few of the
// cases, `test/property` many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Conversion, convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModelFile } from '../../../packages/convert/src/model/model-reader.ts';
import { joinDeclarations } from '../../../packages/convert/src/model/source-model.ts';
import type { MapOption, Origin } from '../../../src/cli/converter.ts';
import { CliFailure } from '../../../src/cli/failures.ts';
import { RELATIONS, type Relation } from '../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { isGate, type RuleSet } from '../../../src/rules/rule-set.ts';
import {
  type Drawing,
  ENTITIES,
  type Fact,
  factText,
  fgaText,
  fixpoint,
  isGrantedTo,
  jsonText,
  meaningOf,
  type NeutralModel,
  type NeutralTuple,
  neutralModels,
  typeOf,
  zedText,
} from './neutral-models.ts';

/** Of a case, on average, at the least. */
const FACTS_MIN = 2.5;
/** At least one case in so many loses something. */
const LOST_OF = 8;
/** None of them is a name in the models. */
const SPARE: readonly Relation[] = ['manager', 'admin', 'commenter', 'guest'];

/** What a person would add to the command, once it has said which names it cannot map. */
function mapOptions(message: string): MapOption[] {
  const used = new Map<string, number>();
  return [...message.matchAll(/^ {2}model:\d+:\d+: (?<type>\w+)#(?<name>\w+)$/gm)].map(({ groups }) => {
    const { type = '', name = '' } = groups ?? {};
    // Other relations in each type, so that the same one has different meanings.
    const index = used.get(type) ?? type.length;
    used.set(type, index + 1);
    return { type, name, relation: SPARE[index % SPARE.length] ?? 'guest' };
  });
}

function convert(text: string, origin: Origin): Conversion {
  const model = joinDeclarations(parseModelFile('model', text, origin));
  try {
    return convertModel(model, []);
  } catch (error) {
    assert.ok(error instanceof CliFailure && error.message.startsWith('Choose a relation'), String(error));
    return convertModel(model, mapOptions(error.message));
  }
}

/** As an import with the relation map stores them: what is not in the map is not imported. */
function importTuples(tuples: readonly NeutralTuple[], { mapped }: Conversion): Fact[] {
  const map = new Map(mapped.map(({ type, name, relation }) => [`${type}#${name}`, relation]));
  return tuples.flatMap(({ subject, relation, object }) => {
    const target = map.get(`${typeOf(object)}#${relation}`);
    if (target === undefined) return [];
    const [group = '', name] = subject.split('#');
    const holder = name === undefined ? subject : `${group}#${map.get(`${typeOf(group)}#${name}`) ?? name}`;
    return [{ subject: holder, relation: target, object }];
  });
}

function meaningOfRules({ rules, groups, public: open }: RuleSet, grants: readonly Fact[]): Set<string> {
  const namesOf = (type: string): readonly string[] => [
    ...new Set([...RELATIONS, ...rules.filter(({ namespace }) => namespace === type).map(({ name }) => name)]),
  ];
  return fixpoint(
    ENTITIES,
    (facts, { subject, relation, object }) => {
      const counts = (granted: string): boolean =>
        granted === subject ||
        (((groups && granted.includes('#')) || (granted.endsWith(':*') && open.includes(typeOf(granted)))) &&
          isGrantedTo(facts, granted, subject));
      if (grants.some((grant) => grant.object === object && grant.relation === relation && counts(grant.subject))) {
        return true;
      }
      const rule = rules.find(({ namespace, name }) => namespace === typeOf(object) && name === relation);
      return (rule?.anyOf ?? []).some((element) => {
        assert.ok(!isGate(element));
        const { name, from } = element;
        return from === undefined
          ? facts.has(factText({ subject, relation: name, object }))
          : grants.some(
              (grant) =>
                grant.object === object &&
                grant.relation === from &&
                facts.has(factText({ subject, relation: name, object: grant.subject })),
            );
      });
    },
    namesOf,
  );
}

/** Every fact of the model, under the names of the model, that the rules have or have not. */
function compare(model: NeutralModel, tuples: readonly NeutralTuple[], conversion: Conversion) {
  const expected = meaningOf(model, tuples, ENTITIES);
  const found = meaningOfRules(parseRuleSet(conversion.rules), importTuples(tuples, conversion));
  const map = new Map(conversion.mapped.map(({ type, name, relation }) => [`${type}#${name}`, relation]));
  const wider: string[] = [];
  const narrower: string[] = [];
  for (const object of ENTITIES) {
    for (const { name } of model.get(typeOf(object)) ?? []) {
      for (const subject of ENTITIES) {
        const fact = factText({ subject, relation: name, object });
        const relation = map.get(`${typeOf(object)}#${name}`) ?? name;
        const has = found.has(factText({ subject, relation, object }));
        if (has && !expected.has(fact)) wider.push(fact);
        if (!has && expected.has(fact)) narrower.push(fact);
      }
    }
  }
  return { wider, narrower, facts: expected.size };
}

const WRITERS: readonly (readonly [
  language: string,
  origin: Origin,
  write: (model: NeutralModel) => string,
  apart: boolean,
])[] = [
  ["OpenFGA's language", 'openfga', fgaText, false],
  ["OpenFGA's JSON", 'openfga', jsonText, false],
  ["SpiceDB's language", 'spicedb', zedText, true],
];

function compareMany(
  write: (model: NeutralModel) => string,
  origin: Origin,
  drawing: Drawing,
  cases: number,
  judge: (compared: ReturnType<typeof compare>, conversion: Conversion) => void,
): void {
  let facts = 0;
  fc.assert(
    fc.property(neutralModels(drawing), ({ model, tuples }) => {
      const conversion = convert(write(model), origin);
      const compared = compare(model, tuples, conversion);
      facts += compared.facts;
      judge(compared, conversion);
    }),
    { numRuns: cases },
  );
  assert.ok(facts > FACTS_MIN * cases, `${facts} facts`);
}

export function testMeaning(cases: number): void {
  describe('a converted model', () => {
    for (const [language, origin, write, apart] of WRITERS) {
      it(`answers every check as the model does, if all of it fits (${language})`, () => {
        compareMany(write, origin, { fits: true, apart }, cases, ({ wider, narrower }, { findings }) => {
          assert.deepEqual(wider, []);
          if (findings.every(({ lost }) => lost === undefined)) assert.deepEqual(narrower, []);
        });
      });

      it(`never allows what the model denies, whatever is left out (${language})`, () => {
        let lost = 0;
        compareMany(write, origin, { fits: false, apart }, cases, ({ wider, narrower }, { findings }) => {
          assert.deepEqual(wider, []);
          if (findings.every((finding) => finding.lost === undefined)) assert.deepEqual(narrower, []);
          else lost += 1;
        });
        assert.ok(lost > cases / LOST_OF, `${lost} lost something`);
      });
    }
  });
}
