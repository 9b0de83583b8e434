// Copies rows of the store into the types of the port, field by field, so that a new column stays invisible to peers
// until this file exposes it.

import type { AuditLogRow, MemberRow } from '../../store/store.ts';
import type { AuditRecord, ClusterMember, SlotClaim } from '../shard.ts';

export const clusterMemberOf = (row: MemberRow): ClusterMember => ({
  incarnation: row.incarnation,
  shardName: row.shardName,
  address: row.address,
  state: row.state,
  heartbeat: row.heartbeat,
  startedAtMs: row.startedAtMs,
});

export const slotClaimOf = ({ slot, epoch, owner }: SlotClaim): SlotClaim => ({ slot, epoch, owner });

export const auditRecordOf = (row: AuditLogRow): AuditRecord => ({
  seq: row.seq,
  index: row.index,
  atMs: row.atMs,
  actor: row.actor,
  requestId: row.requestId,
  change: row.change,
});
