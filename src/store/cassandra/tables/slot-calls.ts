// Ownership of slots: one row per slot, changed only by lightweight transactions, each of which tests the whole row.

import { GrantdError } from '../../../core/errors.ts';
import type { ConditionalOutcome, DeadlineMs, SlotRow, SlotStore } from '../../store.ts';
import type { Value } from '../driver/executor.ts';
import { type ConditionalRows, compareAndSet, RememberedRows } from './compare-and-set.ts';
import type { MetaCalls } from './meta-calls.ts';
import { integerAt, isNullAt, SLOT_COLUMNS, slotRowOf } from './rows.ts';
import { TableScan, type TableScanPorts } from './table-scan.ts';

const FIRST_EPOCH = 1;
const FIRST_SEQ = 1;

interface Ownership {
  readonly owner: string;
  readonly epoch: number;
}

const valuesOf = ({ owner, epoch, opened, first, successor }: SlotRow): Value[] => [
  owner ?? '',
  BigInt(epoch),
  BigInt(opened ?? 0),
  BigInt(first),
  successor ?? '',
];

export function createSlotCalls(ports: TableScanPorts, meta: MetaCalls, keyspace: string): SlotStore {
  const { executor } = ports;
  const table = `${keyspace}.slots`;
  const select = `SELECT ${SLOT_COLUMNS} FROM ${table} WHERE slot = ?`;
  const scan = new TableScan(ports, {
    all: `SELECT ${SLOT_COLUMNS} FROM ${table}`,
    some: `SELECT ${SLOT_COLUMNS} FROM ${table} WHERE slot IN ?`,
  });
  const insert = `INSERT INTO ${table} (${SLOT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) IF NOT EXISTS`;
  const update = `UPDATE ${table} SET owner = ?, epoch = ?, opened = ?, first = ?, successor = ? WHERE slot = ?
    IF owner = ? AND epoch = ? AND opened = ? AND first = ? AND successor = ?`;
  const remembered = new RememberedRows<number, SlotRow>();
  /** From the last scan. */
  let scanned: ReadonlyMap<number, SlotRow> = new Map();

  async function readSlot(slot: number, deadline: DeadlineMs): Promise<SlotRow | undefined> {
    const { rows } = await executor.readSerial(select, [slot], deadline);
    const row = rows.map((each) => slotRowOf(each, slot))[0];
    remembered.set(slot, row);
    return row;
  }

  const conditionalRows = (deadline: DeadlineMs): ConditionalRows<number, SlotRow> => ({
    read: (slot) => readSlot(slot, deadline),
    async replace(before, after) {
      const values = [...valuesOf(after), before.slot, ...valuesOf(before)];
      const answer = await executor.conditional(update, values, deadline);
      if (answer === undefined)
        throw new GrantdError('unavailable', 'Cassandra returned no result for the change of a slot.');
      if (answer['[applied]'] === true) return undefined;
      return isNullAt(answer, 'epoch') ? 'none' : slotRowOf(answer, before.slot);
    },
  });

  async function insertSlot(slot: number, owner: string, deadline: DeadlineMs): Promise<ConditionalOutcome<SlotRow>> {
    const row: SlotRow = {
      slot,
      owner,
      epoch: FIRST_EPOCH,
      opened: undefined,
      first: FIRST_SEQ,
      successor: undefined,
    };
    remembered.set(slot, undefined);
    const answer = await executor.conditional(insert, [slot, ...valuesOf(row)], deadline);
    if (answer === undefined)
      throw new GrantdError('unavailable', 'Cassandra returned no result for the claim of a slot.');
    const applied = answer['[applied]'] === true;
    const standing = applied ? row : slotRowOf(answer, slot);
    remembered.set(slot, standing);
    return { applied, row: standing };
  }

  const change = (
    slot: number,
    deadline: DeadlineMs,
    next: (row: SlotRow) => SlotRow | undefined,
  ): Promise<ConditionalOutcome<SlotRow>> =>
    compareAndSet(conditionalRows(deadline), remembered, slot, next, scanned.get(slot));

  /** Only if the slot has this owner and epoch. */
  const owned =
    ({ owner, epoch }: Ownership, next: (row: SlotRow) => SlotRow | undefined) =>
    (row: SlotRow): SlotRow | undefined =>
      row.owner === owner && row.epoch === epoch ? next(row) : undefined;

  return {
    readSlot,

    async listSlots(deadline) {
      const slots = await meta.slots(deadline);
      const keys = (): number[] => [...new Set([...Array(slots).keys(), ...remembered.keys()])];
      const rows = await scan.list(keys, deadline);
      const slotRows = rows.map((row) => slotRowOf(row, integerAt(row, 'slot')));
      scanned = new Map(slotRows.map((row) => [row.slot, row]));
      return slotRows;
    },

    claimSlot({ slot, expected, owner }, deadline) {
      if (expected === undefined) return insertSlot(slot, owner, deadline);
      return change(slot, deadline, (row) =>
        row.owner === expected.owner && row.epoch === expected.epoch
          ? { ...row, owner, epoch: row.epoch + 1, successor: undefined }
          : undefined,
      );
    },

    recordOpened: ({ slot, opened, ...ownership }, deadline) =>
      change(
        slot,
        deadline,
        owned(ownership, (row) => ({ ...row, opened })),
      ),

    recordFirst: ({ slot, first, ...ownership }, deadline) =>
      change(
        slot,
        deadline,
        owned(ownership, (row) => (row.first < first ? { ...row, first } : undefined)),
      ),

    releaseSlot: ({ slot, successor, ...ownership }, deadline) =>
      change(
        slot,
        deadline,
        owned(ownership, (row) => ({ ...row, owner: undefined, successor })),
      ),
  };
}
