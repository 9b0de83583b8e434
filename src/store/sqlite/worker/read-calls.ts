// The calls that only read. Each statement is a read transaction of its own, so it sees every commit that was confirmed
// before it began: that makes serial reads serial in a single database.

import type { DatabaseSync } from 'node:sqlite';
import { placeOfVersion } from '../../../core/rules-versions.ts';
import type { Relation } from '../../../core/tuples.ts';
import type { AuditLogRow, KeyPage } from '../../store.ts';
import {
  AUDIT_LOG_COLUMNS,
  auditLogRowOf,
  checkpointOf,
  EXPIRY_COLUMNS,
  expiryOf,
  GRANT_COLUMNS,
  integerAt,
  KEY_COLUMNS,
  keyIdAt,
  keyRecordOf,
  LOG_COLUMNS,
  MEMBER_COLUMNS,
  META_COLUMNS,
  memberRowOf,
  OBJECT_GRANT_COLUMNS,
  RULES_VERSION_COLUMNS,
  rulesOfVersion,
  rulesVersionOf,
  SLOT_COLUMNS,
  slotRowOf,
  TENANT_COLUMNS,
  tenantOf,
  textAt,
  usageRowOf,
} from '../../stored-rows.ts';
import { type FlatRow, prepare, prepareFlat, type Row } from '../database.ts';
import type { FlatGrants, Handlers, ReadCalls } from '../messages.ts';
import {
  CHECKPOINT_COLUMNS,
  GRANT_COUNT_COLUMNS,
  GRANT_WIDTH,
  grantCountRowOf,
  grantRowOf,
  metaRowOf,
  placeAt,
  recordOf,
} from './rows.ts';

/** The live rows in flat form, and where to continue if the limit of rows was reached. */
function flatGrantsOf(rows: readonly FlatRow[], limit: number): FlatGrants {
  const values: FlatRow[number][] = [];
  // The column after those of the grant says whether it is revoked.
  for (const row of rows) if (row[GRANT_WIDTH] === 0) values.push(...row.slice(0, GRANT_WIDTH));
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { values, next: last && placeAt(last, 0) };
}

const isRevokedKey = (row: Row): boolean => integerAt(row, 'gone') === 1;

function keyPageOf(rows: readonly Row[], limit: number): KeyPage {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return {
    keys: rows.filter((row) => !isRevokedKey(row)).map(keyRecordOf),
    revoked: rows.filter(isRevokedKey).map(keyIdAt),
    next: last && keyIdAt(last),
  };
}

function createTruthReads(database: DatabaseSync) {
  const meta = prepare(database, `SELECT ${META_COLUMNS} FROM meta`);
  const record = prepare(database, `SELECT ${LOG_COLUMNS} FROM log WHERE slot = ? AND segment = ? AND seq = ?`);
  const records = prepare(
    database,
    `SELECT ${LOG_COLUMNS} FROM log WHERE slot = ? AND segment = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  );
  const slot = prepare(database, `SELECT ${SLOT_COLUMNS} FROM slots WHERE slot = ?`);
  const slots = prepare(database, `SELECT ${SLOT_COLUMNS} FROM slots ORDER BY slot`);
  const member = prepare(database, `SELECT ${MEMBER_COLUMNS} FROM members WHERE incarnation = ?`);
  const members = prepare(database, `SELECT ${MEMBER_COLUMNS} FROM members ORDER BY incarnation`);
  return {
    readMeta: () => meta.all().map(metaRowOf)[0],
    readRecord: (slotNumber, segment, seq) => record.all(slotNumber, segment, seq).map(recordOf)[0],
    readRecords: (slotNumber, segment, fromSeq, limit) =>
      records.all(slotNumber, segment, fromSeq, limit).map(recordOf),
    readSlot: (slotNumber) => slot.all(slotNumber).map(slotRowOf)[0],
    listSlots: () => slots.all().map(slotRowOf),
    listSomeSlots: (some) => some.flatMap((slotNumber) => slot.all(slotNumber)).map(slotRowOf),
    readMember: (incarnation) => member.all(incarnation).map(memberRowOf)[0],
    listMembers: () => members.all().map(memberRowOf),
  } satisfies Partial<Handlers<ReadCalls>>;
}

/** Lists the grants of an entity, ascending by (relation, `other`). `of`: the column of the entity. */
function createListing(database: DatabaseSync, table: string, of: string, other: string, columns: string) {
  const select = `SELECT ${columns}, gone FROM ${table} WHERE tenant = ? AND ${of} = ?`;
  const all = prepareFlat(database, `${select} AND (relation, ${other}) > (?, ?) ORDER BY relation, ${other} LIMIT ?`);
  const ofRelation = prepareFlat(database, `${select} AND relation = ? AND ${other} > ? ORDER BY ${other} LIMIT ?`);
  // No relation and no entity is the empty string, so the empty string is the position before the first one.
  return (
    partition: readonly [string, string],
    relation: Relation | undefined,
    after: { readonly relation: Relation; readonly entity: string } | undefined,
    limit: number,
  ): FlatGrants => {
    if (relation === undefined) {
      return flatGrantsOf(all.all(...partition, after?.relation ?? '', after?.entity ?? '', limit), limit);
    }
    if (after !== undefined && after.relation > relation) return { values: [], next: undefined };
    const entity = after?.relation === relation ? after.entity : '';
    return flatGrantsOf(ofRelation.all(...partition, relation, entity, limit), limit);
  };
}

function createGrantReads(database: DatabaseSync) {
  const grant = prepareFlat(
    database,
    `SELECT ${GRANT_COLUMNS} FROM grants
     WHERE tenant = ? AND subject = ? AND relation = ? AND object = ? AND gone = 0`,
  );
  const bySubject = createListing(database, 'grants', 'subject', 'object', GRANT_COLUMNS);
  const byObject = createListing(database, 'grants_by_object', 'object', 'subject', OBJECT_GRANT_COLUMNS);
  const subjects = prepare(
    database,
    'SELECT subject FROM subjects WHERE tenant = ? AND bucket = ? AND subject > ? ORDER BY subject LIMIT ?',
  );
  const expiries = prepare(
    database,
    `SELECT ${EXPIRY_COLUMNS} FROM grants_by_expiry
     WHERE tenant = ? AND bucket = ? AND (expires_at_ms, subject, relation, object) > (?, ?, ?, ?)
     ORDER BY expires_at_ms, subject, relation, object LIMIT ?`,
  );
  return {
    listExpiries: ({ tenantId, bucket, after, limit }) =>
      expiries
        .all(tenantId, bucket, after.expiresAtMs, after.subject, after.relation, after.object, limit)
        .map(expiryOf),
    readGrant: (tenantId, subject, relation, object) =>
      grant.all(tenantId, subject, relation, object).map((row) => grantRowOf(row))[0],
    listGrants: ({ tenantId, subject, relation, after, limit }) =>
      bySubject([tenantId, subject], relation, after && { relation: after.relation, entity: after.object }, limit),
    listGrantsOfEach: ({ tenantId, subjects: each, limit }) =>
      each.map((subject) => bySubject([tenantId, subject], undefined, undefined, limit)),
    listObjectGrants: ({ tenantId, object, relation, after, limit }) =>
      byObject([tenantId, object], relation, after && { relation: after.relation, entity: after.subject }, limit),
    listObjectGrantsOfEach: ({ tenantId, objects, limit }) =>
      objects.map((object) => byObject([tenantId, object], undefined, undefined, limit)),
    listSubjects: ({ tenantId, bucket, after, limit }) =>
      subjects.all(tenantId, bucket, after ?? '', limit).map((row) => textAt(row, 'subject')),
  } satisfies Partial<Handlers<ReadCalls>>;
}

function createTenantReads(database: DatabaseSync) {
  const checkpoint = prepare(database, `SELECT ${CHECKPOINT_COLUMNS} FROM checkpoints WHERE slot = ?`);
  const hotPages = prepare(database, 'SELECT pages FROM hot_pages WHERE slot = ?');
  const namespaces = prepare(database, 'SELECT name, created_at_ms FROM namespaces WHERE tenant = ? ORDER BY name');
  const key = prepare(database, `SELECT ${KEY_COLUMNS} FROM keys WHERE tenant = ? AND key_id = ? AND gone = 0`);
  const keys = prepare(
    database,
    `SELECT ${KEY_COLUMNS}, gone FROM keys WHERE tenant = ? AND key_id > ? ORDER BY key_id LIMIT ?`,
  );
  const tenants = prepare(
    database,
    `SELECT ${TENANT_COLUMNS} FROM tenants WHERE slot = ? AND tenant > ? ORDER BY tenant LIMIT ?`,
  );
  const rules = prepare(database, 'SELECT version, rules FROM tenant_rules WHERE tenant = ? AND place = ?');
  const rulesVersions = prepare(database, `SELECT ${RULES_VERSION_COLUMNS} FROM tenant_rules WHERE tenant = ?`);
  const grantCounts = prepare(
    database,
    `SELECT ${GRANT_COUNT_COLUMNS} FROM grant_counts WHERE slot = ? AND tenant > ? ORDER BY tenant LIMIT ?`,
  );
  const auditLog = prepare(
    database,
    `SELECT ${AUDIT_LOG_COLUMNS} FROM changes
     WHERE tenant = ? AND month = ? AND (seq, position) > (?, ?) ORDER BY seq, position LIMIT ?`,
  );
  const auditLogBackwards = prepare(
    database,
    `SELECT ${AUDIT_LOG_COLUMNS} FROM changes
     WHERE tenant = ? AND month = ? AND (seq, position) < (?, ?) ORDER BY seq DESC, position DESC LIMIT ?`,
  );
  const keyUse = prepare(database, 'SELECT key_id, used_at_ms FROM key_uses WHERE tenant = ? AND key_id = ?');
  const usage = prepare(database, 'SELECT place, counts FROM usage WHERE tenant = ? AND place BETWEEN ? AND ?');
  return {
    readCheckpoint: (slot) => checkpoint.all(slot).map(checkpointOf)[0],
    readHotPages: (slot) => hotPages.all(slot).map((row) => textAt(row, 'pages'))[0],
    readUsage: ({ tenantId, from, to }) => usage.all(tenantId, from, to).map(usageRowOf),
    listNamespaces: (tenantId) =>
      namespaces
        .all(tenantId)
        .map((row) => ({ name: textAt(row, 'name'), createdAtMs: integerAt(row, 'created_at_ms') })),
    readKey: (tenantId, keyId) => key.all(tenantId, keyId).map(keyRecordOf)[0],
    listKeys: ({ tenantId, after, limit }) => keyPageOf(keys.all(tenantId, after ?? '', limit), limit),
    listTenants: ({ slot, after, limit }) => tenants.all(slot, after ?? '', limit).map(tenantOf),
    readRules: (tenantId, version) =>
      rules.all(tenantId, placeOfVersion(version)).map((row) => rulesOfVersion(row, version))[0],
    listRulesVersions: (tenantId) => rulesVersions.all(tenantId).map(rulesVersionOf),
    listGrantCounts: ({ slot, after, limit }) => grantCounts.all(slot, after ?? '', limit).map(grantCountRowOf),
    listAuditLog: ({ tenantId, month, newestFirst = false, after, limit, lengthMax = Number.POSITIVE_INFINITY }) => {
      const statement = newestFirst ? auditLogBackwards : auditLog;
      const { seq, index } =
        after ?? (newestFirst ? { seq: Number.MAX_SAFE_INTEGER, index: 0 } : { seq: -1, index: -1 });
      const rows: AuditLogRow[] = [];
      let length = 0;
      for (const values of statement.iterate(tenantId, month, seq, index, limit)) {
        const row = auditLogRowOf(values);
        rows.push(row);
        length += row.change.length;
        if (length >= lengthMax) break;
      }
      return rows;
    },
    listKeyUses: (tenantId, keyIds) =>
      new Map(
        keyIds
          .flatMap((keyId) => keyUse.all(tenantId, keyId))
          .map((row) => [keyIdAt(row), integerAt(row, 'used_at_ms')]),
      ),
  } satisfies Partial<Handlers<ReadCalls>>;
}

export function createReadHandlers(database: DatabaseSync): Handlers<ReadCalls> {
  return { ...createTruthReads(database), ...createGrantReads(database), ...createTenantReads(database) };
}
