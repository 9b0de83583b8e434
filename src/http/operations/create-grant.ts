// POST /v1/grants: creates a grant, or finds the existing one.

import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { grantRecord } from '../../core/grant-attributes.ts';
import { parseExpiry } from '../../core/grant-expiry.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { unfollowedWarnings, warningHeaderOf } from '../../core/service-warnings.ts';
import { grantOf } from '../../core/tuples.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_GRANT, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { grantBodySchema, grantSchema } from '../schema/schemas.ts';
import { validateGrant } from '../schema/validation.ts';
import type { Operation } from './operation.ts';

const schema = { name: 'Grant', schema: grantSchema };

export const createCreateGrant = (clock: Pick<Clock, 'wallMs'>): Operation => ({
  id: 'createGrant',
  method: 'POST',
  path: '/v1/grants',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Create a grant',
  description:
    'Idempotent. Missing namespaces of subject and object are created. Durable once the response is sent. An existing grant keeps its expiry unless `expires_at` is given; `null` removes it. A grant that has expired does not exist: a new one is created.',
  body: {
    name: 'GrantRequest',
    schema: grantBodySchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_TUPLE, expires_at: null },
  },
  query: undefined,
  successes: [
    { status: 201, warns: true, description: 'The grant was created.', schema, example: EXAMPLE_GRANT },
    {
      status: 200,
      warns: true,
      description: 'The grant already existed; at most its expiry was changed.',
      schema,
      example: EXAMPLE_GRANT,
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'namespace-limit-reached', 'grant-limit-reached'],
  answer(session, context, { body }) {
    const { tuple, expiresAt } = validateGrant(body);
    const write = { ...tuple, revoke: false, ...parseExpiry(expiresAt, clock.wallMs()) };
    return session.call(CALLS.writeGrants, context, [write]).then(([result]) => {
      if (result?.kind === 'refused') throw new GrantdError(result.code, result.message);
      assert(result?.kind === 'created' || result?.kind === 'exists', 'creating a grant creates it or finds it');
      return {
        status: result.kind === 'created' ? 201 : 200,
        warning: warningHeaderOf(unfollowedWarnings([result])),
        json: JSON.stringify(grantRecord(grantOf(tuple, result))),
      };
    });
  },
});
