// The two sides of an entity within a tenant: grants of it as a subject, and grants on it as an object.

import type { GrantFilter } from '../../../src/core/bulk-writes.ts';
import type { OperatorTenantSession, RequestContext } from '../../../src/front/front.ts';

export interface EntitySides {
  readonly asSubject: boolean;
  readonly asObject: boolean;
}

/** On which sides the entity has grants, or had some until shortly before. */
export async function sidesOf(
  session: OperatorTenantSession,
  context: () => RequestContext,
  entity: string,
): Promise<EntitySides> {
  const has = async (of: GrantFilter['of']): Promise<boolean> => {
    const query = { of, relation: undefined, limit: 1, cursor: undefined };
    const { items, nextCursor } = await session.call('listGrants', context(), query);
    return items.length > 0 || nextCursor !== undefined;
  };
  const [asSubject, asObject] = await Promise.all([has({ subject: entity }), has({ object: entity })]);
  return { asSubject, asObject };
}
