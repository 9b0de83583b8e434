// Converts a model into a rule set. What rules cannot say is reported and left out. Leaving something out only takes
// subjects away from a name, never adds one: where a part that is left out would take away itself, behind `but_not` or
// `all of`, all that it guards is left out.

import type { JsonObject } from '../../../../src/core/json-members.ts';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import {
  ELEMENTS_MAX,
  type ElementRecord,
  GATE_DEPTH_MAX,
  RULES_MAX,
  SELF,
  TYPES_MAX,
} from '../../../../src/rules/rule-set.ts';
import type { MapOption } from '../../../cli/src/converter.ts';
import { compileConditions, type UsableConditions } from './conditions.ts';
import type { Definition } from './model-comments.ts';
import { freeName, type MappedRelation, mapRelations, type NameMap, withoutSlash } from './relation-map.ts';
import {
  type Expression,
  type Finding,
  isStored,
  modelFailure,
  type Place,
  partsOf,
  quote,
  type Reference,
  type Restriction,
  referencesOf,
  type SourceModel,
  type SourceRelation,
  type SourceType,
} from './source-model.ts';

export interface Conversion {
  /** The body of `PUT /v1/rules`. */
  readonly rules: JsonObject;
  readonly mapped: readonly MappedRelation[];
  readonly conditions: UsableConditions;
  /** In the order of the files. */
  readonly findings: readonly Finding[];
  /** What the rules have of the model, by its places there. */
  readonly definitions: readonly Definition[];
}

type Walk = Extract<Reference, { kind: 'from' }>;
type Exclusion = Extract<Expression, { kind: 'exclusion' }>;
type GateRecord = Exclude<ElementRecord, string>;

/** An element; undefined: no subject can hold it. */
type OptionalElement = ElementRecord | undefined;

/** Where an expression stands. */
interface Scope {
  readonly type: SourceType;
  readonly relation: SourceRelation;
}

const keyOf = (type: string, name: string): string => `${type}#${name}`;
const keyOfScope = ({ type, relation }: Scope): string => quote(keyOf(type.name, relation.name));
const THIS_PART = 'this part';

function subjectText(
  { type, relation, wildcard, condition }: Restriction,
  nameOf: (type: string, name: string) => string | undefined = (_, name) => name,
): string {
  const userset = relation === undefined ? '' : `#${nameOf(type, relation)}`;
  const kind = `${withoutSlash(type)}${wildcard ? ':*' : userset}`;
  return condition === undefined ? kind : `${kind} with ${withoutSlash(condition)}`;
}

const isPlainUnion = (element: ElementRecord): element is GateRecord & { any_of: readonly ElementRecord[] } =>
  typeof element !== 'string' && element.any_of !== undefined && element.but_not === undefined;

const isPlainIntersection = (element: ElementRecord): element is GateRecord & { all_of: readonly ElementRecord[] } =>
  typeof element !== 'string' && element.all_of !== undefined && element.but_not === undefined;

const distinct = (elements: readonly ElementRecord[]): readonly ElementRecord[] => [...new Set(elements)];

/** The elements of which any is enough. */
const listOf = (element: OptionalElement): readonly ElementRecord[] =>
  element === undefined ? [] : isPlainUnion(element) ? element.any_of : [element];

function anyOf(parts: readonly OptionalElement[]): OptionalElement {
  const elements = distinct(parts.flatMap(listOf));
  return elements.length > 1 ? { any_of: elements } : elements[0];
}

function allOf(parts: readonly OptionalElement[]): OptionalElement {
  if (parts.includes(undefined)) return undefined;
  const listed = parts.flatMap((part) => (part === undefined ? [] : isPlainIntersection(part) ? part.all_of : [part]));
  const elements = distinct(listed);
  return elements.length > 1 ? { all_of: elements } : elements[0];
}

function butNot(base: OptionalElement, subtract: readonly OptionalElement[]): OptionalElement {
  const without = distinct(subtract.flatMap(listOf));
  if (base === undefined || without.length === 0) return base;
  const gate: GateRecord = typeof base === 'string' ? { any_of: [base] } : base;
  return { ...gate, but_not: distinct([...(gate.but_not ?? []), ...without]) };
}

/** An element that no subject holds: a rule needs one. It waits for no grant of any relation. */
const NOBODY: GateRecord = { any_of: [SELF], but_not: [SELF] };

function namesIn(element: ElementRecord): number {
  if (typeof element === 'string') return 1;
  const inside = [...(element.any_of ?? []), ...(element.all_of ?? []), ...(element.but_not ?? [])];
  return inside.reduce((sum, each) => sum + namesIn(each), 0);
}

function distinctReferences(expression: Expression): Iterable<Reference> {
  const references = new Map<string, Reference>();
  for (const each of referencesOf(expression)) {
    references.set(each.kind === 'name' ? each.name : `${each.name} ${each.from}`, each);
  }
  return references.values();
}

interface RuleRecord {
  readonly namespace: string;
  readonly name: string;
  readonly any_of: readonly ElementRecord[];
}

class Converter {
  readonly #model: SourceModel;
  readonly #names: NameMap;
  readonly #scopes: readonly Scope[];
  /** By their names in the model: those that can be evaluated. */
  readonly #conditions: UsableConditions;
  /** Relations that hold for fewer subjects than in the model. */
  readonly #less = new Set<SourceRelation>();
  /** What was found of parts of expressions, once `#less` is complete. */
  readonly #lessParts = new Map<Expression, boolean>();
  readonly #behind = new Map<SourceRelation, readonly string[]>();
  readonly #rules: RuleRecord[] = [];
  readonly #findings: Finding[] = [];

  constructor(model: SourceModel, options: readonly MapOption[]) {
    this.#model = model;
    this.#names = mapRelations(model, options);
    this.#scopes = [...model.types.values()].flatMap((type) =>
      Array.from(type.relations.values(), (relation) => ({ type, relation })),
    );
    const { usable, findings } = compileConditions(model);
    this.#conditions = usable;
    this.#findings.push(...findings);
  }

  convert(): Conversion {
    this.#findLess();
    for (const scope of this.#scopes) {
      this.#reportGrants(scope);
      this.#addRule(scope);
    }
    const { ownRelations, mapped } = this.#names;
    const conditions = [...this.#conditions.values()];
    const types = this.#types();
    const restrictions = this.#scopes.flatMap(({ relation }) => relation.restrictions);
    const open = restrictions.filter(({ wildcard }) => wildcard).map(({ type }) => withoutSlash(type));
    const rules = {
      ...(ownRelations.length === 0 ? {} : { relations: ownRelations }),
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(types.length === 0 ? {} : { types }),
      rules: this.#rules,
      // A question may be about a group even where no grant is to one.
      groups: true,
      public: [...new Set(open)],
    };
    const definitions = this.#definitions(rules);
    return { rules, mapped, conditions: this.#conditions, findings: this.#sorted(), definitions };
  }

  /** Each once: a relation and the name that follows from it may be one. */
  #definitions({
    types = [],
    rules,
  }: {
    readonly types?: readonly JsonObject[];
    readonly rules: readonly RuleRecord[];
  }): readonly Definition[] {
    const { nameOf, grantedAs } = this.#names;
    const printed = new Set([
      ...types.map(({ namespace, relation }) => `${namespace} ${relation}`),
      ...rules.map(({ namespace, name }) => `${namespace} ${name}`),
    ]);
    const names = this.#scopes.flatMap(({ type, relation }): readonly Definition[] => {
      const ways = [grantedAs(type.name, relation.name), nameOf(type.name, relation.name)];
      const key = ways.map((name) => `${withoutSlash(type.name)} ${name}`).find((each) => printed.has(each));
      return key === undefined ? [] : [{ of: 'names', key, place: relation.place }];
    });
    const blocks = new Set([...printed].map((key) => key.split(' ', 1)[0]));
    const namespaces = [...this.#model.types.values()]
      .filter(({ name }) => blocks.has(withoutSlash(name)))
      .map(({ name, place }): Definition => ({ of: 'namespaces', key: withoutSlash(name), place }));
    const conditions = [...this.#model.conditions.values()].flatMap((condition): readonly Definition[] => {
      const key = this.#conditions.get(condition.name)?.name;
      const lastLine = condition.placeAt(condition.expression.length).line;
      return key === undefined ? [] : [{ of: 'conditions', key, place: condition.place, lastLine }];
    });
    return [...namespaces, ...names, ...conditions];
  }

  #sorted(): Finding[] {
    const files = [...new Set(this.#findings.map(({ place }) => place.file))];
    const rank = ({ place }: Finding): number => files.indexOf(place.file) * 1e9 + place.line;
    return this.#findings.toSorted((left, right) => rank(left) - rank(right));
  }

  #report(place: Place, text: string, lost?: string): void {
    this.#findings.push({ place, text, lost });
  }

  #canBeGranted({ condition }: Restriction): boolean {
    return condition === undefined || this.#conditions.has(condition);
  }

  #reportGrants(scope: Scope): void {
    for (const restriction of scope.relation.restrictions) {
      if (this.#canBeGranted(restriction)) continue;
      const subject = quote(subjectText(restriction));
      const text = `${keyOfScope(scope)} cannot be granted to ${subject}: the condition cannot be evaluated.`;
      this.#report(restriction.place, text, 'each such grant');
    }
    this.#hintAtState(scope);
    const expiring = scope.relation.restrictions.find(({ expires }) => expires);
    if (expiring === undefined) return;
    const text = `${keyOfScope(scope)} takes relationships that expire. grantd does not require an expiration of its grants.`;
    this.#report(expiring.place, text);
  }

  /** What peers grant to everyone of each type is often about the object alone. */
  #hintAtState(scope: Scope): void {
    const { restrictions, attributes } = scope.relation;
    const [first] = restrictions;
    if (first === undefined || attributes !== undefined || !restrictions.every(({ wildcard }) => wildcard)) return;
    const types = [...new Set(restrictions.map(({ type }) => quote(`${withoutSlash(type)}:*`)))].join(' and ');
    const text = `${keyOfScope(scope)} is only granted to ${types}. If it is about the object alone, a state of it would hold for every kind of subject.`;
    this.#report(first.place, text);
  }

  // What is lost.

  /** The types of the entities that `from` follows. Groups and `*` are not entities. */
  #typesBehind({ type }: Scope, { from }: Walk): readonly string[] {
    const followed = type.relations.get(from);
    if (followed === undefined) return [];
    const known = this.#behind.get(followed);
    if (known !== undefined) return known;
    const entities = followed.restrictions.filter(({ relation, wildcard }) => relation === undefined && !wildcard);
    const types = [...new Set(entities.map((each) => each.type))];
    this.#behind.set(followed, types);
    return types;
  }

  /** Why a walk holds for fewer subjects than in the model, apart from the names that it meets. */
  #walkProblem(scope: Scope, walk: Walk): string | undefined {
    const followed = scope.type.relations.get(walk.from);
    if (followed === undefined) return undefined;
    const key = quote(keyOf(scope.type.name, walk.from));
    if (!isStored(followed)) return `${key} cannot be granted, and rules only follow grants`;
    const types = this.#typesBehind(scope, walk);
    const targets = new Set(types.flatMap((type) => this.#names.nameOf(type, walk.name) ?? []));
    for (const target of targets) {
      const confused = types.find((type) => (this.#names.sourceOf(type, target) ?? walk.name) !== walk.name);
      if (confused === undefined) continue;
      const source = quote(this.#names.sourceOf(confused, target) ?? target);
      return `grantd would call it "${target}", and that is how it calls ${source} of "${confused}". Choose other relations with --map`;
    }
    return targets.size > 1 && walk.all
      ? 'its types have different names for it in grantd. Choose other relations with --map'
      : undefined;
  }

  /** A kind of subjects that a walk meets and that rules do not follow. */
  #unfollowed({ type }: Scope, { from }: Walk): Restriction | undefined {
    const restrictions = type.relations.get(from)?.restrictions ?? [];
    return restrictions.find(({ relation, wildcard }) => relation !== undefined || wildcard);
  }

  /** Relations on which a part of an expression depends. */
  #usedBy(scope: Scope, reference: Reference): readonly SourceRelation[] {
    const { type } = scope;
    if (reference.kind === 'name') return [type.relations.get(reference.name)].flatMap((each) => each ?? []);
    const behind = this.#typesBehind(scope, reference).map((each) => this.#model.types.get(each)?.relations);
    const met = behind.map((relations) => relations?.get(reference.name));
    return [type.relations.get(reference.from), ...met].flatMap((each) => each ?? []);
  }

  /** Whether the expression holds for fewer subjects than in the model. */
  #isLess(
    scope: Scope,
    expression: Expression,
    judge = (inner: Scope, part: Expression): boolean => this.#isLess(inner, part),
  ): boolean {
    switch (expression.kind) {
      case 'self':
        return false;
      case 'stored':
        return this.#less.has(scope.relation);
      case 'name':
        return this.#usedBy(scope, expression).some((relation) => this.#less.has(relation));
      case 'from':
        return (
          this.#walkProblem(scope, expression) !== undefined ||
          this.#unfollowed(scope, expression) !== undefined ||
          this.#usedBy(scope, expression).some((relation) => this.#less.has(relation))
        );
      default:
        return partsOf(expression).some((part) => judge(scope, part));
    }
  }

  /** The same, once it is known of all relations: each part is judged once, however deep it lies. */
  #isLessPart(scope: Scope, expression: Expression): boolean {
    const known = this.#lessParts.get(expression);
    if (known !== undefined) return known;
    const isLess = this.#isLess(scope, expression, (inner, part) => this.#isLessPart(inner, part));
    this.#lessParts.set(expression, isLess);
    return isLess;
  }

  /** Relations that lose something, and all that depend on one: a relation also on the groups it can be granted to. */
  #findLess(): void {
    const dependents = new Map<SourceRelation, SourceRelation[]>();
    const depend = (relation: SourceRelation, on: SourceRelation | undefined): void => {
      if (on === undefined) return;
      const known = dependents.get(on);
      if (known === undefined) dependents.set(on, [relation]);
      else known.push(relation);
    };
    const queue: SourceRelation[] = [];
    for (const scope of this.#scopes) {
      const { relation } = scope;
      for (const { type, relation: group } of relation.restrictions) {
        if (group !== undefined) depend(relation, this.#model.types.get(type)?.relations.get(group));
      }
      for (const reference of distinctReferences(relation.expression)) {
        for (const used of this.#usedBy(scope, reference)) depend(relation, used);
      }
      const refused = relation.restrictions.some((restriction) => !this.#canBeGranted(restriction));
      if (refused || this.#isLess(scope, relation.expression)) queue.push(relation);
    }
    for (const relation of queue) {
      if (this.#less.has(relation)) continue;
      this.#less.add(relation);
      for (const dependent of dependents.get(relation) ?? []) queue.push(dependent);
    }
  }

  // What is written.

  #build(scope: Scope, expression: Expression): OptionalElement {
    const build = (part: Expression): OptionalElement => this.#build(scope, part);
    switch (expression.kind) {
      case 'stored':
        return this.#names.grantedAs(scope.type.name, scope.relation.name);
      case 'name':
        return this.#names.nameOf(scope.type.name, expression.name);
      case 'from':
        return this.#buildWalk(scope, expression);
      case 'union':
        return anyOf(expression.parts.map(build));
      case 'intersection':
        return allOf(expression.parts.map(build));
      case 'exclusion':
        return this.#buildExclusion(scope, expression);
      case 'self':
        return SELF;
    }
  }

  #buildExclusion(scope: Scope, { base, subtract, place }: Exclusion): OptionalElement {
    if (!subtract.some((part) => this.#isLessPart(scope, part))) {
      const build = (part: Expression): OptionalElement => this.#build(scope, part);
      return butNot(build(base), subtract.map(build));
    }
    const text = `${keyOfScope(scope)} excludes subjects by names that would hold for fewer than in the model.`;
    this.#report(place, text, THIS_PART);
    return undefined;
  }

  #buildWalk(scope: Scope, walk: Walk): OptionalElement {
    const { name, from, all, place } = walk;
    const { nameOf, grantedAs } = this.#names;
    const key = `${keyOfScope(scope)} follows ${quote(`${name} from ${from}`)}`;
    const unfollowed = this.#unfollowed(scope, walk);
    if (unfollowed !== undefined) {
      const text = `${key}, but rules only follow single entities, not ${quote(subjectText(unfollowed))}.`;
      this.#report(place, text, all ? THIS_PART : 'what follows from those');
    }
    const followed = scope.type.relations.get(from);
    const isFewer = followed !== undefined && this.#less.has(followed);
    const problem =
      this.#walkProblem(scope, walk) ??
      (all && isFewer ? 'some of the grants that it follows cannot be converted' : undefined);
    if (problem !== undefined) this.#report(place, `${key}, but ${problem}.`, THIS_PART);
    if (problem !== undefined || (all && unfollowed !== undefined)) return undefined;
    const targets = this.#typesBehind(scope, walk).flatMap((type) => nameOf(type, name) ?? []);
    const relation = grantedAs(scope.type.name, from);
    return anyOf([...new Set(targets)].map((target) => `${all ? 'all of ' : ''}${target} from ${relation}`));
  }

  #addRule(scope: Scope): void {
    const { type, relation } = scope;
    const { nameOf, grantedAs } = this.#names;
    const [name, granted] = [nameOf(type.name, relation.name), grantedAs(type.name, relation.name)];
    if (name === undefined) return;
    // Its own grants count anyway, and a name that follows from itself adds nothing.
    const elements = listOf(this.#build(scope, relation.expression)).filter((element) => element !== name);
    if (elements.length === 0 && granted === name) return;
    const count = elements.reduce((sum, element) => sum + namesIn(element), 0);
    if (count > ELEMENTS_MAX) {
      const what = `${keyOfScope(scope)} follows from ${count} others`;
      throw modelFailure(relation.place, `${what}; at most ${ELEMENTS_MAX} are allowed.`);
    }
    this.#addElements(scope, name, elements.length === 0 ? [NOBODY] : elements);
  }

  #addElements(scope: Scope, name: string, elements: readonly ElementRecord[]): void {
    const written = elements.map((element) => this.#shallow(scope, name, element, 0));
    if (this.#rules.length === RULES_MAX) {
      const text = `This is one more rule than the ${RULES_MAX} that a tenant may have.`;
      throw modelFailure(scope.relation.place, text);
    }
    this.#rules.push({ namespace: withoutSlash(scope.type.name), name, any_of: written });
  }

  /** Gates that are nested too deep get names of their own. */
  #shallow(scope: Scope, name: string, element: ElementRecord, depth: number): ElementRecord {
    if (typeof element === 'string') return element;
    if (depth === GATE_DEPTH_MAX) {
      const { sourceOf } = this.#names;
      const namespace = withoutSlash(scope.type.name);
      const part = freeName(
        `${name}.part`,
        (each) =>
          sourceOf(scope.type.name, each) !== undefined ||
          this.#rules.some((rule) => rule.namespace === namespace && rule.name === each),
      );
      this.#addElements(scope, part, [element]);
      return part;
    }
    const inside = (elements: readonly ElementRecord[]) =>
      elements.map((each) => this.#shallow(scope, name, each, depth + 1));
    return {
      ...(element.any_of === undefined ? {} : { any_of: inside(element.any_of) }),
      ...(element.all_of === undefined ? {} : { all_of: inside(element.all_of) }),
      ...(element.but_not === undefined ? {} : { but_not: inside(element.but_not) }),
    };
  }

  /** To whom each relation can be granted; to nobody, where a name of the model means something else. */
  #types(): JsonObject[] {
    const { nameOf, grantedAs, ownRelations } = this.#names;
    const isGrantable = new Set<string>([...RELATIONS, ...ownRelations]);
    const types = this.#scopes.flatMap(({ type, relation }) => {
      const namespace = withoutSlash(type.name);
      const [name, granted] = [nameOf(type.name, relation.name), grantedAs(type.name, relation.name)];
      const kept = relation.restrictions.filter((restriction) => this.#canBeGranted(restriction));
      const subjects = [...new Set(kept.map((restriction) => subjectText(restriction, nameOf)))];
      return [
        ...(granted === undefined ? [] : [{ namespace, relation: granted, subjects }]),
        ...(name === undefined || name === granted || !isGrantable.has(name)
          ? []
          : [{ namespace, relation: name, subjects: [] }]),
      ];
    });
    const place = this.#scopes[0]?.type.place;
    if (types.length > TYPES_MAX && place !== undefined) {
      throw modelFailure(place, `The model has ${types.length} relations in all types; at most ${TYPES_MAX} fit.`);
    }
    return types;
  }
}

/** Throws a CliFailure if the model is larger than a tenant may have, or its names cannot be mapped. */
export const convertModel = (model: SourceModel, options: readonly MapOption[]): Conversion =>
  new Converter(model, options).convert();
