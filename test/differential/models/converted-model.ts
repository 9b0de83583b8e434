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
import { conditionValues } from '../../kit/condition-values.ts';
import { naiveModel, naiveSubjects } from '../../kit/naive-rules.ts';
import type { ConvertedGrant } from '../../kit/openfga-cases.ts';
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

/** What a system answers: of a check, `true`, `false` or `undefined`; of a list, entities of one type and `type:*`. */
export interface Facts {
  readonly items: readonly string[];
  /** Of a list of subjects: those that `type:*` among the items does not stand for. Absent: the system cannot tell. */
  readonly excluded?: readonly string[];
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

  /** What the definition says; of a list, `undefined` alone if it is undefined of a candidate. */
  async meaningOf(tuples: readonly Tuple[], question: ModelQuestion): Promise<Facts> {
    const { context, contextTuples } = question;
    const grants = conditionValues(this.ruleSet, await this.grantsOf([...tuples, ...contextTuples]), context);
    const type = question.kind === 'objects' ? question.type : typeOf(question.object);
    const name = this.nameOf(type, question.relation);
    if (question.kind === 'check') {
      const truth = naiveModel(this.ruleSet, grants, this.subjectOf(question.subject)).truthOf(name, question.object);
      return { items: [String(truth)] };
    }
    const named = [...tuples, ...contextTuples].flatMap(({ subject, object }) => [entityOf(subject), object]);
    const asked = question.kind === 'objects' ? entityOf(question.subject) : question.object;
    const candidates = [...new Set([...named, asked])].filter((each) => typeOf(each) === question.type);
    if (question.kind === 'subjects') {
      const { held, undefined: unknown } = naiveSubjects(
        this.ruleSet,
        grants,
        { name, object: question.object },
        candidates,
      );
      const excluded = candidates.filter((each) => !held.includes(each) && !each.endsWith(':*'));
      return { items: unknown.length > 0 ? ['undefined'] : held, excluded };
    }
    const model = naiveModel(this.ruleSet, grants, this.subjectOf(question.subject));
    const objects = candidates.filter((each) => !each.endsWith(':*'));
    if (objects.some((each) => model.truthOf(name, each) === 'undefined')) return { items: ['undefined'] };
    return { items: objects.filter((each) => model.truthOf(name, each) === true) };
  }
}
