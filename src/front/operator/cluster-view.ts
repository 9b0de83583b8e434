// Merges what each shard says about itself, and the rows it has seen, into one view of the cluster. Invariants: for
// each slot the highest epoch that any shard has seen counts, and only the owner of that epoch says which state the
// slot is in; what no shard could say stays undefined and is never guessed.

import type { ClusterMember, SlotClaim, SlotStatus, SlotsReport } from '../../shard/shard.ts';
import type { MemberView, ReaderView, SlotView } from '../front.ts';

/** The reply of one shard. */
export interface ShardReport extends SlotsReport {
  /** The address under which it was asked. */
  readonly address: string;
}

type Owner = Pick<SlotView, 'incarnation' | 'shardName' | 'address' | 'leaseLeftMs'>;

const NOT_KNOWN = {
  logEnd: undefined,
  checkpoint: undefined,
  tenants: undefined,
} as const;
const NO_OWNER: Owner = {
  incarnation: undefined,
  shardName: undefined,
  address: undefined,
  leaseLeftMs: undefined,
};

/** An epoch begins with a claim and may end with a release: at the same epoch the release is the later row. */
function isLater(row: SlotClaim, than: SlotClaim | undefined): boolean {
  if (than === undefined || row.epoch !== than.epoch) return row.epoch > (than?.epoch ?? -1);
  return row.incarnation === undefined;
}

function readersBySlot(reports: readonly ShardReport[]): ReadonlyMap<number, readonly ReaderView[]> {
  const readers = reports.flatMap(({ shardName, readers: of }) => of.map((reader) => ({ ...reader, shardName })));
  const place = ({ tenantId, shardName }: ReaderView): string => `${tenantId} ${shardName}`;
  readers.sort((left, right) => (place(left) < place(right) ? -1 : 1));
  const bySlot = new Map<number, ReaderView[]>();
  for (const { slot, ...reader } of readers) {
    const others = bySlot.get(slot);
    if (others === undefined) bySlot.set(slot, [reader]);
    else others.push(reader);
  }
  return bySlot;
}

/** Every slot of the cluster, ascending. */
export function mergeSlots(
  slots: number,
  reports: readonly ShardReport[],
  members: readonly ClusterMember[],
): readonly SlotView[] {
  const reportOf = new Map(reports.map((report) => [report.incarnation, report]));
  const memberOf = new Map(members.map((member) => [member.incarnation, member]));
  const rows = new Map<number, SlotClaim>();
  const statuses = new Map<number, { status: SlotStatus; report: ShardReport }>();
  for (const report of reports) {
    for (const row of report.owners) if (isLater(row, rows.get(row.slot))) rows.set(row.slot, row);
    for (const status of report.owned) {
      const seen = statuses.get(status.slot);
      if (seen === undefined || seen.status.epoch < status.epoch) statuses.set(status.slot, { status, report });
    }
  }

  const ownerOf = (incarnation: string): Owner => {
    const member = memberOf.get(incarnation);
    const report = reportOf.get(incarnation);
    return {
      incarnation,
      shardName: report?.shardName ?? member?.shardName,
      address: member?.address ?? report?.address,
      leaseLeftMs: report?.leaseLeftMs,
    };
  };

  const readersOf = readersBySlot(reports);
  return Array.from({ length: slots }, (_, slot): SlotView => {
    const readers = readersOf.get(slot) ?? [];
    const row = rows.get(slot);
    const live = statuses.get(slot);
    // An owner that has not yet heard of a later claim does not count.
    if (live !== undefined && live.status.epoch >= (row?.epoch ?? 0)) {
      return { ...live.status, ...ownerOf(live.report.incarnation), readers };
    }
    const unknown = { slot, readers, ...NOT_KNOWN };
    if (row === undefined) return { ...unknown, state: 'unclaimed', epoch: undefined, ...NO_OWNER };
    const { epoch, incarnation } = row;
    if (incarnation === undefined) return { ...unknown, state: 'unowned', epoch, ...NO_OWNER };
    // The owner replied but has not begun with the slot: it has only just claimed it.
    const state = reportOf.has(incarnation) ? 'opening' : 'unreachable';
    return { ...unknown, state, epoch, ...ownerOf(incarnation) };
  });
}

export function mergeMembers(
  members: readonly ClusterMember[],
  reports: readonly ShardReport[],
  slots: readonly SlotView[],
): readonly MemberView[] {
  const leases = new Map(reports.map(({ incarnation, leaseLeftMs }) => [incarnation, leaseLeftMs]));
  const owned = new Map<string, number>();
  for (const { incarnation } of slots) {
    if (incarnation !== undefined) owned.set(incarnation, (owned.get(incarnation) ?? 0) + 1);
  }
  return members.map((member) => ({
    ...member,
    leaseLeftMs: leases.get(member.incarnation),
    slotsOwned: owned.get(member.incarnation) ?? 0,
  }));
}
