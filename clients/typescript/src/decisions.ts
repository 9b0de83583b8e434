// The decisions of several evaluations, compared with the request. Invariant: a list is accepted only if each
// decision in it belongs to the element at its place.

import type { Decision, EvaluationsRequest } from './generated/schemas.ts';
import { checkDecision, type Field } from './shapes.ts';

/** Those that end early, and the decision with which they do. */
const SETTLING = new Map<unknown, boolean>([
  ['deny_on_first_deny', false],
  ['permit_on_first_permit', true],
]);

export function decisionsIn(field: Field, request: EvaluationsRequest): readonly Decision[] {
  const expected = request.evaluations?.length ?? 0;
  if (expected === 0) return [field.checked<Decision>(checkDecision)];
  const list = field.at('evaluations').list();
  const decisions = list.map((each) => each.checked<Decision>(checkDecision));
  const settling = SETTLING.get(request.options?.evaluations_semantic);
  const endsEarly = settling !== undefined && decisions.length > 0 && decisions.at(-1)?.decision === settling;
  if (decisions.length > expected || (decisions.length < expected && !endsEarly)) {
    field.refuse(`has ${decisions.length} decisions and not ${expected}`);
  }
  const settledBefore = settling !== undefined && decisions.slice(0, -1).some(({ decision }) => decision === settling);
  if (settledBefore) field.refuse('has decisions after the one that settles it');
  return decisions;
}
