// The calls that write state: upserts, of which the one with the greater stamp wins in any order, and deletions of
// obsolete rows. Each is a generator that does a bounded part per step, so that the writer can run a durable
// transaction between any two steps.

import type { DatabaseSync } from 'node:sqlite';
import { assertNever } from '../../../core/assert.ts';
import { bucketOfSubject } from '../../../core/slots.ts';
import type { RemovableRow } from '../../store.ts';
import { GRANTS_BY_OBJECT, STATE_TABLES, type StateKind, textAt } from '../../stored-rows.ts';
import { prepare, type Statement } from '../database.ts';
import type { StateCalls, SteppedHandlers, Value } from '../messages.ts';

/** Rows written per step: well below a millisecond. */
const ROWS_PER_STEP = 64;
/** Log records deleted per step: each may have 256 pages to free. */
const RECORDS_PER_STEP = 16;
/** Rows of a deleted tenant that one call deletes. */
const PURGE_ROWS_MAX = 1000;
/** Steps of one call that expires the audit log: each deletes some rows or visits one tenant. */
const EXPIRE_STEPS_MAX = 32;

/** The row with the greater stamp wins. */
function upsertOf(name: string, columns: readonly string[], values: readonly string[]): string {
  const changes = values.map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT DO UPDATE SET ${changes.join(', ')} WHERE excluded.stamp > stamp`;
}

/** Deletes the selected rows, as many at most as the last parameter says. */
const removalOf = ({ name, key }: { readonly name: string; readonly key: readonly string[] }, where: string): string =>
  `DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT ${key.join(', ')} FROM ${name} WHERE ${where} LIMIT ?)`;

/** In the order of deletion. */
const PURGES: readonly string[] = [
  ...[GRANTS_BY_OBJECT, STATE_TABLES.grant, STATE_TABLES.expiry, STATE_TABLES.subject],
  ...[STATE_TABLES.namespace, STATE_TABLES.key, STATE_TABLES.rules],
].map((table) => removalOf(table, 'tenant = ? AND stamp <= ?'));

/** Key uses and usage have no stamp but a wall-clock time, which may have been wrong: all of them are deleted. */
const TIMED_PURGES = [
  { name: 'key_uses', key: ['tenant', 'key_id'] },
  { name: 'usage', key: ['tenant', 'place'] },
].map((table) => removalOf(table, 'tenant = ? AND ? IS NOT NULL'));

/** By kind. The row must still be deletable and no newer than the stamp, which is the last parameter. */
const REMOVALS = {
  grant: `DELETE FROM grants
    WHERE tenant = ? AND subject = ? AND relation = ? AND object = ? AND gone = 1 AND stamp <= ?`,
  objectGrant: `DELETE FROM grants_by_object
    WHERE tenant = ? AND subject = ? AND relation = ? AND object = ? AND gone = 1 AND stamp <= ?`,
  subject: 'DELETE FROM subjects WHERE tenant = ? AND bucket = ? AND subject = ? AND stamp <= ?',
  key: 'DELETE FROM keys WHERE tenant = ? AND key_id = ? AND gone = 1 AND stamp <= ?',
  tenant: "DELETE FROM tenants WHERE slot = ? AND tenant = ? AND state = 'deleted' AND stamp <= ?",
} as const;

// biome-ignore lint/correctness/useYield: one row is one step.
function* runAtOnce(statement: Statement, ...values: readonly Value[]): Generator<undefined, void, undefined> {
  statement.run(...values);
}

export function createStateHandlers(database: DatabaseSync): SteppedHandlers<StateCalls> {
  const upserts = Object.entries(STATE_TABLES).map(([kind, { name, key, values }]) => {
    const names = kind === 'grant' ? [name, GRANTS_BY_OBJECT.name] : [name];
    const changed = [...values, 'stamp'];
    const columns = [...key, ...changed];
    return {
      // Object.entries forgets that its keys are the kinds.
      kind: kind as StateKind,
      width: columns.length,
      upsertsOfRow: names.map((each) => prepare(database, upsertOf(each, columns, changed))),
    };
  });
  const purges = [...PURGES, ...TIMED_PURGES].map((sql) => prepare(database, sql));
  const upsertCheckpoint = prepare(
    database,
    `INSERT INTO checkpoints (slot, seq, window_from, stamp) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET seq = excluded.seq, window_from = excluded.window_from, stamp = excluded.stamp
     WHERE (excluded.stamp, excluded.window_from) > (stamp, window_from)`,
  );
  const removeGrantCount = prepare(database, 'DELETE FROM grant_counts WHERE slot = ? AND tenant = ? AND stamp <= ?');
  const upsertKeyUse = prepare(
    database,
    `INSERT INTO key_uses (tenant, key_id, used_at_ms) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET used_at_ms = excluded.used_at_ms WHERE excluded.used_at_ms > used_at_ms`,
  );
  const upsertUsage = prepare(
    database,
    `INSERT INTO usage (tenant, place, counts, at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET counts = excluded.counts, at_ms = excluded.at_ms WHERE excluded.at_ms >= at_ms`,
  );
  const upsertHotPages = prepare(
    database,
    `INSERT INTO hot_pages (slot, pages, at_ms) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET pages = excluded.pages, at_ms = excluded.at_ms WHERE excluded.at_ms >= at_ms`,
  );
  const removals = {
    grant: prepare(database, REMOVALS.grant),
    objectGrant: prepare(database, REMOVALS.objectGrant),
    subject: prepare(database, REMOVALS.subject),
    key: prepare(database, REMOVALS.key),
    tenant: prepare(database, REMOVALS.tenant),
  };
  const removeKeyUse = prepare(
    database,
    `DELETE FROM key_uses WHERE tenant = ?1 AND key_id = ?2
       AND NOT EXISTS (SELECT 1 FROM keys WHERE tenant = ?1 AND key_id = ?2)`,
  );
  const nextAudited = prepare(
    database,
    'SELECT tenant, month FROM changes WHERE tenant > ? ORDER BY tenant, month LIMIT 1',
  );
  const removeAudited = prepare(
    database,
    removalOf(STATE_TABLES['audit-log'], 'tenant = ? AND month < ? ORDER BY month, seq, position'),
  );
  const removeExpired = prepare(
    database,
    removalOf(STATE_TABLES.expiry, 'tenant = ? AND bucket = ? AND expires_at_ms <= ? AND stamp <= ?'),
  );
  const removeRow = (row: RemovableRow): void => {
    switch (row.kind) {
      case 'grant':
        removals.grant.run(row.tenantId, row.subject, row.relation, row.object, row.stamp);
        removals.objectGrant.run(row.tenantId, row.subject, row.relation, row.object, row.stamp);
        return;
      case 'subject':
        removals.subject.run(row.tenantId, bucketOfSubject(row.subject), row.subject, row.stamp);
        return;
      case 'key':
        removals.key.run(row.tenantId, row.keyId, row.stamp);
        removeKeyUse.run(row.tenantId, row.keyId);
        return;
      case 'tenant':
        removals.tenant.run(row.slot, row.tenantId, row.stamp);
        return;
      default:
        assertNever(row);
    }
  };
  const removeRecords = prepare(
    database,
    `DELETE FROM log WHERE slot = ?1 AND segment = ?2 AND seq IN
       (SELECT seq FROM log WHERE slot = ?1 AND segment = ?2 ORDER BY seq LIMIT ?3)`,
  );
  return {
    *writeState(batch) {
      for (const { kind, width, upsertsOfRow } of upserts) {
        const values = batch[kind];
        for (let at = 0; at < values.length; at += width) {
          for (const upsert of upsertsOfRow) upsert.run(...values.slice(at, at + width));
          if ((at / width) % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
        }
      }
    },
    writeCheckpoint: (slot, { seq, windowFrom, stamp }) => runAtOnce(upsertCheckpoint, slot, seq, windowFrom, stamp),
    writeHotPages: (slot, list, atMs) => runAtOnce(upsertHotPages, slot, list, atMs),
    writeKeyUse: (tenantId, keyId, usedAtMs) => runAtOnce(upsertKeyUse, tenantId, keyId, usedAtMs),
    // biome-ignore lint/correctness/useYield: a few rows are one step.
    *writeUsage(tenantId, rows, atMs) {
      for (const { place, counts } of rows) upsertUsage.run(tenantId, place, counts, atMs);
    },
    *removeTombstones(rows) {
      for (const [index, row] of rows.entries()) {
        removeRow(row);
        if (index % ROWS_PER_STEP === ROWS_PER_STEP - 1) yield;
      }
    },
    *removeSegment(slot, segment) {
      while (removeRecords.run(slot, segment, RECORDS_PER_STEP) === RECORDS_PER_STEP) yield;
    },
    *removeExpiries({ tenantId, bucket, toMs }, stamp) {
      while (removeExpired.run(tenantId, bucket, toMs, stamp, ROWS_PER_STEP) === ROWS_PER_STEP) yield;
    },
    *purgeTenant({ slot, tenantId }, stamp) {
      let left = PURGE_ROWS_MAX;
      for (const purge of purges) {
        left -= purge.run(tenantId, stamp, left);
        if (left === 0) return false;
        yield;
      }
      removeGrantCount.run(slot, tenantId, stamp);
      return true;
    },
    *expireAuditLog(beforeMonth, after) {
      let passed = after;
      for (let steps = 0; steps < EXPIRE_STEPS_MAX; steps += 1) {
        // The first row of a tenant belongs to its oldest month.
        const row = nextAudited.get(passed);
        if (row === undefined) return undefined;
        const old = textAt(row, 'month') < beforeMonth;
        const removed = old ? removeAudited.run(textAt(row, 'tenant'), beforeMonth, ROWS_PER_STEP) : 0;
        if (removed < ROWS_PER_STEP) passed = textAt(row, 'tenant');
        yield;
      }
      return passed;
    },
  };
}
