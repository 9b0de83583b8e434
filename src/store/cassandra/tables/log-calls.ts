// The log: lightweight transactions insert records, each seq once and for good; reads are serial, segment by segment.

import { segmentOf } from '../../../core/slots.ts';
import type { AppendOutcome, DeadlineMs, LogRecord, LogStore } from '../../store.ts';
import { integerAt, isNullAt, LOG_COLUMNS } from '../../stored-rows.ts';
import type { Executor } from '../driver/executor.ts';
import type { MetaCalls } from './meta-calls.ts';
import { encodeBody, recordOf } from './rows.ts';

/** Records per read: at most 16 MiB. */
const RECORDS_PER_PAGE = 16;

export function createLogCalls(executor: Executor, meta: MetaCalls, keyspace: string): LogStore {
  const table = `${keyspace}.log`;
  const insert = `INSERT INTO ${table} (slot, segment, seq, epoch, entry_id, body) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS`;
  const selectOne = `SELECT ${LOG_COLUMNS} FROM ${table} WHERE slot = ? AND segment = ? AND seq = ?`;
  const selectFrom = `SELECT ${LOG_COLUMNS} FROM ${table} WHERE slot = ? AND segment = ? AND seq >= ? LIMIT ?`;
  const selectTail = `SELECT ${LOG_COLUMNS} FROM ${table} WHERE slot = ? AND segment IN (?, ?) AND seq >= ? LIMIT ?`;
  const selectYoungest = `SELECT max(writetime(entry_id)) AS youngest FROM ${table} WHERE slot = ? AND segment = ?`;
  const remove = `DELETE FROM ${table} USING TIMESTAMP ? WHERE slot = ? AND segment = ?`;

  const segmentAt = async (seq: number, deadline: DeadlineMs): Promise<bigint> =>
    BigInt(segmentOf(seq, await meta.segmentSize(deadline)));

  return {
    async append(record: LogRecord, deadline: DeadlineMs): Promise<AppendOutcome> {
      const { slot, seq, epoch, entryId, body } = record;
      const segment = await segmentAt(seq, deadline);
      const { applied, row } = await executor.conditional(
        insert,
        [slot, segment, BigInt(seq), BigInt(epoch), entryId, encodeBody(body)],
        deadline,
      );
      return applied ? { kind: 'appended' } : { kind: 'occupied', record: recordOf(row) };
    },

    async readRecord(slot: number, seq: number, deadline: DeadlineMs): Promise<LogRecord | undefined> {
      const segment = await segmentAt(seq, deadline);
      const { rows } = await executor.readSerial(selectOne, [slot, segment, BigInt(seq)], deadline);
      return rows.map(recordOf)[0];
    },

    async readRecords(
      slot: number,
      fromSeq: number,
      limit: number,
      deadline: DeadlineMs,
    ): Promise<readonly LogRecord[]> {
      const segment = await segmentAt(fromSeq, deadline);
      const records: LogRecord[] = [];
      let next: string | undefined;
      do {
        const page = { size: RECORDS_PER_PAGE, ...(next === undefined ? {} : { from: next }) };
        const read = await executor.readSerial(selectFrom, [slot, segment, BigInt(fromSeq), limit], deadline, page);
        records.push(...read.rows.map(recordOf));
        next = read.next;
      } while (next !== undefined);
      return records;
    },

    async readTail(slot: number, fromSeq: number, limit: number, deadline: DeadlineMs): Promise<readonly LogRecord[]> {
      const segment = await segmentAt(fromSeq, deadline);
      const params = [slot, segment, segment + 1n, BigInt(fromSeq), limit];
      const { rows } = await executor.read(selectTail, params, deadline);
      return rows.map(recordOf).sort((left, right) => left.seq - right.seq);
    },

    /**
     * The rows have the timestamps of their transactions. So they are deleted as of the youngest of them, whatever any
     * clock says. The read also completes an unfinished transaction.
     */
    async removeSegment(slot: number, segment: number, deadline: DeadlineMs): Promise<void> {
      const { rows } = await executor.readSerial(selectYoungest, [slot, BigInt(segment)], deadline);
      const [row] = rows;
      if (row === undefined || isNullAt(row, 'youngest')) return;
      await executor.write(remove, [BigInt(integerAt(row, 'youngest')), slot, BigInt(segment)], deadline);
    },
  };
}
