// Original file: proto/grantd/v1/shard.proto

import type { GrantRecord as _grantd_v1_GrantRecord, GrantRecord__Output as _grantd_v1_GrantRecord__Output } from '../../grantd/v1/GrantRecord.ts';

export interface Reasons {
  'grants'?: (_grantd_v1_GrantRecord)[];
}

export interface Reasons__Output {
  'grants': (_grantd_v1_GrantRecord__Output)[];
}
