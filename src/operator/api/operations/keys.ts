// API keys of a tenant: what only operators do with them, and their listing, which shows operators more.

import { z } from 'zod';
import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../core/limits.ts';
import { keyRecord, listedKeyRecord } from '../../../core/records.ts';
import { optionalTimestamp } from '../../../core/text/timestamps.ts';
import { KEY_ID } from '../../../http/operations/keys.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { closedObject } from '../../../http/schema/schema-parts.ts';
import { createdKeySchema, listedKeySchema } from '../../../http/schema/schemas.ts';
import { validateBody } from '../../../http/schema/validation.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import { findKey } from '../../find-key.ts';
import { keyIdOf, noKey } from '../../path-ids.ts';
import { pageShape } from '../../schemas.ts';
import {
  IDEMPOTENCY,
  idempotencyKeyOf,
  jsonBody,
  jsonResponse,
  nextCursor,
  type OperatorCall,
  ownOperation,
  reading,
  timestampText,
} from '../operation.ts';

const keyId = z.string().regex(/^key_[0-9a-hjkmnp-tv-z]{26}$/);

const operatorKeySchema = listedKeySchema.extend({
  rotated_from: keyId.nullable().meta({ description: 'The key in whose place a rotation created this one.' }),
  rotated_to: keyId
    .nullable()
    .meta({ description: 'The key that a rotation created in place of this one, which ends at `expires_at`.' }),
});

const keyStateSchema = operatorKeySchema.extend({
  state: z.enum(['active', 'expired']).meta({ description: 'Whether requests with it are served.' }),
});

const identifiedKeySchema = keyStateSchema.extend({
  matches: z
    .boolean()
    .meta({ description: 'Whether the text is this key. If not, it has only the ID of this key, and never worked.' }),
});

const rotatedKeySchema = createdKeySchema.extend({
  former: z
    .object({
      key_id: keyId,
      ends_at: timestampText('When the previous key ends; if it is revoked, when that was.'),
      revoked: z.boolean().meta({ description: 'The previous key was revoked, since there is no grace.' }),
    })
    .meta({ description: 'The key that was rotated.' }),
});

/** With the links of a rotation, which only operators see. */
const operatorKeyRecord = (key: ListedKey) => ({
  ...listedKeyRecord(key),
  rotated_from: key.rotatedFrom ?? null,
  rotated_to: key.rotatedTo ?? null,
});

const keyStateRecord = (key: ListedKey, { clock }: OperatorCall) => {
  const hasExpired = key.expiresAtMs !== undefined && key.expiresAtMs <= clock.wallMs();
  return { ...operatorKeyRecord(key), state: hasExpired ? 'expired' : 'active' };
};

export const listKeys = reading({
  id: 'listKeys',
  path: '/tenants/{tenantId}/keys',
  tag: 'Within a tenant',
  summary: 'List the API keys',
  query: pageShape,
  successes: [
    success(200, 'One page.', {
      name: 'KeyList',
      schema: z.object({ keys: z.array(operatorKeySchema), next_cursor: nextCursor }),
    }),
  ],
  errors: ['invalid-cursor'],
  async run(call, { limit, cursor }) {
    const session = await call.tenant();
    const page = await session.call('listKeys', call.context(), { limit, cursor });
    return jsonResponse(200, { keys: page.items.map(operatorKeyRecord), next_cursor: page.nextCursor ?? null });
  },
});

export const readKey = reading({
  id: 'readKey',
  path: '/tenants/{tenantId}/keys/{key_id}',
  pathParameters: KEY_ID,
  tag: 'Within a tenant',
  summary: 'Read one API key',
  successes: [success(200, 'The key, without its text.', { name: 'KeyState', schema: keyStateSchema })],
  errors: ['key-not-found'],
  async run(call) {
    const id = keyIdOf(call);
    const key = await findKey(call.context, await call.tenant(), id);
    if (key === undefined) throw noKey();
    return jsonResponse(200, keyStateRecord(key, call));
  },
});

const SECONDS_MAX = ROTATION_GRACE_MS_MAX / 1000;
const graceRule = `must be a whole number of seconds from 0 to ${SECONDS_MAX}`;

const rotateShape = {
  grace_seconds: z
    .int(graceRule)
    .min(0, graceRule)
    .max(SECONDS_MAX, graceRule)
    .default(ROTATION_GRACE_MS_DEFAULT / 1000)
    .meta({ description: 'How long the previous key still works, if it does not expire before; 0: it is revoked.' }),
};

const rotateSchema = closedObject(rotateShape);

export const rotateKey = ownOperation({
  id: 'rotateKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys/{key_id}/rotate',
  pathParameters: KEY_ID,
  access: 'full',
  tag: 'Within a tenant',
  summary: 'Rotate an API key',
  body: jsonBody('KeyRotation', rotateShape, { grace_seconds: 86_400 }),
  headers: IDEMPOTENCY,
  successes: [
    success(201, 'The new key, with the name, scopes and expiry of the previous one; it is shown only here.', {
      name: 'RotatedKey',
      schema: rotatedKeySchema,
    }),
  ],
  errors: ['key-not-found', 'key-not-rotatable', 'key-limit-reached', 'already-created', 'idempotency-key-reused'],
  async run(call) {
    const rotated = keyIdOf(call);
    const session = await call.tenant();
    const body = validateBody(rotateSchema, call.request.body);
    const rotation = { keyId: rotated, graceMs: 1000 * body.grace_seconds };
    const { key, former, revoked, text } = await session.rotateKey(call.context(), rotation, idempotencyKeyOf(call));
    const ended = { key_id: former.keyId, ends_at: optionalTimestamp(former.expiresAtMs), revoked };
    return jsonResponse(201, { ...keyRecord(key), key: text, former: ended });
  },
});

const identifyShape = {
  hash: z
    .string('must be a string')
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key: 64 hexadecimal characters, lower case')
    .meta({ description: 'The SHA-256 of the text that claims to be the key: the text itself is not sent.' }),
};
const EXAMPLE_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const identifySchema = closedObject(identifyShape);

export const identifyKey = ownOperation({
  id: 'identifyKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys/{key_id}/identify',
  pathParameters: KEY_ID,
  access: 'read-only',
  tag: 'Within a tenant',
  summary: 'Say whether a text is this API key, by its hash',
  body: jsonBody('KeyHash', identifyShape, { hash: EXAMPLE_HASH }),
  successes: [
    success(200, 'The key with this ID, and whether the text is this key.', {
      name: 'IdentifiedKey',
      schema: identifiedKeySchema,
    }),
  ],
  errors: ['key-not-found'],
  async run(call) {
    const claimed = keyIdOf(call);
    const session = await call.tenant();
    const { hash } = validateBody(identifySchema, call.request.body);
    const identified = await session.call('identifyKey', call.context(), { keyId: claimed, hash });
    if (identified === undefined) throw noKey();
    return jsonResponse(200, { ...keyStateRecord(identified.key, call), matches: identified.matches });
  },
});
