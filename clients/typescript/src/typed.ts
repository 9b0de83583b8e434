// A client whose methods take only the names of one model, as `grantd rules types` writes it. Types alone: any client
// is one, `const grantd: Client = new Grantd(…)`.

import type { CallContext, Explanation, Grantd, ObjectsQuery, SubjectPage, SubjectsQuery } from './client.ts';
import type { GrantRequest, WrittenGrant } from './generated/schemas.ts';
import type { Listing } from './listing.ts';
import type { CallOptions } from './transport.ts';

export interface Model {
  /** What can be asked about an object, by its namespace. */
  readonly names: object;
  /** What can be granted. */
  readonly relation: string;
  /** States of objects, each of which is granted to the subject `*`. Absent: none. */
  readonly state?: string;
  /** The parameters of conditions, by their names. */
  readonly conditions: object;
}

type NamespaceOf<M extends Model> = keyof M['names'] & string;
type NamesIn<M extends Model, N> = N extends NamespaceOf<M> ? M['names'][N] & string : never;
type ObjectOf<M extends Model> = `${NamespaceOf<M>}:${string}`;
type NamesOn<M extends Model, O> = O extends `${infer N}:${string}` ? NamesIn<M, N> : never;

/** A question about an object of one of the namespaces. */
type QuestionOf<M extends Model> = {
  [N in NamespaceOf<M>]: {
    readonly subject: string;
    readonly relation: NamesIn<M, N>;
    readonly object: `${N}:${string}`;
  };
}[NamespaceOf<M>];

type ConditionOf<M extends Model> = {
  [C in keyof M['conditions'] & string]: { readonly name: C; readonly context?: M['conditions'][C] };
}[keyof M['conditions'] & string];

type StateOf<M extends Model> = M extends { readonly state: infer S extends string } ? S : never;

type GrantOf<M extends Model> = Omit<GrantRequest, 'subject' | 'relation' | 'object' | 'condition'> & {
  object: ObjectOf<M>;
  condition?: ConditionOf<M> | null;
} & ({ subject: string; relation: M['relation'] } | { subject: '*'; relation: StateOf<M> });

/** A question about an object of this type. */
interface CheckOf<M extends Model, O> extends CallContext {
  readonly subject: string;
  readonly relation: NamesOn<M, O>;
  readonly object: O;
}

interface TypedMethods<M extends Model> {
  check<O extends ObjectOf<M>>(request: CheckOf<M, O>, options?: CallOptions): Promise<boolean>;
  explain<O extends ObjectOf<M>>(request: CheckOf<M, O>, options?: CallOptions): Promise<Explanation>;
  checkBulk(
    request: CallContext & { readonly checks: readonly QuestionOf<M>[] },
    options?: CallOptions,
  ): Promise<readonly boolean[]>;
  createGrant(grant: GrantOf<M>, options?: CallOptions): Promise<WrittenGrant>;
  listObjects<N extends NamespaceOf<M>>(
    query: Omit<ObjectsQuery, 'relation' | 'namespace'> & {
      readonly relation: NamesIn<M, N>;
      readonly namespace?: N | undefined;
    },
    options?: CallOptions,
  ): Listing<string>;
  listSubjects<O extends ObjectOf<M>>(
    query: Omit<SubjectsQuery, 'relation' | 'object'> & { readonly relation: NamesOn<M, O>; readonly object: O },
    options?: CallOptions,
  ): Listing<string, SubjectPage>;
}

/** `M`: what `grantd rules types` writes. */
export type GrantdFor<M extends Model> = Omit<Grantd, keyof TypedMethods<M>> & TypedMethods<M>;
