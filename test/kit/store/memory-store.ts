// The store port in memory, for tests: plain maps, one atomic step per call. `delay` puts each call's two ways (to the
// store and back) in the hands of a scheduler. It passes the contract suite like any other adapter.

import type { Clock } from '../../../src/core/async/clock.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { attributesOf } from '../../../src/core/grant-attributes.ts';
import type { ClusterId, KeyId, TenantId } from '../../../src/core/ids.ts';
import { placeOfVersion } from '../../../src/core/rules-versions.ts';
import { segmentOf } from '../../../src/core/slots.ts';
import { compareUtf8, type Relation } from '../../../src/core/tuples.ts';
import type {
  AuditLogRow,
  Checkpoint,
  ConditionalOutcome,
  DeadlineMs,
  GrantWrite,
  LogRecord,
  MemberRow,
  Meta,
  SlotRow,
  StateWrite,
  Store,
  StoreClock,
  UsageRow,
} from '../../../src/store/store.ts';
import { AUDIT_LOG_KEPT_MS } from '../../../src/store/store.ts';
import { withDeadline } from './store-deadline.ts';
import type { StoreOperation } from './store-gate.ts';
import { compareExpiries, StateTables } from './store-tables.ts';

const PURGE_ROWS_MAX_DEFAULT = 100;

export interface MemoryStoreOptions {
  readonly clock: Clock;
  /** Awaited before a call is applied (`request`) and before its answer is given (`reply`). Default: a microtask. */
  readonly delay?: (operation: StoreOperation, way: 'request' | 'reply') => Promise<void>;
  /** Removals also remove older writes that come after them, as tombstones do. Default: false. */
  readonly shadows?: boolean;
  /** Rows of a deleted tenant that one call removes. Default: 100. */
  readonly purgeRowsMax?: number;
}

type Arguments<Name extends StoreOperation> = Parameters<Store[Name]>;
type Answer<Name extends StoreOperation> = ReturnType<Store[Name]>;

const grantRow = (row: GrantWrite) => ({ relation: row.relation, object: row.object, ...attributesOf(row) });
const objectGrantRow = (row: GrantWrite) => ({ subject: row.subject, relation: row.relation, ...attributesOf(row) });

/** Where the rows begin that are behind a place; the rows before it are not. */
function firstBehind<Row>(rows: readonly Row[], isBehind: (row: Row) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = rows[middle];
    if (row !== undefined && isBehind(row)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Up to `limit` rows after a place, and the last if there may be more. `rows`: ordered by their relation and then
 * `other`, the column after it.
 */
function rangeOf<Row extends GrantWrite>(
  rows: readonly Row[],
  other: (row: Row) => string,
  relation: Relation | undefined,
  after: { readonly relation: Relation; readonly entity: string } | undefined,
  limit: number,
) {
  const start = firstBehind(rows, (row) => {
    if (after === undefined || row.relation > after.relation) return true;
    return row.relation === after.relation && compareUtf8(other(row), after.entity) > 0;
  });
  const seen: Row[] = [];
  for (let index = start; index < rows.length && seen.length < limit; index += 1) {
    const row = rows[index];
    if (row !== undefined && (relation === undefined || row.relation === relation)) seen.push(row);
  }
  return { seen, live: seen.filter((row) => !row.tombstone), last: seen.at(limit - 1) };
}

export class MemoryStore implements Store {
  /** As the table of the audit log is set up. */
  auditLogKeptMs = AUDIT_LOG_KEPT_MS;
  /** Of the node that answers next. Undefined: the store is on the machine of the process. */
  nodeClock: () => StoreClock | undefined = () => undefined;
  readonly #clock: Clock;
  readonly #delay: NonNullable<MemoryStoreOptions['delay']>;
  readonly #log = new Map<string, LogRecord>();
  readonly #slots = new Map<number, SlotRow>();
  readonly #members = new Map<string, MemberRow>();
  readonly #checkpoints = new Map<number, Checkpoint>();
  readonly #hotPages = new Map<number, { readonly list: string; readonly atMs: number }>();
  readonly #keyUses = new Map<string, Map<KeyId, number>>();
  readonly #tables: StateTables;
  readonly #purgeRowsMax: number;
  readonly #shadows: boolean;
  readonly #usage = new Map<string, Map<number, UsageRow & { readonly atMs: number }>>();
  /** Tenants whose uses of keys, and whose usage, were removed. */
  readonly #timedRemoved = new Set<string>();
  #meta: Meta | undefined;
  #closed = false;

  constructor(options: MemoryStoreOptions) {
    this.#clock = options.clock;
    this.#tables = new StateTables(options.shadows);
    this.#shadows = options.shadows ?? false;
    this.#purgeRowsMax = options.purgeRowsMax ?? PURGE_ROWS_MAX_DEFAULT;
    this.#delay = options.delay ?? (() => Promise.resolve());
  }

  readMeta(deadline: DeadlineMs): Answer<'readMeta'> {
    return this.#run('readMeta', deadline, () => this.#meta);
  }

  initializeMeta(meta: Meta, deadline: DeadlineMs): Answer<'initializeMeta'> {
    return this.#run('initializeMeta', deadline, () => {
      this.#meta ??= { ...meta };
      return this.#meta;
    });
  }

  replaceClusterId(from: ClusterId, to: ClusterId, deadline: DeadlineMs): Answer<'replaceClusterId'> {
    return this.#run('replaceClusterId', deadline, () => {
      if (this.#meta?.clusterId === from) this.#meta = { ...this.#meta, clusterId: to };
      return this.#meta?.clusterId;
    });
  }

  append(record: LogRecord, deadline: DeadlineMs): Answer<'append'> {
    return this.#run('append', deadline, () => {
      this.#segment(record.seq);
      const key = `${record.slot}/${record.seq}`;
      const standing = this.#log.get(key);
      if (standing !== undefined) return { kind: 'occupied', record: standing };
      this.#log.set(key, { ...record });
      return { kind: 'appended' };
    });
  }

  readRecord(slot: number, seq: number, deadline: DeadlineMs): Answer<'readRecord'> {
    return this.#run('readRecord', deadline, () => {
      this.#segment(seq);
      return this.#log.get(`${slot}/${seq}`);
    });
  }

  readRecords(slot: number, fromSeq: number, limit: number, deadline: DeadlineMs): Answer<'readRecords'> {
    return this.#run('readRecords', deadline, () => {
      const segment = this.#segment(fromSeq);
      const records: LogRecord[] = [];
      for (let seq = fromSeq; this.#segment(seq) === segment && records.length < limit; seq += 1) {
        const record = this.#log.get(`${slot}/${seq}`);
        if (record !== undefined) records.push(record);
      }
      return records;
    });
  }

  readTail(slot: number, fromSeq: number, limit: number, deadline: DeadlineMs): Answer<'readTail'> {
    return this.#run('readTail', deadline, () => {
      const last = this.#segment(fromSeq) + 1;
      const records: LogRecord[] = [];
      for (let seq = fromSeq; this.#segment(seq) <= last && records.length < limit; seq += 1) {
        const record = this.#log.get(`${slot}/${seq}`);
        if (record !== undefined) records.push(record);
      }
      return records;
    });
  }

  removeSegment(slot: number, segment: number, deadline: DeadlineMs): Answer<'removeSegment'> {
    return this.#run('removeSegment', deadline, () => {
      for (const [key, record] of this.#log) {
        if (record.slot === slot && this.#segment(record.seq) === segment) this.#log.delete(key);
      }
    });
  }

  readSlot(slot: number, deadline: DeadlineMs): Answer<'readSlot'> {
    return this.#run('readSlot', deadline, () => this.#slots.get(slot));
  }

  listSlots(deadline: DeadlineMs): Answer<'listSlots'> {
    return this.#run('listSlots', deadline, () => [...this.#slots.values()]);
  }

  listSomeSlots(...[slots, deadline]: Arguments<'listSomeSlots'>): Answer<'listSomeSlots'> {
    return this.#run('listSlots', deadline, () => slots.flatMap((slot) => this.#slots.get(slot) ?? []));
  }

  claimSlot(...[claim, deadline]: Arguments<'claimSlot'>): Answer<'claimSlot'> {
    return this.#run('claimSlot', deadline, () => {
      const { slot, owner, expected } = claim;
      const row = this.#slots.get(slot);
      if (row === undefined || expected === undefined) {
        const applied = row === undefined && expected === undefined;
        if (applied) {
          this.#slots.set(slot, { slot, owner, epoch: 1, opened: undefined, first: 1 });
        }
        return { applied, row: this.#slots.get(slot) };
      }
      const matches = row.owner === expected.owner && row.epoch === expected.epoch;
      return this.#setSlot(slot, matches, { owner, epoch: row.epoch + 1 });
    });
  }

  recordOpened(...[opened, deadline]: Arguments<'recordOpened'>): Answer<'recordOpened'> {
    return this.#run('recordOpened', deadline, () =>
      this.#setSlot(opened.slot, this.#owns(opened), { opened: opened.opened }),
    );
  }

  recordFirst(...[first, deadline]: Arguments<'recordFirst'>): Answer<'recordFirst'> {
    return this.#run('recordFirst', deadline, () => {
      const behind = (this.#slots.get(first.slot)?.first ?? first.first) < first.first;
      return this.#setSlot(first.slot, behind && this.#owns(first), { first: first.first });
    });
  }

  releaseSlot(...[release, deadline]: Arguments<'releaseSlot'>): Answer<'releaseSlot'> {
    return this.#run('releaseSlot', deadline, () =>
      this.#setSlot(release.slot, this.#owns(release), {
        owner: release.successor,
        epoch: release.successor === undefined ? release.epoch : release.epoch + 1,
      }),
    );
  }

  insertMember(member: MemberRow, deadline: DeadlineMs): Answer<'insertMember'> {
    return this.#run('insertMember', deadline, () => {
      const applied = !this.#members.has(member.incarnation);
      if (applied) this.#members.set(member.incarnation, { ...member });
      return { applied, row: this.#members.get(member.incarnation) };
    });
  }

  writeHeartbeat(
    ...[{ incarnation, expectedHeartbeat, ...next }, deadline]: Arguments<'writeHeartbeat'>
  ): Answer<'writeHeartbeat'> {
    return this.#run('writeHeartbeat', deadline, () => this.#setMember(incarnation, expectedHeartbeat, next));
  }

  declareDead(...[{ incarnation, heartbeat }, deadline]: Arguments<'declareDead'>): Answer<'declareDead'> {
    return this.#run('declareDead', deadline, () => this.#setMember(incarnation, heartbeat, { state: 'dead' }));
  }

  readMember(incarnation: string, deadline: DeadlineMs): Answer<'readMember'> {
    return this.#run('readMember', deadline, () => this.#members.get(incarnation));
  }

  readClock(deadline: DeadlineMs): Answer<'readClock'> {
    return this.#run('readClock', deadline, () => this.nodeClock());
  }

  listMembers(deadline: DeadlineMs): Answer<'listMembers'> {
    return this.#run('listMembers', deadline, () => [...this.#members.values()]);
  }

  removeMember(incarnation: string, deadline: DeadlineMs): Answer<'removeMember'> {
    return this.#run('removeMember', deadline, () => {
      if (this.#members.get(incarnation)?.state === 'dead') this.#members.delete(incarnation);
    });
  }

  writeState(writes: readonly StateWrite[], deadline: DeadlineMs): Answer<'writeState'> {
    return this.#run('writeState', deadline, () => {
      for (const write of writes) this.#tables.apply(write);
    });
  }

  writeCheckpoint(...[slot, checkpoint, deadline]: Arguments<'writeCheckpoint'>): Answer<'writeCheckpoint'> {
    return this.#run('writeCheckpoint', deadline, () => {
      const standing = this.#checkpoints.get(slot);
      const isOfTheSame = checkpoint.stamp === standing?.stamp;
      const moves = isOfTheSame && (checkpoint.windowFrom ?? 0) > (standing.windowFrom ?? 0);
      if (standing === undefined || checkpoint.stamp > standing.stamp || moves) {
        this.#checkpoints.set(slot, { ...checkpoint });
      }
    });
  }

  readCheckpoint(slot: number, deadline: DeadlineMs): Answer<'readCheckpoint'> {
    return this.#run('readCheckpoint', deadline, () => this.#checkpoints.get(slot));
  }

  readHotPages(slot: number, deadline: DeadlineMs): Answer<'readHotPages'> {
    return this.#run('readHotPages', deadline, () => this.#hotPages.get(slot)?.list);
  }

  writeHotPages(...[slot, list, atMs, deadline]: Arguments<'writeHotPages'>): Answer<'writeHotPages'> {
    return this.#run('writeHotPages', deadline, () => {
      if (atMs >= (this.#hotPages.get(slot)?.atMs ?? 0)) this.#hotPages.set(slot, { list, atMs });
    });
  }

  readGrant(...[tenantId, subject, relation, object, deadline]: Arguments<'readGrant'>): Answer<'readGrant'> {
    return this.#run('readGrant', deadline, () => {
      const row = this.#tables.grants.get([tenantId, subject], [relation, object]);
      return row === undefined || row.tombstone ? undefined : grantRow(row);
    });
  }

  listGrants(...[query, deadline]: Arguments<'listGrants'>): Answer<'listGrants'> {
    const { tenantId, subject, relation, after, limit } = query;
    return this.#run('listGrants', deadline, () => {
      const rows = this.#tables.grants.list([tenantId, subject]);
      const from = after && { relation: after.relation, entity: after.object };
      const { live, last } = rangeOf(rows, ({ object }) => object, relation, from, limit);
      return { grants: live.map(grantRow), next: last && { relation: last.relation, object: last.object } };
    });
  }

  listObjectGrants(...[query, deadline]: Arguments<'listObjectGrants'>): Answer<'listObjectGrants'> {
    const { tenantId, object, relation, after, limit } = query;
    return this.#run('listObjectGrants', deadline, () => {
      const rows = this.#tables.objectGrants.list([tenantId, object]);
      const from = after && { relation: after.relation, entity: after.subject };
      const { live, last } = rangeOf(rows, ({ subject }) => subject, relation, from, limit);
      return { grants: live.map(objectGrantRow), next: last && { relation: last.relation, subject: last.subject } };
    });
  }

  listGrantsOfEach(...[query, deadline]: Arguments<'listGrantsOfEach'>): Answer<'listGrantsOfEach'> {
    const { tenantId, subjects, limit } = query;
    return this.#run('listGrantsOfEach', deadline, () =>
      subjects.map((subject) => {
        const rows = this.#tables.grants.list([tenantId, subject]);
        const { live, last } = rangeOf(rows, ({ object }) => object, undefined, undefined, limit);
        return { grants: live.map(grantRow), isAll: last === undefined };
      }),
    );
  }

  listObjectGrantsOfEach(...[query, deadline]: Arguments<'listObjectGrantsOfEach'>): Answer<'listObjectGrantsOfEach'> {
    const { tenantId, objects, limit } = query;
    return this.#run('listObjectGrantsOfEach', deadline, () =>
      objects.map((object) => {
        const rows = this.#tables.objectGrants.list([tenantId, object]);
        const { live, last } = rangeOf(rows, ({ subject }) => subject, undefined, undefined, limit);
        return { grants: live.map(objectGrantRow), isAll: last === undefined };
      }),
    );
  }

  listSubjects(...[query, deadline]: Arguments<'listSubjects'>): Answer<'listSubjects'> {
    const { tenantId, bucket, after, limit } = query;
    return this.#run('listSubjects', deadline, () => {
      const rows = this.#tables.subjects.list([tenantId, bucket]);
      const start = firstBehind(rows, ({ subject }) => after === undefined || compareUtf8(subject, after) > 0);
      return rows.slice(start, start + limit).map(({ subject }) => subject);
    });
  }

  listExpiries(...[{ tenantId, bucket, after, limit }, deadline]: Arguments<'listExpiries'>): Answer<'listExpiries'> {
    return this.#run('listExpiries', deadline, () => {
      const rows = this.#tables.expiries.list([tenantId, bucket]).filter((row) => compareExpiries(row, after) > 0);
      return rows.slice(0, limit).map(({ expiresAtMs, subject, relation, object }) => {
        return { expiresAtMs, subject, relation, object };
      });
    });
  }

  removeExpiries(...[range, stamp, deadline]: Arguments<'removeExpiries'>): Answer<'removeExpiries'> {
    return this.#run('removeExpiries', deadline, () => this.#tables.removeExpiries(range, stamp));
  }

  listNamespaces(...[tenantId, deadline]: Arguments<'listNamespaces'>): Answer<'listNamespaces'> {
    return this.#run('listNamespaces', deadline, () =>
      this.#tables.namespaces.list([tenantId]).map(({ name, createdAtMs }) => ({ name, createdAtMs })),
    );
  }

  readKey(...[tenantId, keyId, deadline]: Arguments<'readKey'>): Answer<'readKey'> {
    return this.#run('readKey', deadline, () => {
      const rows = this.#tables.keys.list([tenantId]);
      return rows.find(({ tombstone, key }) => !tombstone && key.keyId === keyId)?.key;
    });
  }

  listKeys(...[{ tenantId, after, limit }, deadline]: Arguments<'listKeys'>): Answer<'listKeys'> {
    return this.#run('listKeys', deadline, () => {
      const rows = this.#tables.keys.list([tenantId]);
      const seen = rows.filter(({ key }) => after === undefined || key.keyId > after).slice(0, limit);
      return {
        keys: seen.flatMap(({ tombstone, key }) => (tombstone ? [] : [key])),
        revoked: seen.flatMap(({ tombstone, key }) => (tombstone ? [key.keyId] : [])),
        next: seen.at(limit - 1)?.key.keyId,
      };
    });
  }

  listTenants(...[{ slot, after, limit }, deadline]: Arguments<'listTenants'>): Answer<'listTenants'> {
    return this.#run('listTenants', deadline, () => {
      const tenants = this.#tables.tenants.list([slot]).map((row) => row.tenant);
      return tenants.filter((tenant) => after === undefined || tenant.tenantId > after).slice(0, limit);
    });
  }

  readRules(...[tenantId, version, deadline]: Arguments<'readRules'>): Answer<'readRules'> {
    return this.#run('readRules', deadline, () => {
      const row = this.#tables.rules.get([tenantId], [placeOfVersion(version)]);
      return row?.version.version === version ? row.rules : undefined;
    });
  }

  listRulesVersions(...[tenantId, deadline]: Arguments<'listRulesVersions'>): Answer<'listRulesVersions'> {
    return this.#run('listRulesVersions', deadline, () =>
      this.#tables.rules.list([tenantId]).map(({ version }) => version),
    );
  }

  listGrantCounts(...[{ slot, after, limit }, deadline]: Arguments<'listGrantCounts'>): Answer<'listGrantCounts'> {
    return this.#run('listGrantCounts', deadline, () => {
      const rows = this.#tables.grantCounts.list([slot]).map(({ row }) => row);
      return rows.filter((row) => after === undefined || row.tenantId > after).slice(0, limit);
    });
  }

  listAuditLog(
    ...[
      { tenantId, month, newestFirst, after, limit, lengthMax = Number.POSITIVE_INFINITY },
      deadline,
    ]: Arguments<'listAuditLog'>
  ): Answer<'listAuditLog'> {
    return this.#run('listAuditLog', deadline, () => {
      const rows = this.#tables.auditLog.list([tenantId, month]).map(({ row }) => row);
      const sign = newestFirst ? -1 : 1;
      const beyond = (row: AuditLogRow) =>
        after === undefined || sign * (row.seq - after.seq || row.index - after.index) > 0;
      const found = (newestFirst ? rows.toReversed() : rows).filter(beyond).slice(0, limit);
      let length = 0;
      const end = found.findIndex(({ change }) => {
        length += change.length;
        return length >= lengthMax;
      });
      return end < 0 ? found : found.slice(0, end + 1);
    });
  }

  readAuditLogKeptMs(...[deadline]: Arguments<'readAuditLogKeptMs'>): Answer<'readAuditLogKeptMs'> {
    return this.#run('readAuditLogKeptMs', deadline, () => this.auditLogKeptMs);
  }

  listKeyUses(...[tenantId, keyIds, deadline]: Arguments<'listKeyUses'>): Answer<'listKeyUses'> {
    return this.#run('listKeyUses', deadline, () => {
      const uses = [...(this.#keyUses.get(tenantId) ?? [])];
      return new Map(uses.filter(([keyId]) => keyIds.includes(keyId)));
    });
  }

  writeKeyUse(...[tenantId, keyId, usedAtMs, deadline]: Arguments<'writeKeyUse'>): Answer<'writeKeyUse'> {
    return this.#run('writeKeyUse', deadline, () => {
      if (this.#timedRemoved.has(tenantId)) return;
      const uses = this.#keyUses.get(tenantId) ?? new Map<KeyId, number>();
      this.#keyUses.set(tenantId, uses.set(keyId, Math.max(usedAtMs, uses.get(keyId) ?? 0)));
    });
  }

  readUsage(...[{ tenantId, from, to }, deadline]: Arguments<'readUsage'>): Answer<'readUsage'> {
    return this.#run('readUsage', deadline, () =>
      [...(this.#usage.get(tenantId)?.values() ?? [])]
        .filter(({ place }) => place >= from && place <= to)
        .map(({ place, counts }) => ({ place, counts })),
    );
  }

  writeUsage(...[tenantId, rows, atMs, deadline]: Arguments<'writeUsage'>): Answer<'writeUsage'> {
    return this.#run('writeUsage', deadline, () => {
      if (this.#timedRemoved.has(tenantId)) return;
      const stored = this.#usage.get(tenantId) ?? new Map<number, UsageRow & { readonly atMs: number }>();
      this.#usage.set(tenantId, stored);
      for (const row of rows) {
        if (atMs >= (stored.get(row.place)?.atMs ?? 0)) stored.set(row.place, { ...row, atMs });
      }
    });
  }

  removeTombstones(...[rows, deadline]: Arguments<'removeTombstones'>): Answer<'removeTombstones'> {
    return this.#run('removeTombstones', deadline, () => {
      for (const row of rows) this.#tables.remove(row);
      for (const row of rows) {
        const removed = row.kind === 'key' && this.#tables.keys.get([row.tenantId], [row.keyId]) === undefined;
        if (removed) this.#keyUses.get(row.tenantId)?.delete(row.keyId);
      }
    });
  }

  purgeTenant(...[{ slot, tenantId }, stamp, deadline]: Arguments<'purgeTenant'>): Answer<'purgeTenant'> {
    return this.#run('purgeTenant', deadline, () => {
      const { grants, objectGrants, expiries, subjects, namespaces, keys, rules, grantCounts } = this.#tables;
      let left = this.#purgeRowsMax;
      for (const table of [objectGrants, grants, expiries, subjects, namespaces, keys, rules])
        left -= table.purge(tenantId, stamp, left);
      this.#keyUses.delete(tenantId);
      this.#usage.delete(tenantId);
      if (this.#shadows) this.#timedRemoved.add(tenantId);
      if (left > 0) grantCounts.remove([slot], [tenantId], stamp, (row) => row.stamp <= stamp);
      return left > 0;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  // ---- for tests that look inside, or break what no store should ever break ----

  /** The seqs that stand in the log of a slot, ascending. */
  seqsOf(slot: number): number[] {
    const seqs: number[] = [];
    for (const record of this.#log.values()) if (record.slot === slot) seqs.push(record.seq);
    return seqs.sort((left, right) => left - right);
  }

  /** Live grants of a tenant that lie by their subject or by their object alone, or differ between the two. */
  grantsOnOneSide(tenantId: TenantId): string[] {
    const textsOf = (rows: readonly GrantWrite[]) =>
      new Set(
        rows
          .filter(({ tombstone }) => !tombstone)
          .map(({ subject, object, ...row }) =>
            JSON.stringify([subject, object, grantRow({ subject, object, ...row })]),
          ),
      );
    const bySubject = textsOf(this.#tables.grants.rowsOf(tenantId));
    return [...bySubject.symmetricDifference(textsOf(this.#tables.objectGrants.rowsOf(tenantId)))];
  }

  /** How many keys of a tenant have a last use. */
  keyUsesOf(tenantId: TenantId): number {
    return this.#keyUses.get(tenantId)?.size ?? 0;
  }

  recordOf(slot: number, seq: number): LogRecord | undefined {
    return this.#log.get(`${slot}/${seq}`);
  }

  checkpointOf(slot: number): Checkpoint | undefined {
    return this.#checkpoints.get(slot);
  }

  memberOf(incarnation: string): MemberRow | undefined {
    return this.#members.get(incarnation);
  }

  slotRows(): readonly SlotRow[] {
    return [...this.#slots.values()];
  }

  /** What is stored of a tenant besides its record and its audit log, by table. */
  rowsOf(slot: number, tenantId: TenantId): ReadonlyMap<string, number> {
    const { grants, objectGrants, subjects, namespaces, keys, rules, grantCounts } = this.#tables;
    return new Map([
      ['grants', grants.countOf(tenantId)],
      ['grants by object', objectGrants.countOf(tenantId)],
      ['subjects', subjects.countOf(tenantId)],
      ['namespaces', namespaces.countOf(tenantId)],
      ['keys', keys.countOf(tenantId)],
      ['rules', rules.countOf(tenantId)],
      ['uses of keys', this.#keyUses.get(tenantId)?.size ?? 0],
      ['counts', grantCounts.get([slot], [tenantId]) === undefined ? 0 : 1],
    ]);
  }

  /**
   * Becomes a restored copy of another store, in its present state: a cluster of its own, whose members are dead.
   * `epochs`: how many changes of owner it has had since.
   */
  restoreFrom(other: MemoryStore, { clusterId, epochs }: { readonly clusterId: ClusterId; readonly epochs: number }) {
    this.#meta = other.#meta && { ...other.#meta, clusterId };
    this.#tables.copyFrom(other.#tables);
    for (const [key, record] of other.#log) this.#log.set(key, record);
    for (const [slot, row] of other.#slots) this.#slots.set(slot, { ...row, epoch: row.epoch + epochs });
    for (const [incarnation, row] of other.#members) this.#members.set(incarnation, { ...row, state: 'dead' });
    for (const [slot, checkpoint] of other.#checkpoints) this.#checkpoints.set(slot, checkpoint);
  }

  /** A record vanishes, as no record may. */
  loseRecord(slot: number, seq: number): void {
    this.#log.delete(`${slot}/${seq}`);
  }

  #run<Result>(operation: StoreOperation, deadline: DeadlineMs, apply: () => Result): Promise<Result> {
    const steps = async () => {
      if (this.#closed) throw new GrantdError('unavailable', 'The store is closed.');
      if (deadline <= this.#clock.monotonicMs()) throw new GrantdError('unavailable', 'The deadline has passed.');
      await this.#delay(operation, 'request');
      const result = apply();
      await this.#delay(operation, 'reply');
      return result;
    };
    return withDeadline(this.#clock, deadline, steps());
  }

  #segment(seq: number): number {
    if (this.#meta === undefined) throw new GrantdError('unavailable', 'The store has not been initialized.');
    return segmentOf(seq, this.#meta.segmentSize);
  }

  #owns(claim: { readonly slot: number; readonly owner: string; readonly epoch: number }): boolean {
    const row = this.#slots.get(claim.slot);
    return row !== undefined && row.owner === claim.owner && row.epoch === claim.epoch;
  }

  #setSlot(slot: number, applied: boolean, change: Partial<SlotRow>): ConditionalOutcome<SlotRow> {
    const row = this.#slots.get(slot);
    if (applied && row !== undefined) this.#slots.set(slot, { ...row, ...change });
    return { applied, row: this.#slots.get(slot) };
  }

  #setMember(incarnation: string, heartbeat: number, change: Partial<MemberRow>): ConditionalOutcome<MemberRow> {
    const row = this.#members.get(incarnation);
    const applied = row !== undefined && row.state !== 'dead' && row.heartbeat === heartbeat;
    if (applied) this.#members.set(incarnation, { ...row, ...change });
    return { applied, row: this.#members.get(incarnation) };
  }
}
