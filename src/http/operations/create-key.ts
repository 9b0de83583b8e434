// POST /v1/keys: creates an API key. Only this response ever contains the key itself.

import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { parseIdempotencyKey } from '../../core/idempotency-keys.ts';
import { isJsonObject } from '../../core/json-members.ts';
import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { keyRecord } from '../../core/records.ts';
import { SCOPES, scopeMask } from '../../core/scopes.ts';
import { EXAMPLE_KEY } from '../schema/examples.ts';
import { createdKeySchema, keyBodySchema } from '../schema/schemas.ts';
import { validateBody } from '../schema/validation.ts';
import type { Operation } from './operation.ts';

/** Runs before any scope is validated: the schema would report an error for each of thousands. */
function refuseTooManyScopes(body: unknown): void {
  if (!isJsonObject(body) || !Array.isArray(body.scopes) || body.scopes.length <= SCOPES.length) return;
  throw new GrantdError(
    'invalid-request',
    `"scopes" must not repeat a scope; it has ${body.scopes.length}, and only ${SCOPES.length} exist.`,
  );
}

export function createCreateKey(clock: Pick<Clock, 'wallMs'>): Operation {
  const parseExpiry = (text: string | null | undefined): number | undefined => {
    if (text === undefined || text === null) return undefined;
    const expiresAtMs = Date.parse(text);
    if (!(expiresAtMs > clock.wallMs())) {
      throw new GrantdError('invalid-request', '"expires_at" must be a moment in the future; it is not.');
    }
    return expiresAtMs;
  };
  return {
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
    query: undefined,
    successes: [
      {
        status: 201,
        description: 'The key was created.',
        schema: { name: 'CreatedKey', schema: createdKeySchema },
        example: { ...EXAMPLE_KEY, key: `gk1_${'0'.repeat(81)}` },
      },
    ],
    errors: ['key-limit-reached', 'already-created', 'idempotency-key-reused'],
    headers: {
      'Idempotency-Key': {
        description:
          'Makes a repeat of this request safe: up to 255 characters of visible ASCII, as a string of a structured field (in quotes) or bare. A tenant creates one key with it.',
        example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
      },
    },
    answer(session, context, { body, headers }) {
      refuseTooManyScopes(body);
      const { name, scopes, expires_at } = validateBody(keyBodySchema, body);
      const key = { name: name ?? '', scopes: scopeMask(scopes), expiresAtMs: parseExpiry(expires_at) };
      const idempotencyKey = parseIdempotencyKey(headers['idempotency-key']);
      return session.createKey(context, key, idempotencyKey).then(({ record, text }) => ({
        status: 201,
        json: JSON.stringify({ ...keyRecord(record), key: text }),
      }));
    },
  };
}
