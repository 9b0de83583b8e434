// What the OpenAPI document says about the operations on the API keys of a tenant.

import { EXAMPLE_KEY } from '../../../http/schema/examples.ts';
import { createdKeySchema } from '../../../http/schema/schemas.ts';
import { pageShape } from '../../schemas.ts';
import { createKeyShape, identifyKeyShape, rotateKeyShape } from '../operations/keys.ts';
import { body, type OperatorDocumentation, ok } from './operation-documentation.ts';
import { identifiedKeySchema, keyStateSchema, operatorKeyListSchema, rotatedKeySchema } from './response-schemas.ts';

const EXAMPLE_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export const KEYS: Readonly<Record<string, OperatorDocumentation>> = {
  'operator-create-key': {
    tag: 'Within a tenant',
    summary: 'Create an API key',
    body: body('KeyRequest', createKeyShape, { name: EXAMPLE_KEY.name, scopes: EXAMPLE_KEY.scopes }),
    headers: ['Idempotency-Key'],
    successes: [
      {
        status: 201,
        description: 'The key was created; it is shown only here.',
        schema: { name: 'CreatedKey', schema: createdKeySchema },
      },
    ],
    errors: ['key-limit-reached', 'already-created', 'idempotency-key-reused'],
  },
  'operator-list-keys': {
    tag: 'Within a tenant',
    summary: 'List the API keys',
    query: pageShape,
    successes: [ok('KeyList', operatorKeyListSchema, 'One page.')],
    errors: ['invalid-cursor'],
  },
  'operator-read-key': {
    tag: 'Within a tenant',
    summary: 'Read one API key',
    successes: [ok('KeyState', keyStateSchema, 'The key, without its text.')],
    errors: ['key-not-found'],
  },
  'operator-rotate-key': {
    tag: 'Within a tenant',
    summary: 'Rotate an API key',
    body: body('KeyRotation', rotateKeyShape, { grace_seconds: 86_400 }),
    headers: ['Idempotency-Key'],
    successes: [
      {
        status: 201,
        description: 'The new key, with the name, scopes and expiry of the former one; it is shown only here.',
        schema: { name: 'RotatedKey', schema: rotatedKeySchema },
      },
    ],
    errors: ['key-not-found', 'key-not-rotatable', 'key-limit-reached', 'already-created', 'idempotency-key-reused'],
  },
  'operator-identify-key': {
    tag: 'Within a tenant',
    summary: 'Say whether a text is this API key, by its hash',
    body: body('KeyHash', identifyKeyShape, { hash: EXAMPLE_HASH }),
    successes: [ok('IdentifiedKey', identifiedKeySchema, 'The key with this ID, and whether the text is this key.')],
    errors: ['key-not-found'],
  },
  'operator-revoke-key': {
    tag: 'Within a tenant',
    summary: 'Revoke an API key',
    successes: [{ status: 204, description: 'The key was revoked.' }],
    errors: ['key-not-found'],
  },
};
