// POST /access/v1/evaluation: may this subject perform this action on this resource? A check in the words of AuthZEN.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { parseEvaluation } from '../schema/authzen-requests.ts';
import { decisionSchema, evaluationSchema } from '../schema/authzen-schemas.ts';
import { EXAMPLE_EVALUATION } from '../schema/examples.ts';
import { evaluateOne } from './decisions.ts';
import type { CheckOutcomes, Operation } from './operation.ts';

export function createEvaluate(outcomes: CheckOutcomes): Operation {
  return {
    id: 'evaluate',
    method: 'POST',
    path: '/access/v1/evaluation',
    scope: 'check:read',
    tag: 'AuthZEN',
    summary: 'Evaluate one access request',
    description:
      'The Access Evaluation API. `{type, id}` is the identifier `type:id`. The name of the action is a relation, or a name that a rule of the tenant defines; any other one is denied. `properties` and `context` are ignored. Linearizable, as checks are. A request that cannot be decided now gets a 503, never a denial.',
    body: {
      name: 'EvaluationRequest',
      schema: evaluationSchema,
      bytesMax: BODY_BYTES_MAX,
      example: EXAMPLE_EVALUATION,
    },
    query: undefined,
    successes: [
      {
        status: 200,
        description: 'The decision. A denial is a 200, too.',
        schema: { name: 'Decision', schema: decisionSchema },
        example: { decision: true },
      },
    ],
    errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'evaluation-too-large'],
    answer: (session, context, { body }) => evaluateOne(session, context, parseEvaluation(body), outcomes),
  };
}
