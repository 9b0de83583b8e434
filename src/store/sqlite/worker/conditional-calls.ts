// The calls that order and fence: the log, the slots, the members, meta. Each tests and writes within the current
// durable transaction, so its result holds once that transaction has committed, and not before.

import type { DatabaseSync } from 'node:sqlite';
import { assert } from '../../../core/assert.ts';
import type { ConditionalOutcome } from '../../store.ts';
import { LOG_COLUMNS, MEMBER_COLUMNS, META_COLUMNS, memberRowOf, SLOT_COLUMNS, slotRowOf } from '../../stored-rows.ts';
import { prepare, type Row, type Statement } from '../database.ts';
import type { ConditionalCalls, Handlers } from '../messages.ts';
import { metaRowOf, recordOf } from './rows.ts';

function outcome<Record>(
  changes: number,
  read: Statement,
  key: string | number,
  parse: (row: Row) => Record,
): ConditionalOutcome<Record> {
  const row = read.get(key);
  return { applied: changes === 1, row: row === undefined ? undefined : parse(row) };
}

function createLogCalls(database: DatabaseSync) {
  const insertMeta = prepare(
    database,
    `INSERT INTO meta (one, ${META_COLUMNS}) VALUES (1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const readMeta = prepare(database, `SELECT ${META_COLUMNS} FROM meta`);
  const updateClusterId = prepare(database, 'UPDATE meta SET cluster_id = ? WHERE cluster_id = ?');
  const insertRecord = prepare(
    database,
    'INSERT INTO log (slot, segment, seq, epoch, entry_id, body) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const readRecord = prepare(database, `SELECT ${LOG_COLUMNS} FROM log WHERE slot = ? AND segment = ? AND seq = ?`);
  return {
    initializeMeta: (meta) => {
      insertMeta.run(
        meta.clusterId,
        meta.slots,
        meta.segmentSize,
        meta.leaseMs,
        meta.deadlineMs,
        meta.logFormat,
        JSON.stringify(meta.cursorSecrets),
      );
      const row = readMeta.get();
      assert(row !== undefined, 'meta is stored after its insertion');
      return metaRowOf(row);
    },
    replaceClusterId: (from, to) => {
      updateClusterId.run(to, from);
      const row = readMeta.get();
      return row === undefined ? undefined : metaRowOf(row).clusterId;
    },
    append: (record, segment) => {
      const { slot, seq, epoch, entryId, body } = record;
      if (insertRecord.run(slot, segment, seq, epoch, entryId, body) === 1) return { kind: 'appended' };
      const standing = readRecord.get(slot, segment, seq);
      assert(standing !== undefined, 'an insertion that met a conflict finds a record');
      return { kind: 'occupied', record: recordOf(standing) };
    },
  } satisfies Partial<Handlers<ConditionalCalls>>;
}

function createSlotCalls(database: DatabaseSync) {
  const read = prepare(database, `SELECT ${SLOT_COLUMNS} FROM slots WHERE slot = ?`);
  const insert = prepare(
    database,
    'INSERT INTO slots (slot, owner, epoch, first) VALUES (?, ?, 1, 1) ON CONFLICT DO NOTHING',
  );
  const claim = prepare(
    database,
    'UPDATE slots SET owner = ?, epoch = epoch + 1 WHERE slot = ? AND owner IS ? AND epoch = ?',
  );
  const setOpened = prepare(database, 'UPDATE slots SET opened = ? WHERE slot = ? AND owner = ? AND epoch = ?');
  const setFirst = prepare(
    database,
    'UPDATE slots SET first = ?1 WHERE slot = ?2 AND owner = ?3 AND epoch = ?4 AND first < ?1',
  );
  const release = prepare(
    database,
    'UPDATE slots SET owner = ?1, epoch = epoch + (?1 IS NOT NULL) WHERE slot = ?2 AND owner = ?3 AND epoch = ?4',
  );
  return {
    claimSlot: ({ slot, expected, owner }) => {
      const changes =
        expected === undefined
          ? insert.run(slot, owner)
          : claim.run(owner, slot, expected.owner ?? null, expected.epoch);
      return outcome(changes, read, slot, slotRowOf);
    },
    recordOpened: ({ slot, owner, epoch, opened }) =>
      outcome(setOpened.run(opened, slot, owner, epoch), read, slot, slotRowOf),
    recordFirst: ({ slot, owner, epoch, first }) =>
      outcome(setFirst.run(first, slot, owner, epoch), read, slot, slotRowOf),
    releaseSlot: ({ slot, owner, epoch, successor }) =>
      outcome(release.run(successor ?? null, slot, owner, epoch), read, slot, slotRowOf),
  } satisfies Partial<Handlers<ConditionalCalls>>;
}

function createMemberCalls(database: DatabaseSync) {
  const read = prepare(database, `SELECT ${MEMBER_COLUMNS} FROM members WHERE incarnation = ?`);
  const insert = prepare(
    database,
    `INSERT INTO members (${MEMBER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const heartbeat = prepare(
    database,
    "UPDATE members SET beat = ?, healthy_beat = ?, wall_ms = ?, state = ? WHERE incarnation = ? AND state <> 'dead' AND beat = ?",
  );
  const declare = prepare(
    database,
    "UPDATE members SET state = 'dead' WHERE incarnation = ? AND state <> 'dead' AND beat = ?",
  );
  const remove = prepare(database, "DELETE FROM members WHERE incarnation = ? AND state = 'dead'");
  return {
    insertMember: ({
      incarnation,
      shardName,
      address,
      state,
      heartbeat: first,
      startedAtMs,
      healthyHeartbeat,
      wallMs,
      place = null,
    }) => {
      const row = [incarnation, shardName, address, state, first, startedAtMs, healthyHeartbeat, wallMs, place];
      const inserted = insert.run(...row);
      return outcome(inserted, read, incarnation, memberRowOf);
    },
    writeHeartbeat: ({ incarnation, expectedHeartbeat, heartbeat: next, healthyHeartbeat, wallMs, state }) =>
      outcome(
        heartbeat.run(next, healthyHeartbeat, wallMs, state, incarnation, expectedHeartbeat),
        read,
        incarnation,
        memberRowOf,
      ),
    declareDead: ({ incarnation, heartbeat: seen }) =>
      outcome(declare.run(incarnation, seen), read, incarnation, memberRowOf),
    removeMember: (incarnation) => {
      remove.run(incarnation);
    },
  } satisfies Partial<Handlers<ConditionalCalls>>;
}

export function createConditionalHandlers(database: DatabaseSync): Handlers<ConditionalCalls> {
  return { ...createLogCalls(database), ...createSlotCalls(database), ...createMemberCalls(database) };
}
