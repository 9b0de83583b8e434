// The cluster as the operator sees it: plans, slots, members and the load of its shards. Records never contain a
// secret.

import { z } from 'zod';
import type { Plan } from '../../../core/plans.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import type { MemberView, ReaderView, ShardLoad, SlotView } from '../../../front/front.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { dryRunQuerySchema } from '../../../http/schema/schema-parts.ts';
import { slotOf } from '../../path-ids.ts';
import { count, jsonResponse, ownOperation, reading, timestampText } from '../operation.ts';

const planSchema = z.object({
  name: z.string(),
  requests: count('Requests in a window; null: no limit.').nullable(),
  window_seconds: z.number().meta({ description: 'The length of a window.' }),
  namespaces_max: count('Namespaces.'),
  keys_max: count('API keys.'),
  grants_max: count('Live grants; null: no limit.').nullable(),
  streams_max: count('Streams of the change feed that each front holds open.'),
  readers: z.union([z.int().min(0), z.literal('auto')]).meta({
    description: 'Shards that answer reads of a tenant beside its owner; auto: as many as its owner chooses.',
  }),
  readers_max: count('The most that auto chooses.'),
});

const planRecord = (plan: Plan): object => ({
  name: plan.name,
  requests: plan.requests ?? null,
  window_seconds: plan.windowSeconds,
  namespaces_max: plan.namespacesMax,
  keys_max: plan.keysMax,
  grants_max: plan.grantsMax ?? null,
  streams_max: plan.streamsMax,
  readers: plan.readers,
  readers_max: plan.readersMax,
});

export const listPlans = reading({
  id: 'listPlans',
  path: '/plans',
  tag: 'The cluster',
  summary: 'List the plans',
  successes: [success(200, 'All plans.', { name: 'PlanList', schema: z.object({ plans: z.array(planSchema) }) })],
  run: ({ plans }) => Promise.resolve(jsonResponse(200, { plans: [...plans.values()].map(planRecord) })),
});

const readerSchema = z.object({
  tenant_id: z.string(),
  shard: z.string().meta({ description: 'The shard that reads for the tenant beside its owner.' }),
  epoch: count('The epoch of the owner that it follows.'),
  position: count('The last entry of the log that it has applied: the position of its last answer.'),
  calls: count('Checks and listings that it answered since that shard started.'),
  read_indexes: count('How often it asked the owner for entries that it lacked; once for all calls that waited.'),
  handed_over: count('Calls that waited when the reader ended; fronts made them at the owner.'),
  begun: count('How often a reader of the tenant began there: after every end it begins again.'),
});

const slotSchema = z.object({
  slot: count('Its number.'),
  state: z.enum(['opening', 'serving', 'releasing', 'unclaimed', 'unowned', 'unreachable']),
  shard: z.string().nullable(),
  incarnation: z.string().nullable(),
  address: z.string().nullable(),
  epoch: count('The fencing number of its ownership.').nullable(),
  lease_left_ms: count('How long the owner may answer without the store; null: it needs no lease.').nullable(),
  log_end: count('The last entry of its log.').nullable(),
  checkpoint: count('The last entry that state contains.').nullable(),
  checkpoint_lag: count('The entries between the two.').nullable(),
  tenants: count('Its tenants.').nullable(),
  readers: z
    .array(readerSchema)
    .meta({ description: 'The readers of its tenants: the busiest hundred of each shard.' }),
});

const optionalWholeMs = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms));

const readerRecord = (reader: ReaderView): object => ({
  tenant_id: reader.tenantId,
  shard: reader.shardName,
  epoch: reader.epoch,
  position: reader.position,
  calls: reader.calls,
  read_indexes: reader.readIndexes,
  handed_over: reader.handedOver,
  begun: reader.begun,
});

function slotRecord(slot: SlotView): object {
  const { logEnd, checkpoint } = slot;
  return {
    slot: slot.slot,
    state: slot.state,
    shard: slot.shardName ?? null,
    incarnation: slot.incarnation ?? null,
    address: slot.address ?? null,
    epoch: slot.epoch ?? null,
    lease_left_ms: optionalWholeMs(slot.leaseLeftMs),
    log_end: logEnd ?? null,
    checkpoint: checkpoint ?? null,
    checkpoint_lag: logEnd === undefined || checkpoint === undefined ? null : logEnd - checkpoint,
    tenants: slot.tenants ?? null,
    readers: slot.readers.map(readerRecord),
  };
}

export const listSlots = reading({
  id: 'listSlots',
  path: '/slots',
  tag: 'The cluster',
  summary: 'List the slots and their owners',
  successes: [
    success(200, 'All slots.', {
      name: 'SlotList',
      schema: z.object({
        slots: z.array(slotSchema).meta({ description: 'Every slot, ascending. What is not known now is null.' }),
      }),
    }),
  ],
  run: async ({ api, context }) => jsonResponse(200, { slots: (await api.listSlots(context())).map(slotRecord) }),
});

const timeRepairSchema = z.object({
  slot: count('Its number.'),
  state: z.enum(['right', 'ahead', 'ending', 'repaired']).meta({
    description:
      'right: the time is not ahead; ahead: it is, and this was a dry run; ending: repeat the request, since what has ended by the time of the log is still being recorded as ended; repaired: the time is that of the clock.',
  }),
  ahead_ms: count('How far the time of its log was ahead of the clock.'),
  clock: timestampText('The clock of the shard that owns it.'),
  keys_revoked: count('API keys that had expired by the time of the log, and that this request revoked.'),
});

export const repairTime = ownOperation({
  id: 'repairTime',
  method: 'POST',
  access: 'full',
  path: '/slots/{slot}/repair-time',
  pathParameters: { slot: { description: 'The number of the slot.', example: '0' } },
  tag: 'The cluster',
  summary: 'Set the time of a slot back',
  description:
    'Sets the time of the log of a slot back to the clock of its shard, where that time is ahead because a clock was wrong. Before that, what has expired by the time of the log is recorded as ended for good: grants as expired, API keys as revoked. Repeat it until the state is `repaired` or `right`. With `dry_run=true`, nothing changes.',
  query: dryRunQuerySchema.shape,
  successes: [success(200, 'What was done.', { name: 'TimeRepair', schema: timeRepairSchema })],
  async run(call, { dry_run: dryRun }) {
    const request = { slot: slotOf(call), dryRun: dryRun === 'true' };
    const { slot, state, aheadMs, wallMs, keys } = await call.api.repairTime(call.context(), request);
    const clock = formatTimestamp(wallMs);
    return jsonResponse(200, { slot, state, ahead_ms: aheadMs, clock, keys_revoked: keys });
  },
});

const loadSchema = z.object({
  shard: z.string(),
  checks_per_second: z.number().min(0),
  failures_per_second: z.number().min(0),
  p99_ms: z.number().min(0).nullable().meta({ description: '99 of 100 checks took less; null: there were none.' }),
  busiest_tenant: z
    .string()
    .nullable()
    .meta({ description: 'The tenant with the most work that had to wait; null: none had to.' }),
  busiest_share: z
    .number()
    .min(0)
    .meta({ description: "Its share of the shard's time, 0 to 1, after its calls had waited." }),
});

/** Rates are rounded to a hundredth; further digits are noise. */
function loadRecord(load: ShardLoad): object {
  const rounded = (rate: number): number => Math.round(rate * 100) / 100;
  return {
    shard: load.shardName,
    checks_per_second: rounded(load.checksPerSecond),
    failures_per_second: rounded(load.failuresPerSecond),
    p99_ms: load.p99Ms === undefined ? null : rounded(load.p99Ms),
    busiest_tenant: load.busiest?.tenantId ?? null,
    busiest_share: rounded(load.busiest?.share ?? 0),
  };
}

export const listLoads = reading({
  id: 'listLoads',
  path: '/loads',
  tag: 'The cluster',
  summary: 'List the load of the shards',
  successes: [
    success(200, 'The last ten seconds of each shard.', {
      name: 'LoadList',
      schema: z.object({ shards: z.array(loadSchema) }),
    }),
  ],
  run: async ({ api, context }) => jsonResponse(200, { shards: (await api.listLoads(context())).map(loadRecord) }),
});

const memberSchema = z.object({
  incarnation: z.string(),
  shard: z.string(),
  address: z.string(),
  state: z.enum(['alive', 'draining', 'dead']),
  heartbeat: count('Raised with each heartbeat.'),
  started_at: timestampText('When this incarnation began.'),
  lease_left_ms: count('How long it may answer without the store; null: it needs no lease.').nullable(),
  slots: count('The slots that it owns.'),
});

const memberRecord = (member: MemberView): object => ({
  incarnation: member.incarnation,
  shard: member.shardName,
  address: member.address,
  state: member.state,
  heartbeat: member.heartbeat,
  started_at: formatTimestamp(member.startedAtMs),
  lease_left_ms: optionalWholeMs(member.leaseLeftMs),
  slots: member.slotsOwned,
});

export const listMembers = reading({
  id: 'listMembers',
  path: '/members',
  tag: 'The cluster',
  summary: 'List the shards',
  successes: [
    success(200, 'All incarnations that are known.', {
      name: 'MemberList',
      schema: z.object({ members: z.array(memberSchema) }),
    }),
  ],
  run: async ({ api, context }) => jsonResponse(200, { members: (await api.listMembers(context())).map(memberRecord) }),
});
