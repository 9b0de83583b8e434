// POST /access/v1/evaluations: up to 100 access requests, all decided at one moment of the tenant's history. Invariant:
// an element that cannot be asked about is denied by itself; what concerns the whole call refuses it.

import { assert } from '../../core/assert.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../core/limits.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import { namespacesDenied } from '../../front/namespace-warnings.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import { type Item, parseEvaluations, type Semantic } from '../schema/authzen-requests.ts';
import { evaluationsResultSchema, evaluationsSchema } from '../schema/authzen-schemas.ts';
import { EXAMPLE_EVALUATIONS } from '../schema/examples.ts';
import { decisionText, errorText, evaluateOne, undefinedActionText } from './decisions.ts';
import type { CheckOutcomes, Operation, OperationResponse } from './operation.ts';
import { withUnknownNamespaces } from './warnings.ts';

/** A denial with the longest reason. */
const DECISION_BYTES_MAX = 500;

/** Of a body that is not validated yet. */
const decisionsBytesMax = (body: unknown): number =>
  isJsonObject(body) && Array.isArray(body.evaluations)
    ? Math.min(body.evaluations.length, BULK_CHECKS_MAX) * DECISION_BYTES_MAX
    : 0;

interface Decision {
  readonly decision: boolean;
  readonly text: string;
}

/** What the owner can be asked about; no rule can define any other name. */
const isAsked = ({ relation }: NamedTuple): boolean => isRuleName(relation);

/** The decisions that were made before one of them made the others unnecessary, which is the last. */
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
  const checks = items.flatMap((item) => ('question' in item && isAsked(item.question) ? [item.question] : []));
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
    if (!isAsked(item.question)) return { decision: false, text: undefinedActionText(item.question.relation) };
    const decision = answered[next];
    next += 1;
    assert(decision !== undefined, 'every check has a decision');
    return decision;
  });
  const told = untilSettled(decisions, semantic);
  const permitted = told.filter(({ decision }) => decision).length;
  outcomes.authorized(permitted);
  outcomes.denied(told.length - permitted);
  const response = { status: 200, json: `{"evaluations":[${told.map(({ text }) => text).join(',')}]}` } as const;
  const authorized = answered.map(({ decision }) => decision);
  return withUnknownNamespaces(session, context, namespacesDenied(checks, authorized), response);
}

/** In the order of the checks. */
async function decide(
  session: TenantSession,
  context: RequestContext,
  checks: readonly NamedTuple[],
): Promise<readonly Decision[]> {
  if (checks.length === 0) {
    await session.confirm(context);
    return [];
  }
  const { authorized, undefinedAt } = await session.checkOrDeny(context, checks);
  assert(authorized.length === checks.length, 'every check has an answer');
  const undefinedActions = new Set(undefinedAt);
  return checks.map(({ relation }, index) => {
    const decision = authorized[index] === true;
    return { decision, text: undefinedActions.has(index) ? undefinedActionText(relation) : decisionText(decision) };
  });
}

export function createEvaluateMany(outcomes: CheckOutcomes): Operation {
  return {
    id: 'evaluateMany',
    method: 'POST',
    path: '/access/v1/evaluations',
    scope: 'check:read',
    tag: 'AuthZEN',
    summary: `Evaluate up to ${BULK_CHECKS_MAX} access requests`,
    description:
      'The Access Evaluations API. All are decided at one moment. `subject`, `action`, `resource` and `context` at the top are defaults, which an element replaces as a whole. An ill-formed element is denied, and its `context.error` says why; the others are not concerned. With `deny_on_first_deny` and `permit_on_first_permit`, the response ends with the decision that settles it. Without `evaluations`, or if it is empty, the call is a single evaluation. Counts as one request.',
    body: {
      name: 'EvaluationsRequest',
      schema: evaluationsSchema,
      bytesMax: BULK_BODY_BYTES_MAX,
      example: EXAMPLE_EVALUATIONS,
    },
    query: undefined,
    responseBytesMax: (_query, body) => decisionsBytesMax(body),
    successes: [
      {
        status: 200,
        warns: true,
        description: 'The decisions, in the order of the request; of a single evaluation, its decision.',
        schema: { name: 'EvaluationsResult', schema: evaluationsResultSchema },
        example: { evaluations: [{ decision: true }, { decision: false }] },
      },
    ],
    errors: ['bulk-too-large', 'invalid-subject', 'invalid-relation', 'invalid-object', 'evaluation-too-large'],
    answer(session, context, { body }) {
      const request = parseEvaluations(body);
      return request.kind === 'one'
        ? evaluateOne(session, context, request.question, outcomes)
        : evaluateItems(session, context, request, outcomes);
    },
  };
}
