// The attributes of a grant, in addition to its tuple: each with its name in the log, in tables, in the audit log and
// in JSON. All code that stores, sends or shows a grant uses this file. A new attribute is therefore added here and,
// for new columns, in a migration. Invariant: stored grants stay readable. So attributes are only ever appended to the
// list, and one that older versions did not write must have a meaning if it is absent.

import { assert } from './assert.ts';
import { GrantdError } from './errors.ts';
import {
  CONDITION_BYTES_MAX,
  type ConditionRecord,
  type ConditionRequest,
  conditionInText,
  conditionRecord,
  type ExpiryRequest,
  isCondition,
  parseCondition,
  parseExpiry,
} from './grant-terms.ts';
import { readUuidWords, timeOfId, UUID_WORDS, uuidTextOf } from './ids.ts';
import { type JsonObject, memberAt } from './json-members.ts';
import { formatTimestamp, optionalTimestamp, parseTimestamp } from './text/timestamps.ts';

export interface GrantAttributes {
  /** `grt_…` */
  readonly grantId: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
  /** From this moment on, by the slot's time, the grant does not hold. Absent: it never expires. */
  readonly expiresAtMs?: number;
  /** The grant holds only where this condition is met: see grant-terms.ts. Absent: it has none. */
  readonly condition?: string;
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
/** Left out of a grant without a condition; in a column it is then empty, for the same reason. */
const CONDITION = { field: 'condition', column: 'condition', index: 3 } as const;

/** In the order of the columns. */
export const GRANT_ATTRIBUTES: readonly GrantAttribute[] = [GRANT_ID, CREATED_AT, EXPIRES_AT, CONDITION];

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
  const terms = readGrantTerms(read);
  return terms && attributesOf({ grantId, createdAtMs, ...terms });
}

/** Only the terms. Undefined: they are not those of a grant. */
export function readGrantTerms(read: (attribute: GrantAttribute) => unknown): GrantTerms | undefined {
  const expiresAtMs = integerIn(read(EXPIRES_AT) ?? NEVER);
  const condition = textIn(read(CONDITION) ?? '');
  if (expiresAtMs === undefined || condition === undefined) return undefined;
  if (condition !== '' && !isCondition(condition)) return undefined;
  return termsOf({
    expiresAtMs: expiresAtMs === NEVER ? undefined : expiresAtMs,
    condition: condition === '' ? undefined : condition,
  });
}

/** The values of the columns, in their order. */
export const grantColumnValues = (attributes: GrantAttributes): readonly (string | number)[] => [
  attributes.grantId,
  attributes.createdAtMs,
  attributes.expiresAtMs ?? NEVER,
  attributes.condition ?? '',
];

/** Only the attributes of a larger object, in the order of the log. */
export function attributesOf({ grantId, createdAtMs, expiresAtMs, condition }: GrantAttributes): GrantAttributes {
  if (condition === undefined) {
    return expiresAtMs === undefined ? { grantId, createdAtMs } : { grantId, createdAtMs, expiresAtMs };
  }
  return expiresAtMs === undefined
    ? { grantId, createdAtMs, condition }
    : { grantId, createdAtMs, expiresAtMs, condition };
}

/** What a grant may be given when it is created, and may lose or change later. */
export type GrantTerms = Pick<GrantAttributes, 'expiresAtMs' | 'condition'>;

/** Only the terms of a larger object, without members for those that it lacks. */
export const termsOf = ({
  expiresAtMs,
  condition,
}: {
  readonly [Term in keyof GrantTerms]: GrantTerms[Term] | undefined;
}): GrantTerms => ({
  ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  ...(condition === undefined ? {} : { condition }),
});

/** The terms that a request sets: absent keeps the present one, `null` removes it. */
export interface TermsRequest extends ExpiryRequest, ConditionRequest {
  /** They are the terms of a new grant: one that exists keeps its own. */
  readonly keepsExisting?: boolean;
}

/** The same grant on the terms of a request. */
export function withTerms(attributes: GrantAttributes, request: TermsRequest): GrantAttributes {
  const { grantId, createdAtMs } = attributes;
  const { expiresAtMs = attributes.expiresAtMs, condition = attributes.condition } = request;
  return attributesOf({
    grantId,
    createdAtMs,
    ...(expiresAtMs === undefined || expiresAtMs === null ? {} : { expiresAtMs }),
    ...(condition === undefined || condition === null ? {} : { condition }),
  });
}

export const withoutTerms = (attributes: GrantAttributes): GrantAttributes =>
  withTerms(attributes, { expiresAtMs: null, condition: null });

export const sameTerms = (one: GrantTerms, other: GrantTerms): boolean =>
  one.expiresAtMs === other.expiresAtMs && one.condition === other.condition;

/** UTF-8 bytes of the texts of terms. */
export const TERMS_BYTES_MAX = CONDITION_BYTES_MAX;

/** The texts of the terms, for what they take; empty: there is none. */
export const textOfTerms = ({ condition }: ConditionRequest = {}): string => condition ?? '';

/** Whether the grant has ended at this moment of its slot's time. */
export const hasExpired = ({ expiresAtMs }: GrantTerms, nowMs: number): boolean =>
  expiresAtMs !== undefined && expiresAtMs <= nowMs;

/** Whether it depends on the moment, or on the context of a call, that the grant holds. */
export const isContingent = ({ expiresAtMs, condition }: GrantTerms): boolean =>
  expiresAtMs !== undefined || condition !== undefined;

/** Where no condition is evaluated, a grant with one does not hold. */
export const meetsNone = ({ condition }: GrantTerms): boolean => condition === undefined;

// ---- terms as JSON, and as columns of text ----

/** Their members in requests and records of a grant, and in this order their columns in text. */
export const TERM_MEMBERS = ['expires_at', 'condition'] as const;

/** The terms that a request sets. `place`: of the object, for messages; empty: the body itself. */
export const parseTerms = (fields: JsonObject, wallMs: number, place = ''): TermsRequest => ({
  ...parseExpiry(fields.expires_at, wallMs, memberAt(place, 'expires_at')),
  ...parseCondition(fields.condition, memberAt(place, 'condition')),
});

const WITHOUT_TERMS: JsonObject = Object.fromEntries(TERM_MEMBERS.map((member) => [member, null]));

/** The same of a request that has the grant whole: it removes the terms that it lacks. */
export const parseAllTerms = (fields: JsonObject, wallMs: number): TermsRequest =>
  parseTerms({ ...WITHOUT_TERMS, ...fields }, wallMs);

/** A revocation names the tuple alone. */
export function refuseTerms(fields: JsonObject, place = ''): void {
  const given = TERM_MEMBERS.find((member) => fields[member] !== undefined);
  if (given === undefined) return;
  throw new GrantdError('invalid-request', `"${memberAt(place, given)}" must not be given with a revocation.`);
}

/** The terms of a record that this program has written. */
export function termsInRecord({ expires_at: expiresAt, condition: stored }: JsonObject): GrantTerms {
  const expiresAtMs = typeof expiresAt === 'string' ? parseTimestamp(expiresAt) : undefined;
  const { condition } = parseCondition(stored);
  return termsOf({ expiresAtMs, condition: condition ?? undefined });
}

/** A text for each term, up to the last that the grant has. None holds a tab or a line end. */
export function columnsOfTerms({ expiresAtMs, condition }: GrantTerms): readonly string[] {
  const end = optionalTimestamp(expiresAtMs) ?? '';
  if (condition !== undefined) return [end, condition];
  return end === '' ? [] : [end];
}

/** The members of a request, from such columns. Throws `invalid-request` for a context that is not JSON. */
export const membersInColumns = ([end = '', condition = '']: readonly string[]): object => ({
  ...(end === '' ? {} : { expires_at: end }),
  ...(condition === '' ? {} : { condition: conditionInText(condition) }),
});

/** A grant as JSON, in both APIs. */
export const grantRecord = (
  grant: GrantAttributes & { readonly subject: string; readonly relation: string; readonly object: string },
) => ({
  grant_id: grant.grantId,
  subject: grant.subject,
  relation: grant.relation,
  object: grant.object,
  created_at: formatTimestamp(grant.createdAtMs),
  ...termsRecord(grant),
});

/** The terms of a grant as JSON, in both APIs and in the audit log. */
export const termsRecord = (terms: GrantTerms) => ({
  expires_at: optionalTimestamp(terms.expiresAtMs),
  ...conditionMember(terms),
});

/** Absent from a grant without a condition: most tenants have none. */
const conditionMember = ({
  condition,
}: {
  readonly condition?: string | undefined;
}): { readonly condition?: ConditionRecord } =>
  condition === undefined ? {} : { condition: conditionRecord(condition) };

/** What the audit log stores of a grant in addition to its tuple. */
export const auditedAttributes = (grant: GrantAttributes): object => ({
  grant_id: grant.grantId,
  ...(grant.expiresAtMs === undefined ? {} : { expires_at: formatTimestamp(grant.expiresAtMs) }),
  ...conditionMember(grant),
});

/**
 * Whether a grant's id determines all its attributes but its terms, so that `attributesOfId` restores them. True for
 * every grant created here.
 */
export const isTimedById = ({ grantId, createdAtMs }: GrantAttributes): boolean => timeOfId(grantId) === createdAtMs;

export const attributesOfId = (grantId: string): GrantAttributes => ({
  grantId,
  createdAtMs: timeOfId(grantId) ?? 0,
});

/** Bytes of the two numbers that a packed grant may consist of, one character for each byte. */
const EXPIRY_BYTES = 6;
const EXPIRY_LIMIT_MS = 2 ** (8 * EXPIRY_BYTES);
const GRANT_ID_PREFIX = 'grt_';
/** Of one character: one that does not fit is left out whole. */
const UTF8_BYTES_MAX = 4;

/** Length of a packed grant whose id determines all its attributes: the bytes of its UUID. */
export const PACKED_ID_LENGTH = 4 * UUID_WORDS;
const PACKED_EXPIRING_LENGTH = PACKED_ID_LENGTH + EXPIRY_BYTES;

const NO_TERMS: GrantTerms = Object.freeze({});
const words = new Uint32Array(UUID_WORDS);
/** With one character more than the longest, so that a text that was cut shows. */
const bytes = Buffer.alloc(PACKED_EXPIRING_LENGTH + TERMS_BYTES_MAX + UTF8_BYTES_MAX);

/**
 * As one string, to save memory: separate objects would take half of a grant's memory, and the text of the id three
 * times the memory of its bytes. A character is a byte: of the id, then of the expiry, then of the condition as UTF-8,
 * as far as the grant has them. Attributes of an uncommon form are written out, with a space at the end, which no
 * condition has there, and at a length that no form without a condition has.
 */
export function packAttributes(attributes: GrantAttributes): string {
  const { grantId, createdAtMs, expiresAtMs, condition } = attributes;
  const isShort = expiresAtMs === undefined || expiresAtMs < EXPIRY_LIMIT_MS;
  if (isShort && isTimedById(attributes) && readGrantWords(grantId)) {
    for (let word = 0; word < UUID_WORDS; word += 1) bytes.writeUInt32BE(words[word] ?? 0, 4 * word);
    if (expiresAtMs === undefined && condition === undefined) return bytes.toString('latin1', 0, PACKED_ID_LENGTH);
    bytes.writeUIntBE(expiresAtMs ?? NEVER, PACKED_ID_LENGTH, EXPIRY_BYTES);
    const end = PACKED_EXPIRING_LENGTH + bytes.write(condition ?? '', PACKED_EXPIRING_LENGTH, 'utf8');
    assert(end <= bytes.length - UTF8_BYTES_MAX, 'a condition is within its bound');
    return bytes.toString('latin1', 0, end);
  }
  const text = `${grantId} ${createdAtMs} ${expiresAtMs ?? ''} ${condition ?? ''} `;
  return isPackedShort(text) ? `${text} ` : text;
}

const readGrantWords = (grantId: string): boolean =>
  grantId.startsWith(GRANT_ID_PREFIX) && readUuidWords(grantId, GRANT_ID_PREFIX.length, words, 0);

const isPackedShort = ({ length }: string): boolean => length === PACKED_ID_LENGTH || length === PACKED_EXPIRING_LENGTH;

const isWrittenOut = (packed: string): boolean => !isPackedShort(packed) && packed.endsWith(' ');

const WRITTEN_OUT = /^(\S*) (\d+) (\d*) (.*?) +$/s;

function unpackWrittenOut(packed: string): GrantAttributes {
  const [, grantId = '', createdAtMs, expiresAtMs = '', condition = ''] = WRITTEN_OUT.exec(packed) ?? [];
  return attributesOf({
    grantId,
    createdAtMs: Number(createdAtMs),
    ...(expiresAtMs === '' ? {} : { expiresAtMs: Number(expiresAtMs) }),
    ...(condition === '' ? {} : { condition }),
  });
}

export function isPackedContingent(packed: string): boolean {
  if (packed.length === PACKED_ID_LENGTH) return false;
  return !isWrittenOut(packed) || isContingent(unpackWrittenOut(packed));
}

/** Only the terms: the id costs more to write out than they do. */
export function unpackTerms(packed: string): GrantTerms {
  if (packed.length === PACKED_ID_LENGTH) return NO_TERMS;
  if (isWrittenOut(packed)) return unpackWrittenOut(packed);
  return termsIn(bytes.write(packed, 'latin1'));
}

/** Unpacks the terms of a grant of this length from `bytes`. */
function termsIn(length: number): GrantTerms {
  if (length === PACKED_ID_LENGTH) return NO_TERMS;
  const expiresAtMs = bytes.readUIntBE(PACKED_ID_LENGTH, EXPIRY_BYTES);
  if (length === PACKED_EXPIRING_LENGTH) return { expiresAtMs };
  const condition = bytes.toString('utf8', PACKED_EXPIRING_LENGTH, length);
  return expiresAtMs === NEVER ? { condition } : { expiresAtMs, condition };
}

export function unpackAttributes(packed: string): GrantAttributes {
  if (isWrittenOut(packed)) return unpackWrittenOut(packed);
  const length = bytes.write(packed, 'latin1');
  for (let word = 0; word < UUID_WORDS; word += 1) words[word] = bytes.readUInt32BE(4 * word);
  const grantId = GRANT_ID_PREFIX + uuidTextOf(words, 0);
  const createdAtMs = timeOfId(grantId) ?? 0;
  return { grantId, createdAtMs, ...termsIn(length) };
}
