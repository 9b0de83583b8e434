// What the calls about API keys take and return, as part of the port of a shard (shard.ts).

import type { KeyId } from '../core/ids.ts';
import type { ScopeMask } from '../core/scopes.ts';

export interface NewKey {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: ScopeMask;
  readonly expiresAtMs: number | undefined;
  readonly hash: string;
}

export interface ListedKey {
  readonly keyId: KeyId;
  readonly name: string;
  readonly scopes: ScopeMask;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly lastUsedAtMs: number | undefined;
  /** The key in whose place a rotation created this one. */
  readonly rotatedFrom?: KeyId | undefined;
  /** The key that a rotation created in place of this one. */
  readonly rotatedTo?: KeyId | undefined;
}

/** A new key in place of another: with its name, scopes and expiry. */
export interface RotationRequest {
  readonly keyId: string;
  readonly newKeyId: string;
  /** Of the new key. */
  readonly hash: string;
  /** For how long the former key still works, if it does not end before; 0: it is revoked. */
  readonly graceMs: number;
}

export interface RotatedKey {
  readonly key: ListedKey;
  /** With its new end. */
  readonly former: ListedKey;
  /** The former key was revoked. */
  readonly revoked: boolean;
}

/** What a text that someone has found says about itself, and its hash. */
export interface KeyClaim {
  readonly keyId: KeyId;
  readonly hash: string;
}

export interface IdentifiedKey {
  readonly key: ListedKey;
  /** Whether the text is this key, not only one with its id. */
  readonly matches: boolean;
}
