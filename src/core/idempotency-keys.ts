// The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) of requests that create a resource with an id.
// The id is derived from the key, so a repeat finds what the first request created, at any owner and after any failure,
// without storing anything. Invariants: different scopes never share an id; a derived id is recognizable as one; and
// the text of an API key is never derived, since anyone with the inputs could compute it.

import { createHash } from 'node:crypto';
import { GrantdError } from './errors.ts';
import { type KeyId, keyIdFromDigest, type TenantId, tenantIdFromDigest } from './ids.ts';

export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

const REFUSAL = `The header Idempotency-Key must have 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters of visible ASCII, with or without quotes.`;
/** Visible characters; between quotes also spaces, and `"` and `\` after a `\` (RFC 9651 section 3.3.3). */
const PRINTABLE = /^[ -~]*$/;
const BARE = /^[!#-~][!-~]*$/;
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

/** The key in the value of the header; undefined: the request has none. Throws `invalid-request`. */
export function parseIdempotencyKey(value: string | readonly string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' && PRINTABLE.test(value) ? value : '';
  const key = BARE.test(text) ? text : QUOTED.exec(text)?.[1]?.replaceAll(/\\(.)/g, '$1');
  if (key === undefined || key === '' || key.length > IDEMPOTENCY_KEY_LENGTH_MAX) {
    throw new GrantdError('invalid-request', REFUSAL);
  }
  return key;
}

/** No two lists of parts have the same digest: each part is preceded by its length. */
function digestOf(parts: readonly string[]): Uint8Array {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part, 'utf8');
  return hash.digest();
}

/** `creator`: the operator, or empty for the API keys of the tenant. */
export const derivedKeyId = (tenantId: TenantId, creator: string, idempotencyKey: string): KeyId =>
  keyIdFromDigest(digestOf(['key', tenantId, creator, idempotencyKey]));

export const derivedTenantId = (operator: string, idempotencyKey: string): TenantId =>
  tenantIdFromDigest(digestOf(['tenant', operator, idempotencyKey]));
