// Members: one row per incarnation, changed only by lightweight transactions, each of which tests the whole row.

import { GrantdError } from '../../../core/errors.ts';
import type { DeadlineMs, MemberRow, MemberStore } from '../../store.ts';
import type { Value } from '../driver/executor.ts';
import { type ConditionalRows, compareAndSet, RememberedRows } from './compare-and-set.ts';
import { MEMBER_COLUMNS, memberRowOf, textAt } from './rows.ts';
import { TableScan, type TableScanPorts } from './table-scan.ts';

const valuesOf = ({ shardName, address, state, heartbeat, startedAtMs }: MemberRow): Value[] => [
  shardName,
  address,
  state,
  BigInt(heartbeat),
  BigInt(startedAtMs),
];

export function createMemberCalls(ports: TableScanPorts, keyspace: string): MemberStore {
  const { executor } = ports;
  const table = `${keyspace}.members`;
  const select = `SELECT ${MEMBER_COLUMNS} FROM ${table} WHERE incarnation = ?`;
  const scan = new TableScan(ports, {
    all: `SELECT ${MEMBER_COLUMNS} FROM ${table}`,
    some: `SELECT ${MEMBER_COLUMNS} FROM ${table} WHERE incarnation IN ?`,
  });
  /** From the last listing: a member that has joined since cannot be read by its key. */
  let listed: readonly string[] | undefined;
  const insert = `INSERT INTO ${table} (${MEMBER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS`;
  // The condition excludes the healthy heartbeat and the place: the first changes only together with the heartbeat, the
  // second never.
  const update = `UPDATE ${table} SET state = ?, beat = ?, healthy_beat = ? WHERE incarnation = ?
    IF shard_name = ? AND address = ? AND state = ? AND beat = ? AND started_at_ms = ?`;
  const remove = `DELETE FROM ${table} WHERE incarnation = ? IF state = 'dead'`;
  const remembered = new RememberedRows<string, MemberRow>();

  async function readMember(incarnation: string, deadline: DeadlineMs): Promise<MemberRow | undefined> {
    const { rows } = await executor.readSerial(select, [incarnation], deadline);
    const row = rows.map((each) => memberRowOf(each, incarnation))[0];
    remembered.set(incarnation, row);
    return row;
  }

  const conditionalRows = (deadline: DeadlineMs): ConditionalRows<string, MemberRow> => ({
    read: (incarnation) => readMember(incarnation, deadline),
    async replace(before, after) {
      const set = [after.state, BigInt(after.heartbeat), BigInt(after.healthyHeartbeat)];
      const values = [...set, before.incarnation, ...valuesOf(before)];
      const answer = await executor.conditional(update, values, deadline);
      if (answer === undefined)
        throw new GrantdError('unavailable', 'Cassandra returned no result for the change of a member.');
      if (answer['[applied]'] === true) return undefined;
      // The result contains only the columns of the condition.
      return (await readMember(before.incarnation, deadline)) ?? 'none';
    },
  });

  return {
    async insertMember(member, deadline) {
      const { incarnation } = member;
      remembered.set(incarnation, undefined);
      const answer = await executor.conditional(
        insert,
        [incarnation, ...valuesOf(member), BigInt(member.healthyHeartbeat), member.place ?? ''],
        deadline,
      );
      if (answer === undefined)
        throw new GrantdError('unavailable', 'Cassandra returned no result for the insertion of a member.');
      const applied = answer['[applied]'] === true;
      const standing = applied ? { ...member } : memberRowOf(answer, incarnation);
      remembered.set(incarnation, standing);
      return { applied, row: standing };
    },

    writeHeartbeat: ({ incarnation, expectedHeartbeat, heartbeat, healthyHeartbeat, state }, deadline) =>
      compareAndSet(conditionalRows(deadline), remembered, incarnation, (row) =>
        row.state !== 'dead' && row.heartbeat === expectedHeartbeat
          ? { ...row, heartbeat, healthyHeartbeat, state }
          : undefined,
      ),

    declareDead: ({ incarnation, heartbeat }, deadline) =>
      compareAndSet(conditionalRows(deadline), remembered, incarnation, (row) =>
        row.state !== 'dead' && row.heartbeat === heartbeat ? { ...row, state: 'dead' } : undefined,
      ),

    readMember,

    async listMembers(deadline) {
      const keys = (): string[] | undefined =>
        listed === undefined ? undefined : [...new Set([...listed, ...remembered.keys()])];
      const rows = await scan.list(keys, deadline);
      const members = rows.map((row) => memberRowOf(row, textAt(row, 'incarnation')));
      listed = members.map(({ incarnation }) => incarnation);
      return members;
    },

    async removeMember(incarnation, deadline) {
      remembered.set(incarnation, undefined);
      await executor.conditional(remove, [incarnation], deadline);
    },
  };
}
