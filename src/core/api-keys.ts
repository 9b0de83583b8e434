// API keys: `gk1_` and 81 base62 characters of (tenant id, key id, 24 random bytes, CRC-32). The checksum detects
// accidents, not forgeries: a key is valid only if the SHA-256 of the full key is the stored one.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { assert } from './assert.ts';
import type { Random } from './async/clock.ts';
import { encodeUuid, type KeyId, parseKeyId, parseTenantId, type TenantId, uuidOf } from './ids.ts';
import type { ScopeMask } from './scopes.ts';

export const API_KEY_PREFIX = 'gk1_';
const BODY_LENGTH = 81;
const SECRET_LENGTH = 24;
const CHECKED_LENGTH = 16 + 16 + SECRET_LENGTH;
const PAYLOAD_LENGTH = CHECKED_LENGTH + 4;
export const API_KEY_LENGTH = API_KEY_PREFIX.length + BODY_LENGTH;
const KEY_TEXT = `${API_KEY_PREFIX}[0-9A-Za-z]{${BODY_LENGTH}}`;
const WHOLE_KEY = new RegExp(`^${KEY_TEXT}$`);
const ANY_KEY = new RegExp(KEY_TEXT, 'g');

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const digitValues = new Map([...ALPHABET].map((character, index) => [character, BigInt(index)]));
/** Digits handled at once: 62^8 is below 2^53, so a chunk is exact as a number; 62^9 would not be. */
const CHUNK_DIGITS = 8;
const CHUNK_BASE = 62n ** BigInt(CHUNK_DIGITS);

export interface ApiKeyParts {
  readonly tenantId: TenantId;
  readonly keyId: KeyId;
}

/** The stored part of an API key; never the key itself. */
export interface ApiKeyRecord {
  readonly keyId: KeyId;
  /** Up to 256 code points; may be empty. */
  readonly name: string;
  readonly scopes: ScopeMask;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
  /** Wall clock, ms since the Unix epoch; undefined: never. */
  readonly expiresAtMs: number | undefined;
  /** SHA-256 of the key in UTF-8: 64 hexadecimal characters, lower case. */
  readonly hash: string;
  /** The key that this one replaced in a rotation. */
  readonly rotatedFrom?: KeyId | undefined;
  /** The key that replaced this one in a rotation; this one ends at its expiry. */
  readonly rotatedTo?: KeyId | undefined;
}

/** The links of a key, as fields that are there only if the key has them. */
export const keyLinks = ({
  rotatedFrom,
  rotatedTo,
}: Pick<ApiKeyRecord, 'rotatedFrom' | 'rotatedTo'>): Pick<ApiKeyRecord, 'rotatedFrom' | 'rotatedTo'> => ({
  ...(rotatedFrom === undefined ? {} : { rotatedFrom }),
  ...(rotatedTo === undefined ? {} : { rotatedTo }),
});

function encodeBase62(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (value > 0n) {
    let chunk = Number(value % CHUNK_BASE);
    value /= CHUNK_BASE;
    for (let index = 0; index < CHUNK_DIGITS; index += 1) {
      text = `${ALPHABET[chunk % 62]}${text}`;
      chunk = Math.floor(chunk / 62);
    }
  }
  return text.slice(-BODY_LENGTH).padStart(BODY_LENGTH, '0');
}

function decodeBase62(text: string): Uint8Array | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = digitValues.get(character);
    if (digit === undefined) return undefined;
    value = value * 62n + digit;
  }
  const hex = value.toString(16).padStart(PAYLOAD_LENGTH * 2, '0');
  return hex.length === PAYLOAD_LENGTH * 2 ? Buffer.from(hex, 'hex') : undefined;
}

/** A new key. It is shown once and never stored. */
export function createApiKey(parts: ApiKeyParts, random: Random): string {
  const payload = Buffer.alloc(PAYLOAD_LENGTH);
  payload.set(uuidOf(parts.tenantId), 0);
  payload.set(uuidOf(parts.keyId), 16);
  payload.set(random.bytes(SECRET_LENGTH), 32);
  payload.writeUInt32BE(crc32(payload.subarray(0, CHECKED_LENGTH)), CHECKED_LENGTH);
  const text = API_KEY_PREFIX + encodeBase62(payload);
  assert(text.length === API_KEY_LENGTH, 'an API key has 85 characters');
  return text;
}

/** The tenant and key that this key claims, or undefined for anything that no factory could have created. No I/O. */
export function parseApiKey(text: string): ApiKeyParts | undefined {
  if (text.length !== API_KEY_LENGTH || !text.startsWith(API_KEY_PREFIX)) return undefined;
  const payload = decodeBase62(text.slice(API_KEY_PREFIX.length));
  if (payload === undefined) return undefined;
  const checksum = Buffer.from(payload).readUInt32BE(CHECKED_LENGTH);
  if (crc32(payload.subarray(0, CHECKED_LENGTH)) !== checksum) return undefined;
  const tenantId = parseTenantId(`ten_${encodeUuid(payload.subarray(0, 16))}`);
  const keyId = parseKeyId(`key_${encodeUuid(payload.subarray(16, 32))}`);
  return tenantId === undefined || keyId === undefined ? undefined : { tenantId, keyId };
}

/**
 * Why a token is no API key, for people who may have pasted another text or only a part. Reveals nothing beyond the
 * token itself. `what`: the subject of the sentence.
 */
export function apiKeyFault(text: string, what = 'The bearer token'): string {
  const is = `${what} is not an API key`;
  if (!text.startsWith(API_KEY_PREFIX)) return `${is}: an API key starts with ${API_KEY_PREFIX}.`;
  if (text.length !== API_KEY_LENGTH) {
    return `${is}: it has ${text.length} characters, and an API key has ${API_KEY_LENGTH}.`;
  }
  return `${is}: its checksum is wrong, so at least one character is.`;
}

/** Whether a string has the form of a key; does not verify the checksum. */
export const hasApiKeyForm = (text: string): boolean => WHOLE_KEY.test(text);

/** Removes keys from a string: the last safety net for everything that a process writes. */
export const withoutApiKeys = (text: string): string => text.replace(ANY_KEY, '[redacted]');

/** SHA-256 of the UTF-8 string: 64 hexadecimal characters, lower case. */
export function hashApiKey(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
