// POST /v1/check: does this subject hold this relation on this object? The hot path: it only asks the owner.

import { grantRecord } from '../../core/grant-attributes.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import { namespacesDenied } from '../../front/namespace-warnings.ts';
import type { TimedAnswer } from '../../shard/shard.ts';
import { EXAMPLE_TIMESTAMP, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { checkResultSchema, checkSchema } from '../schema/schemas.ts';
import { validateCheck } from '../schema/validation.ts';
import type { CheckOutcomes, Operation, OperationResponse } from './operation.ts';
import { reasonsBytesMax } from './response-bytes.ts';
import { withUnknownNamespaces } from './warnings.ts';

export function createCheck(outcomes: CheckOutcomes): Operation {
  return {
    id: 'check',
    method: 'POST',
    path: '/v1/check',
    scope: 'check:read',
    tag: 'Checks',
    summary: 'Check one relationship',
    description:
      'Linearizable: a check that starts after a grant or a revocation was acknowledged sees it. A check that cannot be decided now gets a 503, never a deny. With rules, what follows from them counts; `explain` asks for the grants on which an `authorized` rests.',
    body: { name: 'CheckRequest', schema: checkSchema, bytesMax: BODY_BYTES_MAX, example: EXAMPLE_TUPLE },
    query: undefined,
    responseBytesMax: (_query, body) => reasonsBytesMax(body),
    successes: [
      {
        status: 200,
        warns: true,
        description: 'The result of the check.',
        schema: { name: 'CheckResult', schema: checkResultSchema },
        example: { authorized: true, checked_at: EXAMPLE_TIMESTAMP },
      },
    ],
    errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'evaluation-too-large'],
    answer(session, context, { body }) {
      const check = validateCheck(body);
      const answered = (answer: TimedAnswer, because = ''): OperationResponse | Promise<OperationResponse> => {
        const { authorized, checkedAtMs } = answer;
        if (authorized) outcomes.authorized(1);
        else outcomes.denied(1);
        const checkedAt = formatTimestamp(checkedAtMs);
        const response = {
          status: 200,
          json: `{"authorized":${authorized},"checked_at":"${checkedAt}"${because}}`,
        } as const;
        if (authorized) return response;
        return withUnknownNamespaces(session, context, namespacesDenied([check], [false]), response);
      };
      const failed = (error: unknown): never => {
        outcomes.failed(1);
        throw error;
      };
      if (check.explain !== true) return session.check(context, check).then((answer) => answered(answer), failed);
      return session
        .explain(context, check)
        .then(
          (answer) =>
            answered(answer, answer.authorized ? `,"because":${JSON.stringify(answer.because.map(grantRecord))}` : ''),
          failed,
        );
    },
  };
}
