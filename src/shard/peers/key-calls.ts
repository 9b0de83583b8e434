// The calls about the API keys of a tenant: creating, rotating, revoking, listing and identifying them. Invariant: the
// hash of a key never leaves the shard.

import type { ApiKeyRecord } from '../../core/api-keys.ts';
import { keyLinks } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { isDerivedId, type KeyId, parseKeyId } from '../../core/ids.ts';
import { decideKey, decideKeyRevocation, decideRotation, keyRevoked, revokedBefore } from '../log/key-decisions.ts';
import type { Decide, DecideContext, OperationResult } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type {
  Attempt,
  IdentifiedKey,
  KeyClaim,
  ListedKey,
  NewKey,
  PageQuery,
  ResultPage,
  RotatedKey,
  RotationRequest,
} from '../shard.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';
import { under } from './grant-writes.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import { sameHash } from './handles.ts';
import { pageOf } from './listings.ts';

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

export class KeyCalls {
  readonly #dependencies: HandleCallsDependencies & DecideContext;
  readonly #calls: HandleCalls;

  constructor(dependencies: HandleCallsDependencies & DecideContext, calls: HandleCalls) {
    this.#dependencies = dependencies;
    this.#calls = calls;
  }

  async create(number: number, attempt: Attempt, key: NewKey): Promise<ListedKey> {
    const keyId = parsedId(key.keyId);
    if (isDerivedId(keyId) && (await this.#hasRevoked(number, keyId))) throw keyRevoked(keyId);
    const result = await this.#write(number, attempt, key.name.length, (memory) =>
      decideKey(this.#dependencies, memory, { ...key, keyId }),
    );
    assert(result.kind === 'key', 'a key operation has a key result');
    return listedKey(result.key, undefined);
  }

  async rotate(
    number: number,
    attempt: Attempt,
    { keyId: text, newKeyId, ...request }: RotationRequest,
  ): Promise<RotatedKey> {
    const requested = { keyId: parsedId(text), newKeyId: parsedId(newKeyId), ...request };
    const { keyId } = requested;
    if (isDerivedId(requested.newKeyId) && (await this.#hasRevoked(number, requested.newKeyId))) {
      throw keyRevoked(newKeyId);
    }
    let result: OperationResult;
    try {
      result = await this.#write(number, attempt, ROTATION_CHARACTERS, (memory) =>
        decideRotation(this.#dependencies, memory, requested),
      );
    } catch (error) {
      // The decision knows the live keys. Whether there was such a key, the state tables know for a while.
      const isUnknown = error instanceof GrantdError && error.code === 'key-not-found';
      throw isUnknown && (await this.#hasRevoked(number, keyId)) ? revokedBefore(keyId) : error;
    }
    assert(result.kind === 'key-rotated', 'a rotation has its result');
    const { key, former, revoked } = result;
    return { key: listedKey(key, undefined), former: listedKey(former, undefined), revoked };
  }

  async revoke(number: number, attempt: Attempt, keyId: string): Promise<void> {
    await this.#write(number, attempt, NAME_CHARACTERS_MAX, (memory) => decideKeyRevocation(memory, keyId));
  }

  async list(number: number, query: PageQuery): Promise<ResultPage<ListedKey>> {
    return this.#calls.read(number, async ({ memory }) => {
      using _keys = await memory.keys.pin();
      const keys = [...memory.keys.rows.values()].sort((left, right) => (left.keyId < right.keyId ? -1 : 1));
      const page = pageOf(this.#dependencies, ['keys', memory.tenantId], query, keys, ({ keyId }) => keyId);
      return { ...page, items: await this.#listed(memory, page.items) };
    });
  }

  /** Reads a key, and compares the hash of the whole text that someone has found with that of the key. */
  async identify(number: number, { keyId, hash }: KeyClaim): Promise<IdentifiedKey | undefined> {
    return this.#calls.read(number, async ({ memory }) => {
      using _keys = await memory.keys.pin();
      const key = memory.keys.rows.get(keyId);
      if (key === undefined) return undefined;
      const [listed] = await this.#listed(memory, [key]);
      assert(listed !== undefined, 'each key is listed once');
      return { key: listed, matches: sameHash(key.hash, hash) };
    });
  }

  /** Whether state has the key as revoked. */
  async #hasRevoked(number: number, keyId: KeyId): Promise<boolean> {
    const { tenure, memory } = this.#calls.handles.use(number);
    await tenure.applied();
    return memory.hasRevoked(keyId);
  }

  async #write(
    number: number,
    attempt: Attempt,
    characters: number,
    decide: (memory: TenantMemory) => Decide,
  ): Promise<OperationResult> {
    const handle = this.#calls.handles.use(number);
    const { memory } = handle;
    using _keys = await memory.keys.pin();
    this.#calls.handles.assertGood(handle);
    return await this.#calls.submit(handle, attempt, characters, under(handle, decide(memory)));
  }

  async #listed(memory: TenantMemory, keys: readonly ApiKeyRecord[]): Promise<readonly ListedKey[]> {
    const { store, clock } = this.#dependencies;
    const keyIds = keys.map(({ keyId }) => keyId);
    const stored = await readFromStore(store.listKeyUses(memory.tenantId, keyIds, storeDeadline(clock)));
    return keys.map((key) => listedKey(key, memory.keyUses.get(key.keyId)?.usedAtMs ?? stored.get(key.keyId)));
  }
}
