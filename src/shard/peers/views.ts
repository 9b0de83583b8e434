// What leaves the shard of the rows of its store: copied into the types of its port, field by field, so that a column
// of the store is nothing that a peer sees until somebody says so here.

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
