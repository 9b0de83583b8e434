// Deletes everything that a deleted tenant had: whole partitions, as of the stamp, so that one deletion covers any
// number of grants and nothing newer. Each call does a bounded part. The position where the last call stopped is
// remembered, so that the next call does not read what was just deleted. If the position is lost (a restart), the work
// starts again, over tombstones.

import { inParallel } from '../../../core/async/in-parallel.ts';
import type { TenantId } from '../../../core/ids.ts';
import { SUBJECT_BUCKETS } from '../../../core/slots.ts';
import type { DeadlineMs, Stamp, StateStore } from '../../store.ts';
import type { Executor } from '../driver/executor.ts';
import { readWhole } from './read-whole.ts';
import { integerAt, textAt } from './rows.ts';

/** Subjects whose grants one call deletes. */
const SUBJECTS_PER_CALL = 200;
const REMOVALS_AT_ONCE = 16;
/** For tables with one partition per tenant. */
const ROWS_PER_PAGE = 100;
/** Purges in flight that are remembered. */
const POSITIONS_MAX = 1024;
/** Tables with one partition per tenant, with the column that says when a row was written. */
const SMALL_TABLES = [
  ['namespaces', 'created_at_ms'],
  ['keys', 'created_at_ms'],
] as const;

/**
 * The year 2200: key uses carry a wall-clock time, which may have been wrong, and a tenant's id is never used again.
 */
const USES_STAMP = BigInt(Date.UTC(2200, 0, 1)) * 1000n;

interface Position {
  readonly stamp: Stamp;
  readonly bucket: number;
  /** The last subject of the bucket that was deleted; empty before the first. */
  readonly after: string;
}

export function createPurge(executor: Executor, keyspace: string): StateStore['purgeTenant'] {
  const listSubjects = `SELECT subject FROM ${keyspace}.subjects WHERE tenant = ? AND bucket = ? AND subject > ? LIMIT ?`;
  const removeGrants = `DELETE FROM ${keyspace}.grants USING TIMESTAMP ? WHERE tenant = ? AND subject = ?`;
  const removeSubjects = `DELETE FROM ${keyspace}.subjects USING TIMESTAMP ?
    WHERE tenant = ? AND bucket = ? AND subject > ? AND subject <= ?`;
  const smallTables = SMALL_TABLES.map(([name, column]) => ({
    list: `SELECT writetime(${column}) AS stamp FROM ${keyspace}.${name} WHERE tenant = ?`,
    remove: `DELETE FROM ${keyspace}.${name} USING TIMESTAMP ? WHERE tenant = ?`,
  }));
  const removeKeyUses = `DELETE FROM ${keyspace}.key_uses USING TIMESTAMP ? WHERE tenant = ?`;
  const grantCount = `${keyspace}.grant_counts WHERE slot = ? AND tenant = ?`;
  const readGrantCount = `SELECT writetime(count) AS stamp FROM ${grantCount}`;
  const removeGrantCount = `DELETE FROM ${keyspace}.grant_counts USING TIMESTAMP ? WHERE slot = ? AND tenant = ?`;
  const positions = new Map<TenantId, Position>();

  function remember(tenantId: TenantId, position: Position): void {
    positions.delete(tenantId);
    positions.set(tenantId, position);
    for (const oldest of positions.keys()) {
      if (positions.size <= POSITIONS_MAX) break;
      positions.delete(oldest);
    }
  }

  /** Whether there was something to delete. */
  async function purgeSubjects(tenantId: TenantId, from: Position, deadline: DeadlineMs): Promise<boolean> {
    const stamp = BigInt(from.stamp);
    for (let { bucket, after } = from; bucket < SUBJECT_BUCKETS; bucket += 1, after = '') {
      const rows = await readWhole(executor, listSubjects, [tenantId, bucket, after, SUBJECTS_PER_CALL], deadline);
      const subjects = rows.map((row) => textAt(row, 'subject'));
      const last = subjects.at(-1);
      if (last === undefined) continue;
      await inParallel(subjects, REMOVALS_AT_ONCE, (subject) =>
        executor.write(removeGrants, [stamp, tenantId, subject], deadline),
      );
      // Only now: a subject that is no longer listed has no grants left.
      await executor.write(removeSubjects, [stamp, tenantId, bucket, after, last], deadline);
      remember(tenantId, { stamp: from.stamp, bucket, after: last });
      return true;
    }
    remember(tenantId, { stamp: from.stamp, bucket: SUBJECT_BUCKETS, after: '' });
    return false;
  }

  /** Reads no further than the first row that is no newer. */
  async function holdsOlder(list: string, tenantId: TenantId, stamp: Stamp, deadline: DeadlineMs): Promise<boolean> {
    let from: string | undefined;
    do {
      const page = { size: ROWS_PER_PAGE, ...(from === undefined ? {} : { from }) };
      const { rows, next } = await executor.read(list, [tenantId], deadline, page);
      if (rows.some((row) => integerAt(row, 'stamp') <= stamp)) return true;
      from = next;
    } while (from !== undefined);
    return false;
  }

  async function purgeSmallTables(tenantId: TenantId, stamp: Stamp, deadline: DeadlineMs): Promise<boolean> {
    for (const { list, remove } of smallTables) {
      if (!(await holdsOlder(list, tenantId, stamp, deadline))) continue;
      await executor.write(remove, [BigInt(stamp), tenantId], deadline);
      return true;
    }
    return false;
  }

  /** Whether there was one to delete. */
  async function purgeGrantCount(
    { slot, tenantId }: { readonly slot: number; readonly tenantId: TenantId },
    stamp: Stamp,
    deadline: DeadlineMs,
  ): Promise<boolean> {
    const rows = await readWhole(executor, readGrantCount, [slot, tenantId], deadline);
    if (!rows.some((row) => integerAt(row, 'stamp') <= stamp)) return false;
    await executor.write(removeGrantCount, [BigInt(stamp), slot, tenantId], deadline);
    return true;
  }

  return async (tenant, stamp, deadline) => {
    const { tenantId } = tenant;
    const known = positions.get(tenantId);
    const from = known?.stamp === stamp ? known : { stamp, bucket: 0, after: '' };
    if (await purgeSubjects(tenantId, from, deadline)) return false;
    if (await purgeSmallTables(tenantId, stamp, deadline)) return false;
    if (await purgeGrantCount(tenant, stamp, deadline)) return false;
    // A key use that was sent long ago and never confirmed may still arrive: it meets a tombstone, even if there was no
    // row.
    await executor.write(removeKeyUses, [USES_STAMP, tenantId], deadline);
    positions.delete(tenantId);
    return true;
  };
}
