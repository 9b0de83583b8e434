// Ownership of slots: one row per slot, changed only by lightweight transactions, each of which tests the whole row.

import type { ConditionalOutcome, DeadlineMs, SlotRow, SlotStore } from '../../store.ts';
import { SLOT_COLUMNS, slotRowOf } from '../../stored-rows.ts';
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
