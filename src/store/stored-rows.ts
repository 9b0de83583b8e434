// The rows of the tables as both adapters store and read them: their columns, the cells of each write of state, and the
// conversion of a row into a record of the port, which is the one place where stored values get types. A value that
// this program cannot have written is a defect or a damaged table, and fails the call.

import { type ApiKeyRecord, keyLinks } from '../core/api-keys.ts';
import { assert, assertNever } from '../core/assert.ts';
import { GRANT_ATTRIBUTES, grantColumnValues } from '../core/grant-attributes.ts';
import { type KeyId, parseClusterId, type TenantId } from '../core/ids.ts';
import { placeOfVersion, type RulesVersion } from '../core/rules-versions.ts';
import { bucketOfSubject } from '../core/slots.ts';
import { decodeTenantState, encodeTenantState, type Tenant } from '../core/tenants.ts';
import { isRelationName, RELATION_PATTERN, type Relation } from '../core/tuples.ts';
import type {
  AuditLogRow,
  Checkpoint,
  CountKey,
  ExpiryPlace,
  KeyCount,
  LogRecord,
  MemberRow,
  Meta,
  SlotRow,
  StateWrite,
  UsageRow,
} from './store.ts';

// ---- cells ----

/** By the name of the column. */
export type StoredRow = Readonly<Record<string, unknown>>;

export function textAt(row: StoredRow, column: string): string {
  const value = row[column];
  assert(typeof value === 'string', `the column ${column} holds text`);
  return value;
}

/** From a number or a bigint. */
export function integerAt(row: StoredRow, column: string): number {
  const value = row[column];
  const number = typeof value === 'bigint' ? Number(value) : value;
  assert(typeof number === 'number' && Number.isSafeInteger(number), `the column ${column} holds a safe integer`);
  return number;
}

/** A missing row of an aggregate, or of a conditional write, has null in every column. */
export const isNullAt = (row: StoredRow, column: string): boolean => (row[column] ?? null) === null;

/** Undefined: null or empty. Cassandra stores no null, which would be a tombstone. */
export const optionalTextAt = (row: StoredRow, column: string): string | undefined =>
  isNullAt(row, column) ? undefined : textAt(row, column) || undefined;

/** Undefined: null or zero. */
export const optionalIntegerAt = (row: StoredRow, column: string): number | undefined =>
  isNullAt(row, column) ? undefined : integerAt(row, column) || undefined;

export function oneOf<Value extends string>(text: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === text);
  assert(found !== undefined, `a stored value is one of ${values.join(', ')}`);
  return found;
}

export function parseRelation(text: string): Relation {
  assert(isRelationName(text), 'a stored relation has the form of one');
  return text;
}

/** `relation:assignee=12 condition:trial=3`; undefined: there are none. */
export const encodeKeyCounts = (counts: readonly KeyCount[] | undefined): string | undefined =>
  counts?.map(({ key, grants }) => `${key}=${grants}`).join(' ');

const KEY_COUNT = new RegExp(`^((?:relation|condition):${RELATION_PATTERN})=(\\d+)$`);

/** Throws if `encodeKeyCounts` cannot have written this text. */
export function decodeKeyCounts(text: string): readonly KeyCount[] {
  return text.split(' ').map((each) => {
    const [, key, grants] = KEY_COUNT.exec(each) ?? [];
    assert(key !== undefined, 'the counts of grants are keys and numbers');
    return { key: key as CountKey, grants: Number(grants) };
  });
}

export const tenantIdAt = (row: StoredRow): TenantId => textAt(row, 'tenant') as TenantId;
export const keyIdAt = (row: StoredRow): KeyId => textAt(row, 'key_id') as KeyId;

// ---- records ----

export const META_COLUMNS = 'cluster_id, slots, segment_size, lease_ms, deadline_ms, log_format, cursor_secrets';
export const LOG_COLUMNS = 'slot, seq, epoch, entry_id, body';
export const SLOT_COLUMNS = 'slot, owner, epoch, opened, first';
export const MEMBER_COLUMNS =
  'incarnation, shard_name, address, state, beat, started_at_ms, healthy_beat, wall_ms, place';
const grantColumns = (counterpart: string): string =>
  ['relation', counterpart, ...GRANT_ATTRIBUTES.map(({ column }) => column)].join(', ');
export const GRANT_COLUMNS = grantColumns('object');
export const OBJECT_GRANT_COLUMNS = grantColumns('subject');
export const EXPIRY_COLUMNS = 'expires_at_ms, subject, relation, object';
export const KEY_COLUMNS = 'key_id, name, scopes, created_at_ms, expires_at_ms, hash, rotated_from, rotated_to';
export const TENANT_COLUMNS = 'tenant, name, plan, state, created_at_ms, readers';
/** Without the text of the rules. */
export const RULES_VERSION_COLUMNS = 'version, revision, at_ms, actor, request_id, added, removed';
export const AUDIT_LOG_COLUMNS = 'seq, position, at_ms, actor, request_id, change';

/** `secrets`: the content of the column `cursor_secrets`. */
export function metaOf(row: StoredRow, secrets: unknown): Meta {
  assert(Array.isArray(secrets) && secrets.every((each) => typeof each === 'string'), 'secrets are a list of strings');
  const clusterId = parseClusterId(textAt(row, 'cluster_id'));
  assert(clusterId !== undefined, 'the column cluster_id holds the id of a cluster');
  return {
    clusterId,
    slots: integerAt(row, 'slots'),
    segmentSize: integerAt(row, 'segment_size'),
    leaseMs: integerAt(row, 'lease_ms'),
    deadlineMs: integerAt(row, 'deadline_ms'),
    logFormat: integerAt(row, 'log_format'),
    cursorSecrets: secrets,
  };
}

export const logRecordOf = (row: StoredRow, body: string): LogRecord => ({
  slot: integerAt(row, 'slot'),
  seq: integerAt(row, 'seq'),
  epoch: integerAt(row, 'epoch'),
  entryId: textAt(row, 'entry_id'),
  body,
});

export const slotRowOf = (row: StoredRow): SlotRow => ({
  slot: integerAt(row, 'slot'),
  owner: optionalTextAt(row, 'owner'),
  epoch: integerAt(row, 'epoch'),
  opened: optionalIntegerAt(row, 'opened'),
  first: integerAt(row, 'first'),
});

export const memberRowOf = (row: StoredRow): MemberRow => ({
  incarnation: textAt(row, 'incarnation'),
  shardName: textAt(row, 'shard_name'),
  address: textAt(row, 'address'),
  state: oneOf(textAt(row, 'state'), ['alive', 'draining', 'dead']),
  heartbeat: integerAt(row, 'beat'),
  startedAtMs: integerAt(row, 'started_at_ms'),
  healthyHeartbeat: integerAt(row, 'healthy_beat'),
  wallMs: integerAt(row, 'wall_ms'),
  place: optionalTextAt(row, 'place'),
});

export const expiryOf = (row: StoredRow): ExpiryPlace => ({
  expiresAtMs: integerAt(row, 'expires_at_ms'),
  subject: textAt(row, 'subject'),
  relation: parseRelation(textAt(row, 'relation')),
  object: textAt(row, 'object'),
});

export const keyRecordOf = (row: StoredRow): ApiKeyRecord => ({
  keyId: keyIdAt(row),
  name: textAt(row, 'name'),
  scopes: integerAt(row, 'scopes'),
  createdAtMs: integerAt(row, 'created_at_ms'),
  expiresAtMs: optionalIntegerAt(row, 'expires_at_ms'),
  hash: textAt(row, 'hash'),
  ...keyLinks({
    rotatedFrom: optionalTextAt(row, 'rotated_from') as KeyId | undefined,
    rotatedTo: optionalTextAt(row, 'rotated_to') as KeyId | undefined,
  }),
});

/** In the column `readers`; 0 is a number of readers. */
const READERS_OF_PLAN = -1;
const READERS_AUTO = -2;

function readersAt(row: StoredRow): Pick<Tenant, 'readers'> {
  const readers = integerAt(row, 'readers');
  if (readers === READERS_OF_PLAN) return {};
  return { readers: readers === READERS_AUTO ? 'auto' : readers };
}

export const tenantOf = (row: StoredRow): Tenant => ({
  tenantId: tenantIdAt(row),
  name: textAt(row, 'name'),
  plan: textAt(row, 'plan'),
  ...decodeTenantState(textAt(row, 'state')),
  createdAtMs: integerAt(row, 'created_at_ms'),
  ...readersAt(row),
});

export const rulesVersionOf = (row: StoredRow): RulesVersion => ({
  version: integerAt(row, 'version'),
  revision: textAt(row, 'revision'),
  atMs: integerAt(row, 'at_ms'),
  actor: textAt(row, 'actor'),
  requestId: textAt(row, 'request_id'),
  added: integerAt(row, 'added'),
  removed: integerAt(row, 'removed'),
});

/** The rules of a version, if the row has not got another one since. */
export const rulesOfVersion = (row: StoredRow, version: number): string | undefined =>
  integerAt(row, 'version') === version ? textAt(row, 'rules') : undefined;

export const auditLogRowOf = (row: StoredRow): AuditLogRow => ({
  seq: integerAt(row, 'seq'),
  index: integerAt(row, 'position'),
  atMs: integerAt(row, 'at_ms'),
  actor: textAt(row, 'actor'),
  requestId: textAt(row, 'request_id'),
  change: textAt(row, 'change'),
});

export const usageRowOf = (row: StoredRow): UsageRow => ({
  place: integerAt(row, 'place'),
  counts: textAt(row, 'counts'),
});

export const checkpointOf = (row: StoredRow): Checkpoint => ({
  seq: integerAt(row, 'seq'),
  stamp: integerAt(row, 'stamp'),
  windowFrom: integerAt(row, 'window_from'),
});

// ---- writes of state ----

export type StateKind = StateWrite['kind'];

/** A table of state, without the stamp of its rows. */
interface StateTable {
  readonly name: string;
  /** The columns of the primary key, then the others. */
  readonly key: readonly string[];
  readonly values: readonly string[];
  /** The number of key columns that form the partition. */
  readonly partition: number;
}

/** The other table of a grant, with the same columns under another key. */
export const GRANTS_BY_OBJECT = { name: 'grants_by_object', key: ['tenant', 'object', 'relation', 'subject'] } as const;

/** In the order in which a batch is written: a subject must be listed before its first grant can be found. */
export const STATE_TABLES: Readonly<Record<StateKind, StateTable>> = {
  subject: { name: 'subjects', key: ['tenant', 'bucket', 'subject'], values: [], partition: 2 },
  grant: {
    name: 'grants',
    key: ['tenant', 'subject', 'relation', 'object'],
    values: [...GRANT_ATTRIBUTES.map(({ column }) => column), 'gone'],
    partition: 2,
  },
  expiry: {
    name: 'grants_by_expiry',
    key: ['tenant', 'bucket', 'expires_at_ms', 'subject', 'relation', 'object'],
    values: [],
    partition: 2,
  },
  namespace: { name: 'namespaces', key: ['tenant', 'name'], values: ['created_at_ms'], partition: 1 },
  key: {
    name: 'keys',
    key: ['tenant', 'key_id'],
    values: ['name', 'scopes', 'created_at_ms', 'expires_at_ms', 'hash', 'gone', 'rotated_from', 'rotated_to'],
    partition: 1,
  },
  tenant: {
    name: 'tenants',
    key: ['slot', 'tenant'],
    values: ['name', 'plan', 'state', 'created_at_ms', 'readers'],
    partition: 1,
  },
  rules: {
    name: 'tenant_rules',
    key: ['tenant', 'place'],
    values: ['version', 'revision', 'at_ms', 'actor', 'request_id', 'added', 'removed', 'rules'],
    partition: 1,
  },
  'audit-log': {
    name: 'changes',
    key: ['tenant', 'month', 'seq', 'position'],
    values: ['at_ms', 'actor', 'request_id', 'change'],
    partition: 2,
  },
  'grant-count': {
    name: 'grant_counts',
    key: ['slot', 'tenant'],
    values: ['seq', 'grants', 'bytes', 'by_key', 'collected_to_ms'],
    partition: 1,
  },
};

/** Undefined: the row has no such value. */
export type Cell = string | number | boolean | undefined;

/** The cells of a write, in the order of the columns of its table. */
export function cellsOf(write: StateWrite): readonly Cell[] {
  switch (write.kind) {
    case 'subject':
      return [write.tenantId, bucketOfSubject(write.subject), write.subject];
    case 'grant': {
      const { tenantId, subject, relation, object, tombstone } = write;
      return [tenantId, subject, relation, object, ...grantColumnValues(write), tombstone];
    }
    case 'expiry': {
      const { tenantId, expiresAtMs, subject, relation, object } = write;
      return [tenantId, bucketOfSubject(subject), expiresAtMs, subject, relation, object];
    }
    case 'namespace':
      return [write.tenantId, write.name, write.createdAtMs];
    case 'key': {
      const { keyId, name, scopes, createdAtMs, expiresAtMs, hash, rotatedFrom, rotatedTo } = write.key;
      const end = [write.tombstone, rotatedFrom, rotatedTo];
      return [write.tenantId, keyId, name, scopes, createdAtMs, expiresAtMs, hash, ...end];
    }
    case 'tenant': {
      const { tenantId, name, plan, createdAtMs, readers = READERS_OF_PLAN } = write.tenant;
      return [
        write.slot,
        tenantId,
        name,
        plan,
        encodeTenantState(write.tenant),
        createdAtMs,
        readers === 'auto' ? READERS_AUTO : readers,
      ];
    }
    case 'rules': {
      const { version, revision, atMs, actor, requestId, added, removed } = write.version;
      const what = [atMs, actor, requestId, added, removed, write.rules];
      return [write.tenantId, placeOfVersion(version), version, revision, ...what];
    }
    case 'audit-log': {
      const { seq, index, atMs, actor, requestId, change } = write.row;
      return [write.tenantId, write.month, seq, index, atMs, actor, requestId, change];
    }
    case 'grant-count': {
      const { tenantId, seq, grants, bytes, byKey, collectedToBaseMs } = write.row;
      return [write.slot, tenantId, seq, grants, bytes, encodeKeyCounts(byKey), collectedToBaseMs];
    }
    default:
      return assertNever(write);
  }
}
