// DELETE /v1/grants: revokes exactly one grant, named by the body or by the query.

import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { refuseExpiry } from '../../core/grant-expiry.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { parseTuple } from '../../core/tuples.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { tupleQuerySchema, tupleSchema } from '../schema/schemas.ts';
import { validateTuple } from '../schema/validation.ts';
import type { Operation } from './operation.ts';

export const revokeGrant: Operation = {
  id: 'revokeGrant',
  method: 'DELETE',
  path: '/v1/grants',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Revoke a grant',
  description:
    'Names the one tuple to remove, either in the body or in the query, where all three parameters are needed; a request with both is refused. Other relations between the same subject and object stay. Some proxies drop the body of a DELETE: use the query there.',
  body: {
    name: 'Tuple',
    schema: tupleSchema,
    bytesMax: BODY_BYTES_MAX,
    example: EXAMPLE_TUPLE,
    replaceableByQuery: true,
  },
  query: tupleQuerySchema,
  successes: [{ status: 204, description: 'The grant was removed.' }],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'grant-not-found'],
  answer(session, context, { body, query }) {
    if (isJsonObject(body)) refuseExpiry(body.expires_at);
    const tuple = body === undefined ? parseTuple(query.subject, query.relation, query.object) : validateTuple(body);
    return session.call(CALLS.writeGrants, context, [{ ...tuple, revoke: true }]).then(([result]) => {
      if (result?.kind === 'not-found') throw new GrantdError('grant-not-found', 'No such grant exists.');
      assert(result?.kind === 'revoked', 'revoking a grant removes it or does not find it');
      return { status: 204, json: '' };
    });
  },
};
