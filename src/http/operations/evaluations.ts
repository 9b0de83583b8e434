// Decisions of the AuthZEN interface: checks in the words of AuthZEN, one (POST /access/v1/evaluation) or up to 100 at
// one moment (POST /access/v1/evaluations). Invariants: the owner checks before anything is permitted; an action that
// no rule defines is denied, and the response says so; an ill-formed element is denied by itself, and a fault of the
// whole call refuses the call.

import { assert } from '../../core/assert.ts';
import { ERROR_CATALOGUE, EVALUATION_ERRORS, type GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX, BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../core/limits.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import { isRelation } from '../../core/tuples.ts';
import type { ContextualCheck, RequestContext, TenantSession } from '../../front/front.ts';
import { NAME_HINTS_MAX, type NamedTuple } from '../../rules/questions.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import { type Item, parseEvaluation, parseEvaluations, type Semantic } from '../schema/authzen-requests.ts';
import {
  decisionSchema,
  evaluationSchema,
  evaluationsResultSchema,
  evaluationsSchema,
} from '../schema/authzen-schemas.ts';
import { EXAMPLE_EVALUATION, EXAMPLE_EVALUATIONS } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { type CheckOutcomes, type OperationResponse, type PublicOperation, withWarnings } from './operation.ts';

/** Characters of an action's name that a reason quotes. */
const QUOTED_LENGTH_MAX = 64;

const decisionText = (decision: boolean): string => (decision ? '{"decision":true}' : '{"decision":false}');

const denialText = (context: object): string => JSON.stringify({ decision: false, context });

/** `hint`: which action may have been meant, and which ones there are. */
function undefinedActionText(action: string, hint?: string): string {
  const quoted = JSON.stringify(action.slice(0, QUOTED_LENGTH_MAX));
  const reason = `The action ${quoted} is neither a relation nor a name that a rule defines.`;
  return denialText({ reason: hint === undefined ? reason : `${reason} ${hint}` });
}

const errorText = ({ code, message }: GrantdError): string =>
  denialText({ error: { status: ERROR_CATALOGUE[code].httpStatus, message } });

function evaluateOne(
  session: TenantSession,
  context: RequestContext,
  question: ContextualCheck,
  outcomes: CheckOutcomes,
): Promise<OperationResponse> {
  const { relation } = question;
  const answered = (authorized: boolean, json: string): OperationResponse => {
    if (authorized) outcomes.authorized(1);
    else outcomes.denied(1);
    return withWarnings(context, { status: 200, json });
  };
  const decided = (authorized: boolean): OperationResponse => answered(authorized, decisionText(authorized));
  const failed = (error: unknown): never => {
    outcomes.failed(1);
    throw error;
  };
  if (isRelation(relation)) {
    return session.check(context, question).then(({ authorized }) => decided(authorized), failed);
  }
  // No rule can define it, but the owner must still confirm the key.
  if (!isRuleName(relation)) {
    return session.confirm(context).then(() => answered(false, undefinedActionText(relation)), failed);
  }
  return session.checkOrDeny(context, [question]).then(({ authorized: [authorized], undefinedAt, hints: [hint] }) => {
    if (undefinedAt.length > 0) return answered(false, undefinedActionText(relation, hint));
    return decided(authorized === true);
  }, failed);
}

export const evaluate: PublicOperation = {
  id: 'evaluate',
  method: 'POST',
  path: '/access/v1/evaluation',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Evaluate one access request',
  description:
    'The Access Evaluation API. `{type, id}` is the identifier `type:id`. The name of the action is a relation, or a name that a rule of the tenant defines; any other one is denied, and the reason names the nearest one and those that there are. `context` has values for conditions; what no condition asks for is ignored, and so are `properties`. Linearizable, as checks are. A request that cannot be decided now gets a 503, never a denial.',
  body: {
    name: 'EvaluationRequest',
    schema: evaluationSchema,
    bytesMax: BODY_BYTES_MAX,
    example: EXAMPLE_EVALUATION,
  },
  successes: [
    success(200, 'The decision. A denial is a 200, too.', {
      name: 'Decision',
      schema: decisionSchema,
      example: { decision: true },
    }),
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', ...EVALUATION_ERRORS],
  answer: (session, context, { body }, { outcomes }) => evaluateOne(session, context, parseEvaluation(body), outcomes),
};

/** A denial with the longest reason, but for the hint. */
const DECISION_BYTES_MAX = 500;
const HINT_BYTES_MAX = 1000;

/** `body`: not validated yet. */
const decisionsBytesMax = (body: unknown): number =>
  isJsonObject(body) && Array.isArray(body.evaluations)
    ? Math.min(body.evaluations.length, BULK_CHECKS_MAX) * DECISION_BYTES_MAX + NAME_HINTS_MAX * HINT_BYTES_MAX
    : 0;

interface Decision {
  readonly decision: boolean;
  readonly text: string;
}

/** Whether the owner can decide it; no rule can define any other name. */
const isDecidable = ({ relation }: NamedTuple): boolean => isRuleName(relation);

/** The decisions up to the first that settles the whole under this semantic. */
function untilSettled(decisions: readonly Decision[], semantic: Semantic): readonly Decision[] {
  if (semantic === 'execute_all') return decisions;
  const settling = semantic === 'permit_on_first_permit';
  const last = decisions.findIndex(({ decision }) => decision === settling);
  return last < 0 ? decisions : decisions.slice(0, last + 1);
}

async function evaluateItems(
  session: TenantSession,
  context: RequestContext,
  { items, semantic }: { readonly items: readonly Item[]; readonly semantic: Semantic },
  outcomes: CheckOutcomes,
): Promise<OperationResponse> {
  const checks = items.flatMap((item) => ('question' in item && isDecidable(item.question) ? [item.question] : []));
  let answered: readonly Decision[];
  try {
    answered = await decide(session, context, checks);
  } catch (error) {
    outcomes.failed(items.length);
    throw error;
  }
  let next = 0;
  const decisions = items.map((item): Decision => {
    if ('error' in item) return { decision: false, text: errorText(item.error) };
    if (!isDecidable(item.question)) return { decision: false, text: undefinedActionText(item.question.relation) };
    const decision = answered[next];
    next += 1;
    assert(decision !== undefined, 'every check has a decision');
    return decision;
  });
  const reported = untilSettled(decisions, semantic);
  const permitted = reported.filter(({ decision }) => decision).length;
  outcomes.authorized(permitted);
  outcomes.denied(reported.length - permitted);
  const response = { status: 200, json: `{"evaluations":[${reported.map(({ text }) => text).join(',')}]}` } as const;
  return withWarnings(context, response);
}

/** In the order of the checks. */
async function decide(
  session: TenantSession,
  context: RequestContext,
  checks: readonly ContextualCheck[],
): Promise<readonly Decision[]> {
  if (checks.length === 0) {
    await session.confirm(context);
    return [];
  }
  const { authorized, undefinedAt, hints } = await session.checkOrDeny(context, checks);
  assert(authorized.length === checks.length, 'every check has an answer');
  const undefinedActions = new Map(undefinedAt.map((index, at) => [index, hints[at]]));
  return checks.map(({ relation }, index) => {
    const decision = authorized[index] === true;
    const isUndefined = undefinedActions.has(index);
    const text = isUndefined ? undefinedActionText(relation, undefinedActions.get(index)) : decisionText(decision);
    return { decision, text };
  });
}

export const evaluateMany: PublicOperation = {
  id: 'evaluateMany',
  method: 'POST',
  path: '/access/v1/evaluations',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: `Evaluate up to ${BULK_CHECKS_MAX} access requests`,
  description:
    'The Access Evaluations API. All are decided at one moment. `subject`, `action`, `resource` and `context` at the top are defaults, which an element replaces as a whole. An ill-formed element is denied, and its `context.error` says why; the others are not affected. With `deny_on_first_deny` and `permit_on_first_permit`, the response ends with the decision that settles it. Without `evaluations`, or if it is empty, the call is a single evaluation. Counts as one request.',
  body: {
    name: 'EvaluationsRequest',
    schema: evaluationsSchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: EXAMPLE_EVALUATIONS,
  },
  responseBytesMax: ({ body }) => decisionsBytesMax(body),
  successes: [
    success(200, 'The decisions, in the order of the request; of a single evaluation, its decision.', {
      name: 'EvaluationsResult',
      schema: evaluationsResultSchema,
      example: { evaluations: [{ decision: true }, { decision: false }] },
      header: WARNING_HEADER,
    }),
  ],
  errors: ['bulk-too-large', 'invalid-subject', 'invalid-relation', 'invalid-object', ...EVALUATION_ERRORS],
  answer(session, context, { body }, { outcomes }) {
    const request = parseEvaluations(body);
    return request.kind === 'one'
      ? evaluateOne(session, context, request.question, outcomes)
      : evaluateItems(session, context, request, outcomes);
  },
};
