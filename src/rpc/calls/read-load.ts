// What fronts asked of one shard over the last seconds. It shares the messages of `listSlots`, by a flag: a shard of
// an earlier version ends the connection of a peer whose call has a field that it does not know.

import type { Load } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';

/** Of one shard, as it names itself. */
interface NamedLoad {
  readonly shardName: string;
  readonly incarnation: string;
  /** Undefined: a shard of an earlier version says nothing of it. */
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
