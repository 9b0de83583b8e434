// The attributes of a grant, in addition to its tuple: each with its name in the log, in tables, in the audit log and
// in JSON. All code that stores, sends or shows a grant uses this file. A new attribute is therefore added here and,
// for new columns, in a migration. Invariant: stored grants stay readable. So attributes are only ever appended to the
// list, and one that older versions did not write must have a meaning if it is absent.

import { timeOfId } from './ids.ts';
import { formatTimestamp } from './text/timestamps.ts';

export interface GrantAttributes {
  /** `grt_…` */
  readonly grantId: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
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

/** In the order of the columns. */
export const GRANT_ATTRIBUTES: readonly GrantAttribute[] = [GRANT_ID, CREATED_AT];

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const integerIn = (value: unknown): number | undefined => {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
};

/** Reads the attributes from fields of JSON or columns of a row. Undefined: they are not those of a grant. */
export function readGrantAttributes(read: (attribute: GrantAttribute) => unknown): GrantAttributes | undefined {
  const grantId = textIn(read(GRANT_ID));
  const createdAtMs = integerIn(read(CREATED_AT));
  return grantId === undefined || createdAtMs === undefined ? undefined : { grantId, createdAtMs };
}

/** The values of the columns, in their order. */
export const grantColumnValues = ({ grantId, createdAtMs }: GrantAttributes): readonly (string | number)[] => [
  grantId,
  createdAtMs,
];

/** Only the attributes of a larger object, in the order of the log. */
export const attributesOf = ({ grantId, createdAtMs }: GrantAttributes): GrantAttributes => ({ grantId, createdAtMs });

/** A grant as JSON, in both APIs. */
export const grantRecord = (
  grant: GrantAttributes & { readonly subject: string; readonly relation: string; readonly object: string },
) => ({
  grant_id: grant.grantId,
  subject: grant.subject,
  relation: grant.relation,
  object: grant.object,
  created_at: formatTimestamp(grant.createdAtMs),
});

/** What the audit log stores of a grant in addition to its tuple. */
export const auditedAttributes = ({ grantId }: GrantAttributes): object => ({ grant_id: grantId });

/**
 * Whether a grant's id determines all its attributes, so that `attributesOfId` restores them. True for every grant
 * created here.
 */
export const isToldById = ({ grantId, createdAtMs }: GrantAttributes): boolean => timeOfId(grantId) === createdAtMs;

export const attributesOfId = (grantId: string): GrantAttributes => ({
  grantId,
  createdAtMs: timeOfId(grantId) ?? 0,
});

/** As one string, for memory: separate objects would take half of a grant's memory. */
export const packAttributes = (attributes: GrantAttributes): string =>
  isToldById(attributes) ? attributes.grantId : grantColumnValues(attributes).join(' ');

export function unpackAttributes(packed: string): GrantAttributes {
  const [grantId = '', createdAtMs] = packed.split(' ');
  return createdAtMs === undefined ? attributesOfId(grantId) : { grantId, createdAtMs: Number(createdAtMs) };
}
