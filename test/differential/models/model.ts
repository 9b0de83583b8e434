// A random model as OpenFGA and SpiceDB have them, in one form: types with relations, expressions with `and` and
// `but not`, kinds of subjects, and conditions. openfga-model.ts and spicedb-model.ts write it in each language.

import type { JsonObject } from '../../../src/core/json-members.ts';

export type Dialect = 'openfga' | 'spicedb';

export type Expression =
  /** What is granted of the relation itself; never in a permission of SpiceDB. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'name'; readonly name: string }
  /** With `all`, which only SpiceDB has: on each entity of `from`. */
  | { readonly kind: 'from'; readonly name: string; readonly from: string; readonly all: boolean }
  | { readonly kind: 'union' | 'intersection'; readonly parts: readonly Expression[] }
  | { readonly kind: 'exclusion'; readonly base: Expression; readonly subtract: Expression };

export interface SubjectKind {
  readonly type: string;
  readonly of: 'single' | 'everyone' | 'group';
  /** Of a group. */
  readonly name: string | undefined;
  readonly condition: string | undefined;
}

export interface Relation {
  readonly name: string;
  /** Empty: it only follows from others. */
  readonly subjects: readonly SubjectKind[];
  readonly expression: Expression;
}

export interface Type {
  readonly name: string;
  readonly relations: readonly Relation[];
}

export interface Parameter {
  /** As SpiceDB and OpenFGA write it. */
  readonly type: string;
  readonly values: readonly (string | number | boolean | readonly string[])[];
}

export interface Condition {
  readonly name: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly expression: string;
}

export interface Model {
  readonly dialect: Dialect;
  readonly types: readonly Type[];
  readonly conditions: readonly Condition[];
}

export interface Tuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  readonly condition?: { readonly name: string; readonly context: JsonObject };
}

/** What each question carries. */
export interface Call {
  readonly context: JsonObject;
  /** OpenFGA's contextual tuples, which SpiceDB does not have. */
  readonly contextTuples: readonly Tuple[];
}

export type ModelQuestion = Call &
  (
    | { readonly kind: 'check'; readonly subject: string; readonly relation: string; readonly object: string }
    | { readonly kind: 'objects'; readonly subject: string; readonly relation: string; readonly type: string }
    /** Single subjects of the type, and `type:*`. */
    | { readonly kind: 'subjects'; readonly object: string; readonly relation: string; readonly type: string }
  );

export interface ModelStep {
  readonly granted: readonly Tuple[];
  readonly revoked: readonly Tuple[];
  readonly questions: readonly ModelQuestion[];
}

export interface ModelCase {
  readonly model: Model;
  readonly steps: readonly ModelStep[];
}

export const typeOf = (text: string): string => text.slice(0, text.indexOf(':'));
export const entityOf = (text: string): string => text.split('#')[0] ?? '';
export const idOf = (text: string): string => entityOf(text).slice(text.indexOf(':') + 1);
export const tupleKey = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

export const relationOf = ({ types }: Model, type: string, name: string): Relation | undefined =>
  types.find((each) => each.name === type)?.relations.find((each) => each.name === name);

export const conditionOf = ({ conditions }: Model, name: string | undefined): Condition | undefined =>
  conditions.find((each) => each.name === name);

/** Whether several kinds of operators meet without parentheses, if they are left out. */
export const isOperator = ({ kind }: Expression): boolean =>
  kind === 'union' || kind === 'intersection' || kind === 'exclusion';
