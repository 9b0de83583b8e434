// Original file: proto/grantd/v1/shard.proto

import type { WireTuple as _grantd_v1_WireTuple, WireTuple__Output as _grantd_v1_WireTuple__Output } from '../../grantd/v1/WireTuple.ts';
import type { WriteCondition as _grantd_v1_WriteCondition, WriteCondition__Output as _grantd_v1_WriteCondition__Output } from '../../grantd/v1/WriteCondition.ts';

export interface WriteBulk {
  'grants'?: (_grantd_v1_WireTuple)[];
  'revocations'?: (_grantd_v1_WireTuple)[];
  'conditions'?: (_grantd_v1_WriteCondition)[];
}

export interface WriteBulk__Output {
  'grants': (_grantd_v1_WireTuple__Output)[];
  'revocations': (_grantd_v1_WireTuple__Output)[];
  'conditions': (_grantd_v1_WriteCondition__Output)[];
}
