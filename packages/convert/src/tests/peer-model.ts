// A model of OpenFGA or SpiceDB as tests use it: its rules, and its names and tuples as grantd has them.

import { GrantdError } from '../../../../src/core/errors.ts';
import { parseIdentifier } from '../../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../../src/rules/rule-set.ts';
import { CliFailure } from '../../../cli/src/failures.ts';
import { parseGrant, type TestGrant } from '../../../cli/src/model/model-tests.ts';
import { convertModel } from '../model/conversion.ts';
import { type ModelText, parseModel } from '../model/model-reader.ts';
import { withoutSlash } from '../model/relation-map.ts';
import { formatPlace } from '../model/source-model.ts';
import { type SourceEntry, splitEntity } from '../tuples/source-tuple.ts';
import { type Needs, translateEntries } from '../tuples/translation.ts';
import { mapOf, namesOfModel, type TupleNames } from '../tuples/tuple-names.ts';

export class PeerModel {
  readonly ruleSet: RuleSet;
  /** What the rules leave out of the model, as sentences. */
  readonly notes: readonly string[];
  readonly #names: TupleNames;
  readonly #nowMs: () => number;

  constructor(texts: readonly ModelText[], nowMs: () => number) {
    const model = parseModel(texts);
    const { rules, mapped, conditions, findings } = convertModel(model, []);
    try {
      this.ruleSet = parseRuleSet(rules);
    } catch (error) {
      throw new CliFailure(`A tenant cannot have the rules of this model: ${GrantdError.from(error).message}`);
    }
    this.notes = findings
      .filter(({ lost }) => lost !== undefined)
      .map(({ place, text, lost }) => `${formatPlace(place)}: ${text} Left out: ${lost}.`);
    this.#names = namesOfModel(model, mapOf(mapped), { hasExpirations: true, usableConditions: conditions });
    this.#nowMs = nowMs;
  }

  /** Throws a CliFailure for a tuple that cannot be a grant. One that has expired is left out. */
  grantsOf(file: string, entries: readonly SourceEntry[]): readonly TestGrant[] {
    const live = entries.filter((entry) => {
      const expiresAt = 'tuple' in entry ? entry.tuple.expiresAt : undefined;
      return expiresAt === undefined || !(Date.parse(expiresAt) <= this.#nowMs());
    });
    const needs: Needs = { groups: 0, public: new Map() };
    return translateEntries(live, this.#names, needs, this.#nowMs).map((entry) => {
      const place = `${file}:${entry.line.number}`;
      if ('refusal' in entry) throw new CliFailure(`${place}: ${entry.refusal.detail}`);
      if (!('json' in entry)) throw new CliFailure(`${place}: This is not a tuple.`);
      return { place, grant: parseGrant(JSON.parse(entry.json), this.#nowMs()) };
    });
  }

  /** The name in grantd of a name of a type. Throws a GrantdError if the type does not define the name. */
  nameOf(type: string, name: string): string {
    const found = this.#names.groupNameOf(type, name);
    if ('problem' in found) throw new GrantdError('invalid-relation', found.problem);
    return found.name;
  }

  /** `type:id` */
  entity(text: string): { readonly type: string; readonly identifier: string } {
    const entity = splitEntity(text);
    if (entity === undefined) throw new GrantdError('invalid-object', `${JSON.stringify(text)} must be type:id.`);
    const { type, id } = entity;
    return { type, identifier: parseIdentifier('object', `${withoutSlash(type)}:${id}`) };
  }

  /** `type:id`, `type:*` or `type:id#name` */
  subject(text: string): string {
    const hash = text.lastIndexOf('#');
    const { type, identifier } = this.entity(hash < 0 ? text : text.slice(0, hash));
    const name = hash < 0 ? '' : text.slice(hash + 1);
    return name === '' || name === '...' ? identifier : `${identifier}#${this.nameOf(type, name)}`;
  }
}
