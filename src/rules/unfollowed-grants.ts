// Grants that the rules of a tenant can never follow: most are mistakes of whoever wrote the grant, or the rules.

import type { UnfollowedReason } from '../core/service-warnings.ts';
import { relationNumber, type Tuple } from '../core/tuples.ts';
import { type CompiledRules, parseGroup } from './compiled-rules.ts';

/** Undefined: rules can follow the grant, or it counts by itself. */
export function unfollowedReason(
  rules: CompiledRules,
  { subject, relation, object }: Tuple,
): UnfollowedReason | undefined {
  const group = parseGroup(subject);
  if (group === undefined && !subject.endsWith(':*')) return undefined;
  if (rules.leadsToEntitiesOnly(object, relationNumber(relation) ?? 0)) return 'no-entity';
  if (group === undefined) return rules.isEntity(subject) ? 'not-public' : undefined;
  if (!rules.groups) return 'groups-off';
  return rules.canHold(group.object, group.name) ? undefined : 'unknown-name';
}
