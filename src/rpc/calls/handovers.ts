// The calls by which the owner of a slot hands it over to another shard.

import { FRONTS_TOLD_MAX, type SettledLog } from '../../shard/shard.ts';
import { DONE, defineCall } from './define-call.ts';
import { shortText } from './fields.ts';
import * as s from './schema.ts';

const slotFields = { slot: s.uint32, successor: shortText };

export const handoverCalls = {
  expectSlot: defineCall('expectSlot', {
    access: 'shard',
    request: s.message(slotFields),
    reply: 'expectation',
    answer: s.message({ fronts: s.list(shortText, { max: FRONTS_TOLD_MAX }) }),
  }),

  takeSlot: defineCall('takeSlot', {
    access: 'shard',
    request: s.message({
      ...slotFields,
      epoch: s.uint32,
      first: s.count,
      opened: s.orUndefined(s.count),
      settled: s.orUndefined(s.message<SettledLog>({ lastSeq: s.count, nextBase: s.count, behindMs: s.count })),
    }),
    ...DONE,
  }),
};
