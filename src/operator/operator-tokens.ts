// Operator tokens: which operator holds which. Only SHA-256 hashes are kept. A comparison reads every known hash in
// full, so that its duration does not reveal a near match.

import { createHash, timingSafeEqual } from 'node:crypto';
import { assert } from '../core/assert.ts';

export interface OperatorTokens {
  /** The name of the operator with this token, or undefined if the token is unknown. */
  identify(token: string): string | undefined;
  /** The same by the token's SHA-256 in lower-case hexadecimal: a session does not keep the token. */
  nameOf(sha256: string): string | undefined;
}

interface OperatorTokenEntry {
  /** Appears in the audit log as `operator:<name>`. */
  readonly name: string;
  /** SHA-256 over the UTF-8 text of the token: 64 hexadecimal characters. */
  readonly sha256: string;
}

const SHA256_HEX = /^[0-9a-f]{64}$/i;

export function createOperatorTokens(entries: readonly OperatorTokenEntry[]): OperatorTokens {
  const known = entries.map(({ name, sha256 }) => {
    assert(SHA256_HEX.test(sha256), 'an operator token is given by its SHA-256 in hexadecimal');
    return { name, digest: Buffer.from(sha256, 'hex') };
  });
  const nameOf = (sha256: string): string | undefined => {
    const digest = Buffer.from(sha256, 'hex');
    let found: string | undefined;
    for (const entry of known) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.name;
    }
    return found;
  };
  return { identify: (token) => nameOf(hashOperatorToken(token)), nameOf };
}

/** The SHA-256 hash of a token. */
export function hashOperatorToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
