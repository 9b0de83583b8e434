// API keys (/v1/keys): list, create and revoke them. Only the response to a creation ever contains the key itself; once
// the response to a revocation is sent, no front serves the key any more.

import { GrantdError } from '../../core/errors.ts';
import { keyExpiry } from '../../core/grant-terms.ts';
import { parseIdempotencyKey } from '../../core/idempotency-keys.ts';
import { parseKeyId } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { keyRecord, listedKeyRecord } from '../../core/records.ts';
import { SCOPES, scopeMask } from '../../core/scopes.ts';
import { EXAMPLE_KEY, EXAMPLE_KEY_ID, EXAMPLE_TIMESTAMP } from '../schema/examples.ts';
import { type ParameterDescriptions, success } from '../schema/operation-description.ts';
import { createdKeySchema, keyBodySchema, keyListSchema, pageQuerySchema } from '../schema/schemas.ts';
import { validate, validateBody } from '../schema/validation.ts';
import type { PublicOperation } from './operation.ts';
import { keyListBytesMax } from './response-bytes.ts';

export const listKeys: PublicOperation = {
  id: 'listKeys',
  method: 'GET',
  path: '/v1/keys',
  scope: 'admin',
  tag: 'Keys',
  summary: 'List the API keys',
  description: 'Keys that are not revoked, including expired ones. The keys themselves are not shown.',
  query: pageQuerySchema.shape,
  responseBytesMax: keyListBytesMax,
  successes: [
    success(200, 'One page.', {
      name: 'KeyList',
      schema: keyListSchema,
      example: { keys: [{ ...EXAMPLE_KEY, last_used_at: EXAMPLE_TIMESTAMP }], next_cursor: null },
    }),
  ],
  errors: ['invalid-cursor'],
  answer(session, context, { query }) {
    const { limit, cursor } = validate(pageQuerySchema, query);
    return session.call('listKeys', context, { limit, cursor }).then(({ items, nextCursor }) => ({
      status: 200,
      json: () => JSON.stringify({ keys: items.map(listedKeyRecord), next_cursor: nextCursor ?? null }),
    }));
  },
};

/** Runs before any scope is validated: the schema would report an error for each of thousands. */
function refuseTooManyScopes(body: unknown): void {
  if (!isJsonObject(body) || !Array.isArray(body.scopes) || body.scopes.length <= SCOPES.length) return;
  throw new GrantdError(
    'invalid-request',
    `"scopes" must not repeat a scope; it has ${body.scopes.length}, and only ${SCOPES.length} exist.`,
  );
}

export const createKey: PublicOperation = {
  id: 'createKey',
  method: 'POST',
  path: '/v1/keys',
  scope: 'admin',
  tag: 'Keys',
  summary: 'Create an API key',
  description:
    'The key is shown once, in this response. A key with the scope `admin` can create keys with any scope. Without `Idempotency-Key`, a repeated call creates another key. With it, a repeat with the same body is a 409 `already-created` that names the key, whose text is not shown again; one with another body is a 422 `idempotency-key-reused`.',
  body: {
    name: 'KeyRequest',
    schema: keyBodySchema,
    bytesMax: BODY_BYTES_MAX,
    example: { name: EXAMPLE_KEY.name, scopes: EXAMPLE_KEY.scopes, expires_at: null },
  },
  headers: {
    'Idempotency-Key': {
      description:
        'Makes a repeat of this request safe: up to 255 characters of visible ASCII, as a string of a structured field (in quotes) or bare. A tenant creates one key with it.',
      example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    },
  },
  successes: [
    success(201, 'The key was created.', {
      name: 'CreatedKey',
      schema: createdKeySchema,
      example: { ...EXAMPLE_KEY, key: `gk1_${'0'.repeat(81)}` },
    }),
  ],
  errors: ['key-limit-reached', 'already-created', 'idempotency-key-reused'],
  answer(session, context, { body, headers }) {
    refuseTooManyScopes(body);
    const { name, scopes, expires_at } = validateBody(keyBodySchema, body);
    const endsMs = typeof expires_at === 'string' ? Date.parse(expires_at) : undefined;
    const key = { name: name ?? '', scopes: scopeMask(scopes), expiresAtMs: keyExpiry(endsMs) };
    const idempotencyKey = parseIdempotencyKey(headers['idempotency-key']);
    return session.createKey(context, key, idempotencyKey).then(({ record, text }) => ({
      status: 201,
      json: JSON.stringify({ ...keyRecord(record), key: text }),
    }));
  },
};

export const KEY_ID: ParameterDescriptions = {
  key_id: { description: 'The id of the key, not the key itself.', example: EXAMPLE_KEY_ID },
};

export const revokeKey: PublicOperation = {
  id: 'revokeKey',
  method: 'DELETE',
  path: '/v1/keys/{key_id}',
  pathParameters: KEY_ID,
  scope: 'admin',
  reserve: true,
  tag: 'Keys',
  summary: 'Revoke an API key',
  description:
    'Requests with the revoked key that start after the response are refused everywhere. A key can revoke itself. The call draws on a reserve of the calling key (60 in 60 seconds), not on the window of the plan.',
  successes: [success(204, 'The key was revoked.')],
  errors: ['key-not-found', 'not-found'],
  answer(session, context, { pathParameters }) {
    const text = pathParameters.key_id;
    const keyId = typeof text === 'string' ? parseKeyId(text) : undefined;
    if (keyId === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    return session.call('revokeKey', context, keyId).then(() => ({ status: 204, json: '' }));
  },
};
