// DELETE /v1/keys/{key_id}: revokes an API key. Once the response is sent, no front serves the key any more.

import { GrantdError } from '../../core/errors.ts';
import { parseKeyId } from '../../core/ids.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_KEY_ID } from '../schema/examples.ts';
import type { Operation } from './operation.ts';

export const revokeKey: Operation = {
  id: 'revokeKey',
  method: 'DELETE',
  path: '/v1/keys/{key_id}',
  scope: 'admin',
  reserve: true,
  tag: 'Keys',
  summary: 'Revoke an API key',
  description:
    'Requests with the revoked key that start after the response are refused everywhere. A key can revoke itself. The call draws on a reserve of the calling key (60 in 60 seconds), not on the window of the plan.',
  body: undefined,
  query: undefined,
  pathParameters: { key_id: { description: 'The id of the key, not the key itself.', example: EXAMPLE_KEY_ID } },
  successes: [{ status: 204, description: 'The key was revoked.' }],
  errors: ['key-not-found', 'not-found'],
  answer(session, context, { pathParameters }) {
    const text = pathParameters.key_id;
    const keyId = typeof text === 'string' ? parseKeyId(text) : undefined;
    if (keyId === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    return session.call(CALLS.revokeKey, context, keyId).then(() => ({ status: 204, json: '' }));
  },
};
