// What the calls about grants take and return, as part of the port of a shard (shard.ts).

import type { GrantAttributes } from '../core/grant-attributes.ts';
import type { Relation, Tuple } from '../core/tuples.ts';

export interface GrantRequest extends Tuple {
  readonly revoke: boolean;
}

export type GrantResult =
  | ({ readonly kind: 'created' | 'exists' } & GrantAttributes)
  | { readonly kind: 'revoked' }
  | { readonly kind: 'not-found' }
  /** The owner refused this one; the other writes of the call take effect. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

export type GrantRefusal = 'namespace-limit-reached' | 'grant-limit-reached';

/** What a bulk write asks about the state before it: does the grant exist? */
export interface WriteCondition extends Tuple {
  readonly exists: boolean;
}

/**
 * Takes effect as a whole, at one moment of the tenant's history, or not at all. At most 100 changes, of which no two
 * name the same tuple, and at most 100 conditions.
 */
export interface BulkWrite {
  readonly grants: readonly Tuple[];
  readonly revocations: readonly Tuple[];
  /** All of them are evaluated at that moment, before the changes. */
  readonly conditions: readonly WriteCondition[];
}

export type BulkWriteResult =
  | {
      readonly kind: 'written';
      /** In the order of the request. */
      readonly grants: readonly ({ readonly created: boolean } & GrantAttributes)[];
      /** Whether each of them existed. */
      readonly revoked: readonly boolean[];
    }
  /** Nothing was changed. `condition`: the index of the first that was not met. */
  | { readonly kind: 'condition-not-met'; readonly condition: number }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

/** The grants of a subject or on an object; all of them, or those of one relation. */
export interface GrantFilter {
  readonly of: { readonly subject: string } | { readonly object: string };
  /** Undefined: all. */
  readonly relation: Relation | undefined;
}

export interface RevokeResult {
  readonly revoked: number;
  /** Whether no grant that matches the filter was left. */
  readonly complete: boolean;
}

/** A page may have fewer than `limit` items, even none, although more follow. */
export interface ResultPage<Item> {
  readonly items: readonly Item[];
  /** Where the next page starts; undefined: this is the last page. */
  readonly nextCursor: string | undefined;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The objects on which a subject holds a relation; all of them, or those of one namespace. */
export interface ObjectsQuery extends PageQuery {
  readonly subject: string;
  readonly relation: Relation;
  readonly namespace: string | undefined;
}

/** The subjects that hold a relation on an object; all of them, or those of one namespace. */
export interface HoldersQuery extends PageQuery {
  readonly object: string;
  readonly relation: Relation;
  readonly namespace: string | undefined;
}

export interface GrantsQuery extends PageQuery, GrantFilter {}
