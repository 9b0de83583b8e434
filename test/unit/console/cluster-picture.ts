// Slots, members and loads of a cluster that a test makes up.

import type { MemberView, ShardLoad, SlotView } from '../../../src/front/front.ts';

export function slotView(slot: number, shardName: string | undefined, more: Partial<SlotView> = {}): SlotView {
  const unknown = {
    leaseLeftMs: undefined,
    logEnd: undefined,
    checkpoint: undefined,
    tenants: undefined,
    readers: [],
  };
  const state = shardName === undefined ? 'unowned' : 'serving';
  return { slot, state, epoch: 1, incarnation: undefined, shardName, address: undefined, ...unknown, ...more };
}

export function loadOf(shardName: string, more: Partial<ShardLoad> = {}): ShardLoad {
  return { shardName, checksPerSecond: 0, failuresPerSecond: 0, p99Ms: undefined, ...more };
}

export function memberView(shardName: string, state: MemberView['state'], life = 1): MemberView {
  const incarnation = `${shardName}#${life}`;
  return {
    incarnation,
    shardName,
    address: '10.0.0.1:8082',
    state,
    heartbeat: 1,
    startedAtMs: 0,
    leaseLeftMs: 2500,
    slotsOwned: 0,
  };
}
