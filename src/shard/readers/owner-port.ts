// The way of a shard to the owners of tenants that it reads for.

import type { FollowAnswer, FollowRequest } from '../shard.ts';

export interface OwnerPort {
  /**
   * Makes the call at the shard that `address` (host:port) names, and not again if it fails. Rejects with the
   * ShardFailure or GrantdError of that shard; as `not-serving` if the connection cannot be made within 2 s, is lost,
   * or is silent for 2 s; and as `overloaded` if too many calls wait there.
   */
  follow(address: string, request: FollowRequest): Promise<FollowAnswer>;
}
