// A model as `grantd rules convert` and `grantd import` turn it into rules and grants, and what these mean by the
// definition, which judges.

import { convertModel } from '../../../packages/convert/src/model/conversion.ts';
import { parseModel } from '../../../packages/convert/src/model/model-reader.ts';
import { readJsonLines } from '../../../packages/convert/src/tuples/openfga-tuples.ts';
import type { SourceEntry } from '../../../packages/convert/src/tuples/source-tuple.ts';
import { entriesOfText } from '../../../packages/convert/src/tuples/spicedb-relationships.ts';
import { translateEntries } from '../../../packages/convert/src/tuples/translation.ts';
import { mapOf, namesOfModel, type TupleNames } from '../../../packages/convert/src/tuples/tuple-names.ts';
import type { JsonObject } from '../../../src/core/json-members.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import { type NaiveGrant, naiveModel, naiveSubjects, type Truth } from '../../kit/naive-rules.ts';
import type { ConvertedGrant } from '../../kit/openfga-cases.ts';
import { conditionValues } from './condition-values.ts';
import { entityOf, type Model, type ModelQuestion, type Tuple, typeOf } from './model.ts';
import { openfgaDsl, openfgaJson } from './openfga-model.ts';
import { relationshipText, spicedbText } from './spicedb-model.ts';

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function entriesOf(model: Model, tuples: readonly Tuple[]): Promise<readonly SourceEntry[]> {
  if (model.dialect === 'spicedb') return [...entriesOfText(tuples.map(relationshipText).join('\n'), 1)];
  const records = tuples.map(({ subject, ...rest }) => JSON.stringify({ user: subject, ...rest }));
  const entries: SourceEntry[] = [];
  for await (const group of readJsonLines(bytesOf(records.join('\n')))) entries.push(...group);
  return entries;
}

/**
 * What a system answers: of a check, `true`, `false` or `undefined`; of a list, entities of one type and `type:*`, or
 * `undefined` alone if the system does not tell of which of them it is.
 */
export interface Facts {
  readonly items: readonly string[];
  /** Of a list: those of which it is undefined. */
  readonly unknown?: readonly string[];
  /** Of a list of subjects: those that `type:*` among the items does not stand for. Absent: the system cannot tell. */
  readonly excluded?: readonly string[];
}

/** What the definition says. */
export type Meaning = Facts & Required<Pick<Facts, 'unknown'>>;

/** A parent that holds nothing, for a grant that does not hold for certain. */
function standIn({ subject, relation, object, condition = true }: NaiveGrant): readonly NaiveGrant[] {
  if (condition === true) return [];
  const nobody = { subject: `${typeOf(subject)}:nobody`, relation, object };
  return [condition === false ? nobody : { ...nobody, condition }];
}

export class ConvertedModel {
  readonly model: Model;
  /** The body of `PUT /v1/rules`. */
  readonly rules: JsonObject;
  readonly ruleSet: RuleSet;
  /** Parts that were not converted. */
  readonly lost: readonly string[];
  readonly #names: TupleNames;

  /** `asJson`: a model of OpenFGA in JSON. */
  constructor(model: Model, asJson: boolean) {
    this.model = model;
    const text =
      model.dialect === 'spicedb'
        ? spicedbText(model)
        : asJson
          ? JSON.stringify(openfgaJson(model))
          : openfgaDsl(model);
    const source = parseModel([{ file: 'model', text, origin: model.dialect }]);
    const { rules, mapped, conditions, findings } = convertModel(source, []);
    this.rules = rules;
    this.ruleSet = parseRuleSet(rules);
    this.lost = findings.filter(({ lost }) => lost !== undefined).map((finding) => finding.text);
    this.#names = namesOfModel(source, mapOf(mapped), { hasExpirations: true, usableConditions: conditions });
  }

  async grantsOf(tuples: readonly Tuple[]): Promise<readonly ConvertedGrant[]> {
    const entries = await entriesOf(this.model, tuples);
    return translateEntries(entries, this.#names, { groups: 0, public: new Map() }, () => 0).map((entry) => {
      if ('json' in entry) return JSON.parse(entry.json);
      throw new Error(`A tuple is refused: ${JSON.stringify(entry)}`);
    });
  }

  nameOf(type: string, name: string): string {
    const found = this.#names.groupNameOf(type, name);
    if ('name' in found) return found.name;
    throw new Error(found.problem);
  }

  subjectOf(subject: string): string {
    const [entity = '', name] = subject.split('#');
    return name === undefined ? entity : `${entity}#${this.nameOf(typeOf(entity), name)}`;
  }

  /**
   * What the definition says. `lacking`: the value of a condition, as JSON, for which the call lacks a parameter.
   * `unmet`: whether tuples whose condition is not met count as parents that hold nothing.
   */
  async meaningOf(
    tuples: readonly Tuple[],
    question: ModelQuestion,
    {
      lacking = () => 'undefined',
      unmet = false,
    }: { readonly lacking?: (condition: string) => Truth; readonly unmet?: boolean } = {},
  ): Promise<Meaning> {
    const { context, contextTuples } = question;
    const stored = await this.grantsOf([...tuples, ...contextTuples]);
    const grants = conditionValues(this.ruleSet, stored, context).map((grant, index): NaiveGrant => {
      if (grant.condition !== 'undefined') return grant;
      return { ...grant, condition: lacking(JSON.stringify(stored[index]?.condition)) };
    });
    if (unmet) grants.push(...grants.flatMap(standIn));
    const type = question.kind === 'objects' ? question.type : typeOf(question.object);
    const name = this.nameOf(type, question.relation);
    if (question.kind === 'check') {
      const truth = naiveModel(this.ruleSet, grants, this.subjectOf(question.subject)).truthOf(name, question.object);
      return { items: [String(truth)], unknown: [] };
    }
    const named = [...tuples, ...contextTuples].flatMap(({ subject, object }) => [entityOf(subject), object]);
    const asked = question.kind === 'objects' ? entityOf(question.subject) : question.object;
    const candidates = [...new Set([...named, asked])].filter((each) => typeOf(each) === question.type);
    if (question.kind === 'subjects') {
      const asked = { name, object: question.object };
      const { held, undefined: unknown } = naiveSubjects(this.ruleSet, grants, asked, candidates);
      const excluded = candidates.filter((each) => !held.includes(each) && !each.endsWith(':*'));
      return { items: held, unknown, excluded };
    }
    const model = naiveModel(this.ruleSet, grants, this.subjectOf(question.subject));
    const objectsOf = (truth: Truth): readonly string[] =>
      candidates.filter((each) => !each.endsWith(':*') && model.truthOf(name, each) === truth);
    return { items: objectsOf(true), unknown: objectsOf('undefined') };
  }

  /** Those that count in a call with this context, for certain. */
  async metOf(tuples: readonly Tuple[], context: JsonObject): Promise<readonly Tuple[]> {
    const values = conditionValues(this.ruleSet, await this.grantsOf(tuples), context);
    return tuples.filter((_, index) => (values[index]?.condition ?? true) === true);
  }

  /** Whether it is undefined of a group of the type, which a list of grantd names beside the entities. */
  async isOpenOfGroups(tuples: readonly Tuple[], question: ModelQuestion & { readonly kind: 'subjects' }) {
    const { context, contextTuples, object, type } = question;
    const all = [...tuples, ...contextTuples];
    const grants = conditionValues(this.ruleSet, await this.grantsOf(all), context);
    const entities = new Set(all.flatMap(({ subject, object }) => [entityOf(subject), object]));
    const names = this.model.types.find(({ name }) => name === type)?.relations ?? [];
    const groups = [...entities]
      .filter((entity) => typeOf(entity) === type)
      .flatMap((entity) => names.map(({ name }) => `${entity}#${this.nameOf(type, name)}`));
    const asked = { name: this.nameOf(typeOf(object), question.relation), object };
    return naiveSubjects(this.ruleSet, grants, asked, groups).undefined.length > 0;
  }
}
