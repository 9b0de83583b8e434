// Converts a model into rules. Rules are unions only, so everything else is reported and left out. Leaving something
// out can only take subjects away from a name, never add one: the rules never allow what the model denies.

import type { MapOption } from '../../../../src/cli/converter.ts';
import { CliFailure } from '../../../../src/cli/failures.ts';
import type { JsonObject } from '../../../../src/core/json-members.ts';
import { ELEMENTS_MAX, RULES_MAX } from '../../../../src/rules/rule-set.ts';
import { type MappedRelation, mapRelations, type NameMap } from './relation-map.ts';
import {
  type Expression,
  isStored,
  modelFailure,
  type Place,
  quote,
  type Restriction,
  type SourceModel,
  type SourceRelation,
  type SourceType,
  type UnfitKind,
} from './source-model.ts';

/** A difference between the rules and the model. */
export interface Finding {
  readonly place: Place;
  readonly text: string;
  /** The omitted part, for which some checks are denied; undefined: the finding is for information only. */
  readonly lost: string | undefined;
}

export interface Conversion {
  /** The body of `PUT /v1/rules`. */
  readonly rules: JsonObject;
  readonly mapped: readonly MappedRelation[];
  /** In the order of the files. */
  readonly findings: readonly Finding[];
}

type Walk = Extract<Expression, { kind: 'from' }>;

/** A definition, taken apart. */
interface Parts {
  readonly names: readonly string[];
  readonly walks: readonly Walk[];
  readonly unfit: Extract<Expression, { kind: 'unfit' }> | undefined;
}

/** An element of `any_of`: a name on the same object, or one from entities of some types. */
interface Element {
  readonly text: string;
  /** `type#name`: the element has an effect only if a subject can hold one of them. */
  readonly sources: readonly string[];
}

const keyOf = (type: string, name: string): string => `${type}#${name}`;

function takeApart(expression: Expression): Parts {
  const names = new Set<string>();
  const walks = new Map<string, Walk>();
  let unfit: Parts['unfit'];
  const visit = (part: Expression): void => {
    if (part.kind === 'union') for (const inner of part.parts) visit(inner);
    if (part.kind === 'name') names.add(part.name);
    if (part.kind === 'from') walks.set(`${part.name} from ${part.from}`, part);
    if (part.kind === 'unfit') unfit ??= part;
  };
  visit(expression);
  return { names: [...names], walks: [...walks.values()], unfit };
}

const UNFIT: Readonly<Record<UnfitKind, string>> = {
  intersection:
    'needs two relations at once (intersection), and rules know unions only. Check both names in the application',
  exclusion:
    'excludes subjects, and rules know unions only. Check both names in the application, or revoke grants instead',
  all: 'uses ".all()", which needs the name on every entity (intersection), and rules know unions only. Check each entity in the application',
  self: 'uses "self", which rules do not have. Compare the subject with the object in the application',
};
const WHOLE_NAME = 'this name';

function describeRestriction({ type, relation, wildcard, condition }: Restriction): string {
  const userset = relation === undefined ? '' : `#${relation}`;
  return quote(`${type}${wildcard ? ':*' : userset}${condition === undefined ? '' : ` with ${condition}`}`);
}

class Converter {
  readonly #model: SourceModel;
  readonly #parts: ReadonlyMap<SourceRelation, Parts>;
  readonly #leftOut = new Set<SourceRelation>();
  readonly #findings: Finding[] = [];

  constructor(model: SourceModel) {
    this.#model = model;
    const relations = [...model.values()].flatMap((type) => [...type.relations.values()]);
    this.#parts = new Map(relations.map((relation) => [relation, takeApart(relation.expression)]));
  }

  convert(options: readonly MapOption[]): Conversion {
    for (const type of this.#model.values()) for (const relation of type.relations.values()) this.#sort(type, relation);
    const mapOrFailure = this.#mapNames(options);
    if (mapOrFailure instanceof CliFailure) throw new UnmappedFailure(mapOrFailure, this.#sorted());
    const elements = this.#elements(mapOrFailure);
    const rules = this.#rules(mapOrFailure, elements);
    return { rules, mapped: mapOrFailure.mapped, findings: this.#sorted() };
  }

  #mapNames(options: readonly MapOption[]): NameMap | CliFailure {
    const followed = (type: SourceType): ReadonlySet<string> =>
      new Set(
        [...type.relations.values()].flatMap((relation) => this.#partsOf(relation).walks.map(({ from }) => from)),
      );
    try {
      return mapRelations(this.#model, options, (relation) => this.#leftOut.has(relation), followed);
    } catch (error) {
      if (error instanceof CliFailure) return error;
      throw error;
    }
  }

  #partsOf(relation: SourceRelation): Parts {
    return this.#parts.get(relation) ?? { names: [], walks: [], unfit: undefined };
  }

  #sorted(): Finding[] {
    const files = [...new Set(this.#findings.map(({ place }) => place.file))];
    const rank = ({ place }: Finding): number => files.indexOf(place.file) * 1e9 + place.line;
    return this.#findings.toSorted((left, right) => rank(left) - rank(right));
  }

  #report(place: Place, text: string, lost?: string): void {
    this.#findings.push({ place, text, lost });
  }

  /** Leaves out expressions other than unions, and conditional grants. */
  #sort(type: SourceType, relation: SourceRelation): void {
    const key = quote(keyOf(type.name, relation.name));
    const { unfit } = this.#partsOf(relation);
    if (unfit !== undefined) this.#report(unfit.place, `${key} ${UNFIT[unfit.what]}.`, WHOLE_NAME);
    const conditional = relation.restrictions.find(({ condition }) => condition !== undefined);
    if (conditional !== undefined) {
      this.#report(
        conditional.place,
        `${key} can be granted to ${describeRestriction(conditional)}, and grants have no conditions: without its condition, such a grant would allow too much. Use grants that expire, decide the condition in the application, or remove it here if no tuple uses it.`,
        WHOLE_NAME,
      );
    }
    const expiring = relation.restrictions.find(({ expires }) => expires);
    if (expiring !== undefined) {
      this.#report(expiring.place, `${key} takes relationships that expire: import them with "expires_at".`);
    }
    if (unfit !== undefined || conditional !== undefined) this.#leftOut.add(relation);
  }

  /** Relations whose definitions have elements, with them. Those that were left out are not among them. */
  #elements(map: NameMap): Map<SourceRelation, { readonly type: SourceType; elements: readonly Element[] }> {
    const found = new Map<SourceRelation, { readonly type: SourceType; elements: readonly Element[] }>();
    for (const type of this.#model.values()) {
      for (const relation of type.relations.values()) {
        const { names, walks } = this.#partsOf(relation);
        if (this.#leftOut.has(relation) || (isStored(relation) && names.length + walks.length === 0)) continue;
        if (names.length + walks.length > ELEMENTS_MAX) {
          const what = `${quote(keyOf(type.name, relation.name))} follows from ${names.length + walks.length} others`;
          throw modelFailure(relation.place, `${what}; at most ${ELEMENTS_MAX} are allowed.`);
        }
        if (found.size === RULES_MAX) {
          throw modelFailure(relation.place, `This is one more rule than the ${RULES_MAX} that a tenant may have.`);
        }
        const elements = [
          ...names.flatMap((name) => this.#nameElement(map, type, relation, name)),
          ...walks.flatMap((walk) => this.#walkElements(map, type, relation, walk)),
        ];
        found.set(relation, { type, elements });
      }
    }
    return found;
  }

  #nameElement(map: NameMap, type: SourceType, relation: SourceRelation, name: string): Element[] {
    const used = type.relations.get(name);
    const text = map.nameOf(type.name, name);
    // A name that follows from itself adds nothing.
    if (used === undefined || text === undefined || used === relation) return [];
    if (this.#leftOut.has(used)) {
      this.#reportLoss(type, relation, quote(name), [keyOf(type.name, name)], relation.place);
      return [];
    }
    return [{ text, sources: [keyOf(type.name, name)] }];
  }

  #reportLoss(
    type: SourceType,
    relation: SourceRelation,
    what: string,
    leftOut: readonly string[],
    place: Place,
  ): void {
    const key = quote(keyOf(type.name, relation.name));
    const names = leftOut.map(quote).join(', ');
    this.#report(
      place,
      `${key} follows from ${what} no longer: ${names} ${leftOut.length > 1 ? 'are' : 'is'} left out.`,
    );
  }

  #reportLostGroups(type: SourceType, relation: SourceRelation): void {
    for (const restriction of relation.restrictions) {
      const group = this.#model.get(restriction.type)?.relations.get(restriction.relation ?? '');
      if (group === undefined || !this.#leftOut.has(group)) continue;
      const key = quote(keyOf(type.name, relation.name));
      this.#report(
        restriction.place,
        `${key} granted to ${describeRestriction(restriction)} holds for no subject: that name is left out.`,
      );
    }
  }

  #walkElements(map: NameMap, type: SourceType, relation: SourceRelation, { name, from, place }: Walk): Element[] {
    const key = quote(keyOf(type.name, relation.name));
    const walk = quote(`${name} from ${from}`);
    const followed = type.relations.get(from);
    if (followed === undefined) return [];
    const problem = this.#whyNotFollowed(type, followed);
    if (problem !== undefined) {
      this.#report(place, `${key} follows from ${walk}, but ${problem}.`, walk);
      return [];
    }
    if (this.#leftOut.has(followed)) {
      this.#reportLoss(type, relation, walk, [keyOf(type.name, from)], place);
      return [];
    }
    const types = [...new Set(followed.restrictions.map((restriction) => restriction.type))];
    const having = types.filter((candidate) => this.#model.get(candidate)?.relations.has(name));
    const [kept, leftOut] = this.#divide(having, name);
    if (having.length === 0) {
      this.#report(place, `No type in ${quote(from)} defines ${quote(name)}: ${walk} adds nothing.`);
    }
    if (leftOut.length > 0) {
      this.#reportLoss(
        type,
        relation,
        walk,
        leftOut.map((candidate) => keyOf(candidate, name)),
        place,
      );
    }
    const relationName = map.nameOf(type.name, from);
    return [...new Set(kept.map((candidate) => map.nameOf(candidate, name)))].flatMap((target) => {
      if (target === undefined) return [];
      const other = types.find((candidate) => (map.sourceOf(candidate, target) ?? name) !== name);
      if (other !== undefined) {
        const [chosen] = kept.filter((candidate) => map.nameOf(candidate, name) === target);
        const confused = quote(map.sourceOf(other, target) ?? target);
        this.#report(
          place,
          `${key} follows from ${walk}. But grantd would call ${quote(name)} of "${chosen}" "${target}", and that is how it calls ${confused} of "${other}". Choose other relations with --map.`,
          'this part',
        );
        return [];
      }
      const sources = kept.filter((candidate) => map.nameOf(candidate, name) === target);
      return [{ text: `${target} from ${relationName}`, sources: sources.map((candidate) => keyOf(candidate, name)) }];
    });
  }

  /** The types of which the name is converted, and those of which it is left out. */
  #divide(types: readonly string[], name: string): readonly [kept: string[], leftOut: string[]] {
    const isLeftOut = (type: string): boolean => {
      const relation = this.#model.get(type)?.relations.get(name);
      return relation !== undefined && this.#leftOut.has(relation);
    };
    return [types.filter((type) => !isLeftOut(type)), types.filter(isLeftOut)];
  }

  /** Relations that a rule can follow: only granted, and only to entities. */
  #whyNotFollowed(type: SourceType, followed: SourceRelation): string | undefined {
    const key = quote(keyOf(type.name, followed.name));
    if (this.#leftOut.has(followed)) return undefined;
    const { names, walks } = this.#partsOf(followed);
    if (!isStored(followed) || names.length + walks.length > 0) {
      return `${key} follows from others itself, and rules only follow what is granted`;
    }
    const restriction = followed.restrictions.find(({ relation, wildcard }) => relation !== undefined || wildcard);
    if (restriction === undefined) return undefined;
    return `${key} can be granted to ${describeRestriction(restriction)}, and rules only follow single entities`;
  }

  #rules(
    map: NameMap,
    found: ReadonlyMap<SourceRelation, { readonly type: SourceType; elements: readonly Element[] }>,
  ): JsonObject {
    const held = new Set<string>();
    const relations: SourceRelation[] = [];
    for (const type of this.#model.values()) {
      for (const relation of type.relations.values()) {
        if (this.#leftOut.has(relation) || !isStored(relation)) continue;
        this.#reportLostGroups(type, relation);
        held.add(keyOf(type.name, relation.name));
        relations.push(relation);
      }
    }
    // A name can be held if one of its elements can. Repeats until it finds no new name.
    for (let before = -1; before < held.size; ) {
      before = held.size;
      for (const [{ name }, { type, elements }] of found) {
        if (elements.some(({ sources }) => sources.some((source) => held.has(source))))
          held.add(keyOf(type.name, name));
      }
    }
    const rules = [...found].flatMap(([relation, { type, elements }]) => {
      const anyOf = elements.filter(({ sources }) => sources.some((source) => held.has(source)));
      if (anyOf.length > 0) {
        const name = map.nameOf(type.name, relation.name);
        return [{ namespace: type.name, name, any_of: [...new Set(anyOf.map(({ text }) => text))] }];
      }
      if (!isStored(relation)) {
        this.#report(relation.place, `No subject can hold ${quote(keyOf(type.name, relation.name))}: it gets no rule.`);
      }
      return [];
    });
    const restrictions = relations.flatMap((relation) => relation.restrictions);
    const isPublic = restrictions.filter(({ wildcard }) => wildcard).map(({ type }) => type);
    return {
      rules,
      groups: restrictions.some(({ relation }) => relation !== undefined),
      public: [...new Set(isPublic)],
    };
  }
}

/** The relation map could not be made; other findings are reported nevertheless. */
export class UnmappedFailure extends CliFailure {
  readonly findings: readonly Finding[];

  constructor(cause: CliFailure, findings: readonly Finding[]) {
    super(cause.message, cause.exitCode, { cause });
    this.findings = findings;
  }
}

export const convertModel = (model: SourceModel, options: readonly MapOption[]): Conversion =>
  new Converter(model).convert(options);
