// Identifiers: a type prefix and a UUIDv7 (RFC 9562 section 5.7) as 26 characters of lower-case Crockford base32. Ids
// that a factory creates within one millisecond differ by 74 random bits; they are not ordered within it. An id that is
// derived from a digest has a UUIDv8 (section 5.8) instead, which has no time.

import { assert } from './assert.ts';
import type { Clock, Random } from './async/clock.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Branded<'TenantId'>;
export type KeyId = Branded<'KeyId'>;
/** Identifies one store and all processes that work on it. A restored copy of a store gets another one. */
export type ClusterId = Branded<'ClusterId'>;

export type IdPrefix = 'ten' | 'grt' | 'key' | 'req' | 'inc' | 'ent' | 'clu';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const UUID_LENGTH = 16;
const TEXT_LENGTH = 26;
const TIME_LENGTH = 6;
const RANDOM_LENGTH = UUID_LENGTH - TIME_LENGTH;
/** Random bytes are drawn for this many ids at once, since a draw costs more than an id. */
const POOL_IDS = 256;

/** Two characters for each ten bits. */
const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
const pair = (bits: number): string => PAIRS[bits] ?? '';

/** Encodes five bytes from `start` on as eight characters. */
function encodeFive(bytes: Uint8Array, start: number): string {
  const high = ((bytes[start] ?? 0) << 8) | (bytes[start + 1] ?? 0);
  const middle = bytes[start + 2] ?? 0;
  const low = ((bytes[start + 3] ?? 0) << 8) | (bytes[start + 4] ?? 0);
  return (
    pair(high >>> 6) +
    pair(((high & 63) << 4) | (middle >>> 4)) +
    pair(((middle & 15) << 6) | (low >>> 10)) +
    pair(low & 1023)
  );
}

/** Encodes 6 bytes as 10 characters; the first two of the 50 bits are zero. */
function encodeSix(bytes: Uint8Array): string {
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = bytes;
  return (
    pair(first) +
    pair((second << 2) | (third >>> 6)) +
    pair(((third & 63) << 4) | (fourth >>> 4)) +
    pair(((fourth & 15) << 6) | (fifth >>> 2)) +
    pair(((fifth & 3) << 8) | sixth)
  );
}

/** Encodes 16 bytes as 26 characters; the first two of the 130 bits are zero. */
export function encodeUuid(bytes: Uint8Array): string {
  assert(bytes.length === UUID_LENGTH, 'a UUID has 16 bytes');
  return encodeSix(bytes) + encodeFive(bytes, 6) + encodeFive(bytes, 11);
}

/** The five bits of each character code; 255: not in the alphabet. */
const BITS = new Uint8Array(128).fill(255);
for (const [bits, character] of [...ALPHABET].entries()) BITS[character.charCodeAt(0)] = bits;

/** 32-bit words of a UUID. */
export const UUID_WORDS = 4;

/**
 * Decodes the UUID from `start` to the end of `text` into four words at `at`. False if that is not an output of
 * `encodeUuid`; the words then have arbitrary values.
 */
export function readUuidWords(text: string, start: number, words: Uint32Array, at: number): boolean {
  if (text.length - start !== TEXT_LENGTH) return false;
  let word = at;
  // The first two bits are padding.
  let bits = -2;
  let buffer = 0;
  for (let index = 0; index < TEXT_LENGTH; index += 1) {
    const value = BITS[text.charCodeAt(start + index)] ?? 255;
    if (value > 31 || (index === 0 && value > 7)) return false;
    const over = bits + 5 - 32;
    if (over < 0) {
      buffer = (buffer << 5) | value;
      bits += 5;
      continue;
    }
    words[word] = (buffer << (5 - over)) | (value >>> over);
    word += 1;
    buffer = value & ((1 << over) - 1);
    bits = over;
  }
  return true;
}

function uuidAt(words: Uint32Array, at: number): Uint8Array {
  const bytes = new Uint8Array(UUID_LENGTH);
  const view = new DataView(bytes.buffer);
  for (let word = 0; word < UUID_WORDS; word += 1) view.setUint32(4 * word, words[at + word] ?? 0);
  return bytes;
}

/** The text of the UUID in four words at `at`, as `readUuidWords` has read it. */
export const uuidTextOf = (words: Uint32Array, at: number): string => encodeUuid(uuidAt(words, at));

/** The inverse of `encodeUuid`; undefined for a string that it never returns. */
export function decodeUuid(text: string): Uint8Array | undefined {
  const words = new Uint32Array(UUID_WORDS);
  return readUuidWords(text, 0, words, 0) ? uuidAt(words, 0) : undefined;
}

function parseId(prefix: IdPrefix, text: string): string | undefined {
  return text.startsWith(`${prefix}_`) && decodeUuid(text.slice(prefix.length + 1)) !== undefined ? text : undefined;
}

export function parseTenantId(text: string): TenantId | undefined {
  return parseId('ten', text) as TenantId | undefined;
}

export function parseKeyId(text: string): KeyId | undefined {
  return parseId('key', text) as KeyId | undefined;
}

export function parseClusterId(text: string): ClusterId | undefined {
  return parseId('clu', text) as ClusterId | undefined;
}

/** The 16 bytes of an id that a parser or factory of this file has returned. */
export function uuidOf(id: string): Uint8Array {
  const bytes = decodeUuid(id.slice(id.indexOf('_') + 1));
  assert(bytes !== undefined, 'an id holds a UUID');
  return bytes;
}

/** The creation time of an id, wall clock in ms; undefined for a string that is not the output of a factory. */
export function timeOfId(id: string): number | undefined {
  const start = id.indexOf('_') + 1;
  if (id.length - start !== TEXT_LENGTH) return undefined;
  // Two bits of padding, then the 48 bits of the time.
  let timeMs = 0;
  for (let index = start; index < start + 10; index += 1) {
    const value = BITS[id.charCodeAt(index)] ?? 255;
    if (value > 31) return undefined;
    timeMs = timeMs * 32 + value;
  }
  return timeMs;
}

/** A UUIDv8 of the first 16 bytes of a digest, but for its version and variant. */
function derivedUuid(digest: Uint8Array): string {
  const bytes = Uint8Array.from(digest.subarray(0, UUID_LENGTH));
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return encodeUuid(bytes);
}

export const keyIdFromDigest = (digest: Uint8Array): KeyId => `key_${derivedUuid(digest)}` as KeyId;
export const tenantIdFromDigest = (digest: Uint8Array): TenantId => `ten_${derivedUuid(digest)}` as TenantId;

/** The id right before that of a key, in the order of ids. */
export function keyIdBefore(keyId: KeyId): KeyId {
  const bytes = uuidOf(keyId);
  // A UUID has a version, so it is never zero.
  for (let index = UUID_LENGTH - 1; index >= 0; index -= 1) {
    const byte = bytes[index] ?? 0;
    bytes[index] = (byte + 255) & 255;
    if (byte > 0) break;
  }
  return `key_${encodeUuid(bytes)}` as KeyId;
}

/** Whether an id was derived from a digest. The version of its UUID follows the ten characters of the time. */
export function isDerivedId(id: string): boolean {
  return (BITS[id.charCodeAt(id.indexOf('_') + 11)] ?? 0) >> 1 === 8;
}

export class IdFactory {
  readonly #clock: Clock;
  readonly #random: Random;
  #pool: Uint8Array = new Uint8Array(0);
  #used = 0;
  #timeMs = Number.NaN;
  #time = '';

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  create(prefix: 'ten'): TenantId;
  create(prefix: 'key'): KeyId;
  create(prefix: 'clu'): ClusterId;
  create(prefix: IdPrefix): string;
  create(prefix: IdPrefix): string {
    if (this.#used + RANDOM_LENGTH > this.#pool.length) {
      this.#pool = this.#random.bytes(RANDOM_LENGTH * POOL_IDS);
      this.#used = 0;
    }
    const start = this.#used;
    const bytes = this.#pool;
    // Version and variant occupy fixed bits among the random ones.
    bytes[start] = 0x70 | ((bytes[start] ?? 0) & 0x0f);
    bytes[start + 2] = 0x80 | ((bytes[start + 2] ?? 0) & 0x3f);
    this.#used += RANDOM_LENGTH;
    return `${prefix}_${this.#timeText()}${encodeFive(bytes, start)}${encodeFive(bytes, start + 5)}`;
  }

  /** The first ten characters, the same for all ids of a millisecond. */
  #timeText(): string {
    const wallMs = this.#clock.wallMs();
    if (wallMs !== this.#timeMs) {
      const bytes = new Uint8Array(TIME_LENGTH);
      const high = Math.floor(wallMs / 0x1_0000_0000);
      const low = wallMs >>> 0;
      bytes.set([high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low]);
      this.#timeMs = wallMs;
      this.#time = encodeSix(bytes);
    }
    return this.#time;
  }
}
