// Reads of state from a quorum: each sees every write that was confirmed before. Listings are in the order of their
// clustering columns; text is ordered by its bytes.

import type { KeyId, TenantId } from '../../../core/ids.ts';
import { placeOfVersion } from '../../../core/rules-versions.ts';
import type { Relation } from '../../../core/tuples.ts';
import { AUDIT_LOG_KEPT_MS, type AuditLogRow, type DeadlineMs, type StateStore } from '../../store.ts';
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
  OBJECT_GRANT_COLUMNS,
  RULES_VERSION_COLUMNS,
  rulesOfVersion,
  rulesVersionOf,
  TENANT_COLUMNS,
  tenantIdAt,
  tenantOf,
  textAt,
  usageRowOf,
} from '../../stored-rows.ts';
import type { Row, Statement, Value } from '../driver/executor.ts';
import {
  booleanAt,
  CHECKPOINT_COLUMNS,
  decodeGrantCount,
  grantPlaceOf,
  grantRowOf,
  objectGrantPlaceOf,
  objectGrantRowOf,
} from './rows.ts';
import { GroupedReads, type GroupedReadsPorts } from './table-scan.ts';

/** A few megabytes, if all of them are changes of long rules. */
const AUDIT_LOG_ROWS_PER_PAGE = 64;

type Calls = Pick<StateStore, Extract<keyof StateStore, `read${string}` | `list${string}`>>;

/** A range of the grants of one partition. */
interface GrantRange {
  readonly partition: readonly [tenantId: TenantId, entity: string];
  readonly relation: Relation | undefined;
  readonly after: { readonly relation: Relation; readonly entity: string } | undefined;
  readonly limit: number;
}

/**
 * `select`: the statement up to the partition; `other`: the column after the relation. Undefined if nothing can come
 * after `after` in the requested relation.
 */
function selectRange(select: string, other: string, range: GrantRange): Statement | undefined {
  const { partition, relation, after, limit } = range;
  if (relation === undefined) {
    return after === undefined
      ? { query: `${select} LIMIT ?`, params: [...partition, limit] }
      : {
          query: `${select} AND (relation, ${other}) > (?, ?) LIMIT ?`,
          params: [...partition, after.relation, after.entity, limit],
        };
  }
  if (after === undefined || after.relation < relation) {
    return { query: `${select} AND relation = ? LIMIT ?`, params: [...partition, relation, limit] };
  }
  if (after.relation > relation) return undefined;
  return {
    query: `${select} AND relation = ? AND ${other} > ? LIMIT ?`,
    params: [...partition, relation, after.entity, limit],
  };
}

export function createStateReads(ports: GroupedReadsPorts, keyspace: string): Calls {
  const { executor } = ports;
  const table = (name: string): string => `${keyspace}.${name}`;
  const checkpoints = new GroupedReads(
    ports,
    `SELECT slot, ${CHECKPOINT_COLUMNS} FROM ${table('checkpoints')} WHERE slot IN ? PER PARTITION LIMIT ?`,
  );
  const hotPages = new GroupedReads(
    ports,
    `SELECT slot, pages FROM ${table('hot_pages')} WHERE slot IN ? PER PARTITION LIMIT ?`,
  );
  const grant = `SELECT ${GRANT_COLUMNS}, gone FROM ${table('grants')}
    WHERE tenant = ? AND subject = ? AND relation = ? AND object = ?`;
  const bySubject = `SELECT ${GRANT_COLUMNS}, gone FROM ${table('grants')} WHERE tenant = ? AND subject = ?`;
  const bySubjects = `SELECT subject, ${GRANT_COLUMNS}, gone FROM ${table('grants')}
    WHERE tenant = ? AND subject IN ? PER PARTITION LIMIT ?`;
  const byObjects = `SELECT object, ${OBJECT_GRANT_COLUMNS}, gone FROM ${table('grants_by_object')}
    WHERE tenant = ? AND object IN ? PER PARTITION LIMIT ?`;
  const byObject = `SELECT ${OBJECT_GRANT_COLUMNS}, gone FROM ${table('grants_by_object')} WHERE tenant = ? AND object = ?`;
  const subjects = `SELECT subject FROM ${table('subjects')} WHERE tenant = ? AND bucket = ? AND subject > ? LIMIT ?`;
  const expiries = `SELECT ${EXPIRY_COLUMNS} FROM ${table('grants_by_expiry')} WHERE tenant = ? AND bucket = ?
    AND (expires_at_ms, subject, relation, object) > (?, ?, ?, ?) LIMIT ?`;
  const namespaces = `SELECT name, created_at_ms FROM ${table('namespaces')} WHERE tenant = ?`;
  const key = `SELECT ${KEY_COLUMNS}, gone FROM ${table('keys')} WHERE tenant = ? AND key_id = ?`;
  const keys = `SELECT ${KEY_COLUMNS}, gone FROM ${table('keys')} WHERE tenant = ? AND key_id > ? LIMIT ?`;
  const tenants = `SELECT ${TENANT_COLUMNS} FROM ${table('tenants')} WHERE slot = ? AND tenant > ? LIMIT ?`;
  const firstTenants = new GroupedReads(
    ports,
    `SELECT slot, ${TENANT_COLUMNS} FROM ${table('tenants')} WHERE slot IN ? PER PARTITION LIMIT ?`,
  );
  const rules = `SELECT version, rules FROM ${table('tenant_rules')} WHERE tenant = ? AND place = ?`;
  const rulesVersions = `SELECT ${RULES_VERSION_COLUMNS} FROM ${table('tenant_rules')} WHERE tenant = ?`;
  const grantCounts = `SELECT tenant, count FROM ${table('grant_counts')} WHERE slot = ? AND tenant > ? LIMIT ?`;
  const firstGrantCounts = new GroupedReads(
    ports,
    `SELECT slot, tenant, count FROM ${table('grant_counts')} WHERE slot IN ? PER PARTITION LIMIT ?`,
  );
  const auditLog = `SELECT ${AUDIT_LOG_COLUMNS} FROM ${table('changes')}
    WHERE tenant = ? AND month = ? AND (seq, position) > (?, ?) LIMIT ?`;
  const auditLogBackwards = `SELECT ${AUDIT_LOG_COLUMNS} FROM ${table('changes')}
    WHERE tenant = ? AND month = ? AND (seq, position) < (?, ?) ORDER BY seq DESC, position DESC LIMIT ?`;
  const auditLogTable = `SELECT default_time_to_live FROM system_schema.tables
    WHERE keyspace_name = ? AND table_name = 'changes'`;
  const keyUses = `SELECT key_id, used_at_ms FROM ${table('key_uses')} WHERE tenant = ? AND key_id IN ?`;
  const usage = `SELECT place, counts FROM ${table('usage')} WHERE tenant = ? AND place >= ? AND place <= ?`;

  const readAll = (query: string, params: readonly Value[], deadline: DeadlineMs): Promise<readonly Row[]> =>
    executor.readAll(query, params, deadline);

  /** The live rows of a range, and its last row if there may be more. */
  async function readRange(statement: Statement | undefined, limit: number, deadline: DeadlineMs) {
    const rows = statement === undefined ? [] : await readAll(statement.query, statement.params, deadline);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return { rows: rows.filter((row) => !booleanAt(row, 'gone')), last };
  }

  /** The live rows of several entities, in their order; `column` names the entity. */
  async function readEach(
    query: string,
    column: 'subject' | 'object',
    {
      tenantId,
      each,
      limit,
    }: { readonly tenantId: TenantId; readonly each: readonly string[]; readonly limit: number },
    deadline: DeadlineMs,
  ) {
    const all = each.length === 0 ? [] : await readAll(query, [tenantId, each, limit], deadline);
    const found = Map.groupBy(all, (row) => textAt(row, column));
    return each.map((entity) => {
      const rows = found.get(entity) ?? [];
      return { rows: rows.filter((row) => !booleanAt(row, 'gone')), isAll: rows.length < limit };
    });
  }

  return {
    async readCheckpoint(slot, deadline) {
      const rows = await checkpoints.read(slot, 1, deadline);
      return rows.map(checkpointOf)[0];
    },

    async readHotPages(slot, deadline) {
      const rows = await hotPages.read(slot, 1, deadline);
      return rows.map((row) => textAt(row, 'pages'))[0];
    },

    async readUsage({ tenantId, from, to }, deadline) {
      return (await readAll(usage, [tenantId, from, to], deadline)).map(usageRowOf);
    },

    async readGrant(tenantId: TenantId, subject: string, relation: Relation, object: string, deadline: DeadlineMs) {
      const rows = await readAll(grant, [tenantId, subject, relation, object], deadline);
      return rows.filter((row) => !booleanAt(row, 'gone')).map(grantRowOf)[0];
    },

    async listGrants({ tenantId, subject, relation, after, limit }, deadline) {
      const from = after && { relation: after.relation, entity: after.object };
      const range = { partition: [tenantId, subject], relation, after: from, limit } as const;
      const { rows, last } = await readRange(selectRange(bySubject, 'object', range), limit, deadline);
      return { grants: rows.map(grantRowOf), next: last && grantPlaceOf(last) };
    },

    async listObjectGrants({ tenantId, object, relation, after, limit }, deadline) {
      const from = after && { relation: after.relation, entity: after.subject };
      const range = { partition: [tenantId, object], relation, after: from, limit } as const;
      const { rows, last } = await readRange(selectRange(byObject, 'subject', range), limit, deadline);
      return { grants: rows.map(objectGrantRowOf), next: last && objectGrantPlaceOf(last) };
    },

    async listGrantsOfEach({ tenantId, subjects: each, limit }, deadline) {
      const found = await readEach(bySubjects, 'subject', { tenantId, each, limit }, deadline);
      return found.map(({ rows, isAll }) => ({ grants: rows.map(grantRowOf), isAll }));
    },

    async listObjectGrantsOfEach({ tenantId, objects, limit }, deadline) {
      const found = await readEach(byObjects, 'object', { tenantId, each: objects, limit }, deadline);
      return found.map(({ rows, isAll }) => ({ grants: rows.map(objectGrantRowOf), isAll }));
    },

    async listSubjects({ tenantId, bucket, after, limit }, deadline) {
      const rows = await readAll(subjects, [tenantId, bucket, after ?? '', limit], deadline);
      return rows.map((row) => textAt(row, 'subject'));
    },

    async listExpiries({ tenantId, bucket, after, limit }, deadline) {
      const from = [BigInt(after.expiresAtMs), after.subject, after.relation, after.object];
      return (await readAll(expiries, [tenantId, bucket, ...from, limit], deadline)).map(expiryOf);
    },

    async listNamespaces(tenantId, deadline) {
      const rows = await readAll(namespaces, [tenantId], deadline);
      return rows.map((row) => ({ name: textAt(row, 'name'), createdAtMs: integerAt(row, 'created_at_ms') }));
    },

    async readKey(tenantId, keyId, deadline) {
      const rows = await readAll(key, [tenantId, keyId], deadline);
      return rows.filter((row) => !booleanAt(row, 'gone')).map(keyRecordOf)[0];
    },

    async listKeys({ tenantId, after, limit }, deadline) {
      const rows = await readAll(keys, [tenantId, after ?? '', limit], deadline);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return {
        keys: rows.filter((row) => !booleanAt(row, 'gone')).map(keyRecordOf),
        revoked: rows.filter((row) => booleanAt(row, 'gone')).map(keyIdAt),
        next: last === undefined ? undefined : keyIdAt(last),
      };
    },

    async listTenants({ slot, after, limit }, deadline) {
      const rows =
        after === undefined
          ? await firstTenants.read(slot, limit, deadline)
          : await readAll(tenants, [slot, after, limit], deadline);
      return rows.map(tenantOf);
    },

    async readRules(tenantId, version, deadline) {
      const rows = await readAll(rules, [tenantId, placeOfVersion(version)], deadline);
      return rows.map((row) => rulesOfVersion(row, version))[0];
    },

    async listRulesVersions(tenantId, deadline) {
      return (await readAll(rulesVersions, [tenantId], deadline)).map(rulesVersionOf);
    },

    async listGrantCounts({ slot, after, limit }, deadline) {
      const rows =
        after === undefined
          ? await firstGrantCounts.read(slot, limit, deadline)
          : await readAll(grantCounts, [slot, after, limit], deadline);
      return rows.map((row) => decodeGrantCount(tenantIdAt(row), textAt(row, 'count')));
    },

    async listAuditLog(
      { tenantId, month, newestFirst = false, after, limit, lengthMax = Number.POSITIVE_INFINITY },
      deadline,
    ) {
      const { seq, index } =
        after ?? (newestFirst ? { seq: Number.MAX_SAFE_INTEGER, index: 0 } : { seq: -1, index: -1 });
      const query = newestFirst ? auditLogBackwards : auditLog;
      const found: AuditLogRow[] = [];
      let length = 0;
      let from: string | undefined;
      do {
        const page = { size: AUDIT_LOG_ROWS_PER_PAGE, ...(from === undefined ? {} : { from }) };
        const { rows, next } = await executor.read(query, [tenantId, month, BigInt(seq), index, limit], deadline, page);
        for (const row of rows.map(auditLogRowOf)) {
          found.push(row);
          length += row.change.length;
          if (length >= lengthMax) return found;
        }
        from = next;
      } while (from !== undefined);
      return found;
    },

    async readAuditLogKeptMs(deadline) {
      const [row] = await readAll(auditLogTable, [keyspace.replaceAll('"', '')], deadline);
      // 0: rows are kept for ever, but older ones may have been written with another setting.
      const seconds = row === undefined ? 0 : integerAt(row, 'default_time_to_live');
      return Math.min(seconds * 1000 || AUDIT_LOG_KEPT_MS, AUDIT_LOG_KEPT_MS);
    },

    async listKeyUses(tenantId, keyIds, deadline) {
      const rows = keyIds.length === 0 ? [] : await readAll(keyUses, [tenantId, keyIds], deadline);
      return new Map<KeyId, number>(rows.map((row) => [keyIdAt(row), integerAt(row, 'used_at_ms')]));
    },
  };
}
