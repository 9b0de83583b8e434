// The two sides from which grants are read: by subject and by object. Pages of both sides get rows of the same form,
// whichever table of the store they come from.

import { attributesOf, type GrantAttributes } from '../../core/grant-attributes.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Relation } from '../../core/tuples.ts';
import type { DeadlineMs, StateStore } from '../../store/store.ts';
import type { PagePlace, PageRow } from './grant-page.ts';

export interface PageRowsQuery {
  readonly entity: string;
  /** Only this relation. */
  readonly relation?: Relation;
  readonly after?: PagePlace;
  /** Rows to examine, tombstone rows included. */
  readonly limit: number;
}

export interface PageRows {
  /** The live ones, ascending by the bytes of (relation, counterpart). */
  readonly rows: readonly PageRow[];
  /** Where to continue; undefined: at the end. */
  readonly next: PagePlace | undefined;
}

export interface PageSide {
  readonly name: 'subject' | 'object';
  listRows(store: StateStore, tenantId: TenantId, query: PageRowsQuery, deadline: DeadlineMs): Promise<PageRows>;
  readTuple(
    store: StateStore,
    tenantId: TenantId,
    tuple: { readonly entity: string; readonly relation: Relation; readonly counterpart: string },
    deadline: DeadlineMs,
  ): Promise<GrantAttributes | undefined>;
}

export const SUBJECT_SIDE: PageSide = {
  name: 'subject',
  async listRows(store, tenantId, { entity, after, ...range }, deadline) {
    const from = after && { after: { relation: after.relation, object: after.counterpart } };
    const { grants, next } = await store.listGrants({ tenantId, subject: entity, ...range, ...from }, deadline);
    return {
      rows: grants.map((row) => ({ relation: row.relation, counterpart: row.object, ...attributesOf(row) })),
      next: next && { relation: next.relation, counterpart: next.object },
    };
  },
  readTuple: (store, tenantId, { entity, relation, counterpart }, deadline) =>
    store.readGrant(tenantId, entity, relation, counterpart, deadline),
};

export const OBJECT_SIDE: PageSide = {
  name: 'object',
  async listRows(store, tenantId, { entity, after, ...range }, deadline) {
    const from = after && { after: { relation: after.relation, subject: after.counterpart } };
    const { grants, next } = await store.listObjectGrants({ tenantId, object: entity, ...range, ...from }, deadline);
    return {
      rows: grants.map((row) => ({ relation: row.relation, counterpart: row.subject, ...attributesOf(row) })),
      next: next && { relation: next.relation, counterpart: next.subject },
    };
  },
  readTuple: (store, tenantId, { entity, relation, counterpart }, deadline) =>
    store.readGrant(tenantId, counterpart, relation, entity, deadline),
};
