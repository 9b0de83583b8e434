// How a reader reaches the owner of a slot.

import type { FollowAnswer, FollowRequest } from '../shard.ts';

export interface OwnerPort {
  /**
   * `address`: host:port of the owner. Rejects with the ShardFailure or GrantdError of the owner, and as `not-serving`
   * if the connection is lost, or the owner is silent for too long.
   */
  follow(address: string, request: FollowRequest): Promise<FollowAnswer>;
}
