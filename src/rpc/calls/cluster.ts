// The operator's calls about the cluster: each shard answers for itself. Also the counts that fronts report, which are
// no call, since they have no reply.

import type {
  ClusterMember,
  FrontReport,
  ReaderStatus,
  RepairedTime,
  ShardLoad,
  SlotClaim,
  SlotStatus,
  SlotsReport,
  TenantUsageReport,
  TimeRepair,
} from '../../shard/shard.ts';
import type { ReceivedReport, Usage } from '../messages.ts';
import { USAGE_PER_REPORT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import {
  as,
  converted,
  double,
  flag,
  int64,
  list,
  message,
  nothing,
  only,
  optional,
  orUndefined,
  text,
  uint32,
  word,
} from './schema.ts';

export const clusterCalls = {
  listSlots: defineCall('listSlots', {
    access: 'console',
    request: nothing,
    reply: 'slots',
    answer: converted(
      message<Omit<SlotsReport, 'leaseLeftMs'> & { readonly leased: boolean; readonly leaseLeftMs: number }>({
        owned: as(
          'slots',
          list(
            message<SlotStatus>({
              slot: uint32,
              epoch: uint32,
              state: word('opening', 'serving', 'releasing'),
              logEnd: int64,
              checkpoint: int64,
              tenants: uint32,
            }),
          ),
        ),
        incarnation: text,
        shardName: text,
        leased: flag,
        leaseLeftMs: double,
        owners: list(message<SlotClaim>({ slot: uint32, epoch: uint32, incarnation: orUndefined(text) })),
        readers: list(
          message<ReaderStatus>({
            tenantId: text,
            slot: uint32,
            epoch: uint32,
            position: int64,
            calls: int64,
            readIndexes: int64,
            handedOver: int64,
            begun: int64,
          }),
        ),
      }),
      ({ leaseLeftMs, ...report }: SlotsReport) => ({
        ...report,
        leased: leaseLeftMs !== undefined,
        leaseLeftMs: leaseLeftMs ?? 0,
      }),
      ({ leased, leaseLeftMs, ...report }) => ({ ...report, leaseLeftMs: leased ? leaseLeftMs : undefined }),
    ),
  }),

  repairTime: defineCall('repairTime', {
    access: 'console',
    request: message<TimeRepair>({ slot: uint32, dryRun: flag }),
    reply: 'repairedTime',
    answer: message<RepairedTime>({
      slot: uint32,
      state: word('right', 'ahead', 'ending', 'repaired'),
      aheadMs: int64,
      wallMs: int64,
      keys: uint32,
    }),
  }),

  listMembers: defineCall('listMembers', {
    access: 'console',
    request: nothing,
    reply: 'members',
    answer: only(
      'members',
      list(
        message<ClusterMember>({
          incarnation: text,
          shardName: text,
          address: text,
          state: word('alive', 'draining', 'dead'),
          startedAtMs: int64,
          heartbeat: int64,
        }),
      ),
    ),
  }),

  readLoad: defineCall('readLoad', {
    access: 'console',
    request: nothing,
    reply: 'shardLoad',
    answer: message<ShardLoad>({
      checksPerSecond: double,
      failuresPerSecond: double,
      p99Ms: orUndefined(double),
      shardName: text,
      busiest: optional(message({ tenantId: text, share: double })),
    }),
  }),
};

/** Checks lengths only. The shard judges the numbers, and whether the tenants are its own. */
export function reportFrom({ load, usage }: ReceivedReport): FrontReport {
  return { load: load ?? undefined, usage: usage === null ? [] : usageFrom(usage) };
}

function usageFrom({ minute, slots, tenantIds, requests, refused, checks }: Usage): TenantUsageReport[] {
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
