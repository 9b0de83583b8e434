// Slots and members: rows that are changed only by lightweight transactions. One of a slot tests its whole row.

import type { ConditionalOutcome, DeadlineMs, MemberRow, MemberStore, SlotRow, SlotStore } from '../../store.ts';
import { MEMBER_COLUMNS, memberRowOf, SLOT_COLUMNS, slotRowOf } from '../../stored-rows.ts';
import { type ConditionalShape, ConditionalTable } from './compare-and-set.ts';
import type { MetaCalls } from './meta-calls.ts';
import { TableScan, type TableScanPorts } from './table-scan.ts';

const FIRST_EPOCH = 1;
const FIRST_SEQ = 1;
const CHANGING = ['owner', 'epoch', 'opened', 'first'];

const SHAPE: Omit<ConditionalShape<SlotRow>, 'table'> = {
  key: 'slot',
  columns: SLOT_COLUMNS,
  recordOf: slotRowOf,
  cellsOf: ({ slot, owner = '', epoch, opened = 0, first }) => ({
    slot,
    owner,
    epoch: BigInt(epoch),
    opened: BigInt(opened),
    first: BigInt(first),
  }),
  written: CHANGING,
  tested: CHANGING,
};

interface Ownership {
  readonly owner: string;
  readonly epoch: number;
}

export function createSlotCalls(ports: TableScanPorts, meta: MetaCalls, keyspace: string): SlotStore {
  const name = `${keyspace}.slots`;
  const table = new ConditionalTable<number, SlotRow>(ports.executor, { ...SHAPE, table: name });
  const scan = new TableScan(ports, {
    all: `SELECT ${SLOT_COLUMNS} FROM ${name}`,
    some: `SELECT ${SLOT_COLUMNS} FROM ${name} WHERE slot IN ?`,
  });
  /** From the last scan. */
  let scanned: ReadonlyMap<number, SlotRow> = new Map();

  const change = (
    slot: number,
    deadline: DeadlineMs,
    next: (row: SlotRow) => SlotRow | undefined,
  ): Promise<ConditionalOutcome<SlotRow>> => table.change(slot, deadline, next, scanned.get(slot));

  /** Only if the slot has this owner and epoch. */
  const changeOwned = (
    slot: number,
    { owner, epoch }: Ownership,
    deadline: DeadlineMs,
    next: (row: SlotRow) => SlotRow | undefined,
  ): Promise<ConditionalOutcome<SlotRow>> =>
    change(slot, deadline, (row) => (row.owner === owner && row.epoch === epoch ? next(row) : undefined));

  return {
    readSlot: (slot, deadline) => table.read(slot, deadline),

    async listSlots(deadline) {
      const slots = await meta.slots(deadline);
      const keys = (): number[] => [...new Set([...Array(slots).keys(), ...table.remembered.keys()])];
      const rows = (await scan.list(keys, deadline)).map(slotRowOf);
      scanned = new Map(rows.map((row) => [row.slot, row]));
      return rows;
    },

    async listSomeSlots(slots, deadline) {
      const rows = (await scan.some(slots, deadline)).map(slotRowOf);
      scanned = new Map([...scanned, ...rows.map((row) => [row.slot, row] as const)]);
      return rows;
    },

    claimSlot({ slot, expected, owner }, deadline) {
      if (expected === undefined) {
        const unused = { opened: undefined, first: FIRST_SEQ };
        return table.insert(slot, { slot, owner, epoch: FIRST_EPOCH, ...unused }, deadline);
      }
      return change(slot, deadline, (row) =>
        row.owner === expected.owner && row.epoch === expected.epoch
          ? { ...row, owner, epoch: row.epoch + 1 }
          : undefined,
      );
    },

    recordOpened: ({ slot, opened, ...ownership }, deadline) =>
      changeOwned(slot, ownership, deadline, (row) => ({ ...row, opened })),

    recordFirst: ({ slot, first, ...ownership }, deadline) =>
      changeOwned(slot, ownership, deadline, (row) => (row.first < first ? { ...row, first } : undefined)),

    releaseSlot: ({ slot, successor, ...ownership }, deadline) =>
      changeOwned(slot, ownership, deadline, (row) => ({
        ...row,
        owner: successor,
        epoch: successor === undefined ? row.epoch : row.epoch + 1,
      })),
  };
}

// ---- members ----
//
// Members: one row per incarnation, changed only by lightweight transactions, each of which tests all that may change
// on its own: the healthy heartbeat and the wall clock change only together with the heartbeat, and the place never.

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
