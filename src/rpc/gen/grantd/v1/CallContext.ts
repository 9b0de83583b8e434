// Original file: proto/grantd/v1/shard.proto

import type { WireTuple as _grantd_v1_WireTuple, WireTuple__Output as _grantd_v1_WireTuple__Output } from '../../grantd/v1/WireTuple.ts';

export interface CallContext {
  'context'?: (string);
  'grants'?: (_grantd_v1_WireTuple)[];
}

export interface CallContext__Output {
  'context': (string);
  'grants': (_grantd_v1_WireTuple__Output)[];
}
