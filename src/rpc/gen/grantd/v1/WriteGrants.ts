// Original file: proto/grantd/v1/shard.proto

import type { GrantWrite as _grantd_v1_GrantWrite, GrantWrite__Output as _grantd_v1_GrantWrite__Output } from '../../grantd/v1/GrantWrite.ts';

export interface WriteGrants {
  'writes'?: (_grantd_v1_GrantWrite)[];
}

export interface WriteGrants__Output {
  'writes': (_grantd_v1_GrantWrite__Output)[];
}
