// POST /v1/check: does this subject hold this relation on this object? The hot path: it only asks the owner.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import { EXAMPLE_TIMESTAMP, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { checkResultSchema, tupleSchema } from '../schema/schemas.ts';
import { validateTuple } from '../schema/validation.ts';
import type { CheckOutcomes, Operation } from './operation.ts';

export function createCheck(outcomes: CheckOutcomes): Operation {
  return {
    id: 'check',
    method: 'POST',
    path: '/v1/check',
    scope: 'check:read',
    tag: 'Checks',
    summary: 'Check one relationship',
    description:
      'Linearizable: a check that starts after a grant or a revocation was acknowledged sees it. A check that cannot be decided now gets a 503, never a deny.',
    body: { name: 'Tuple', schema: tupleSchema, bytesMax: BODY_BYTES_MAX, example: EXAMPLE_TUPLE },
    query: undefined,
    successes: [
      {
        status: 200,
        description: 'The result of the check.',
        schema: { name: 'CheckResult', schema: checkResultSchema },
        example: { authorized: true, checked_at: EXAMPLE_TIMESTAMP },
      },
    ],
    errors: ['invalid-subject', 'invalid-relation', 'invalid-object'],
    answer(session, context, { body }) {
      const tuple = validateTuple(body);
      return session.check(context, tuple).then(
        ({ authorized, checkedAtMs }) => {
          if (authorized) outcomes.authorized(1);
          else outcomes.denied(1);
          return { status: 200, json: `{"authorized":${authorized},"checked_at":"${formatTimestamp(checkedAtMs)}"}` };
        },
        (error: unknown) => {
          outcomes.failed(1);
          throw error;
        },
      );
    },
  };
}
