// Creates an API key once, even if the response with its text is lost. Invariant: a successful call leaves exactly one
// key, and the caller has its text.

import type { Deadline } from './deadline.ts';
import { GrantdError } from './error.ts';
import type { CreatedKey, KeyRequest } from './generated/schemas.ts';
import { quoted, segmentOf } from './outgoing.ts';
import { checkKey, Field } from './shapes.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface KeyCreation extends KeyRequest {
  /** A repeat with the same one creates no second key. By default, each call has a random one. */
  readonly idempotency_key?: string | undefined;
}

async function send(
  transport: Transport,
  deadline: Deadline,
  body: KeyRequest,
  idempotencyKey: string,
): Promise<CreatedKey> {
  const headers = { 'idempotency-key': quoted(idempotencyKey, 'idempotency_key') };
  const reply = await transport.sendWithin(
    { operation: 'createKey', method: 'POST', path: '/v1/keys', body, headers, expected: [201] },
    deadline,
  );
  return Field.of(reply).checked<CreatedKey>((key) => {
    checkKey(key);
    key.at('key').text();
  });
}

async function revoke(transport: Transport, deadline: Deadline, keyId: string): Promise<void> {
  const path = `/v1/keys/${segmentOf(keyId, 'key_id')}`;
  try {
    await transport.sendWithin({ operation: 'revokeKey', method: 'DELETE', path, expected: [204] }, deadline);
  } catch (error) {
    if (!(error instanceof GrantdError) || error.type !== 'key-not-found') throw error;
  }
}

export async function createKey(
  transport: Transport,
  { idempotency_key: idempotencyKey, ...request }: KeyCreation,
  options: CallOptions,
): Promise<CreatedKey> {
  const deadline = transport.deadline(options);
  try {
    if (idempotencyKey !== undefined) return await send(transport, deadline, request, idempotencyKey);
    for (;;) {
      try {
        return await send(transport, deadline, request, crypto.randomUUID());
      } catch (error) {
        // Only a lost attempt of this call can have used the random Idempotency-Key, so that key was never delivered.
        if (!(error instanceof GrantdError) || error.type !== 'already-created' || error.keyId === undefined)
          throw error;
        await revoke(transport, deadline, error.keyId);
      }
    }
  } finally {
    deadline.close();
  }
}
