// Original file: proto/grantd/v1/shard.proto

import type { GrantResult as _grantd_v1_GrantResult, GrantResult__Output as _grantd_v1_GrantResult__Output } from '../../grantd/v1/GrantResult.ts';

export interface GrantResults {
  'results'?: (_grantd_v1_GrantResult)[];
}

export interface GrantResults__Output {
  'results': (_grantd_v1_GrantResult__Output)[];
}
