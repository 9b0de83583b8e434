// A model of OpenFGA or a schema of SpiceDB or Permify after parsing: one form for all. Parsers only read. The
// conversion (conversion.ts) decides what grantd supports, so that parsing loses nothing.

import { CliFailure } from '../../../cli/src/failures.ts';

/** UTF-8 bytes of all files together: many times the largest model that the peers accept. */
export const MODEL_BYTES_MAX = 1024 * 1024;
/** Parentheses within parentheses in one definition. */
export const NESTING_MAX = 64;
/** Kinds of subjects that one relation may be granted to; OpenFGA and SpiceDB models have a dozen. */
export const RESTRICTIONS_MAX = 100;

/** Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** `user`, `user:*`, `group#member` or `user with condition`. */
export interface Restriction {
  readonly type: string;
  /** The relation of a userset. */
  readonly relation: string | undefined;
  readonly wildcard: boolean;
  /** An OpenFGA condition or a SpiceDB caveat. */
  readonly condition: string | undefined;
  /** SpiceDB's `with expiration`. */
  readonly expires: boolean;
  readonly place: Place;
}

export type Expression =
  /** The stored tuples of the relation itself. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'name'; readonly name: string; readonly place: Place }
  /** `name from from`, or `from->name`; with `all`: on each entity of `from`, of which there must be one. */
  | {
      readonly kind: 'from';
      readonly name: string;
      readonly from: string;
      readonly all: boolean;
      readonly place: Place;
    }
  | { readonly kind: 'union' | 'intersection'; readonly parts: readonly Expression[] }
  /** The base without all of `subtract`. */
  | {
      readonly kind: 'exclusion';
      readonly base: Expression;
      readonly subtract: readonly Expression[];
      readonly place: Place;
    }
  /** The object itself, as a subject. */
  | { readonly kind: 'self'; readonly place: Place };

/** SpiceDB's `nil`. */
export const NOTHING: Expression = Object.freeze({ kind: 'union', parts: Object.freeze([]) });

/** An OpenFGA condition, a SpiceDB caveat or a rule of Permify: an expression in CEL. */
export interface SourceCondition {
  readonly name: string;
  readonly place: Place;
  /** Types by name, as a declaration of grantd has them. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly expression: string;
  /** Where an offset into the expression stands in the file. */
  readonly placeAt: (offset: number) => Place;
}

/** An attribute of Permify on which the grants of a relation depend. */
export interface SourceAttribute {
  readonly name: string;
  /** The type by its name in grantd. */
  readonly type: string;
  /** A parameter of the rule that is the condition of the grants; undefined: a boolean, whose grants have none. */
  readonly parameter: string | undefined;
}

export interface SourceRelation {
  readonly name: string;
  readonly place: Place;
  /** The subjects it can be granted to; empty if it only follows from others. */
  readonly restrictions: readonly Restriction[];
  readonly expression: Expression;
  /** Only of Permify: its grants are made from these attributes of the object. */
  readonly attributes?: readonly SourceAttribute[];
}

export interface SourceType {
  readonly name: string;
  readonly place: Place;
  readonly relations: ReadonlyMap<string, SourceRelation>;
}

export interface SourceModel {
  readonly types: ReadonlyMap<string, SourceType>;
  readonly conditions: ReadonlyMap<string, SourceCondition>;
}

/** One declaration, as a file has it. */
export interface TypeDeclaration {
  readonly name: string;
  readonly place: Place;
  /** OpenFGA's `extend type`. */
  readonly extends: boolean;
  readonly relations: readonly SourceRelation[];
}

/** What one file declares. */
export interface Declarations {
  readonly types: readonly TypeDeclaration[];
  readonly conditions: readonly SourceCondition[];
}

/** A difference between the rules and the model, which a conversion reports. */
export interface Finding {
  readonly place: Place;
  readonly text: string;
  /** The omitted part, for which some checks are denied; undefined: the finding is for information only. */
  readonly lost: string | undefined;
}

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

/** The place of an offset into a text that begins at `start`. */
export function placeWithin(text: string, { file, line, column }: Place, offset: number): Place {
  const lines = text.slice(0, offset).split('\n');
  const last = lines.at(-1)?.length ?? 0;
  return { file, line: line + lines.length - 1, column: lines.length === 1 ? column + last : last + 1 };
}

export const modelFailure = (place: Place, message: string): CliFailure =>
  new CliFailure(`${formatPlace(place)}: ${message}`);

/** A text from a file within a message: bounded, and its control characters escaped. */
export const quote = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Names that either system accepts, without characters that are invisible in a message. */
const SOURCE_NAME_REGEX = /^[^:#@*\s\p{Cc}\p{Cf}\p{Cs}]{1,254}$/u;

function demandName(name: string, place: Place): void {
  if (!SOURCE_NAME_REGEX.test(name)) throw modelFailure(place, `${quote(name)} is not a name.`);
}

export const isStored = ({ restrictions }: SourceRelation): boolean => restrictions.length > 0;

function addRelations(relations: Map<string, SourceRelation>, { name: type, relations: added }: TypeDeclaration): void {
  for (const relation of added) {
    demandName(relation.name, relation.place);
    const previous = relations.get(relation.name);
    if (previous !== undefined) {
      const where = formatPlace(previous.place);
      throw modelFailure(relation.place, `${quote(relation.name)} of ${quote(type)} is already defined at ${where}.`);
    }
    if (relation.restrictions.length > RESTRICTIONS_MAX) {
      throw modelFailure(
        relation.place,
        `${quote(relation.name)} can be granted to ${relation.restrictions.length} kinds of subjects; at most ${RESTRICTIONS_MAX} can be converted.`,
      );
    }
    relations.set(relation.name, relation);
  }
}

function joinConditions(declarations: readonly Declarations[]): ReadonlyMap<string, SourceCondition> {
  const conditions = new Map<string, SourceCondition>();
  for (const condition of declarations.flatMap((each) => each.conditions)) {
    const { name, place } = condition;
    demandName(name, place);
    const previous = conditions.get(name);
    if (previous !== undefined) {
      throw modelFailure(place, `The condition ${quote(name)} is already defined at ${formatPlace(previous.place)}.`);
    }
    conditions.set(name, condition);
  }
  return conditions;
}

/** Joins the declarations of all files. Throws if something is defined twice, or used or extended but not defined. */
export function joinDeclarations(files: readonly Declarations[]): SourceModel {
  const declarations = files.flatMap((each) => each.types);
  const types = new Map<string, SourceType & { readonly relations: Map<string, SourceRelation> }>();
  for (const declaration of declarations) {
    const { name, place } = declaration;
    if (declaration.extends) continue;
    demandName(name, place);
    const previous = types.get(name);
    if (previous !== undefined) {
      throw modelFailure(place, `${quote(name)} is already defined at ${formatPlace(previous.place)}.`);
    }
    const relations = new Map<string, SourceRelation>();
    addRelations(relations, declaration);
    types.set(name, { name, place, relations });
  }
  for (const declaration of declarations) {
    if (!declaration.extends) continue;
    const type = types.get(declaration.name);
    if (type === undefined) {
      throw modelFailure(
        declaration.place,
        `${quote(declaration.name)} is extended here but not defined. Pass the file that defines it as well.`,
      );
    }
    addRelations(type.relations, declaration);
  }
  const model = { types, conditions: joinConditions(files) };
  demandReferences(model);
  return model;
}

export type Reference = Extract<Expression, { kind: 'name' | 'from' }>;

/** The names in an expression, in their order. Expressions are nested `NESTING_MAX` deep, or a few times that. */
export function* referencesOf(expression: Expression): Generator<Reference> {
  if (expression.kind === 'name' || expression.kind === 'from') yield expression;
  else for (const part of partsOf(expression)) yield* referencesOf(part);
}

/** The expressions that this one is made of. */
export function partsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'union' || expression.kind === 'intersection') return expression.parts;
  return expression.kind === 'exclusion' ? [expression.base, ...expression.subtract] : [];
}

/** Everything that is used exists, as the peers themselves require. */
function demandReferences({ types, conditions }: SourceModel): void {
  for (const type of types.values()) {
    for (const { restrictions, expression } of type.relations.values()) {
      for (const { type: subject, relation, condition, place } of restrictions) {
        const found = types.get(subject);
        if (found === undefined) throw modelFailure(place, `No type ${quote(subject)} is defined.`);
        if (relation !== undefined && !found.relations.has(relation)) {
          throw modelFailure(place, `${quote(subject)} does not define ${quote(relation)}.`);
        }
        if (condition !== undefined && !conditions.has(condition)) {
          throw modelFailure(place, `No condition ${quote(condition)} is defined.`);
        }
      }
      for (const reference of referencesOf(expression)) {
        const used = reference.kind === 'from' ? reference.from : reference.name;
        if (!type.relations.has(used)) {
          throw modelFailure(reference.place, `${quote(type.name)} does not define ${quote(used)}.`);
        }
      }
    }
  }
}
