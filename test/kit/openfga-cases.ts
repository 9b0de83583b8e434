// OpenFGA's own tests of models (conformance/support/openfga-model-cases.json names their source; Apache License 2.0),
// with each model converted and each tuple as a grant, as `grantd rules convert` and `grantd import` make them.

import { readFileSync } from 'node:fs';
import { convertModel } from '../../packages/convert/src/model/conversion.ts';
import { parseModel } from '../../packages/convert/src/model/model-reader.ts';
import { readJsonLines } from '../../packages/convert/src/tuples/openfga-tuples.ts';
import { translateEntries } from '../../packages/convert/src/tuples/translation.ts';
import { mapOf, namesOfModel } from '../../packages/convert/src/tuples/tuple-names.ts';
import type { JsonObject } from '../../src/core/json-members.ts';

export interface OpenFgaTuple {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
  readonly condition?: { readonly name: string; readonly context?: JsonObject };
}

export interface Asked<Expectation> {
  readonly contextualTuples?: readonly OpenFgaTuple[];
  readonly context?: JsonObject;
  /** Null: nothing. */
  readonly expectation?: Expectation | null;
  /** OpenFGA refuses. */
  readonly errorCode?: number;
}

export interface CheckAssertion extends Asked<boolean> {
  readonly tuple: OpenFgaTuple;
}

export interface ListObjectsAssertion extends Asked<readonly string[]> {
  readonly request: { readonly user: string; readonly type: string; readonly relation: string };
}

export interface ListUsersAssertion extends Asked<readonly string[]> {
  /** One filter: a type, or `type#relation`. */
  readonly request: { readonly filters: readonly string[]; readonly object: string; readonly relation: string };
}

export interface OpenFgaStage {
  readonly model: string;
  readonly tuples?: readonly OpenFgaTuple[];
  readonly checkAssertions?: readonly CheckAssertion[];
  readonly listObjectsAssertions?: readonly ListObjectsAssertion[];
  readonly listUsersAssertions?: readonly ListUsersAssertion[];
}

export interface OpenFgaTest {
  readonly name: string;
  /** Played in order in one tenant. */
  readonly stages: readonly OpenFgaStage[];
}

interface Difference {
  readonly test: string;
  /** The tuple of the check, as JSON. */
  readonly question: string;
  readonly reason: string;
}

const JON = '{"user":"user:jon","relation":"viewer","object":"document:1"}';
const UNKNOWN =
  'OpenFGA refuses what its model does not define; here it is false, with a warning or as an unknown name';

/** Checks that are answered otherwise, because OpenFGA alone refuses, or guesses. */
export const DIFFERENCES: readonly Difference[] = [
  {
    test: 'direct_relations_with_condition',
    question: JON,
    reason: 'OpenFGA refuses if any parameter is missing; here, x < 100 || y < 50 is true once x is 10',
  },
  {
    test: 'true_butnot_cycle_return_false',
    question: '{"object":"document:1","relation":"viewer","user":"user:jon"}',
    reason: 'a paradox: jon is a viewer if he is none. OpenFGA says false; here it is refused as a circle',
  },
  {
    test: 'validation_relation_not_in_model',
    question: '{"object":"user:aardvark","relation":"viewer","user":"user:badger"}',
    reason: UNKNOWN,
  },
  {
    test: 'validation_user_type_not_in_model',
    question: '{"object":"document:1","relation":"viewer","user":"folder:x"}',
    reason: UNKNOWN,
  },
  {
    test: 'validation_userset_relation_not_in_model',
    question: '{"object":"document:1","relation":"viewer","user":"document:x#writer"}',
    reason: UNKNOWN,
  },
  {
    test: 'validation_user_invalid',
    question: '{"object":"document:1","relation":"viewer","user":"a:b:c"}',
    reason: 'ids may contain colons',
  },
];

const FILE = new URL('../conformance/support/openfga-model-cases.json', import.meta.url);

export const readOpenFgaTests = (): readonly OpenFgaTest[] => JSON.parse(readFileSync(FILE, 'utf8')).tests;

export interface ConvertedGrant {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly condition?: { readonly name: string; readonly context: JsonObject };
}

export interface ConvertedModel {
  /** The body of `PUT /v1/rules`. */
  readonly rules: JsonObject;
  /** What was not converted, as `line: text`. */
  readonly lost: readonly string[];
  /** The tuples that the model allows; OpenFGA ignores the others. */
  grantsOf(tuples: readonly OpenFgaTuple[]): Promise<readonly ConvertedGrant[]>;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export function convertStage(stage: OpenFgaStage): ConvertedModel {
  const model = parseModel([{ file: 'model.fga', text: stage.model, origin: 'openfga' }]);
  const { rules, mapped, conditions, findings } = convertModel(model, []);
  const names = namesOfModel(model, mapOf(mapped), { hasExpirations: true, usableConditions: conditions });
  return {
    rules,
    lost: findings.filter(({ lost }) => lost !== undefined).map(({ place, text }) => `${place.line}: ${text}`),
    async grantsOf(tuples) {
      const grants: ConvertedGrant[] = [];
      const lines = tuples.map((tuple) => JSON.stringify(tuple)).join('\n');
      for await (const entries of readJsonLines(bytesOf(lines))) {
        for (const entry of translateEntries(entries, names, { groups: 0, public: new Map() }, () => 0)) {
          if ('json' in entry) grants.push(JSON.parse(entry.json));
        }
      }
      return grants;
    },
  };
}
