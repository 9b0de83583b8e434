// The rows that SQLite stores in a form of its own: a page of grants, which travels flat between threads, the secrets
// in meta, the count of a tenant's grants. The others are in ../../stored-rows.ts.

import { assert } from '../../../core/assert.ts';
import { GRANT_ATTRIBUTES, type GrantAttributes, readGrantAttributes } from '../../../core/grant-attributes.ts';
import type { GrantCountRow, GrantRow, LogRecord, Meta, ObjectGrantRow } from '../../store.ts';
import {
  decodeKeyCounts,
  integerAt,
  isNullAt,
  logRecordOf,
  metaOf,
  parseRelation,
  tenantIdAt,
  textAt,
} from '../../stored-rows.ts';
import type { FlatRow, Row } from '../database.ts';

export const CHECKPOINT_COLUMNS = 'seq, stamp, window_from';
export const GRANT_COUNT_COLUMNS = 'tenant, seq, grants, bytes, by_key, collected_to_ms';

export const recordOf = (row: Row): LogRecord => logRecordOf(row, textAt(row, 'body'));

export const metaRowOf = (row: Row): Meta => metaOf(row, JSON.parse(textAt(row, 'cursor_secrets')));

export function grantCountRowOf(row: Row): GrantCountRow {
  return {
    tenantId: tenantIdAt(row),
    seq: integerAt(row, 'seq'),
    grants: integerAt(row, 'grants'),
    bytes: integerAt(row, 'bytes'),
    ...(isNullAt(row, 'by_key') ? {} : { byKey: decodeKeyCounts(textAt(row, 'by_key')) }),
    ...(isNullAt(row, 'collected_to_ms') ? {} : { collectedToBaseMs: integerAt(row, 'collected_to_ms') }),
  };
}

// ---- flat grants: relation, counterpart, attributes ----

const ATTRIBUTES_AT = 2;
/** The number of values per grant in a page of grants. */
export const GRANT_WIDTH = ATTRIBUTES_AT + GRANT_ATTRIBUTES.length;

function flatText(values: FlatRow, at: number): string {
  const value = values[at];
  assert(typeof value === 'string', 'a grant has texts for its relation and its counterpart');
  return value;
}

/** `at`: the index of the relation. */
export const placeAt = (values: FlatRow, at: number) => ({
  relation: parseRelation(flatText(values, at)),
  entity: flatText(values, at + 1),
});

function attributesAt(values: FlatRow, at: number): GrantAttributes {
  const attributes = readGrantAttributes(({ index }) => values[at + ATTRIBUTES_AT + index]);
  assert(attributes !== undefined, 'the columns of a grant hold its attributes');
  return attributes;
}

export function grantRowOf(values: FlatRow, at = 0): GrantRow {
  const { relation, entity: object } = placeAt(values, at);
  return { relation, object, ...attributesAt(values, at) };
}

export function objectGrantRowOf(values: FlatRow, at: number): ObjectGrantRow {
  const { relation, entity: subject } = placeAt(values, at);
  return { subject, relation, ...attributesAt(values, at) };
}
