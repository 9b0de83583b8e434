// The operator's calls about the cluster: each shard answers for itself. Also the counts that fronts report, which are
// no call, since they have no reply.

import { SLOTS_MAX } from '../../core/slots.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import type { FrontReport, ShardLoad, TenantUsageReport } from '../../shard/shard.ts';
import type { ReceivedReport, Usage } from '../messages.ts';
import { ASKED_PER_REPORT_MAX, PROBLEM_TEXT_MAX, PROBLEMS_PER_REPORT_MAX, USAGE_PER_REPORT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import * as s from './schema.ts';

export const clusterCalls = {
  listSlots: defineCall('listSlots', {
    access: 'console',
    request: s.nothing,
    reply: 'slots',
    answer: s.messageOf(
      {
        owned: s.as(
          'slots',
          s.list(
            s.message({
              slot: s.uint32,
              epoch: s.uint32,
              state: s.word('opening', 'serving', 'releasing'),
              logEnd: s.int64,
              checkpoint: s.int64,
              tenants: s.uint32,
            }),
          ),
        ),
        incarnation: s.text,
        shardName: s.text,
        leased: s.flag,
        leaseLeftMs: s.double,
        owners: s.list(s.message({ slot: s.uint32, epoch: s.uint32, incarnation: s.orUndefined(s.text) })),
        readers: s.list(
          s.message({
            tenantId: s.text,
            slot: s.uint32,
            epoch: s.uint32,
            position: s.int64,
            calls: s.int64,
            readIndexes: s.int64,
            handedOver: s.int64,
            begun: s.int64,
          }),
        ),
      },
      ({ leaseLeftMs, ...report }) => ({ ...report, leased: leaseLeftMs !== undefined, leaseLeftMs: leaseLeftMs ?? 0 }),
      ({ leased, leaseLeftMs, ...report }) => ({ ...report, leaseLeftMs: leased ? leaseLeftMs : undefined }),
    ),
  }),

  repairTime: defineCall('repairTime', {
    access: 'console',
    request: s.message({ slot: s.uint32, dryRun: s.flag }),
    reply: 'repairedTime',
    answer: s.message({
      slot: s.uint32,
      state: s.word('right', 'ahead', 'ending', 'repaired'),
      aheadMs: s.int64,
      wallMs: s.int64,
      keys: s.uint32,
    }),
  }),

  listMembers: defineCall('listMembers', {
    access: 'console',
    request: s.nothing,
    reply: 'members',
    answer: s.only(
      'members',
      s.list(
        s.message({
          incarnation: s.text,
          shardName: s.text,
          address: s.text,
          state: s.word('alive', 'draining', 'dead'),
          startedAtMs: s.int64,
          heartbeat: s.int64,
        }),
      ),
    ),
  }),

  readLoad: defineCall('readLoad', {
    access: 'console',
    request: s.nothing,
    reply: 'shardLoad',
    answer: s.message<ShardLoad>({
      checksPerSecond: s.double,
      failuresPerSecond: s.double,
      p99Ms: s.orUndefined(s.double),
      shardName: s.text,
      busiest: s.optional(s.message({ tenantId: s.text, share: s.double })),
    }),
  }),
};

/** Checks lengths only. The shard judges the numbers, and whether the tenants are its own. */
export function reportFrom({ load, usage, problems, asked, awaited }: ReceivedReport): FrontReport {
  demand(problems.length <= PROBLEMS_PER_REPORT_MAX, `A report has more than ${PROBLEMS_PER_REPORT_MAX} problems.`);
  for (const { keyId, code, requestId, detail } of problems) {
    const isShort = [keyId, code, requestId, detail].every(({ length }) => length <= PROBLEM_TEXT_MAX);
    demand(isShort, `A text of a problem is longer than ${PROBLEM_TEXT_MAX} characters.`);
  }
  const names = asked.flatMap((each) => each.names);
  demand(
    asked.length <= ASKED_PER_REPORT_MAX && names.length <= ASKED_PER_REPORT_MAX,
    `A report has more than ${ASKED_PER_REPORT_MAX} names.`,
  );
  demand(names.every(isRuleName), 'What a tenant has asked about is no name.');
  demand(awaited.length <= SLOTS_MAX, `A report has more than ${SLOTS_MAX} slots.`);
  return { load: load ?? undefined, usage: usage === null ? [] : usageFrom(usage), problems, asked, awaited };
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
