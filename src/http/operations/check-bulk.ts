// POST /v1/check/bulk: up to 100 checks, all decided at one moment of the tenant's history.

import { GrantdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import { namespacesDenied } from '../../front/namespace-warnings.ts';
import { EXAMPLE_TIMESTAMP, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { bulkResultSchema, bulkSchema } from '../schema/schemas.ts';
import { validateBulk } from '../schema/validation.ts';
import type { CheckOutcomes, Operation } from './operation.ts';
import { withUnknownNamespaces } from './warnings.ts';

/** Runs before any element is validated, so that the response does not depend on the surplus elements. */
function refuseTooMany(body: unknown): void {
  if (!isJsonObject(body) || !Array.isArray(body.checks)) return;
  const { length } = body.checks;
  if (length > BULK_CHECKS_MAX) {
    throw new GrantdError('bulk-too-large', `"checks" holds ${length} checks; at most ${BULK_CHECKS_MAX} are allowed.`);
  }
}

export function createCheckBulk(outcomes: CheckOutcomes): Operation {
  return {
    id: 'checkBulk',
    method: 'POST',
    path: '/v1/check/bulk',
    scope: 'check:read',
    tag: 'Checks',
    summary: `Check up to ${BULK_CHECKS_MAX} relationships`,
    description:
      'All checks are decided at one moment. An error in one element refuses the whole call and names the element, as in `checks[3].subject`. Counts as one request.',
    body: {
      name: 'BulkCheck',
      schema: bulkSchema,
      bytesMax: BULK_BODY_BYTES_MAX,
      example: { checks: [EXAMPLE_TUPLE, { ...EXAMPLE_TUPLE, relation: 'editor' }] },
    },
    query: undefined,
    successes: [
      {
        status: 200,
        warns: true,
        description: 'One result per check, in the order of the request.',
        schema: { name: 'BulkCheckResult', schema: bulkResultSchema },
        example: { results: [{ authorized: true }, { authorized: false }], checked_at: EXAMPLE_TIMESTAMP },
      },
    ],
    errors: ['bulk-too-large', 'invalid-subject', 'invalid-relation', 'invalid-object', 'evaluation-too-large'],
    answer(session, context, { body }) {
      refuseTooMany(body);
      const checks = validateBulk(body);
      return session.checkBulk(context, checks).then(
        ({ authorized, checkedAtMs }) => {
          const held = authorized.filter(Boolean).length;
          outcomes.authorized(held);
          outcomes.denied(authorized.length - held);
          const results = authorized.map((each) => (each ? '{"authorized":true}' : '{"authorized":false}')).join(',');
          const json = `{"results":[${results}],"checked_at":"${formatTimestamp(checkedAtMs)}"}`;
          return withUnknownNamespaces(session, context, namespacesDenied(checks, authorized), { status: 200, json });
        },
        (error: unknown) => {
          outcomes.failed(checks.length);
          throw error;
        },
      );
    },
  };
}
