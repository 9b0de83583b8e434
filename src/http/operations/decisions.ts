// Decisions of the AuthZEN interface: what a check says, as a decision. An action that no rule defines is denied, and
// the response says so. Invariant: nothing is permitted without a check by the owner.

import type { GrantdError } from '../../core/errors.ts';
import { ERROR_CATALOGUE } from '../../core/errors.ts';
import { isRelation } from '../../core/tuples.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import { namespacesDenied } from '../../front/namespace-warnings.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import type { CheckOutcomes, OperationResponse } from './operation.ts';
import { withUnknownNamespaces } from './warnings.ts';

/** Characters of an action's name that a reason repeats. */
const QUOTED_LENGTH_MAX = 64;

export const decisionText = (decision: boolean): string => (decision ? '{"decision":true}' : '{"decision":false}');

const denialText = (context: object): string => JSON.stringify({ decision: false, context });

export const undefinedActionText = (action: string): string =>
  denialText({
    reason: `The action ${JSON.stringify(action.slice(0, QUOTED_LENGTH_MAX))} is no relation, and no rule defines it.`,
  });

export const errorText = ({ code, message }: GrantdError): string =>
  denialText({ error: { status: ERROR_CATALOGUE[code].httpStatus, message } });

/** Answers one evaluation. */
export function evaluateOne(
  session: TenantSession,
  context: RequestContext,
  question: NamedTuple,
  outcomes: CheckOutcomes,
): Promise<OperationResponse> {
  const { relation } = question;
  const decided = (authorized: boolean, isDefined = true): OperationResponse | Promise<OperationResponse> => {
    if (authorized) outcomes.authorized(1);
    else outcomes.denied(1);
    const json = isDefined ? decisionText(authorized) : undefinedActionText(relation);
    return withUnknownNamespaces(session, context, namespacesDenied([question], [authorized]), { status: 200, json });
  };
  const failed = (error: unknown): never => {
    outcomes.failed(1);
    throw error;
  };
  if (isRelation(relation)) {
    return session.check(context, question).then(({ authorized }) => decided(authorized), failed);
  }
  // No rule can define it. The owner is asked all the same, whether the key holds.
  if (!isRuleName(relation)) return session.confirm(context).then(() => decided(false, false), failed);
  return session.checkOrDeny(context, [question]).then(({ authorized: [authorized], undefinedAt: [undefinedAt] }) => {
    return decided(authorized === true, undefinedAt === undefined);
  }, failed);
}
