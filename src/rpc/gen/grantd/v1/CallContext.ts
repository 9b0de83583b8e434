// Original file: proto/grantd/v1/shard.proto

import type { WireTuple as _grantd_v1_WireTuple, WireTuple__Output as _grantd_v1_WireTuple__Output } from '../../grantd/v1/WireTuple.ts';
import type { WithoutGrants as _grantd_v1_WithoutGrants, WithoutGrants__Output as _grantd_v1_WithoutGrants__Output } from '../../grantd/v1/WithoutGrants.ts';

export interface CallContext {
  'context'?: (string);
  'grants'?: (_grantd_v1_WireTuple)[];
  'without'?: (_grantd_v1_WithoutGrants | null);
}

export interface CallContext__Output {
  'context': (string);
  'grants': (_grantd_v1_WireTuple__Output)[];
  'without': (_grantd_v1_WithoutGrants__Output | null);
}
