// The operator's calls about the cluster: each shard answers for itself. Also the counts that fronts report, which are
// no call, since they have no reply.

import type { ClusterMember, FrontReport, RepairedTime, SlotStatus, TenantUsageReport } from '../../shard/shard.ts';
import type { Report__Output } from '../gen/grantd/v1/Report.ts';
import type { Usage__Output } from '../gen/grantd/v1/Usage.ts';
import { USAGE_PER_REPORT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { stateReader, zeroAsUndefined } from './answer-fields.ts';
import { defineCall, EMPTY_REQUEST } from './define-call.ts';
import { orUndefined } from './request-fields.ts';

const slotStateFrom = stateReader<SlotStatus['state']>(['opening', 'serving', 'releasing'], 'slot');
const repairStateFrom = stateReader<RepairedTime['state']>(['right', 'ahead', 'ending', 'repaired'], 'time repair');
const memberStateFrom = stateReader<ClusterMember['state']>(['alive', 'draining', 'dead'], 'member');

export const clusterCalls = {
  listSlots: defineCall('listSlots', {
    access: 'console',
    ...EMPTY_REQUEST,
    reply: 'slots',
    replyToWire: ({ owned, owners, readers, incarnation, shardName, leaseLeftMs }) => ({
      slots: [...owned],
      incarnation,
      shardName,
      leased: leaseLeftMs !== undefined,
      leaseLeftMs: leaseLeftMs ?? 0,
      owners: owners.map((owner) => ({ ...owner, incarnation: owner.incarnation ?? '' })),
      readers: [...readers],
    }),
    replyFromWire: ({ slots, owners, readers, incarnation, shardName, leased, leaseLeftMs }) => ({
      incarnation,
      shardName,
      leaseLeftMs: leased ? leaseLeftMs : undefined,
      owned: slots.map(({ state, ...rest }) => ({ ...rest, state: slotStateFrom(state) })),
      owners: owners.map((owner) => ({ ...owner, incarnation: orUndefined(owner.incarnation) })),
      readers,
    }),
  }),

  repairTime: defineCall('repairTime', {
    access: 'console',
    requestToWire: (request) => request,
    requestFromWire: ({ slot, dryRun }) => ({ slot, dryRun }),
    reply: 'repairedTime',
    replyToWire: (repaired) => repaired,
    replyFromWire: ({ state, ...repaired }) => ({ ...repaired, state: repairStateFrom(state) }),
  }),

  listMembers: defineCall('listMembers', {
    access: 'console',
    ...EMPTY_REQUEST,
    reply: 'members',
    replyToWire: (members) => ({ members: members.map((member) => ({ ...member })) }),
    replyFromWire: ({ members }) => members.map(({ state, ...rest }) => ({ ...rest, state: memberStateFrom(state) })),
  }),

  readLoad: defineCall('readLoad', {
    access: 'console',
    ...EMPTY_REQUEST,
    reply: 'shardLoad',
    replyToWire: (load) => ({ ...load, p99Ms: load.p99Ms ?? 0, busiest: load.busiest ?? null }),
    replyFromWire: ({ busiest, ...load }) => ({
      ...load,
      p99Ms: zeroAsUndefined(load.p99Ms),
      ...(busiest === null ? {} : { busiest }),
    }),
  }),
};

/** Checks lengths only. The shard judges the numbers, and whether the tenants are its own. */
export function reportFrom({ load, usage }: Report__Output): FrontReport {
  return { load: load ?? undefined, usage: usage === null ? [] : usageFrom(usage) };
}

function usageFrom({ minute, slots, tenantIds, requests, refused, checks }: Usage__Output): TenantUsageReport[] {
  const count = slots.length;
  demand(count <= USAGE_PER_REPORT_MAX, `A report has more than ${USAGE_PER_REPORT_MAX} tenants.`);
  demand(
    [tenantIds, requests, refused, checks].every(({ length }) => length === count),
    'The columns of a report differ in length.',
  );
  return slots.map((slot, index) => ({
    slot,
    tenantId: tenantIds[index] ?? '',
    minute,
    requests: requests[index] ?? 0,
    refused: refused[index] ?? 0,
    checks: checks[index] ?? 0,
  }));
}
