// API keys of a tenant for operators: the same shapes and rules as under /v1/keys.

import type { Clock } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import { keyRecord, listedKeyRecord } from '../../../core/records.ts';
import { scopeMask } from '../../../core/scopes.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { readJson } from '../../body.ts';
import { findKey } from '../../find-key.ts';
import { keyName, parseBody, parsePage, parseQuery, scopes, timestamp } from '../../schemas.ts';
import { type ApiResponse, type Call, idempotencyKeyOf, keyIdOf, type Operation, sessionOf } from '../operation.ts';

async function readKey(operatorApi: OperatorApi, clock: Pick<Clock, 'wallMs'>, call: Call): Promise<ApiResponse> {
  parseQuery(call.search, {});
  const keyId = keyIdOf(call);
  const session = await sessionOf(operatorApi, call);
  const key = await findKey(call.context, session, keyId);
  if (key === undefined) throw new GrantdError('key-not-found', 'The tenant has no active API key with this ID.');
  const hasExpired = key.expiresAtMs !== undefined && key.expiresAtMs <= clock.wallMs();
  return { kind: 'json', status: 200, body: { ...listedKeyRecord(key), state: hasExpired ? 'expired' : 'active' } };
}

export const createKeyShape = { name: keyName.default(''), scopes, expires_at: timestamp.nullish() };

export function keyOperations(operatorApi: OperatorApi, clock: Pick<Clock, 'wallMs'>): readonly Operation[] {
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
        const page = await session.listKeys(call.context(), query);
        return {
          kind: 'json',
          status: 200,
          body: { keys: page.items.map(listedKeyRecord), next_cursor: page.nextCursor ?? null },
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
      method: 'DELETE',
      path: '/tenants/:tenantId/keys/:keyId',
      name: 'operator-revoke-key',
      async run(call) {
        const session = await sessionOf(operatorApi, call);
        await session.revokeKey(call.context(), keyIdOf(call));
        return { kind: 'empty' };
      },
    },
  ];
}
