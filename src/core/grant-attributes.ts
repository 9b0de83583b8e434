// What a grant is besides its tuple: each attribute once, with its name in the log, in tables, in the audit log and in
// JSON. Whatever stores, sends or shows a grant goes through here, so that a new attribute is added here and, where
// tables have to grow, in a migration. It keeps: what was stored stays readable, so an attribute is only ever appended
// to the list, and one that older versions did not write has to have a meaning where it is absent.

import { timeOfId } from './ids.ts';
import { formatTimestamp } from './timestamps.ts';

export interface GrantAttributes {
  /** `grt_…` */
  readonly grantId: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
}

export interface GrantAttribute {
  /** In memory and in entries of the log. */
  readonly field: keyof GrantAttributes;
  /** In tables. */
  readonly column: string;
  /** Its place among the attributes, where they stand one after another. */
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

/** The attributes as someone else holds them: fields of JSON, columns of a row. Undefined: they are none of a grant. */
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

/** The attributes of something that has more, in the order in which the log holds them. */
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

/** What the audit log tells of a grant besides its tuple. */
export const auditedAttributes = ({ grantId }: GrantAttributes): object => ({ grant_id: grantId });

/**
 * Of a grant whose id says it all: `attributesOfId` makes the rest of it. So it is for every grant that is made here.
 */
export const isToldById = ({ grantId, createdAtMs }: GrantAttributes): boolean => timeOfId(grantId) === createdAtMs;

export const attributesOfId = (grantId: string): GrantAttributes => ({
  grantId,
  createdAtMs: timeOfId(grantId) ?? 0,
});

/** As one string, in a process's memory: objects of their own would take half of what a grant takes there. */
export const packAttributes = (attributes: GrantAttributes): string =>
  isToldById(attributes) ? attributes.grantId : grantColumnValues(attributes).join(' ');

export function unpackAttributes(packed: string): GrantAttributes {
  const [grantId = '', createdAtMs] = packed.split(' ');
  return createdAtMs === undefined ? attributesOfId(grantId) : { grantId, createdAtMs: Number(createdAtMs) };
}
