// The operator's calls about the cluster, which each shard answers for itself: its slots, its members, its load, and where
// the logs of its slots end. Rows of the store are copied field by field, so that a new column stays invisible to peers
// until this file exposes it.

import { cursorKeysFor } from '../../core/text/cursors.ts';
import type { MemberRow, SlotRow } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
import type {
  ClusterMember,
  LogEnds,
  LoggedPage,
  LogQuery,
  ShardLoad,
  SlotClaim,
  SlotStatus,
  SlotsReport,
} from '../shard.ts';
import { readEntries } from './exported-log.ts';
import { mergeLoads } from './load.ts';
import type { Peer } from './peer.ts';

export const clusterMemberOf = (row: MemberRow): ClusterMember => ({
  incarnation: row.incarnation,
  shardName: row.shardName,
  address: row.address,
  state: row.state,
  heartbeat: row.heartbeat,
  startedAtMs: row.startedAtMs,
});

export const slotClaimOf = ({ slot, epoch, owner }: SlotRow): SlotClaim => ({ slot, epoch, incarnation: owner });

export async function listSlots({ shard }: Peer): Promise<SlotsReport> {
  const owned: SlotStatus[] = [];
  for (const tenure of shard.tenures()) {
    const status = tenure.status();
    if (status !== undefined) owned.push(status);
  }
  const { rows, ...report } = shard.report();
  return {
    ...report,
    owners: rows.map(slotClaimOf),
    owned: owned.sort((left, right) => left.slot - right.slot),
  };
}

export async function listMembers({ shard }: Peer): Promise<readonly ClusterMember[]> {
  return (await shard.members()).map(clusterMemberOf);
}

export async function readLoad({ shard }: Peer): Promise<ShardLoad> {
  const { shardName } = shard.report();
  return { ...mergeLoads(shard.loads(), shard.clock.monotonicMs()), shardName };
}

export async function listLogEnds({ shard }: Peer): Promise<LogEnds> {
  const serving = Array.from(shard.tenures()).filter(mayAnswer);
  const ranges = serving.map(({ slot, first, lastSeq }) => ({ slot, first, last: lastSeq }));
  return { ranges, cursorKeys: cursorKeysFor(shard.secrets, 'audit-export') };
}

export async function readLog({ shard }: Peer, _: object, { slot, ...from }: LogQuery): Promise<LoggedPage> {
  return readEntries(shard, shard.tenureOf(slot), from);
}

/** A previous owner that was paused must not report where a log ends. */
function mayAnswer(tenure: Tenure): boolean {
  try {
    tenure.assertServing();
    return true;
  } catch {
    return false;
  }
}
