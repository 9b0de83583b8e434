// API keys of a tenant for operators: the shapes and rules of /v1/keys, and what only operators do with keys.

import { z } from 'zod';
import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../core/limits.ts';
import { keyRecord, listedKeyRecord } from '../../../core/records.ts';
import { scopeMask } from '../../../core/scopes.ts';
import { optionalTimestamp } from '../../../core/text/timestamps.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { ListedKey } from '../../../shard/shard.ts';
import { readJson } from '../../body.ts';
import { findKey } from '../../find-key.ts';
import { keyName, parseBody, parsePage, parseQuery, scopes, timestamp } from '../../schemas.ts';
import { type ApiResponse, type Call, idempotencyKeyOf, keyIdOf, type Operation, sessionOf } from '../operation.ts';

/** With the links of a rotation, which only operators see. */
const operatorKeyRecord = (key: ListedKey) => ({
  ...listedKeyRecord(key),
  rotated_from: key.rotatedFrom ?? null,
  rotated_to: key.rotatedTo ?? null,
});

type WallClock = Pick<Clock, 'wallMs'>;

const keyStateRecord = (key: ListedKey, clock: WallClock) => {
  const hasExpired = key.expiresAtMs !== undefined && key.expiresAtMs <= clock.wallMs();
  return { ...operatorKeyRecord(key), state: hasExpired ? 'expired' : 'active' };
};

const noKey = (): GrantdError => new GrantdError('key-not-found', 'The tenant has no active API key with this ID.');

async function readKey(operatorApi: OperatorApi, clock: WallClock, call: Call): Promise<ApiResponse> {
  parseQuery(call.search, {});
  const keyId = keyIdOf(call);
  const session = await sessionOf(operatorApi, call);
  const key = await findKey(call.context, session, keyId);
  if (key === undefined) throw noKey();
  return { kind: 'json', status: 200, body: keyStateRecord(key, clock) };
}

async function rotateKey(operatorApi: OperatorApi, call: Call): Promise<ApiResponse> {
  parseQuery(call.search, {});
  const keyId = keyIdOf(call);
  const session = await sessionOf(operatorApi, call);
  const body = parseBody(await readJson(call.request), rotateKeyShape);
  const rotation = { keyId, graceMs: 1000 * body.grace_seconds };
  const { key, former, revoked, text } = await session.rotateKey(call.context(), rotation, idempotencyKeyOf(call));
  const ended = { key_id: former.keyId, ends_at: optionalTimestamp(former.expiresAtMs), revoked };
  return { kind: 'json', status: 201, body: { ...keyRecord(key), key: text, former: ended } };
}

async function identifyKey(operatorApi: OperatorApi, clock: WallClock, call: Call): Promise<ApiResponse> {
  parseQuery(call.search, {});
  const keyId = keyIdOf(call);
  const session = await sessionOf(operatorApi, call);
  const { hash } = parseBody(await readJson(call.request), identifyKeyShape);
  const identified = await session.call(CALLS.identifyKey, call.context(), { keyId, hash });
  if (identified === undefined) throw noKey();
  return { kind: 'json', status: 200, body: { ...keyStateRecord(identified.key, clock), matches: identified.matches } };
}

export const createKeyShape = { name: keyName.default(''), scopes, expires_at: timestamp.nullish() };

const SECONDS_MAX = ROTATION_GRACE_MS_MAX / 1000;
const graceRule = `must be a whole number of seconds from 0 to ${SECONDS_MAX}`;

export const rotateKeyShape = {
  grace_seconds: z
    .int(graceRule)
    .min(0, graceRule)
    .max(SECONDS_MAX, graceRule)
    .default(ROTATION_GRACE_MS_DEFAULT / 1000)
    .meta({ description: 'For how long the former key still works, if it does not expire before; 0: it is revoked.' }),
};

export const identifyKeyShape = {
  hash: z
    .string('must be a string')
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key: 64 hexadecimal characters, lower case')
    .meta({ description: 'The SHA-256 of the text that claims to be the key: the text itself is not sent.' }),
};

export function keyOperations(operatorApi: OperatorApi, clock: WallClock): readonly Operation[] {
  return [
    {
      method: 'POST',
      path: '/tenants/:tenantId/keys',
      name: 'operator-create-key',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        const body = parseBody(await readJson(call.request), createKeyShape);
        const expiresAtMs = body.expires_at ?? undefined;
        if (expiresAtMs !== undefined && expiresAtMs <= clock.wallMs()) {
          throw new GrantdError('invalid-request', 'The field "expires_at" must be in the future.');
        }
        const key = { name: body.name, scopes: scopeMask(body.scopes), expiresAtMs };
        const { record, text } = await session.createKey(call.context(), key, idempotencyKeyOf(call));
        return { kind: 'json', status: 201, body: { ...keyRecord(record), key: text } };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/keys',
      name: 'operator-list-keys',
      access: 'read-only',
      async run(call) {
        const query = parsePage(call.search);
        const session = await sessionOf(operatorApi, call);
        const page = await session.call(CALLS.listKeys, call.context(), query);
        return {
          kind: 'json',
          status: 200,
          body: { keys: page.items.map(operatorKeyRecord), next_cursor: page.nextCursor ?? null },
        };
      },
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/keys/:keyId',
      name: 'operator-read-key',
      access: 'read-only',
      run: (call) => readKey(operatorApi, clock, call),
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/keys/:keyId/rotate',
      name: 'operator-rotate-key',
      run: (call) => rotateKey(operatorApi, call),
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/keys/:keyId/identify',
      name: 'operator-identify-key',
      access: 'read-only',
      run: (call) => identifyKey(operatorApi, clock, call),
    },
    {
      method: 'DELETE',
      path: '/tenants/:tenantId/keys/:keyId',
      name: 'operator-revoke-key',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        await session.call(CALLS.revokeKey, call.context(), keyIdOf(call));
        return { kind: 'empty' };
      },
    },
  ];
}
