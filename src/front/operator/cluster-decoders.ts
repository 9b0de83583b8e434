// What shards say of the cluster, as an operator's front reads it: strictly, as every reply (reply-decoders.ts).

import type { Member__Output } from '../../rpc/gen/grantd/v1/Member.ts';
import type { Slot__Output } from '../../rpc/gen/grantd/v1/Slot.ts';
import type { Slots__Output } from '../../rpc/gen/grantd/v1/Slots.ts';
import type { ClusterMember, SlotStatus } from '../../shard/shard.ts';
import { malformed } from '../requests/reply-decoders.ts';
import type { ShardReport } from './cluster-view.ts';

const MEMBER_STATES: ReadonlyMap<string, ClusterMember['state']> = new Map(
  (['alive', 'draining', 'dead'] as const).map((state) => [state, state]),
);

export function memberFrom(member: Member__Output): ClusterMember {
  const { incarnation, shardName, address, beat, startedAtMs } = member;
  const state = MEMBER_STATES.get(member.state);
  if (state === undefined) throw malformed(`"${member.state}" is not a state of a member.`);
  return { incarnation, shardName, address, state, beat, startedAtMs };
}

const SLOT_STATES: ReadonlyMap<string, SlotStatus['state']> = new Map(
  (['opening', 'serving', 'releasing'] as const).map((state) => [state, state]),
);

function slotFrom(status: Slot__Output): SlotStatus {
  const { slot, epoch, logEnd, checkpoint, tenants } = status;
  const state = SLOT_STATES.get(status.state);
  if (state === undefined) throw malformed(`"${status.state}" is not a state of a slot.`);
  return { slot, epoch, state, logEnd, checkpoint, tenants };
}

export function shardReportFrom(shard: Slots__Output, address: string): ShardReport {
  const { incarnation, shardName, leased, leaseLeftMs, slots, owners } = shard;
  return {
    incarnation,
    shardName,
    address,
    leaseLeftMs: leased ? leaseLeftMs : undefined,
    owned: slots.map(slotFrom),
    owners: owners.map(({ slot, epoch, incarnation: owner }) => ({
      slot,
      epoch,
      incarnation: owner === '' ? undefined : owner,
    })),
  };
}
