// Original file: proto/grantd/v1/shard.proto

import type { BusiestTenant as _grantd_v1_BusiestTenant, BusiestTenant__Output as _grantd_v1_BusiestTenant__Output } from '../../grantd/v1/BusiestTenant.ts';

export interface ShardLoad {
  'checksPerSecond'?: (number | string);
  'failuresPerSecond'?: (number | string);
  'p99Ms'?: (number | string);
  'shardName'?: (string);
  'busiest'?: (_grantd_v1_BusiestTenant | null);
}

export interface ShardLoad__Output {
  'checksPerSecond': (number);
  'failuresPerSecond': (number);
  'p99Ms': (number);
  'shardName': (string);
  'busiest': (_grantd_v1_BusiestTenant__Output | null);
}
