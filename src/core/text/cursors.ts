// Cursors: opaque positions in a listing. They are bound to the tenant and the query, and signed: a cursor cannot be
// forged, used for another tenant, or replayed on another query.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { assert } from '../assert.ts';

const SIGNATURE_LENGTH = 16;
/** A position is at most two identifiers (1,089 bytes each). */
export const CURSOR_LENGTH_MAX = 4096;
/** The header of a response with the next position, if the body has no place for it. */
export const CURSOR_HEADER = 'X-Service-Cursor';

/** A long cursor is part of the head of a request, which servers bound. */
export const LONG_CURSOR_LENGTH_MAX = 24 * 1024;

/** The signing secrets of the cluster: the current one first, then those still accepted. Each has 32 bytes or more. */
export type CursorSecrets = readonly [Uint8Array, ...Uint8Array[]];

/** The current secret, then those still accepted, from base64url. */
export function decodeCursorSecrets(texts: readonly string[]): CursorSecrets {
  const [current, ...previous] = texts.map((text) => Buffer.from(text, 'base64url'));
  assert(current !== undefined, 'the cluster has a cursor secret');
  return [current, ...previous];
}

/** Secrets for one purpose, which reveal nothing about those that they are derived from. */
export function cursorKeysFor(secrets: CursorSecrets, purpose: string): readonly string[] {
  return secrets.map((secret) => createHmac('sha256', secret).update(purpose).digest('base64url'));
}

/** The parts are length-prefixed, so that no two lists of parts have the same signature. */
function sign(secret: Uint8Array, scope: readonly string[], position: Uint8Array): Buffer {
  const hmac = createHmac('sha256', secret);
  for (const part of [...scope.map((text) => Buffer.from(text, 'utf8')), position]) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(part.length);
    hmac.update(length).update(part);
  }
  return hmac.digest().subarray(0, SIGNATURE_LENGTH);
}

/**
 * A cursor for `position` in the listing that `scope` identifies (the tenant and every selecting parameter). Base64url.
 */
export function createCursor(secrets: CursorSecrets, scope: readonly string[], position: string): string {
  return createLongCursor(secrets, scope, Buffer.from(position, 'utf8'));
}

/** The same for a position in bytes, which may be a long one. */
export function createLongCursor(secrets: CursorSecrets, scope: readonly string[], position: Uint8Array): string {
  return Buffer.concat([sign(secrets[0], scope, position), position]).toString('base64url');
}

/** The position of a cursor, or undefined unless it was created for this scope with one of these secrets. */
export function parseCursor(secrets: CursorSecrets, scope: readonly string[], cursor: string): string | undefined {
  return signedPosition(secrets, scope, cursor, CURSOR_LENGTH_MAX)?.toString('utf8');
}

export function parseLongCursor(
  secrets: CursorSecrets,
  scope: readonly string[],
  cursor: string,
): Uint8Array | undefined {
  return signedPosition(secrets, scope, cursor, LONG_CURSOR_LENGTH_MAX);
}

function signedPosition(
  secrets: CursorSecrets,
  scope: readonly string[],
  cursor: string,
  lengthMax: number,
): Buffer | undefined {
  if (cursor.length > lengthMax) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length < SIGNATURE_LENGTH || bytes.toString('base64url') !== cursor) return undefined;
  const position = bytes.subarray(SIGNATURE_LENGTH);
  const signature = bytes.subarray(0, SIGNATURE_LENGTH);
  const genuine = secrets.some((secret) => timingSafeEqual(signature, sign(secret, scope, position)));
  return genuine ? position : undefined;
}
