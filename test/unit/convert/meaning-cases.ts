// A converted model means what the model means: random models and tuples, written in each language, converted, and
// evaluated by brute force on both sides. With --partial, it may allow less, never more. `test/unit` runs a few of the
// cases, `test/property/slow` many.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Conversion, convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModelFile } from '../../../packages/convert/src/model/model-reader.ts';
import { joinDeclarations } from '../../../packages/convert/src/model/source-model.ts';
import type { Origin } from '../../../src/cli/converter.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { type NaiveGrant, naiveModel } from '../../kit/naive-rules.ts';
import {
  type Drawing,
  ENTITIES,
  factText,
  fgaText,
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
const convert = (text: string, origin: Origin): Conversion =>
  convertModel(joinDeclarations([parseModelFile('model', text, origin)]), []);

/** As an import with the relation map stores them. */
function importTuples(tuples: readonly NeutralTuple[], { mapped }: Conversion): NaiveGrant[] {
  const map = new Map(mapped.map((each) => [`${each.type}#${each.name}`, each]));
  return tuples.flatMap(({ subject, relation, object, conditional }) => {
    const target = map.get(`${typeOf(object)}#${relation}`);
    // A group keeps its name, whatever its grants are called.
    return target === undefined ? [] : [{ subject, relation: target.relation, object, condition: !conditional }];
  });
}

/** Every fact of the model, under the names of the model, that the rules have or have not. */
function compare(model: NeutralModel, tuples: readonly NeutralTuple[], conversion: Conversion) {
  const expected = meaningOf(model, tuples, ENTITIES);
  const ruleSet = parseRuleSet(conversion.rules);
  const grants = importTuples(tuples, conversion);
  const models = new Map(ENTITIES.map((subject) => [subject, naiveModel(ruleSet, grants, subject)]));
  const wider: string[] = [];
  const narrower: string[] = [];
  for (const object of ENTITIES) {
    for (const { name } of model.get(typeOf(object)) ?? []) {
      for (const subject of ENTITIES) {
        const fact = factText({ subject, relation: name, object });
        const has = models.get(subject)?.truthOf(name, object) === true;
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
  write: (model: NeutralModel, unfit: boolean) => string,
  apart: boolean,
])[] = [
  ["OpenFGA's language", 'openfga', fgaText, false],
  ["OpenFGA's JSON", 'openfga', jsonText, false],
  ["SpiceDB's language", 'spicedb', zedText, true],
];

function compareMany(
  write: (model: NeutralModel, unfit: boolean) => string,
  origin: Origin,
  drawing: Drawing,
  cases: number,
  judge: (compared: ReturnType<typeof compare>, conversion: Conversion) => void,
): void {
  let facts = 0;
  fc.assert(
    fc.property(neutralModels(drawing), ({ model, tuples }) => {
      const conversion = convert(write(model, !drawing.fits), origin);
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
