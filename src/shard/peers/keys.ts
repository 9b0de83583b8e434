// The calls about the API keys of a tenant: creating, rotating, revoking, listing and identifying them. Invariant: the
// hash of a key never leaves the shard.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { keyLinks } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { isDerivedId, type KeyId, parseKeyId } from '../../core/ids.ts';
import { decideKey, decideKeyRevocation, decideRotation, keyRevoked, revokedBefore } from '../log/key-decisions.ts';
import type { Decide, OperationResult } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { ListedKey, WriteUnderHandle } from '../shard.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import { under } from './grant-writes.ts';
import { sameHash } from './handles.ts';
import { type ListingContext, pageOf } from './listings.ts';
import { type Handler, type Peer, type ReadHandler, sizeOf } from './peer.ts';

/** The log records the name of a revoked or rotated key again: up to 256 code points, two characters each. */
const NAME_CHARACTERS_MAX = 512;
/** Both keys of a rotation: their names, and what else a second key adds to an operation. */
const ROTATION_CHARACTERS = 2 * NAME_CHARACTERS_MAX + 128;

function listedKey(key: ApiKeyRecord, lastUsedAtMs: number | undefined): ListedKey {
  const { keyId, name, scopes, createdAtMs, expiresAtMs } = key;
  return { keyId, name, scopes, createdAtMs, expiresAtMs, lastUsedAtMs, ...keyLinks(key) };
}

function parsedId(text: string): KeyId {
  const keyId = parseKeyId(text);
  assert(keyId !== undefined, 'a front creates well-formed key ids');
  return keyId;
}

export const createKey: Handler<'createKey'> = async (peer, by, key) => {
  const keyId = parsedId(key.keyId);
  if (isDerivedId(keyId) && (await hasRevoked(peer, by, keyId))) throw keyRevoked(keyId);
  const result = await write(peer, by, key.name.length, (memory) => decideKey(peer.shard, memory, { ...key, keyId }));
  assert(result.kind === 'key', 'a key operation has a key result');
  return listedKey(result.key, undefined);
};

export const rotateKey: Handler<'rotateKey'> = async (peer, by, { keyId: text, newKeyId, ...request }) => {
  const requested = { keyId: parsedId(text), newKeyId: parsedId(newKeyId), ...request };
  const { keyId } = requested;
  if (isDerivedId(requested.newKeyId) && (await hasRevoked(peer, by, requested.newKeyId))) {
    throw keyRevoked(newKeyId);
  }
  let result: OperationResult;
  try {
    result = await write(peer, by, ROTATION_CHARACTERS, (memory) => decideRotation(peer.shard, memory, requested));
  } catch (error) {
    // The key may have expired: once that is told, it stays so.
    if (error instanceof GrantdError && error.code === 'key-not-rotatable')
      await peer.handles.use(by.handle).tenure.advance();
    // The decision knows the live keys. Whether there was such a key, the state tables know for a while.
    const isUnknown = error instanceof GrantdError && error.code === 'key-not-found';
    throw isUnknown && (await hasRevoked(peer, by, keyId)) ? revokedBefore(keyId) : error;
  }
  assert(result.kind === 'key-rotated', 'a rotation has its result');
  const { key, former, revoked } = result;
  return { key: listedKey(key, undefined), former: listedKey(former, undefined), revoked };
};

export const revokeKey: Handler<'revokeKey'> = async (peer, by, keyId) => {
  await write(peer, by, NAME_CHARACTERS_MAX, (memory) => decideKeyRevocation(memory, keyId));
};

export const listKeys: ReadHandler<'listKeys'> = async (context, { memory }, query) => {
  using _keys = await memory.keys.pin();
  const keys = [...memory.keys.rows.values()].sort((left, right) => (left.keyId < right.keyId ? -1 : 1));
  const page = pageOf(context, ['keys', memory.tenantId], query, keys, ({ keyId }) => keyId);
  return { ...page, items: await withLastUse(context, memory, page.items) };
};

/** Reads a key, and compares the hash of the whole text that someone has found with that of the key. */
export const identifyKey: ReadHandler<'identifyKey'> = async (context, { memory }, { keyId, hash }) => {
  using _keys = await memory.keys.pin();
  const key = memory.keys.rows.get(keyId);
  if (key === undefined) return undefined;
  const [listed] = await withLastUse(context, memory, [key]);
  assert(listed !== undefined, 'each key is listed once');
  return { key: listed, matches: sameHash(key.hash, hash) };
};

/** Whether state has the key as revoked. */
async function hasRevoked(peer: Peer, by: WriteUnderHandle, keyId: KeyId): Promise<boolean> {
  const { tenure, memory } = peer.handles.use(by.handle);
  await tenure.applied();
  return memory.hasRevoked(keyId);
}

async function write(
  peer: Peer,
  by: WriteUnderHandle,
  characters: number,
  decide: (memory: TenantMemory) => Decide,
): Promise<OperationResult> {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _keys = await memory.keys.pin();
  peer.handles.assertGood(handle);
  return await peer.submit(handle, by.attempt, sizeOf(characters), under(handle, decide(memory)));
}

async function withLastUse(
  { store, clock }: Pick<ListingContext, 'store' | 'clock'>,
  memory: TenantMemory,
  keys: readonly ApiKeyRecord[],
): Promise<readonly ListedKey[]> {
  const keyIds = keys.map(({ keyId }) => keyId);
  const stored = await readFromStore(store.listKeyUses(memory.tenantId, keyIds, storeDeadline(clock)));
  return keys.map((key) => listedKey(key, memory.keyUses.get(key.keyId)?.usedAtMs ?? stored.get(key.keyId)));
}
