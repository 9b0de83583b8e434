// Converts rows of the database into records of the port: the one place where stored values get types. A value that no
// version of this program could have written is a defect or a damaged table, and fails the call. Where the port has
// "undefined", the tables hold an empty text or zero: a null would be a tombstone.

import { type ApiKeyRecord, keyLinks } from '../../../core/api-keys.ts';
import { assert } from '../../../core/assert.ts';
import { GRANT_ATTRIBUTES, type GrantAttributes, readGrantAttributes } from '../../../core/grant-attributes.ts';
import type { KeyId, TenantId } from '../../../core/ids.ts';
import { decodeTenantState, type Tenant } from '../../../core/tenants.ts';
import { isRelation, type Relation } from '../../../core/tuples.ts';
import type {
  AuditLogRow,
  Checkpoint,
  ExpiryPlace,
  GrantPlace,
  GrantRow,
  LogRecord,
  MemberRow,
  Meta,
  ObjectGrantPlace,
  ObjectGrantRow,
  SlotRow,
} from '../../store.ts';
import type { Row } from '../driver/executor.ts';
import type { SerialPlace } from '../driver/options.ts';
import { decodeBody } from './log-body.ts';

export const META_COLUMNS =
  'schema_version, schema_serves_from, slots, segment_size, serial_level, datacentre, lease_ms, deadline_ms, log_format, cursor_secrets';
export const LOG_COLUMNS = 'slot, seq, epoch, entry_id, body';
export const SLOT_COLUMNS = 'slot, owner, epoch, opened, first, successor';
export const MEMBER_COLUMNS = 'incarnation, shard_name, address, state, beat, started_at_ms, healthy_beat, place';
const columnsWith = (entity: string): string =>
  ['relation', entity, ...GRANT_ATTRIBUTES.map(({ column }) => column)].join(', ');
export const GRANT_COLUMNS = columnsWith('object');
export const OBJECT_GRANT_COLUMNS = columnsWith('subject');
export const EXPIRY_COLUMNS = 'expires_at_ms, subject, relation, object';
export const KEY_COLUMNS = 'key_id, name, scopes, created_at_ms, expires_at_ms, hash, rotated_from, rotated_to';
export const TENANT_COLUMNS = 'tenant, name, plan, state, created_at_ms';
export const CHECKPOINT_COLUMNS = 'seq, writetime(seq) AS stamp, window_from';
export const AUDIT_LOG_COLUMNS = 'seq, position, at_ms, actor, request_id, change';

function valueAt(row: Row, column: string): unknown {
  return row[column];
}

export function textAt(row: Row, column: string): string {
  const value = valueAt(row, column);
  assert(typeof value === 'string', `the column ${column} holds text`);
  return value;
}

/** From an int or a bigint. */
export function integerAt(row: Row, column: string): number {
  const value = valueAt(row, column);
  const number = typeof value === 'bigint' ? Number(value) : value;
  assert(typeof number === 'number' && Number.isSafeInteger(number), `the column ${column} holds a safe integer`);
  return number;
}

export function booleanAt(row: Row, column: string): boolean {
  const value = valueAt(row, column);
  assert(typeof value === 'boolean', `the column ${column} holds a boolean`);
  return value;
}

/** For an aggregate over no rows, or a missing row. */
export function isNullAt(row: Row, column: string): boolean {
  const value = valueAt(row, column);
  return value === null || value === undefined;
}

const absentText = (text: string): string | undefined => (text === '' ? undefined : text);
const absentNumber = (number: number): number | undefined => (number === 0 ? undefined : number);

function oneOf<Value extends string>(text: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === text);
  assert(found !== undefined, `a stored value is one of ${values.join(', ')}`);
  return found;
}

function relationAt(row: Row): Relation {
  const text = textAt(row, 'relation');
  assert(isRelation(text), 'a stored relation is a built-in one');
  return text;
}

function secretsAt(row: Row): readonly string[] {
  const secrets = valueAt(row, 'cursor_secrets');
  assert(Array.isArray(secrets) && secrets.every((each) => typeof each === 'string'), 'secrets are a list of strings');
  return secrets;
}

function bodyAt(row: Row): string {
  const value = valueAt(row, 'body');
  assert(Buffer.isBuffer(value), 'the column body holds bytes');
  return decodeBody(value);
}

/**
 * The schema of the tables: the number of the last applied migration, and the oldest program version that may still use
 * it.
 */
export interface SchemaVersion {
  readonly version: number;
  /** Programs of this schema version or later can use the tables. At most `version`. */
  readonly servesFrom: number;
}

/** The row of meta: what the port knows, and what this adapter fixes in addition. */
export interface ClusterRow {
  readonly meta: Meta;
  readonly schema: SchemaVersion;
  readonly serial: SerialPlace;
}

export function clusterRowOf(row: Row): ClusterRow {
  return {
    meta: {
      slots: integerAt(row, 'slots'),
      segmentSize: integerAt(row, 'segment_size'),
      leaseMs: integerAt(row, 'lease_ms'),
      deadlineMs: integerAt(row, 'deadline_ms'),
      logFormat: integerAt(row, 'log_format'),
      cursorSecrets: secretsAt(row),
    },
    schema: { version: integerAt(row, 'schema_version'), servesFrom: integerAt(row, 'schema_serves_from') },
    serial: {
      serialLevel: oneOf(textAt(row, 'serial_level'), ['SERIAL', 'LOCAL_SERIAL']),
      datacenter: textAt(row, 'datacentre'),
    },
  };
}

export function logRecordOf(row: Row): LogRecord {
  return {
    slot: integerAt(row, 'slot'),
    seq: integerAt(row, 'seq'),
    epoch: integerAt(row, 'epoch'),
    entryId: textAt(row, 'entry_id'),
    body: bodyAt(row),
  };
}

/** `slot`: the result of a conditional update does not repeat the key. */
export function slotRowOf(row: Row, slot: number): SlotRow {
  return {
    slot,
    owner: absentText(textAt(row, 'owner')),
    epoch: integerAt(row, 'epoch'),
    opened: absentNumber(integerAt(row, 'opened')),
    first: integerAt(row, 'first'),
    successor: absentText(textAt(row, 'successor')),
  };
}

/** `incarnation`: the result of a conditional update does not repeat the key. */
export function memberRowOf(row: Row, incarnation: string): MemberRow {
  return {
    incarnation,
    shardName: textAt(row, 'shard_name'),
    address: textAt(row, 'address'),
    state: oneOf(textAt(row, 'state'), ['alive', 'draining', 'dead']),
    heartbeat: integerAt(row, 'beat'),
    startedAtMs: integerAt(row, 'started_at_ms'),
    healthyHeartbeat: integerAt(row, 'healthy_beat'),
    place: absentText(textAt(row, 'place')),
  };
}

function attributesOf(row: Row): GrantAttributes {
  const attributes = readGrantAttributes(({ column }) => valueAt(row, column));
  assert(attributes !== undefined, 'the columns of a grant hold its attributes');
  return attributes;
}

export const grantRowOf = (row: Row): GrantRow => ({ ...grantPlaceOf(row), ...attributesOf(row) });

export const expiryOf = (row: Row): ExpiryPlace => ({
  expiresAtMs: integerAt(row, 'expires_at_ms'),
  subject: textAt(row, 'subject'),
  relation: relationAt(row),
  object: textAt(row, 'object'),
});

export const grantPlaceOf = (row: Row): GrantPlace => ({ relation: relationAt(row), object: textAt(row, 'object') });

export const objectGrantRowOf = (row: Row): ObjectGrantRow => ({ ...objectGrantPlaceOf(row), ...attributesOf(row) });

export const objectGrantPlaceOf = (row: Row): ObjectGrantPlace => ({
  subject: textAt(row, 'subject'),
  relation: relationAt(row),
});

export function keyIdAt(row: Row): KeyId {
  return textAt(row, 'key_id') as KeyId;
}

const linkAt = (row: Row, column: string): KeyId | undefined => absentText(textAt(row, column)) as KeyId | undefined;

export function keyRecordOf(row: Row): ApiKeyRecord {
  return {
    keyId: keyIdAt(row),
    name: textAt(row, 'name'),
    scopes: integerAt(row, 'scopes'),
    createdAtMs: integerAt(row, 'created_at_ms'),
    expiresAtMs: absentNumber(integerAt(row, 'expires_at_ms')),
    hash: textAt(row, 'hash'),
    ...keyLinks({ rotatedFrom: linkAt(row, 'rotated_from'), rotatedTo: linkAt(row, 'rotated_to') }),
  };
}

export const checkpointOf = (row: Row): Checkpoint => ({
  seq: integerAt(row, 'seq'),
  stamp: integerAt(row, 'stamp'),
  windowFrom: integerAt(row, 'window_from'),
});

export function tenantIdAt(row: Row): TenantId {
  return textAt(row, 'tenant') as TenantId;
}

export function tenantOf(row: Row): Tenant {
  return {
    tenantId: tenantIdAt(row),
    name: textAt(row, 'name'),
    plan: textAt(row, 'plan'),
    ...decodeTenantState(textAt(row, 'state')),
    createdAtMs: integerAt(row, 'created_at_ms'),
  };
}

export function auditLogRowOf(row: Row): AuditLogRow {
  return {
    seq: integerAt(row, 'seq'),
    index: integerAt(row, 'position'),
    atMs: integerAt(row, 'at_ms'),
    actor: textAt(row, 'actor'),
    requestId: textAt(row, 'request_id'),
    change: textAt(row, 'change'),
  };
}
