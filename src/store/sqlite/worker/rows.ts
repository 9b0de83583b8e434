// Converts rows of the database into records of the port: the one place where stored values get types. A value that no
// version of this program could have written is a defect or a damaged file, and fails the call.

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
  GrantCountRow,
  GrantRow,
  LogRecord,
  MemberRow,
  Meta,
  ObjectGrantRow,
  SlotRow,
} from '../../store.ts';
import { integerAt, optionalIntegerAt, optionalTextAt, type Row, textAt } from '../database.ts';

export const META_COLUMNS = 'slots, segment_size, lease_ms, deadline_ms, log_format, cursor_secrets';
export const LOG_COLUMNS = 'slot, seq, epoch, entry_id, body';
export const SLOT_COLUMNS = 'slot, owner, epoch, opened, first, successor';
export const MEMBER_COLUMNS = 'incarnation, shard_name, address, state, beat, started_at_ms, healthy_beat, place';
/** The attributes of a grant follow its relation and object (or subject). */
const ATTRIBUTES_AT = 2;
const columnsWith = (entity: string): string =>
  ['relation', entity, ...GRANT_ATTRIBUTES.map(({ column }) => column)].join(', ');
export const GRANT_COLUMNS = columnsWith('object');
export const OBJECT_GRANT_COLUMNS = columnsWith('subject');
/** The number of values per grant in a page of grants, which travels flat. */
export const GRANT_WIDTH = ATTRIBUTES_AT + GRANT_ATTRIBUTES.length;
export const KEY_COLUMNS = 'key_id, name, scopes, created_at_ms, expires_at_ms, hash, rotated_from, rotated_to';
export const TENANT_COLUMNS = 'tenant, name, plan, state, created_at_ms';
export const GRANT_COUNT_COLUMNS = 'tenant, seq, grants, bytes, collected_to_ms';
export const EXPIRY_COLUMNS = 'expires_at_ms, subject, relation, object';
export const CHECKPOINT_COLUMNS = 'seq, stamp, window_from';
export const AUDIT_LOG_COLUMNS = 'seq, position, at_ms, actor, request_id, change';

function oneOf<Value extends string>(text: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === text);
  assert(found !== undefined, `a stored value is one of ${values.join(', ')}`);
  return found;
}

export function parseRelation(text: string): Relation {
  assert(isRelation(text), 'a stored relation is a built-in one');
  return text;
}

function parseSecrets(text: string): readonly string[] {
  const secrets: unknown = JSON.parse(text);
  assert(Array.isArray(secrets) && secrets.every((each) => typeof each === 'string'), 'secrets are a list of strings');
  return secrets;
}

export function metaOf(row: Row): Meta {
  return {
    slots: integerAt(row, 0),
    segmentSize: integerAt(row, 1),
    leaseMs: integerAt(row, 2),
    deadlineMs: integerAt(row, 3),
    logFormat: integerAt(row, 4),
    cursorSecrets: parseSecrets(textAt(row, 5)),
  };
}

export function logRecordOf(row: Row): LogRecord {
  return {
    slot: integerAt(row, 0),
    seq: integerAt(row, 1),
    epoch: integerAt(row, 2),
    entryId: textAt(row, 3),
    body: textAt(row, 4),
  };
}

export function slotRowOf(row: Row): SlotRow {
  return {
    slot: integerAt(row, 0),
    owner: optionalTextAt(row, 1),
    epoch: integerAt(row, 2),
    opened: optionalIntegerAt(row, 3),
    first: integerAt(row, 4),
    successor: optionalTextAt(row, 5),
  };
}

export function memberRowOf(row: Row): MemberRow {
  return {
    incarnation: textAt(row, 0),
    shardName: textAt(row, 1),
    address: textAt(row, 2),
    state: oneOf(textAt(row, 3), ['alive', 'draining', 'dead']),
    heartbeat: integerAt(row, 4),
    startedAtMs: integerAt(row, 5),
    healthyHeartbeat: integerAt(row, 6),
    place: optionalTextAt(row, 7),
  };
}

function attributesAt(values: Row, at: number): GrantAttributes {
  const attributes = readGrantAttributes(({ index }) => values[at + ATTRIBUTES_AT + index]);
  assert(attributes !== undefined, 'the columns of a grant hold its attributes');
  return attributes;
}

/** `at`: where the grant begins in a page of grants. */
export const grantRowOf = (values: Row, at = 0): GrantRow => ({
  relation: parseRelation(textAt(values, at)),
  object: textAt(values, at + 1),
  ...attributesAt(values, at),
});

export const objectGrantRowOf = (values: Row, at: number): ObjectGrantRow => ({
  subject: textAt(values, at + 1),
  relation: parseRelation(textAt(values, at)),
  ...attributesAt(values, at),
});

export const expiryOf = (row: Row): ExpiryPlace => ({
  expiresAtMs: integerAt(row, 0),
  subject: textAt(row, 1),
  relation: parseRelation(textAt(row, 2)),
  object: textAt(row, 3),
});

export function keyIdAt(row: Row, column: number): KeyId {
  return textAt(row, column) as KeyId;
}

const optionalKeyIdAt = (row: Row, column: number): KeyId | undefined =>
  optionalTextAt(row, column) === undefined ? undefined : keyIdAt(row, column);

export function keyRecordOf(row: Row): ApiKeyRecord {
  return {
    keyId: keyIdAt(row, 0),
    name: textAt(row, 1),
    scopes: integerAt(row, 2),
    createdAtMs: integerAt(row, 3),
    expiresAtMs: optionalIntegerAt(row, 4),
    hash: textAt(row, 5),
    ...keyLinks({ rotatedFrom: optionalKeyIdAt(row, 6), rotatedTo: optionalKeyIdAt(row, 7) }),
  };
}

export function tenantOf(row: Row): Tenant {
  return {
    tenantId: textAt(row, 0) as TenantId,
    name: textAt(row, 1),
    plan: textAt(row, 2),
    ...decodeTenantState(textAt(row, 3)),
    createdAtMs: integerAt(row, 4),
  };
}

export function auditLogRowOf(row: Row): AuditLogRow {
  return {
    seq: integerAt(row, 0),
    index: integerAt(row, 1),
    atMs: integerAt(row, 2),
    actor: textAt(row, 3),
    requestId: textAt(row, 4),
    change: textAt(row, 5),
  };
}

export function grantCountRowOf(row: Row): GrantCountRow {
  const collectedToMs = optionalIntegerAt(row, 4);
  return {
    tenantId: textAt(row, 0) as TenantId,
    seq: integerAt(row, 1),
    grants: integerAt(row, 2),
    bytes: integerAt(row, 3),
    ...(collectedToMs === undefined ? {} : { collectedToMs }),
  };
}

export const checkpointOf = (row: Row): Checkpoint => ({
  seq: integerAt(row, 0),
  stamp: integerAt(row, 1),
  windowFrom: integerAt(row, 2),
});
