// The rows that Cassandra stores in a form of its own: meta with the schema and the serial level, bodies of log
// records, grants, the count of a tenant's grants. The others are in ../../stored-rows.ts. Where a record has no value,
// the tables hold an empty text or zero: a null would be a tombstone.

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { assert } from '../../../core/assert.ts';
import { type GrantAttributes, readGrantAttributes } from '../../../core/grant-attributes.ts';
import type { TenantId } from '../../../core/ids.ts';
import type {
  GrantCountRow,
  GrantPlace,
  GrantRow,
  LogRecord,
  Meta,
  ObjectGrantPlace,
  ObjectGrantRow,
} from '../../store.ts';
import {
  decodeKeyCounts,
  encodeKeyCounts,
  integerAt,
  logRecordOf,
  META_COLUMNS,
  metaOf,
  oneOf,
  parseRelation,
  textAt,
} from '../../stored-rows.ts';
import type { Row } from '../driver/executor.ts';
import type { SerialPlace } from '../driver/options.ts';

export const CLUSTER_COLUMNS = `${META_COLUMNS}, schema_version, schema_serves_from, schema_program, schema_fingerprint, serial_level, datacentre`;
export const CHECKPOINT_COLUMNS = 'seq, writetime(seq) AS stamp, window_from';

export function booleanAt(row: Row, column: string): boolean {
  const value: unknown = row[column];
  assert(typeof value === 'boolean', `the column ${column} holds a boolean`);
  return value;
}

// ---- the cluster ----

/**
 * The schema of the tables: the number of the last applied migration, and the oldest program version that may still use
 * it.
 */
export interface SchemaVersion {
  readonly version: number;
  /** Programs of this schema version or later can use the tables. At most `version`. */
  readonly servesFrom: number;
  /** The version of the program that applied the last migration. */
  readonly program: string;
  /** Equal for two series of migrations only if they make the same tables. */
  readonly fingerprint: string;
}

/** The row of meta: what the port knows, and what this adapter fixes in addition. */
export interface ClusterRow {
  readonly meta: Meta;
  readonly schema: SchemaVersion;
  readonly serial: SerialPlace;
}

export const clusterRowOf = (row: Row): ClusterRow => ({
  meta: metaOf(row, row.cursor_secrets),
  schema: {
    version: integerAt(row, 'schema_version'),
    servesFrom: integerAt(row, 'schema_serves_from'),
    program: textAt(row, 'schema_program'),
    fingerprint: textAt(row, 'schema_fingerprint'),
  },
  serial: {
    serialLevel: oneOf(textAt(row, 'serial_level'), ['SERIAL', 'LOCAL_SERIAL']),
    datacenter: textAt(row, 'datacentre'),
  },
});

// ---- bodies of log records ----
//
// A body is deflated if that is worth it: bodies repeat themselves, and a conditional write carries each body several
// times to every replica and into its commit log. A body of 64 grants shrinks from 19 KB to 3 KB.

const PLAIN = 0;
const DEFLATED = 1;
/** Bytes of UTF-8. Smaller bodies are stored as they are and stay readable. */
const DEFLATED_BYTES_MIN = 1024;
/** Bytes of UTF-8; a body has at most 1 MiB. A body that would inflate to more is damaged. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** The fastest level: 1 µs per grant, and half a percent larger than the default. */
const LEVEL = 1;

/** A byte for the encoding, then the body. */
export function encodeBody(body: string): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  return bytes.length < DEFLATED_BYTES_MIN
    ? Buffer.concat([Buffer.of(PLAIN), bytes])
    : Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(bytes, { level: LEVEL })]);
}

/** Throws for bytes that `encodeBody` cannot have written. */
export function decodeBody(bytes: Buffer): string {
  const [how] = bytes;
  assert(how === PLAIN || how === DEFLATED, 'a body in the log is plain or deflated');
  const rest = bytes.subarray(1);
  return (how === PLAIN ? rest : inflateRawSync(rest, { maxOutputLength: BODY_BYTES_MAX })).toString('utf8');
}

export function recordOf(row: Row): LogRecord {
  const body: unknown = row.body;
  assert(Buffer.isBuffer(body), 'the column body holds bytes');
  return logRecordOf(row, decodeBody(body));
}

// ---- grants ----

function attributesOf(row: Row): GrantAttributes {
  const attributes = readGrantAttributes(({ column }) => row[column]);
  assert(attributes !== undefined, 'the columns of a grant hold its attributes');
  return attributes;
}

export const grantPlaceOf = (row: Row): GrantPlace => ({
  relation: parseRelation(textAt(row, 'relation')),
  object: textAt(row, 'object'),
});
export const objectGrantPlaceOf = (row: Row): ObjectGrantPlace => ({
  subject: textAt(row, 'subject'),
  relation: parseRelation(textAt(row, 'relation')),
});
export const grantRowOf = (row: Row): GrantRow => ({ ...grantPlaceOf(row), ...attributesOf(row) });
export const objectGrantRowOf = (row: Row): ObjectGrantRow => ({ ...objectGrantPlaceOf(row), ...attributesOf(row) });

// ---- counts of grants ----
//
// A count is one text in one cell. Of two writes with the same timestamp, Cassandra keeps the greater value of each
// cell: in separate cells, the parts of two counts could mix.

/** seq, grants, bytes; then up to when expired grants are collected, if any ever had an expiry; then counts by key. */
const COUNT_TEXT = /^(\d+) (\d+) (\d+)(?: to:(\d+))?(?: (.+))?$/;

export function encodeGrantCount({ seq, grants, bytes, byKey, collectedToBaseMs }: GrantCountRow): string {
  const collected = collectedToBaseMs === undefined ? '' : ` to:${collectedToBaseMs}`;
  return `${seq} ${grants} ${bytes}${collected}${byKey === undefined ? '' : ` ${encodeKeyCounts(byKey)}`}`;
}

/** Throws if `encodeGrantCount` cannot have written this text. */
export function decodeGrantCount(tenantId: TenantId, text: string): GrantCountRow {
  const match = COUNT_TEXT.exec(text);
  assert(match !== null, 'the column count holds a count');
  const [seq = 0, grants = 0, bytes = 0] = match.slice(1, 4).map(Number);
  return {
    tenantId,
    seq,
    grants,
    bytes,
    ...(match[5] === undefined ? {} : { byKey: decodeKeyCounts(match[5]) }),
    ...(match[4] === undefined ? {} : { collectedToBaseMs: Number(match[4]) }),
  };
}
