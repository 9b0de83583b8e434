// The load that fronts put on one shard over the last seconds.

import type { Load } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';

/** The load of one shard, under the name that it gives itself. */
interface NamedLoad extends Load {
  readonly shardName: string;
}

export const readLoad = defineCall({
  request: 'readLoad',
  reply: 'shardLoad',
  access: 'console',
  write: 'no',
  requestToWire: (_: undefined) => ({ readLoad: {} }),
  requestFromWire: () => undefined,
  async serve({ connection, shard }): Promise<NamedLoad> {
    const { shardName } = shard.welcome();
    return { ...(await connection.readLoad()), shardName };
  },
  replyToWire: (load) => ({ shardLoad: { ...load, p99Ms: load.p99Ms ?? 0 } }),
  replyFromWire: (load) => ({ ...load, p99Ms: zeroAsUndefined(load.p99Ms) }),
});
