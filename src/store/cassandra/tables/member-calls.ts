// Members: one row per incarnation, changed only by lightweight transactions, each of which tests all that may change
// on its own: the healthy heartbeat and the wall clock change only together with the heartbeat, and the place never.

import type { MemberRow, MemberStore } from '../../store.ts';
import { MEMBER_COLUMNS, memberRowOf } from '../../stored-rows.ts';
import { ConditionalTable } from './compare-and-set.ts';
import { TableScan, type TableScanPorts } from './table-scan.ts';

const cellsOf = (row: MemberRow) => ({
  incarnation: row.incarnation,
  shard_name: row.shardName,
  address: row.address,
  state: row.state,
  beat: BigInt(row.heartbeat),
  started_at_ms: BigInt(row.startedAtMs),
  healthy_beat: BigInt(row.healthyHeartbeat),
  wall_ms: BigInt(row.wallMs),
  place: row.place ?? '',
});

export function createMemberCalls(ports: TableScanPorts, keyspace: string): MemberStore {
  const { executor } = ports;
  const name = `${keyspace}.members`;
  const table = new ConditionalTable<string, MemberRow>(executor, {
    table: name,
    key: 'incarnation',
    columns: MEMBER_COLUMNS,
    recordOf: memberRowOf,
    cellsOf,
    written: ['state', 'beat', 'healthy_beat', 'wall_ms'],
    tested: ['shard_name', 'address', 'state', 'beat', 'started_at_ms'],
  });
  const scan = new TableScan(ports, {
    all: `SELECT ${MEMBER_COLUMNS} FROM ${name}`,
    some: `SELECT ${MEMBER_COLUMNS} FROM ${name} WHERE incarnation IN ?`,
  });
  /** From the last listing: a member that has joined since cannot be read by its key. */
  let listed: ReadonlyMap<string, MemberRow> | undefined;
  const remove = `DELETE FROM ${name} WHERE incarnation = ? IF state = 'dead'`;

  return {
    insertMember: (member, deadline) => table.insert(member.incarnation, { ...member }, deadline),

    writeHeartbeat: ({ incarnation, expectedHeartbeat, heartbeat, ...next }, deadline) =>
      table.change(incarnation, deadline, (row) =>
        row.state !== 'dead' && row.heartbeat === expectedHeartbeat ? { ...row, heartbeat, ...next } : undefined,
      ),

    declareDead: ({ incarnation, heartbeat }, deadline) =>
      table.change(
        incarnation,
        deadline,
        (row) => (row.state !== 'dead' && row.heartbeat === heartbeat ? { ...row, state: 'dead' } : undefined),
        listed?.get(incarnation),
      ),

    readMember: (incarnation, deadline) => table.read(incarnation, deadline),

    async listMembers(deadline) {
      const keys = (): string[] | undefined =>
        listed === undefined ? undefined : [...new Set([...listed.keys(), ...table.remembered.keys()])];
      const members = (await scan.list(keys, deadline)).map(memberRowOf);
      listed = new Map(members.map((member) => [member.incarnation, member]));
      return members;
    },

    readClock: (deadline) => executor.readClock(deadline),

    async removeMember(incarnation, deadline) {
      table.remembered.set(incarnation, undefined);
      await executor.conditional(remove, [incarnation], deadline);
    },
  };
}
