// The load that fronts put on one shard over the last seconds. The call shares the messages of `listSlots`, and a flag
// tells them apart: a shard of an earlier version ends the connection of a peer whose call has an unknown field.

import type { Load } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';

/** The load of one shard, under the name that it gives itself. */
interface NamedLoad {
  readonly shardName: string;
  readonly incarnation: string;
  /** Undefined: a shard of an earlier version reports none. */
  readonly load: Load | undefined;
}

export const readLoad = defineCall({
  request: 'listSlots',
  reply: 'slots',
  access: 'console',
  write: 'no',
  is: ({ loadOnly }) => loadOnly,
  requestToWire: (_: undefined) => ({ listSlots: { loadOnly: true } }),
  requestFromWire: () => undefined,
  async serve({ connection, shard }): Promise<NamedLoad> {
    const { shardName, incarnation } = shard.welcome();
    return { shardName, incarnation, load: await connection.readLoad() };
  },
  replyToWire: ({ shardName, incarnation, load }) => ({
    slots: { shardName, incarnation, load: load === undefined ? null : { ...load, p99Ms: load.p99Ms ?? 0 } },
  }),
  replyFromWire: ({ shardName, incarnation, load }) => ({
    shardName,
    incarnation,
    load: load === null ? undefined : { ...load, p99Ms: zeroAsUndefined(load.p99Ms) },
  }),
});
