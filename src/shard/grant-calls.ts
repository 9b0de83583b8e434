// What the calls about grants take and return, as part of the port of a shard (shard.ts).

import type { GrantedTuple, GrantFilter, GrantRefusal } from '../core/bulk-writes.ts';
import type { GrantAttributes } from '../core/grant-attributes.ts';
import type { Unfollowed } from '../core/service-warnings.ts';
import type { Grant } from '../core/tuples.ts';

export type { BulkWrite, BulkWriteResult, GrantedTuple, GrantFilter, GrantRefusal } from '../core/bulk-writes.ts';

export interface GrantRequest extends GrantedTuple {
  readonly revoke: boolean;
}

export type GrantResult =
  | ({ readonly kind: 'created' | 'exists' } & GrantAttributes & Unfollowed)
  | { readonly kind: 'revoked' }
  | { readonly kind: 'not-found' }
  /** The owner refused this one; the other writes of the call take effect. */
  | { readonly kind: 'refused'; readonly code: GrantRefusal; readonly message: string };

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
  /** A built-in relation, or a name that a rule of the tenant defines. */
  readonly relation: string;
  readonly namespace: string | undefined;
  /** Only grants count, and not what follows from them by the rules. */
  readonly direct?: boolean;
}

/** The subjects that hold a relation on an object; all of them, or those of one namespace. */
export interface HoldersQuery extends PageQuery {
  readonly object: string;
  /** A built-in relation, or a name that a rule of the tenant defines. */
  readonly relation: string;
  readonly namespace: string | undefined;
  /** Only grants count, and not what follows from them by the rules. */
  readonly direct?: boolean;
  /** Whether the object's own groups `object#name` count, whose members are those who hold the name. */
  readonly includeSelf?: boolean;
}

export interface GrantsQuery extends PageQuery, GrantFilter {}

export interface GrantsPage extends ResultPage<Grant> {
  /**
   * Of the change feed, taken before the page was read: whoever lists all pages and then follows from the cursor of the
   * first one knows every grant.
   */
  readonly feedCursor: string;
}
