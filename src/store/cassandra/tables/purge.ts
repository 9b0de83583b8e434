// Deletes all data of a deleted tenant: whole partitions, as of the stamp, so that one deletion covers any number of
// grants and nothing newer. The store lists subjects but not objects. The objects are found through the grants of the
// subjects, so rows by object are deleted before the grants that lead to them. Each call does a bounded part. The next
// call continues where the last one stopped, so that it does not read what was just deleted. If that position is lost
// (a restart), the work starts again, over tombstones.

import { inParallel } from '../../../core/async/in-parallel.ts';
import type { TenantId } from '../../../core/ids.ts';
import { SUBJECT_BUCKETS } from '../../../core/slots.ts';
import type { DeadlineMs, GrantPlace, Stamp, StateStore } from '../../store.ts';
import { integerAt, textAt } from '../../stored-rows.ts';
import type { Executor } from '../driver/executor.ts';
import { grantPlaceOf } from './rows.ts';

/** Subjects whose grants one call deletes. */
const SUBJECTS_PER_CALL = 200;
const REMOVALS_AT_ONCE = 16;
/** Rows of a subject per read, and reads of one subject per call. */
const ROWS_PER_READ = 500;
const READS_PER_SUBJECT = 4;
/** For tables with one partition per tenant. */
const ROWS_PER_PAGE = 100;
/** Purges in flight that are remembered. */
const POSITIONS_MAX = 1024;
/** Tables with one partition per tenant, with the column that says when a row was written. */
const SMALL_TABLES = [
  ['namespaces', 'created_at_ms'],
  ['keys', 'created_at_ms'],
  ['tenant_rules', 'rules'],
] as const;

/**
 * The year 2200: key uses and usage carry a wall-clock time, which may have been wrong, and a tenant's id is never used
 * again.
 */
const USES_STAMP = BigInt(Date.UTC(2200, 0, 1)) * 1000n;

interface Position {
  readonly stamp: Stamp;
  readonly bucket: number;
  /** The last subject of the bucket that was deleted; empty before the first. */
  readonly after: string;
  /** In the subject after it: the last grant whose object has no rows left. */
  readonly row?: GrantPlace;
}

export function createPurge(executor: Executor, keyspace: string): StateStore['purgeTenant'] {
  const listSubjects = `SELECT subject FROM ${keyspace}.subjects WHERE tenant = ? AND bucket = ? AND subject > ? LIMIT ?`;
  const listObjects = `SELECT relation, object FROM ${keyspace}.grants
    WHERE tenant = ? AND subject = ? AND (relation, object) > (?, ?) LIMIT ?`;
  const removeObjectGrants = `DELETE FROM ${keyspace}.grants_by_object USING TIMESTAMP ? WHERE tenant = ? AND object = ?`;
  const removeGrants = `DELETE FROM ${keyspace}.grants USING TIMESTAMP ? WHERE tenant = ? AND subject = ?`;
  const removeSubjects = `DELETE FROM ${keyspace}.subjects USING TIMESTAMP ?
    WHERE tenant = ? AND bucket = ? AND subject > ? AND subject <= ?`;
  const listExpiries = `SELECT subject FROM ${keyspace}.grants_by_expiry WHERE tenant = ? AND bucket = ? LIMIT 1`;
  const removeExpiries = `DELETE FROM ${keyspace}.grants_by_expiry USING TIMESTAMP ? WHERE tenant = ? AND bucket = ?`;
  const smallTables = SMALL_TABLES.map(([name, column]) => ({
    list: `SELECT writetime(${column}) AS stamp FROM ${keyspace}.${name} WHERE tenant = ?`,
    remove: `DELETE FROM ${keyspace}.${name} USING TIMESTAMP ? WHERE tenant = ?`,
  }));
  const removeTimed = ['key_uses', 'usage'].map(
    (name) => `DELETE FROM ${keyspace}.${name} USING TIMESTAMP ? WHERE tenant = ?`,
  );
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

  /**
   * Deletes the rows by object of a subject's grants, and then the grants. Returns where to continue if the subject has
   * too many grants for one call. `removed`: objects whose rows this call has deleted.
   */
  async function purgeSubject(
    tenantId: TenantId,
    { subject, from }: { readonly subject: string; readonly from: GrantPlace | undefined },
    removed: Set<string>,
    stamp: bigint,
    deadline: DeadlineMs,
  ): Promise<GrantPlace | undefined> {
    let after = from;
    for (let reads = 0; reads < READS_PER_SUBJECT; reads += 1) {
      const params = [tenantId, subject, after?.relation ?? '', after?.object ?? '', ROWS_PER_READ];
      const places = (await executor.readAll(listObjects, params, deadline)).map(grantPlaceOf);
      const objects = new Set(places.map(({ object }) => object)).difference(removed);
      await inParallel([...objects], REMOVALS_AT_ONCE, async (object) => {
        await executor.write(removeObjectGrants, [stamp, tenantId, object], deadline);
        removed.add(object);
      });
      after = places.at(ROWS_PER_READ - 1);
      if (after === undefined) {
        await executor.write(removeGrants, [stamp, tenantId, subject], deadline);
        return undefined;
      }
    }
    return after;
  }

  /** Whether there was something to delete. */
  async function purgeSubjects(tenantId: TenantId, from: Position, deadline: DeadlineMs): Promise<boolean> {
    const stamp = BigInt(from.stamp);
    for (let { bucket, after, row } = from; bucket < SUBJECT_BUCKETS; bucket += 1, after = '', row = undefined) {
      const rows = await executor.readAll(listSubjects, [tenantId, bucket, after, SUBJECTS_PER_CALL], deadline);
      const subjects = rows.map((row) => textAt(row, 'subject'));
      if (subjects.length === 0) continue;
      const removed = new Set<string>();
      const rests = new Map<string, GrantPlace>();
      await inParallel([...subjects.entries()], REMOVALS_AT_ONCE, async ([index, subject]) => {
        const part = { subject, from: index === 0 ? row : undefined };
        const rest = await purgeSubject(tenantId, part, removed, stamp, deadline);
        if (rest !== undefined) rests.set(subject, rest);
      });
      const unfinished = subjects.findIndex((subject) => rests.has(subject));
      const last = unfinished < 0 ? subjects.at(-1) : subjects[unfinished - 1];
      const rest = rests.get(subjects[unfinished] ?? '');
      // Only now: a subject that is no longer listed has no grants left.
      if (last !== undefined) await executor.write(removeSubjects, [stamp, tenantId, bucket, after, last], deadline);
      remember(tenantId, { stamp: from.stamp, bucket, after: last ?? after, ...(rest && { row: rest }) });
      return true;
    }
    remember(tenantId, { stamp: from.stamp, bucket: SUBJECT_BUCKETS, after: '' });
    return false;
  }

  async function purgeExpiries(tenantId: TenantId, stamp: Stamp, deadline: DeadlineMs): Promise<void> {
    await inParallel([...Array(SUBJECT_BUCKETS).keys()], REMOVALS_AT_ONCE, async (bucket) => {
      const rows = await executor.readAll(listExpiries, [tenantId, bucket], deadline);
      if (rows.length > 0) await executor.write(removeExpiries, [BigInt(stamp), tenantId, bucket], deadline);
    });
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
    const rows = await executor.readAll(readGrantCount, [slot, tenantId], deadline);
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
    await purgeExpiries(tenantId, stamp, deadline);
    // A key use, or usage, that was sent long ago and never confirmed may still arrive: it meets a tombstone, even if
    // there was no row.
    for (const remove of removeTimed) await executor.write(remove, [USES_STAMP, tenantId], deadline);
    positions.delete(tenantId);
    return true;
  };
}
