// The attributes of a grant, in addition to its tuple: each with its name in the log, in tables, in the audit log and
// in JSON. All code that stores, sends or shows a grant uses this file. A new attribute is therefore added here and,
// for new columns, in a migration. Invariant: stored grants stay readable. So attributes are only ever appended to the
// list, and one that older versions did not write must have a meaning if it is absent.

import { readUuidWords, timeOfId, UUID_WORDS, uuidTextOf } from './ids.ts';
import { formatTimestamp, optionalTimestamp } from './text/timestamps.ts';

export interface GrantAttributes {
  /** `grt_…` */
  readonly grantId: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
  /** From this moment on, by the slot's time, the grant does not hold. Absent: it never expires. */
  readonly expiresAtMs?: number;
}

export interface GrantAttribute {
  /** The name in memory and in log entries. */
  readonly field: keyof GrantAttributes;
  /** The name in tables. */
  readonly column: string;
  /** The index among the attributes, if they form a list. */
  readonly index: number;
}

const GRANT_ID = { field: 'grantId', column: 'grant_id', index: 0 } as const;
const CREATED_AT = { field: 'createdAtMs', column: 'created_at_ms', index: 1 } as const;
/** Left out of a grant that never expires. */
const EXPIRES_AT = { field: 'expiresAtMs', column: 'expires_at_ms', index: 2 } as const;
/** A column holds this for a grant that never expires: the row may hold the expiry of an earlier grant. */
const NEVER = 0;

/** In the order of the columns. */
export const GRANT_ATTRIBUTES: readonly GrantAttribute[] = [GRANT_ID, CREATED_AT, EXPIRES_AT];

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const integerIn = (value: unknown): number | undefined => {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
};

/** Reads the attributes from fields of JSON or columns of a row. Undefined: they are not those of a grant. */
export function readGrantAttributes(read: (attribute: GrantAttribute) => unknown): GrantAttributes | undefined {
  const grantId = textIn(read(GRANT_ID));
  const createdAtMs = integerIn(read(CREATED_AT));
  if (grantId === undefined || createdAtMs === undefined) return undefined;
  const stored = read(EXPIRES_AT);
  if (stored === undefined || stored === null) return { grantId, createdAtMs };
  const expiresAtMs = integerIn(stored);
  if (expiresAtMs === undefined) return undefined;
  return expiresAtMs === NEVER ? { grantId, createdAtMs } : { grantId, createdAtMs, expiresAtMs };
}

/** The values of the columns, in their order. */
export const grantColumnValues = (attributes: GrantAttributes): readonly (string | number)[] => [
  attributes.grantId,
  attributes.createdAtMs,
  attributes.expiresAtMs ?? NEVER,
];

/** Only the attributes of a larger object, in the order of the log. */
export const attributesOf = ({ grantId, createdAtMs, expiresAtMs }: GrantAttributes): GrantAttributes =>
  expiresAtMs === undefined ? { grantId, createdAtMs } : { grantId, createdAtMs, expiresAtMs };

/** The same grant with another end; undefined: it never ends. */
export const withExpiry = ({ grantId, createdAtMs }: GrantAttributes, expiresAtMs: number | undefined) =>
  attributesOf(expiresAtMs === undefined ? { grantId, createdAtMs } : { grantId, createdAtMs, expiresAtMs });

/** Whether the grant has ended at this moment of its slot's time. */
export const hasExpired = ({ expiresAtMs }: GrantAttributes, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

/** A grant as JSON, in both APIs. */
export const grantRecord = (
  grant: GrantAttributes & { readonly subject: string; readonly relation: string; readonly object: string },
) => ({
  grant_id: grant.grantId,
  subject: grant.subject,
  relation: grant.relation,
  object: grant.object,
  created_at: formatTimestamp(grant.createdAtMs),
  expires_at: optionalTimestamp(grant.expiresAtMs),
});

/** What the audit log stores of a grant in addition to its tuple. */
export const auditedAttributes = ({ grantId, expiresAtMs }: GrantAttributes): object =>
  expiresAtMs === undefined ? { grant_id: grantId } : { grant_id: grantId, expires_at: formatTimestamp(expiresAtMs) };

/**
 * Whether a grant's id determines all its attributes but the expiry, so that `attributesOfId` restores them. True for
 * every grant created here.
 */
export const isToldById = ({ grantId, createdAtMs }: GrantAttributes): boolean => timeOfId(grantId) === createdAtMs;

export const attributesOfId = (grantId: string): GrantAttributes => ({
  grantId,
  createdAtMs: timeOfId(grantId) ?? 0,
});

/** Bytes of the two numbers that a packed grant may consist of, one character for each byte. */
const EXPIRY_BYTES = 6;
const EXPIRY_LIMIT_MS = 2 ** (8 * EXPIRY_BYTES);
const GRANT_ID_PREFIX = 'grt_';

/** Length of a packed grant whose id determines all its attributes: the bytes of its UUID. */
export const PACKED_ID_LENGTH = 4 * UUID_WORDS;
const PACKED_EXPIRING_LENGTH = PACKED_ID_LENGTH + EXPIRY_BYTES;

const words = new Uint32Array(UUID_WORDS);
const bytes = Buffer.alloc(PACKED_EXPIRING_LENGTH);

/**
 * As one string, to save memory: separate objects would take half of a grant's memory, and the text of the id three
 * times the memory of its bytes. Attributes of an uncommon form are written out, at a length that no other form has.
 */
export function packAttributes(attributes: GrantAttributes): string {
  const { grantId, createdAtMs, expiresAtMs } = attributes;
  const isShort = expiresAtMs === undefined || expiresAtMs < EXPIRY_LIMIT_MS;
  if (isShort && isToldById(attributes) && readGrantWords(grantId)) {
    for (let word = 0; word < UUID_WORDS; word += 1) bytes.writeUInt32BE(words[word] ?? 0, 4 * word);
    if (expiresAtMs === undefined) return bytes.toString('latin1', 0, PACKED_ID_LENGTH);
    bytes.writeUIntBE(expiresAtMs, PACKED_ID_LENGTH, EXPIRY_BYTES);
    return bytes.toString('latin1');
  }
  const text = `${grantId} ${createdAtMs} ${expiresAtMs ?? ''}`;
  return isPackedShort(text) ? `${text} ` : text;
}

const readGrantWords = (grantId: string): boolean =>
  grantId.startsWith(GRANT_ID_PREFIX) && readUuidWords(grantId, GRANT_ID_PREFIX.length, words, 0);

const isPackedShort = ({ length }: string): boolean => length === PACKED_ID_LENGTH || length === PACKED_EXPIRING_LENGTH;

/** The expiry of a packed grant; undefined: it never expires. */
export function packedExpiry(packed: string): number | undefined {
  if (packed.length === PACKED_ID_LENGTH) return undefined;
  if (packed.length !== PACKED_EXPIRING_LENGTH) {
    const [, , expiresAtMs = ''] = packed.split(' ');
    return expiresAtMs === '' ? undefined : Number(expiresAtMs);
  }
  bytes.write(packed, 'latin1');
  return bytes.readUIntBE(PACKED_ID_LENGTH, EXPIRY_BYTES);
}

export function unpackAttributes(packed: string): GrantAttributes {
  const expiresAtMs = packedExpiry(packed);
  let known: GrantAttributes;
  if (isPackedShort(packed)) {
    bytes.write(packed, 'latin1');
    for (let word = 0; word < UUID_WORDS; word += 1) words[word] = bytes.readUInt32BE(4 * word);
    known = attributesOfId(GRANT_ID_PREFIX + uuidTextOf(words, 0));
  } else {
    const [grantId = '', createdAtMs] = packed.split(' ');
    known = { grantId, createdAtMs: Number(createdAtMs) };
  }
  return expiresAtMs === undefined ? known : { ...known, expiresAtMs };
}
