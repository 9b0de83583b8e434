// The state tables of the memory store: rows by key, of which the greatest stamp stands, listed in the order of their
// bytes. Keys are JSON, so that no two lists of parts make the same one.

import { placeOfVersion } from '../../../src/core/rules-versions.ts';
import { bucketOfSubject } from '../../../src/core/slots.ts';
import { compareUtf8 } from '../../../src/core/tuples.ts';
import type {
  AuditLogWrite,
  ExpiryBound,
  ExpiryWrite,
  GrantCountWrite,
  GrantWrite,
  KeyWrite,
  NamespaceWrite,
  RemovableRow,
  RulesWrite,
  StateWrite,
  TenantWrite,
} from '../../../src/store/store.ts';

interface Stamped {
  readonly stamp: number;
}

interface Partition<Row> {
  /** The first part of its key. */
  readonly owner: string | number | undefined;
  readonly rows: Map<string, Row>;
  /** In their order, as they were last listed; undefined once one of them has changed. */
  sorted: readonly Row[] | undefined;
}

/** The parts of keys are ids, numbers and tuple texts: none has a control character in it. */
const nameOf = (parts: readonly (string | number)[]): string => parts.join('\n');

/** Rows in partitions, as the real stores have them. */
export class StampedTable<Row extends Stamped> {
  readonly #partitions = new Map<string, Partition<Row>>();
  /** Stamps up to which a row was removed: what is older and comes later stays removed. */
  readonly #removed = new Map<string, number>();
  readonly #order: (left: Row, right: Row) => number;
  readonly #shadows: boolean;

  /** `shadows`: a removal also removes older writes that come after it, as a tombstone does. */
  constructor(order: (left: Row, right: Row) => number, shadows = false) {
    this.#order = order;
    this.#shadows = shadows;
  }

  put(partition: readonly (string | number)[], key: readonly (string | number)[], row: Row): void {
    const name = nameOf(partition);
    let into = this.#partitions.get(name);
    if (into === undefined) {
      into = { owner: partition[0], rows: new Map(), sorted: undefined };
      this.#partitions.set(name, into);
    }
    const rowKey = nameOf(key);
    const standing = into.rows.get(rowKey);
    if (row.stamp <= (this.#removed.get(`${name} ${rowKey}`) ?? Number.NEGATIVE_INFINITY)) return;
    if (standing !== undefined && row.stamp <= standing.stamp) return;
    into.rows.set(rowKey, row);
    into.sorted = undefined;
  }

  get(partition: readonly (string | number)[], key: readonly (string | number)[]): Row | undefined {
    return this.#partitions.get(nameOf(partition))?.rows.get(nameOf(key));
  }

  /** Ascending. */
  list(partition: readonly (string | number)[]): readonly Row[] {
    const of = this.#partitions.get(nameOf(partition));
    if (of === undefined) return [];
    of.sorted ??= [...of.rows.values()].sort(this.#order);
    return of.sorted;
  }

  /** Removes the row if it is no newer than `stamp` and may go, and then what is no newer and has yet to come. */
  remove(
    partition: readonly (string | number)[],
    key: readonly (string | number)[],
    stamp: number,
    mayGo: (row: Row) => boolean,
  ): void {
    const name = nameOf(partition);
    const rowKey = nameOf(key);
    const from = this.#partitions.get(name);
    const row = from?.rows.get(rowKey);
    if (row !== undefined && !mayGo(row)) return;
    if (from !== undefined && row !== undefined && row.stamp <= stamp) {
      from.rows.delete(rowKey);
      from.sorted = undefined;
    }
    this.#shadow(`${name} ${rowKey}`, stamp);
  }

  copyFrom(other: StampedTable<Row>): void {
    for (const [name, { owner, rows }] of other.#partitions) {
      this.#partitions.set(name, { owner, rows: new Map(rows), sorted: undefined });
    }
    for (const [place, stamp] of other.#removed) this.#removed.set(place, stamp);
  }

  /** Rows of the partitions whose first part is `owner`. */
  countOf(owner: string): number {
    let count = 0;
    for (const partition of this.#partitions.values()) {
      if (partition.owner === owner) count += partition.rows.size;
    }
    return count;
  }

  /** Of the partitions whose first part is `owner`, in no order. */
  rowsOf(owner: string): Row[] {
    return [...this.#partitions.values()].flatMap((each) => (each.owner === owner ? [...each.rows.values()] : []));
  }

  /**
   * Removes at most `limit` rows that are no newer than `stamp`, of the partitions whose first part is `owner`; returns
   * how many.
   */
  purge(owner: string, stamp: number, limit: number): number {
    let removed = 0;
    for (const [name, partition] of this.#partitions) {
      if (partition.owner !== owner) continue;
      for (const [key, row] of partition.rows) {
        if (removed === limit) return removed;
        if (row.stamp > stamp) continue;
        partition.rows.delete(key);
        partition.sorted = undefined;
        this.#shadow(`${name} ${key}`, stamp);
        removed += 1;
      }
    }
    return removed;
  }

  #shadow(place: string, stamp: number): void {
    if (this.#shadows) this.#removed.set(place, Math.max(stamp, this.#removed.get(place) ?? stamp));
  }
}

export interface SubjectRow extends Stamped {
  readonly subject: string;
}

export const compareExpiries = (left: ExpiryBound, right: ExpiryBound): number =>
  left.expiresAtMs - right.expiresAtMs ||
  compareUtf8(left.subject, right.subject) ||
  compareUtf8(left.relation, right.relation) ||
  compareUtf8(left.object, right.object);

export class StateTables {
  readonly grants: StampedTable<GrantWrite>;
  readonly objectGrants: StampedTable<GrantWrite>;
  readonly expiries: StampedTable<ExpiryWrite>;
  readonly subjects: StampedTable<SubjectRow>;
  readonly namespaces: StampedTable<NamespaceWrite>;
  readonly keys: StampedTable<KeyWrite>;
  readonly tenants: StampedTable<TenantWrite>;
  readonly rules: StampedTable<RulesWrite>;
  readonly auditLog: StampedTable<AuditLogWrite>;
  readonly grantCounts: StampedTable<GrantCountWrite>;

  constructor(shadows = false) {
    this.grants = new StampedTable(
      (left, right) => compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object),
      shadows,
    );
    this.objectGrants = new StampedTable(
      (left, right) => compareUtf8(left.relation, right.relation) || compareUtf8(left.subject, right.subject),
      shadows,
    );
    this.expiries = new StampedTable<ExpiryWrite>(compareExpiries, shadows);
    this.subjects = new StampedTable((left, right) => compareUtf8(left.subject, right.subject), shadows);
    this.namespaces = new StampedTable((left, right) => compareUtf8(left.name, right.name), shadows);
    this.keys = new StampedTable((left, right) => compareUtf8(left.key.keyId, right.key.keyId), shadows);
    this.tenants = new StampedTable((left, right) => compareUtf8(left.tenant.tenantId, right.tenant.tenantId), shadows);
    this.rules = new StampedTable((left, right) => left.version.version - right.version.version, shadows);
    this.auditLog = new StampedTable((left, right) => left.row.seq - right.row.seq || left.row.index - right.row.index);
    this.grantCounts = new StampedTable((left, right) => compareUtf8(left.row.tenantId, right.row.tenantId), shadows);
  }

  copyFrom(other: StateTables): void {
    this.grants.copyFrom(other.grants);
    this.objectGrants.copyFrom(other.objectGrants);
    this.expiries.copyFrom(other.expiries);
    this.subjects.copyFrom(other.subjects);
    this.namespaces.copyFrom(other.namespaces);
    this.keys.copyFrom(other.keys);
    this.tenants.copyFrom(other.tenants);
    this.rules.copyFrom(other.rules);
    this.auditLog.copyFrom(other.auditLog);
    this.grantCounts.copyFrom(other.grantCounts);
  }

  remove(row: RemovableRow): void {
    const { stamp } = row;
    switch (row.kind) {
      case 'grant':
        this.grants.remove(
          [row.tenantId, row.subject],
          [row.relation, row.object],
          stamp,
          ({ tombstone }) => tombstone,
        );
        this.objectGrants.remove(
          [row.tenantId, row.object],
          [row.relation, row.subject],
          stamp,
          ({ tombstone }) => tombstone,
        );
        return;
      case 'subject':
        this.subjects.remove([row.tenantId, bucketOfSubject(row.subject)], [row.subject], stamp, () => true);
        return;
      case 'key':
        this.keys.remove([row.tenantId], [row.keyId], stamp, ({ tombstone }) => tombstone);
        return;
      case 'tenant':
        this.tenants.remove([row.slot], [row.tenantId], stamp, ({ tenant }) => tenant.state === 'deleted');
        return;
    }
  }

  removeExpiries(range: { readonly tenantId: string; readonly bucket: number; readonly toMs: number }, stamp: number) {
    const partition = [range.tenantId, range.bucket];
    for (const { expiresAtMs, subject, relation, object } of this.expiries.list(partition)) {
      if (expiresAtMs > range.toMs) continue;
      this.expiries.remove(partition, [expiresAtMs, subject, relation, object], stamp, () => true);
    }
  }

  apply(write: StateWrite): void {
    switch (write.kind) {
      case 'grant':
        this.grants.put([write.tenantId, write.subject], [write.relation, write.object], write);
        this.objectGrants.put([write.tenantId, write.object], [write.relation, write.subject], write);
        return;
      case 'expiry': {
        const { tenantId, expiresAtMs, subject, relation, object } = write;
        this.expiries.put([tenantId, bucketOfSubject(subject)], [expiresAtMs, subject, relation, object], write);
        return;
      }
      case 'subject':
        this.subjects.put([write.tenantId, bucketOfSubject(write.subject)], [write.subject], write);
        return;
      case 'namespace':
        this.namespaces.put([write.tenantId], [write.name], write);
        return;
      case 'key':
        this.keys.put([write.tenantId], [write.key.keyId], write);
        return;
      case 'tenant':
        this.tenants.put([write.slot], [write.tenant.tenantId], write);
        return;
      case 'rules':
        this.rules.put([write.tenantId], [placeOfVersion(write.version.version)], write);
        return;
      case 'audit-log':
        this.auditLog.put([write.tenantId, write.month], [write.row.seq, write.row.index], write);
        return;
      case 'grant-count':
        this.grantCounts.put([write.slot], [write.row.tenantId], write);
        return;
    }
  }
}
