// Decides the writes of API keys: creation, rotation, revocation. Invariants: a derived id is used once; a rotation can
// only bring the end of the old key forward; a key has one successor at most; and the time of the slot decides whether
// an end lies in the future, as it does when the key is used.

import { type ApiKeyRecord, keyLinks } from '../../core/api-keys.ts';
import { GrantdError } from '../../core/errors.ts';
import { expiryPassedInLog } from '../../core/grant-terms.ts';
import type { KeyId } from '../../core/ids.ts';
import { resolvePlan } from '../../core/plans.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { Draft } from './draft.ts';
import { assertLives, type Decide, type DecideContext, limitReached } from './write-decisions.ts';

export const keyRevoked = (keyId: string): GrantdError =>
  new GrantdError('already-created', `An earlier request has created the API key ${keyId}, which was revoked since.`);

function refusalOfKey(
  { keyId, name, scopes, expiresAtMs, rotatedTo }: ApiKeyRecord,
  asked: Omit<ApiKeyRecord, 'createdAtMs'>,
): GrantdError {
  // A rotation has changed the expiry.
  const sameExpiry = expiresAtMs === asked.expiresAtMs || rotatedTo !== undefined;
  return name === asked.name && scopes === asked.scopes && sameExpiry
    ? new GrantdError(
        'already-created',
        `An earlier request has created the API key ${keyId}. Its text was shown only in the response to that request.`,
      )
    : new GrantdError(
        'idempotency-key-reused',
        `An earlier request has created the API key ${keyId}, with other fields.`,
      );
}

function demandCapacity({ plans, onRefused }: DecideContext, memory: TenantMemory, draft: Draft): void {
  const { keysMax } = resolvePlan(plans, draft.tenant(memory).plan);
  if (draft.keyCount(memory) < keysMax) return;
  onRefused('key-limit-reached');
  throw new GrantdError('key-limit-reached', limitReached(memory, 'API keys', keysMax));
}

export function decideKey(
  context: DecideContext,
  memory: TenantMemory,
  key: Omit<ApiKeyRecord, 'createdAtMs'>,
): Decide {
  return (draft) => {
    assertLives(draft, memory);
    // Only a derived id can exist already. A repeat gets this refusal even if the limit is reached.
    const present = draft.key(memory, key.keyId);
    if (present !== undefined) throw refusalOfKey(present, key);
    if (draft.revokes(memory.tenantId, key.keyId)) throw keyRevoked(key.keyId);
    const { nowMs } = draft;
    const { expiresAtMs } = key;
    if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
      throw new GrantdError('invalid-request', expiryPassedInLog(expiresAtMs, nowMs, context.clock.wallMs()));
    }
    demandCapacity(context, memory, draft);
    const record = { ...key, createdAtMs: context.clock.wallMs() };
    return { result: { kind: 'key', key: record }, changes: [{ kind: 'key-created', key: record }] };
  };
}

export function decideKeyRevocation(memory: TenantMemory, keyId: string): Decide {
  return (draft) => {
    assertLives(draft, memory);
    const key = draft.key(memory, keyId);
    if (key === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    return { result: { kind: 'key-revoked' }, changes: [{ kind: 'key-revoked', key }] };
  };
}

const notRotatable = (keyId: KeyId, why: string): GrantdError =>
  new GrantdError('key-not-rotatable', `The API key ${keyId} ${why}. Nothing was changed.`);

export const revokedBefore = (keyId: KeyId): GrantdError => notRotatable(keyId, 'was revoked');

/** A repeat finds the key that the first request created, whatever the state of the old key. */
function refusalOfSuccessor(present: ApiKeyRecord, formerId: KeyId): GrantdError {
  return present.rotatedFrom === formerId
    ? new GrantdError(
        'already-created',
        `An earlier request has rotated the API key ${formerId} to ${present.keyId}. The text of the new key was shown only in the response to that request.`,
      )
    : new GrantdError('idempotency-key-reused', `An earlier request has created the API key ${present.keyId}.`);
}

export interface RequestedRotation {
  readonly keyId: KeyId;
  readonly newKeyId: KeyId;
  readonly hash: string;
  /** The time for which the old key still works; 0: it is revoked. */
  readonly graceMs: number;
}

/** The end of the old key goes by the time of the slot, as every expiry of a key does. */
export function decideRotation(context: DecideContext, memory: TenantMemory, requested: RequestedRotation): Decide {
  const { keyId, newKeyId, hash, graceMs } = requested;
  return (draft) => {
    assertLives(draft, memory);
    const present = draft.key(memory, newKeyId);
    if (present !== undefined) throw refusalOfSuccessor(present, keyId);
    if (draft.revokes(memory.tenantId, newKeyId)) throw keyRevoked(newKeyId);
    if (draft.revokes(memory.tenantId, keyId)) throw revokedBefore(keyId);
    const key = draft.key(memory, keyId);
    if (key === undefined) throw new GrantdError('key-not-found', 'The tenant has no live API key with this id.');
    const { nowMs } = draft;
    const { expiresAtMs, rotatedTo } = key;
    if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
      throw notRotatable(keyId, `has expired at ${formatTimestamp(expiresAtMs)}`);
    }
    // Its own expiry was overwritten: a second successor would end with the grace.
    if (rotatedTo !== undefined) {
      throw notRotatable(keyId, `has been rotated to ${rotatedTo} before; if that key is lost, create another one`);
    }
    const revoked = graceMs === 0;
    // The new key takes the place of a key that is revoked.
    if (!revoked) demandCapacity(context, memory, draft);
    const endsAtMs = Math.min(expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + graceMs);
    const former: ApiKeyRecord = { ...key, expiresAtMs: endsAtMs, rotatedTo: newKeyId };
    const { name, scopes } = key;
    const successor = { keyId: newKeyId, name, scopes, createdAtMs: nowMs, expiresAtMs, hash };
    const rotation = { key: { ...successor, ...keyLinks({ rotatedFrom: keyId }) }, former, revoked };
    return { result: { kind: 'key-rotated', ...rotation }, changes: [{ kind: 'key-rotated', ...rotation }] };
  };
}
