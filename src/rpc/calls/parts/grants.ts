// A page of grants in replies, both ways.

import type { GrantAttributes } from '../../../core/grant-attributes.ts';
import { type Grant, relationOf } from '../../../core/tuples.ts';
import type { ResultPage } from '../../../shard/shard.ts';
import type { GrantRecord__Output } from '../../gen/grantd/v1/GrantRecord.ts';
import type { Grants, Grants__Output } from '../../gen/grantd/v1/Grants.ts';
import { malformed } from './answer-fields.ts';
import { nextCursorOf, pageFrom } from './pages.ts';
import { relationToWire } from './request-fields.ts';

export function grantsToWire(page: ResultPage<Grant>): Grants {
  const grants = page.items.map((grant) => ({
    ...grant,
    relation: relationToWire(grant.relation),
    expiresAtMs: grant.expiresAtMs ?? 0,
  }));
  return { grants, nextCursor: nextCursorOf(page) };
}

function grantFrom(grant: GrantRecord__Output): Grant {
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

export function grantsFrom({ grants, nextCursor }: Grants__Output): ResultPage<Grant> {
  return pageFrom(grants.map(grantFrom), nextCursor);
}
