// One check (POST /v1/check, the hot path: one call to the owner), or up to 100 decided at one moment of the tenant's
// history (POST /v1/check/bulk).

import { CONTEXT_GRANT_ERRORS } from '../../core/call-context.ts';
import { EVALUATION_ERRORS, GrantdError } from '../../core/errors.ts';
import { grantRecord } from '../../core/grant-attributes.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX, BULK_BODY_BYTES_MAX, BULK_CHECKS_MAX } from '../../core/limits.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { TimedAnswer } from '../../shard/shard.ts';
import { EXAMPLE_TIMESTAMP, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { bulkResultSchema, bulkSchema, checkResultSchema, checkSchema } from '../schema/schemas.ts';
import { validateBulk, validateCheck } from '../schema/validation.ts';
import { type OperationResponse, type PublicOperation, withWarnings } from './operation.ts';
import { reasonsBytesMax } from './response-bytes.ts';

export const check: PublicOperation = {
  id: 'check',
  method: 'POST',
  path: '/v1/check',
  scope: 'check:read',
  tag: 'Checks',
  summary: 'Check one relationship',
  description:
    'Linearizable: a check that starts after a grant or a revocation was acknowledged sees it. A check that cannot be decided now gets a 503, never a deny. With rules, what follows from them counts; `explain` asks why: for the grants on which an `authorized` rests, or for those that decide a denial. `context` has values for conditions, and `context_grants` grants that count for this call alone.',
  body: { name: 'CheckRequest', schema: checkSchema, bytesMax: BODY_BYTES_MAX, example: EXAMPLE_TUPLE },
  responseBytesMax: ({ body }) => reasonsBytesMax(body),
  successes: [
    success(200, 'The result of the check.', {
      name: 'CheckResult',
      schema: checkResultSchema,
      example: { authorized: true, checked_at: EXAMPLE_TIMESTAMP },
      header: WARNING_HEADER,
    }),
  ],
  errors: [...CONTEXT_GRANT_ERRORS, ...EVALUATION_ERRORS],
  answer(session, context, { body }, { outcomes }) {
    const question = validateCheck(body);
    const answered = (answer: TimedAnswer, reasons = ''): OperationResponse => {
      const { authorized, checkedAtMs } = answer;
      if (authorized) outcomes.authorized(1);
      else outcomes.denied(1);
      const checkedAt = formatTimestamp(checkedAtMs);
      const response = {
        status: 200,
        json: `{"authorized":${authorized},"checked_at":"${checkedAt}"${reasons}}`,
      } as const;
      return authorized ? response : withWarnings(context, response);
    };
    const failed = (error: unknown): never => {
      outcomes.failed(1);
      throw error;
    };
    if (question.explain !== true) return session.check(context, question).then((answer) => answered(answer), failed);
    return session.explain(context, question).then((answer) => {
      const because = answer.authorized ? JSON.stringify(answer.because.map(grantRecord)) : '';
      // During an upgrade, the owner may give none.
      const parts = Object.entries({ because, reason: answer.reason, proof: answer.proof });
      return answered(answer, parts.map(([name, json]) => (json === '' ? '' : `,"${name}":${json}`)).join(''));
    }, failed);
  },
};

/** Runs before any element is validated, so that the response does not depend on the surplus elements. */
function refuseTooMany(body: unknown): void {
  if (!isJsonObject(body) || !Array.isArray(body.checks)) return;
  const { length } = body.checks;
  if (length > BULK_CHECKS_MAX) {
    throw new GrantdError('bulk-too-large', `"checks" holds ${length} checks; at most ${BULK_CHECKS_MAX} are allowed.`);
  }
}

export const checkBulk: PublicOperation = {
  id: 'checkBulk',
  method: 'POST',
  path: '/v1/check/bulk',
  scope: 'check:read',
  tag: 'Checks',
  summary: `Check up to ${BULK_CHECKS_MAX} relationships`,
  description:
    'All checks are decided at one moment; `context` and `context_grants` are those of all of them. An error in one element refuses the whole call and names the element, as in `checks[3].subject`. Counts as one request.',
  body: {
    name: 'BulkCheck',
    schema: bulkSchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: { checks: [EXAMPLE_TUPLE, { ...EXAMPLE_TUPLE, relation: 'editor' }] },
  },
  successes: [
    success(200, 'One result per check, in the order of the request.', {
      name: 'BulkCheckResult',
      schema: bulkResultSchema,
      example: { results: [{ authorized: true }, { authorized: false }], checked_at: EXAMPLE_TIMESTAMP },
      header: WARNING_HEADER,
    }),
  ],
  errors: [...CONTEXT_GRANT_ERRORS, ...EVALUATION_ERRORS],
  answer(session, context, { body }, { outcomes }) {
    refuseTooMany(body);
    const { checks, call } = validateBulk(body);
    return session.checkBulk(context, checks, call).then(
      ({ authorized, checkedAtMs }) => {
        const held = authorized.filter(Boolean).length;
        outcomes.authorized(held);
        outcomes.denied(authorized.length - held);
        const results = authorized.map((each) => (each ? '{"authorized":true}' : '{"authorized":false}')).join(',');
        const json = `{"results":[${results}],"checked_at":"${formatTimestamp(checkedAtMs)}"}`;
        return withWarnings(context, { status: 200, json });
      },
      (error: unknown) => {
        outcomes.failed(checks.length);
        throw error;
      },
    );
  },
};
