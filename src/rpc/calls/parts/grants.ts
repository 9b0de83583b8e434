// Pages of grants in replies, and which grants requests mean, both ways.

import type { GrantAttributes } from '../../../core/grant-attributes.ts';
import { type Grant, relationOf } from '../../../core/tuples.ts';
import type { GrantFilter, GrantsPage } from '../../../shard/shard.ts';
import type { GrantRecord__Output } from '../../gen/grantd/v1/GrantRecord.ts';
import type { Grants, Grants__Output } from '../../gen/grantd/v1/Grants.ts';
import type { Relation__Output } from '../../gen/grantd/v1/Relation.ts';
import { demand } from '../../wire-violation.ts';
import { malformed } from './answer-fields.ts';
import { nextCursorOf, pageFrom } from './pages.ts';
import { relationFrom, relationToWire } from './request-fields.ts';

interface WireFilter {
  readonly subject: string;
  readonly object: string;
  readonly relation: Relation__Output;
}

export const filterToWire = ({ of, relation }: GrantFilter) => ({
  ...of,
  relation: relation === undefined ? 0 : relationToWire(relation),
});

/** An empty filter must never mean all grants. */
export function filterFrom({ subject, object, relation }: WireFilter): GrantFilter {
  demand((subject === '') !== (object === ''), 'A filter names either a subject or an object.');
  return {
    of: subject === '' ? { object } : { subject },
    relation: relation === 0 ? undefined : relationFrom(relation),
  };
}

export const grantToWire = (grant: Grant) => ({
  ...grant,
  relation: relationToWire(grant.relation),
  expiresAtMs: grant.expiresAtMs ?? 0,
});

export const grantsToWire = (page: GrantsPage): Grants => ({
  grants: page.items.map(grantToWire),
  nextCursor: nextCursorOf(page),
  feedCursor: page.feedCursor,
});

export function grantFrom(grant: GrantRecord__Output): Grant {
  const { subject, object } = grant;
  const relation = relationOf(grant.relation);
  if (relation === undefined) throw malformed(`${grant.relation} is not a relation.`);
  return { subject, relation, object, ...attributesFrom(grant) };
}

/** 0: the grant never expires. */
export const attributesFrom = ({
  grantId,
  createdAtMs,
  expiresAtMs,
}: Pick<GrantRecord__Output, 'grantId' | 'createdAtMs' | 'expiresAtMs'>): GrantAttributes =>
  expiresAtMs === 0 ? { grantId, createdAtMs } : { grantId, createdAtMs, expiresAtMs };

export function grantsFrom({ grants, nextCursor, feedCursor }: Grants__Output): GrantsPage {
  if (feedCursor === '') throw malformed('A page of grants lacks its cursor of the change feed.');
  return { ...pageFrom(grants.map(grantFrom), nextCursor), feedCursor };
}
