// The results of an operation, as the log stores them. An operation with one change needs none, since the change
// determines its result. Those of an operation with many changes are stored with it, so that a repeat gets them
// exactly. Invariant: stored results agree with the changes next to them, or the log is not readable.

import { type GrantAttributes, readGrantAttributes } from '../../core/grant-attributes.ts';

/** Results that are stored with an operation. */
export type LoggedResults =
  | {
      readonly kind: 'bulk';
      /**
       * In the order of the request. `created`: by the next change that creates a grant. Otherwise the grant existed.
       */
      readonly grants: readonly ('created' | GrantAttributes)[];
      readonly revoked: readonly boolean[];
    }
  | { readonly kind: 'revocation'; readonly revoked: number; readonly complete: boolean };

/** What a change is, as far as results depend on it. */
export interface ChangeKind {
  readonly kind: string;
}

const count = <Item>(items: readonly Item[], holds: (item: Item) => boolean): number =>
  items.reduce((sum, item) => sum + (holds(item) ? 1 : 0), 0);

function bulkGrant(value: unknown): 'created' | GrantAttributes | undefined {
  if (value === 'created') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const stored: { readonly [Field in keyof GrantAttributes]?: unknown } = value;
  return readGrantAttributes(({ field }) => stored[field]);
}

const isDefined = <Value>(value: Value | undefined): value is Value => value !== undefined;
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/** Undefined: these are not the results of an operation with these changes. */
export function readLoggedResults(value: unknown, changes: readonly ChangeKind[]): LoggedResults | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const stored: { readonly [Field in 'kind' | 'grants' | 'revoked' | 'complete']?: unknown } = value;
  const created = count(changes, ({ kind }) => kind === 'grant-created');
  const ended = count(changes, ({ kind }) => kind === 'grant-revoked');
  if (stored.kind === 'bulk') {
    const { grants, revoked } = stored;
    if (!Array.isArray(grants) || !Array.isArray(revoked) || !revoked.every(isBoolean)) return undefined;
    const read = grants.map(bulkGrant);
    if (!read.every(isDefined) || count(read, (grant) => grant === 'created') !== created) return undefined;
    return count(revoked, Boolean) === ended ? { kind: 'bulk', grants: read, revoked } : undefined;
  }
  if (stored.kind === 'revocation') {
    const { revoked, complete } = stored;
    if (!isBoolean(complete) || revoked !== ended || ended !== changes.length) return undefined;
    return { kind: 'revocation', revoked, complete };
  }
  return undefined;
}
