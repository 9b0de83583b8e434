// Lists the serving shards, before and after a run that tests the loss of one.

import { ServiceClient, type ServiceTarget } from '../../packages/cli/src/service-client.ts';

export interface ServingShard {
  readonly shard: string;
  readonly address: string;
  readonly incarnation: string;
}

/** Every living incarnation of a shard. */
export async function readServingShards(target: ServiceTarget): Promise<readonly ServingShard[]> {
  const { members } = await new ServiceClient(target).readJson({ method: 'GET', path: '/members' });
  const all: unknown[] = Array.isArray(members) ? members : [];
  return all.flatMap((member) => {
    const { shard, address, incarnation, state } = Object(member);
    return state === 'alive'
      ? [{ shard: String(shard), address: String(address), incarnation: String(incarnation) }]
      : [];
  });
}

export const describeShards = (shards: readonly ServingShard[]): string =>
  shards.map(({ shard, address }) => `${shard} (${address})`).join(', ');

/** The shards that are gone or were restarted. */
export function findLost(before: readonly ServingShard[], after: readonly ServingShard[]): readonly ServingShard[] {
  const alive = new Set(after.map(({ incarnation }) => incarnation));
  return before.filter(({ incarnation }) => !alive.has(incarnation));
}
