// A model of OpenFGA or a schema of SpiceDB after parsing: one form for both. Parsers only read. The
// conversion (conversion.ts) decides what grantd supports, so that parsing loses nothing.

import { CliFailure } from '../../../../src/cli/failures.ts';

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
  /** Of a userset. */
  readonly relation: string | undefined;
  readonly wildcard: boolean;
  /** An OpenFGA condition or a SpiceDB caveat. */
  readonly condition: string | undefined;
  /** SpiceDB's `with expiration`. */
  readonly expires: boolean;
  readonly place: Place;
}

/** Expressions other than unions. */
export type UnfitKind = 'intersection' | 'exclusion' | 'all' | 'self';

export type Expression =
  /** The stored tuples of the relation itself. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'name'; readonly name: string; readonly place: Place }
  /** `name from from`, or `from->name`. */
  | { readonly kind: 'from'; readonly name: string; readonly from: string; readonly place: Place }
  | { readonly kind: 'union'; readonly parts: readonly Expression[] }
  | { readonly kind: 'unfit'; readonly what: UnfitKind; readonly place: Place };

/** SpiceDB's `nil`. */
export const NOTHING: Expression = Object.freeze({ kind: 'union', parts: Object.freeze([]) });

export interface SourceRelation {
  readonly name: string;
  readonly place: Place;
  /** The subjects it can be granted to; empty if it only follows from others. */
  readonly restrictions: readonly Restriction[];
  readonly expression: Expression;
}

export interface SourceType {
  readonly name: string;
  readonly place: Place;
  readonly relations: ReadonlyMap<string, SourceRelation>;
}

export type SourceModel = ReadonlyMap<string, SourceType>;

/** One declaration, as a file has it. */
export interface TypeDeclaration {
  readonly name: string;
  readonly place: Place;
  /** OpenFGA's `extend type`. */
  readonly extends: boolean;
  readonly relations: readonly SourceRelation[];
}

export const formatPlace = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

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

/** Joins the declarations of all files. Throws if a type or relation is defined twice, or extended but not defined. */
export function joinDeclarations(declarations: readonly TypeDeclaration[]): SourceModel {
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
  demandReferences(types);
  return types;
}

function* referencesOf(expression: Expression): Generator<Extract<Expression, { kind: 'name' | 'from' }>> {
  if (expression.kind === 'union') for (const part of expression.parts) yield* referencesOf(part);
  if (expression.kind === 'name' || expression.kind === 'from') yield expression;
}

/** Every type and every relation that is used exists, as the peers themselves require. */
function demandReferences(model: SourceModel): void {
  for (const type of model.values()) {
    for (const { restrictions, expression } of type.relations.values()) {
      for (const { type: subject, relation, place } of restrictions) {
        const found = model.get(subject);
        if (found === undefined) throw modelFailure(place, `No type ${quote(subject)} is defined.`);
        if (relation !== undefined && !found.relations.has(relation)) {
          throw modelFailure(place, `${quote(subject)} does not define ${quote(relation)}.`);
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
