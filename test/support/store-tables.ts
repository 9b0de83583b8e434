// The state tables of the memory store: rows by key, of which the greatest stamp stands, listed in the order of their
// bytes. Keys are JSON, so that no two lists of parts make the same one.

import { bucketOfSubject } from '../../src/core/slots.ts';
import { compareUtf8 } from '../../src/core/tuples.ts';
import type {
  GrantWrite,
  KeyWrite,
  NamespaceWrite,
  StateWrite,
  TenantWrite,
  TrailWrite,
} from '../../src/store/store.ts';

interface Stamped {
  readonly stamp: number;
}

/** Rows in partitions, as the real stores have them. */
export class StampedTable<Row extends Stamped> {
  readonly #partitions = new Map<string, Map<string, Row>>();
  readonly #order: (left: Row, right: Row) => number;

  constructor(order: (left: Row, right: Row) => number) {
    this.#order = order;
  }

  put(partition: readonly (string | number)[], key: readonly (string | number)[], row: Row): void {
    const name = JSON.stringify(partition);
    const rows = this.#partitions.get(name) ?? new Map<string, Row>();
    this.#partitions.set(name, rows);
    const rowKey = JSON.stringify(key);
    const standing = rows.get(rowKey);
    if (standing === undefined || row.stamp > standing.stamp) rows.set(rowKey, row);
  }

  get(partition: readonly (string | number)[], key: readonly (string | number)[]): Row | undefined {
    return this.#partitions.get(JSON.stringify(partition))?.get(JSON.stringify(key));
  }

  /** Ascending. */
  list(partition: readonly (string | number)[]): Row[] {
    return [...(this.#partitions.get(JSON.stringify(partition))?.values() ?? [])].sort(this.#order);
  }

  remove(partition: readonly (string | number)[], key: readonly (string | number)[], if_: (row: Row) => boolean): void {
    const rows = this.#partitions.get(JSON.stringify(partition));
    const rowKey = JSON.stringify(key);
    const row = rows?.get(rowKey);
    if (rows !== undefined && row !== undefined && if_(row)) rows.delete(rowKey);
  }

  /** Removes at most `limit` rows that are no newer than `stamp`, of the partitions whose first part is `owner`; returns how many. */
  purge(owner: string, stamp: number, limit: number): number {
    let removed = 0;
    for (const [name, rows] of this.#partitions) {
      if ((JSON.parse(name) as readonly unknown[])[0] !== owner) continue;
      for (const [key, row] of rows) {
        if (removed === limit) return removed;
        if (row.stamp <= stamp && rows.delete(key)) removed += 1;
      }
    }
    return removed;
  }
}

export interface SubjectRow extends Stamped {
  readonly subject: string;
}

export class StateTables {
  readonly grants = new StampedTable<GrantWrite>(
    (left, right) => compareUtf8(left.relation, right.relation) || compareUtf8(left.object, right.object),
  );
  readonly subjects = new StampedTable<SubjectRow>((left, right) => compareUtf8(left.subject, right.subject));
  readonly namespaces = new StampedTable<NamespaceWrite>((left, right) => compareUtf8(left.name, right.name));
  readonly keys = new StampedTable<KeyWrite>((left, right) => compareUtf8(left.key.keyId, right.key.keyId));
  readonly tenants = new StampedTable<TenantWrite>((left, right) =>
    compareUtf8(left.tenant.tenantId, right.tenant.tenantId),
  );
  readonly trail = new StampedTable<TrailWrite>(
    (left, right) => left.row.seq - right.row.seq || left.row.index - right.row.index,
  );

  apply(write: StateWrite): void {
    switch (write.kind) {
      case 'grant':
        this.grants.put([write.tenantId, write.subject], [write.relation, write.object], write);
        return;
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
      case 'trail':
        this.trail.put([write.tenantId, write.month], [write.row.seq, write.row.index], write);
        return;
    }
  }
}
