// Original file: proto/grantd/v1/shard.proto

import type { MemberAddress as _grantd_v1_MemberAddress, MemberAddress__Output as _grantd_v1_MemberAddress__Output } from '../../grantd/v1/MemberAddress.ts';

export interface Routes {
  'slots'?: (number)[];
  'epochs'?: (number)[];
  'members'?: (_grantd_v1_MemberAddress)[];
}

export interface Routes__Output {
  'slots': (number)[];
  'epochs': (number)[];
  'members': (_grantd_v1_MemberAddress__Output)[];
}
