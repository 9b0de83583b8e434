// The operator's calls about the cluster, which each shard answers for itself: its slots, its members, its load, and
// where the logs of its slots end. Rows of the store are copied field by field, so that a new column stays invisible to
// peers until this file exposes it.

import { cursorKeysFor } from '../../core/text/cursors.ts';
import type { MemberRow, SlotRow } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
import { repairTime as repairSlotTime } from '../log/time-repair.ts';
import type { ClusterMember, SlotClaim, SlotStatus } from '../shard.ts';
import { readEntries } from './exported-log.ts';
import { mergeLoads } from './load.ts';
import type { Handler } from './peer.ts';

export const clusterMemberOf = (row: MemberRow): ClusterMember => ({
  incarnation: row.incarnation,
  shardName: row.shardName,
  address: row.address,
  state: row.state,
  heartbeat: row.heartbeat,
  startedAtMs: row.startedAtMs,
});

export const slotClaimOf = ({ slot, epoch, owner }: SlotRow): SlotClaim => ({ slot, epoch, incarnation: owner });

export const listSlots: Handler<'listSlots'> = async ({ shard }) => {
  const owned: SlotStatus[] = [];
  for (const tenure of shard.tenures().values()) {
    const status = tenure.status();
    if (status !== undefined) owned.push(status);
  }
  const { rows, ...report } = shard.report();
  return {
    ...report,
    readers: shard.readers.list(),
    owners: rows.map(slotClaimOf),
    owned: owned.sort((left, right) => left.slot - right.slot),
  };
};

export const repairTime: Handler<'repairTime'> = async ({ shard }, _, { slot, dryRun }) => {
  const { clock, ids } = shard;
  return repairSlotTime({ clock, createRequestId: () => ids.create('req') }, shard.tenureOf(slot), { dryRun });
};

export const listMembers: Handler<'listMembers'> = async ({ shard }) => {
  return (await shard.members()).map(clusterMemberOf);
};

export const readLoad: Handler<'readLoad'> = async ({ shard }) => {
  const { shardName } = shard.report();
  return { ...mergeLoads(shard.loads(), shard.clock.monotonicMs()), shardName, busiest: shard.busiest() };
};

export const listLogEnds: Handler<'listLogEnds'> = async ({ shard }) => {
  const serving = Array.from(shard.tenures().values()).filter(mayAnswer);
  const ranges = serving.map(({ slot, first, lastSeq }) => ({ slot, first, last: lastSeq }));
  return { ranges, cursorKeys: cursorKeysFor(shard.secrets, 'audit-export') };
};

export const readLog: Handler<'readLog'> = async ({ shard }, _, { slot, ...from }) => {
  return readEntries(shard, shard.tenureOf(slot), from);
};

/** A previous owner that was paused must not report where a log ends. */
function mayAnswer(tenure: Tenure): boolean {
  try {
    tenure.assertServing();
    return true;
  } catch {
    return false;
  }
}
