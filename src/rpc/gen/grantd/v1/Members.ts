// Original file: proto/grantd/v1/shard.proto

import type { Member as _grantd_v1_Member, Member__Output as _grantd_v1_Member__Output } from '../../grantd/v1/Member.ts';

export interface Members {
  'members'?: (_grantd_v1_Member)[];
}

export interface Members__Output {
  'members': (_grantd_v1_Member__Output)[];
}
