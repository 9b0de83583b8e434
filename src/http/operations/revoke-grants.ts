// POST /v1/grants/revoke: revokes the grants of a subject, or on an object.

import { parseGrantFilter } from '../../core/bulk-writes.ts';
import { BODY_BYTES_MAX, REVOKED_PER_CALL_MAX } from '../../core/limits.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { grantFilterSchema, revokeResultSchema } from '../schema/schemas.ts';
import type { Operation } from './operation.ts';

export const revokeGrants: Operation = {
  id: 'revokeGrants',
  method: 'POST',
  path: '/v1/grants/revoke',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Revoke all grants of a subject, or on an object',
  description: `Exactly one of \`subject\` and \`object\` must be given: an absent or empty field never means all. One call revokes up to ${REVOKED_PER_CALL_MAX.toLocaleString('en')} grants at one moment. If \`complete\` is false, more may be left: repeat the call until it is true, also after one that revoked none. Repeating a call is always safe. Grants that are created meanwhile are revoked too if they match.`,
  body: {
    name: 'GrantFilter',
    schema: grantFilterSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { subject: EXAMPLE_TUPLE.subject },
  },
  query: undefined,
  successes: [
    {
      status: 200,
      description: 'How many grants were revoked; perhaps none.',
      schema: { name: 'RevokeResult', schema: revokeResultSchema },
      example: { revoked: 142, complete: true },
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object'],
  answer(session, context, { body }) {
    const filter = parseGrantFilter(body);
    return session
      .call(CALLS.revokeGrants, context, filter)
      .then(({ revoked, complete }) => ({ status: 200, json: `{"revoked":${revoked},"complete":${complete}}` }));
  },
};
