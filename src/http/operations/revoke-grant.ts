// DELETE /v1/grants: revokes exactly one grant, named by the body.

import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { refuseExpiry } from '../../core/grant-expiry.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { EXAMPLE_TUPLE } from '../schema/examples.ts';
import { tupleSchema } from '../schema/schemas.ts';
import { isJsonObject, validateTuple } from '../schema/validation.ts';
import type { Operation } from './operation.ts';

export const revokeGrant: Operation = {
  id: 'revokeGrant',
  method: 'DELETE',
  path: '/v1/grants',
  scope: 'grant:write',
  tag: 'Grants',
  summary: 'Revoke a grant',
  description:
    'The body names the one tuple to remove; other relations between the same subject and object stay. Some proxies drop the body of a DELETE: the response is then a 400 or a 415.',
  body: { name: 'Tuple', schema: tupleSchema, bytesMax: BODY_BYTES_MAX, example: EXAMPLE_TUPLE },
  query: undefined,
  successes: [{ status: 204, description: 'The grant was removed.' }],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'grant-not-found'],
  answer(session, context, { body }) {
    const tuple = validateTuple(body);
    if (isJsonObject(body)) refuseExpiry(body.expires_at);
    return session.writeGrants(context, [{ ...tuple, revoke: true }]).then(([result]) => {
      if (result?.kind === 'not-found') throw new GrantdError('grant-not-found', 'No such grant exists.');
      assert(result?.kind === 'revoked', 'revoking a grant removes it or does not find it');
      return { status: 204, json: '' };
    });
  },
};
