// Single checks, the hot path: they have columns of their own instead of a call each, and no row in the table of calls.
// The front's outbox writes them, the peer's stream reads and serves them, and the shard itself requires their scope.

import type { Checks__Output } from '../gen/grantd/v1/Checks.ts';
import { CHECKS_PER_MESSAGE_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { demandTuple } from './parts/request-fields.ts';

/** Refuses columns of unequal length. `demandCheck` validates the checks one by one. */
export function demandColumns(checks: Checks__Output): void {
  const count = checks.ids.length;
  demand(count <= CHECKS_PER_MESSAGE_MAX, `A message has more than ${CHECKS_PER_MESSAGE_MAX} checks.`);
  demand(
    checks.handles.length === count &&
      checks.subjects.length === count &&
      checks.relations.length === count &&
      checks.objects.length === count,
    'The columns of the checks differ in length.',
  );
}

export function demandCheck(handle: number, subject: string, relation: number, object: string): void {
  demand(handle > 0, 'A check has no handle.');
  demandTuple(subject, relation, object);
}
