// Operator tokens: which operator holds which, and with which access. Only SHA-256 hashes are kept. A comparison reads
// every known hash in full, so that its duration does not reveal a near match.

import { createHash, timingSafeEqual } from 'node:crypto';
import { assert } from '../core/assert.ts';
import type { Operator, OperatorAccess } from '../core/scopes.ts';

export interface OperatorTokens {
  /** The operator with this token, or undefined if the token is unknown. */
  identify(token: string): Operator | undefined;
  /** The same by the token's SHA-256 in lower-case hexadecimal: a session does not keep the token. */
  operatorOf(sha256: string): Operator | undefined;
}

interface OperatorTokenEntry {
  /** Appears in the audit log as `operator:<name>`. */
  readonly name: string;
  /** SHA-256 over the UTF-8 text of the token: 64 hexadecimal characters. */
  readonly sha256: string;
  readonly access: OperatorAccess;
}

const SHA256_HEX = /^[0-9a-f]{64}$/i;

export function createOperatorTokens(entries: readonly OperatorTokenEntry[]): OperatorTokens {
  const known = entries.map(({ name, sha256, access }) => {
    assert(SHA256_HEX.test(sha256), 'an operator token is given by its SHA-256 in hexadecimal');
    return { operator: Object.freeze({ name, access }), digest: Buffer.from(sha256, 'hex') };
  });
  const operatorOf = (sha256: string): Operator | undefined => {
    const digest = Buffer.from(sha256, 'hex');
    let found: Operator | undefined;
    for (const entry of known) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.operator;
    }
    return found;
  };
  return { identify: (token) => operatorOf(hashOperatorToken(token)), operatorOf };
}

/** The SHA-256 hash of a token. */
export function hashOperatorToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}
