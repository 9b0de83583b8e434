// API keys of a tenant for operators: the shapes and rules of /v1/keys, and what only operators do with keys.

import { z } from 'zod';
import { keyExpiry } from '../../../core/grant-expiry.ts';
import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../core/limits.ts';
import { keyRecord, listedKeyRecord } from '../../../core/records.ts';
import { scopeMask } from '../../../core/scopes.ts';
import { optionalTimestamp } from '../../../core/text/timestamps.ts';
import { EXAMPLE_KEY } from '../../../http/schema/examples.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { createdKeySchema, listedKeySchema } from '../../../http/schema/schemas.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import { readJson } from '../../body.ts';
import { findKey } from '../../find-key.ts';
import { keyIdOf, noKey } from '../../path-ids.ts';
import { keyName, pageShape, parseBody, scopes, timestamp } from '../../schemas.ts';
import {
  type Call,
  IDEMPOTENCY,
  idempotencyKeyOf,
  jsonBody,
  jsonResponse,
  nextCursor,
  type OperatorOperation,
  reading,
  sessionOf,
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

const keyStateRecord = (key: ListedKey, { clock }: Call) => {
  const hasExpired = key.expiresAtMs !== undefined && key.expiresAtMs <= clock.wallMs();
  return { ...operatorKeyRecord(key), state: hasExpired ? 'expired' : 'active' };
};

const createShape = { name: keyName.default(''), scopes, expires_at: timestamp.nullish() };

export const createKey: OperatorOperation = {
  id: 'createKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys',
  tag: 'Within a tenant',
  summary: 'Create an API key',
  body: jsonBody('KeyRequest', createShape, { name: EXAMPLE_KEY.name, scopes: EXAMPLE_KEY.scopes }),
  headers: IDEMPOTENCY,
  successes: [
    success(201, 'The key was created; it is shown only here.', { name: 'CreatedKey', schema: createdKeySchema }),
  ],
  errors: ['key-limit-reached', 'already-created', 'idempotency-key-reused'],
  async run(call) {
    const session = await sessionOf(call);
    const body = parseBody(await readJson(call.request), createShape);
    const key = { name: body.name, scopes: scopeMask(body.scopes), expiresAtMs: keyExpiry(body.expires_at) };
    const { record, text } = await session.createKey(call.context(), key, idempotencyKeyOf(call));
    return jsonResponse(201, { ...keyRecord(record), key: text });
  },
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
    const session = await sessionOf(call);
    const page = await session.call(CALLS.listKeys, call.context(), { limit, cursor });
    return jsonResponse(200, { keys: page.items.map(operatorKeyRecord), next_cursor: page.nextCursor ?? null });
  },
});

export const readKey = reading({
  id: 'readKey',
  path: '/tenants/{tenantId}/keys/{keyId}',
  tag: 'Within a tenant',
  summary: 'Read one API key',
  query: {},
  successes: [success(200, 'The key, without its text.', { name: 'KeyState', schema: keyStateSchema })],
  errors: ['key-not-found'],
  async run(call) {
    const id = keyIdOf(call);
    const key = await findKey(call.context, await sessionOf(call), id);
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

export const rotateKey: OperatorOperation = {
  id: 'rotateKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys/{keyId}/rotate',
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
    const session = await sessionOf(call);
    const body = parseBody(await readJson(call.request), rotateShape);
    const rotation = { keyId: rotated, graceMs: 1000 * body.grace_seconds };
    const { key, former, revoked, text } = await session.rotateKey(call.context(), rotation, idempotencyKeyOf(call));
    const ended = { key_id: former.keyId, ends_at: optionalTimestamp(former.expiresAtMs), revoked };
    return jsonResponse(201, { ...keyRecord(key), key: text, former: ended });
  },
};

const identifyShape = {
  hash: z
    .string('must be a string')
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key: 64 hexadecimal characters, lower case')
    .meta({ description: 'The SHA-256 of the text that claims to be the key: the text itself is not sent.' }),
};
const EXAMPLE_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export const identifyKey: OperatorOperation = {
  id: 'identifyKey',
  method: 'POST',
  path: '/tenants/{tenantId}/keys/{keyId}/identify',
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
    const session = await sessionOf(call);
    const { hash } = parseBody(await readJson(call.request), identifyShape);
    const identified = await session.call(CALLS.identifyKey, call.context(), { keyId: claimed, hash });
    if (identified === undefined) throw noKey();
    return jsonResponse(200, { ...keyStateRecord(identified.key, call), matches: identified.matches });
  },
};

export const revokeKey: OperatorOperation = {
  id: 'revokeKey',
  method: 'DELETE',
  path: '/tenants/{tenantId}/keys/{keyId}',
  tag: 'Within a tenant',
  summary: 'Revoke an API key',
  successes: [success(204, 'The key was revoked.')],
  errors: ['key-not-found'],
  async run(call) {
    const session = await sessionOf(call);
    await session.call(CALLS.revokeKey, call.context(), keyIdOf(call));
    return { kind: 'empty' };
  },
};
